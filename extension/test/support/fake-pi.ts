import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { EventEmitter } from "node:events";
import type { HostMessage } from "../../src/inbox.ts";
import { fakeTui, keys, plainColours } from "./screens.ts";

type Callback = (event: object, ctx: object) => unknown;

export interface RegisteredTool {
	readonly name: string;
	readonly exposure: string;
	execute(
		callId: string,
		params: object,
		signal: AbortSignal | undefined,
		onUpdate?: (partial: { content: { text: string }[] }) => void,
	): Promise<{ content: { text: string }[]; details: object; isError: boolean; terminate: boolean; usage?: object }>;
}

export interface FakeBox {
	render(width: number): readonly string[];
	handleInput(data: string): void;
	dispose(): void;
}

interface FakeCommandOptions {
	handler(args: string, ctx: object): Promise<void>;
	getArgumentCompletions?(prefix: string): readonly { readonly value: string }[] | null;
}

/** The lines of a widget, however it is given. */
function widgetText(content: unknown): string {
	const lines = typeof content === "function" ? content(undefined, plainColours).render(80) : content;
	return lines.map((line: string) => line.trim()).join(" | ");
}

/** As much of Pi as an extension sees of one session: its API object and its event context. */
export class FakePi {
	readonly happened: string[] = [];
	readonly sent: HostMessage[] = [];
	readonly saved: object[] = [];
	readonly tools = new Map<string, RegisteredTool>();
	/** The bus of all its extensions. */
	readonly bus = new EventEmitter();
	readonly callbacks = new Map<string, Callback[]>();
	readonly commands = new Map<string, (args: string, ctx: object) => Promise<void>>();
	/** What Pi offers behind a command for what stands there. */
	readonly completions = new Map<string, (prefix: string) => readonly { readonly value: string }[] | null>();
	activeTools = ["read", "bash"];
	models: { provider: string; id: string }[] = [{ provider: "fake", id: "m" }];
	/** What covers the screen at this moment. */
	box: FakeBox | undefined;
	readonly shortcuts = new Map<string, (ctx: object) => Promise<void>>();
	editorText = "";
	/** The session's current branch. */
	branch: object[] = [];
	pendingMessages = false;
	sessionName: string | undefined;
	idle = true;
	trusted = true;
	stale = false;
	/** What a notification is refused with, if it is. */
	notifyProblem: string | undefined;
	/** What a session name is refused with, if it is. */
	nameProblem: string | undefined;
	mode = "tui";
	model = "m";
	/** What the person answers; undefined where there is no UI. */
	person: "yes" | "no" | undefined = "yes";
	readonly sessionId: string;
	readonly #cwd: string;
	#waiting: { readonly pattern: RegExp; resolve(text: string): void }[] = [];

	constructor(sessionId: string, cwd: string) {
		this.sessionId = sessionId;
		this.#cwd = cwd;
	}

	/** The API object, which has no more than the extension uses. */
	readonly api = {
		on: (event: string, callback: Callback) => {
			this.callbacks.set(event, [...(this.callbacks.get(event) ?? []), callback]);
			return () => undefined;
		},
		registerTool: (tool: RegisteredTool) => {
			this.tools.set(tool.name, tool);
			this.#note(`tool ${tool.exposure} ${tool.name}`);
		},
		events: {
			emit: (event: string, data: unknown) => void this.bus.emit(event, data),
			on: (event: string, handler: (data: unknown) => void) => {
				this.bus.on(event, handler);
				return () => void this.bus.off(event, handler);
			},
		},
		registerMessageRenderer: () => undefined,
		registerShortcut: (key: string, { handler }: { handler(ctx: object): Promise<void> }) => void this.shortcuts.set(key, handler),
		registerCommand: (name: string, { handler, getArgumentCompletions }: FakeCommandOptions) => {
			this.commands.set(name, handler);
			if (getArgumentCompletions !== undefined) this.completions.set(name, getArgumentCompletions);
		},
		getActiveTools: () => [...this.activeTools],
		appendEntry: (customType: string, data: object) => {
			this.#live();
			this.saved.push({ type: "custom", id: `c${this.saved.length}`, customType, data });
		},
		getCommands: () => [...this.commands.keys()].map((name) => ({ name, source: "extension" })),
		sendUserMessage: (text: string) => {
			this.#live();
			this.#note(`typed ${text}`);
			void this.runsCommand(text);
		},
		sendMessage: (message: HostMessage) => {
			this.#live();
			this.sent.push(message);
			this.idle = false;
			this.#note(`sent ${message.details.intercom.envelopeId}`);
		},
		getSessionName: () => this.sessionName,
		setSessionName: (name: string) => {
			this.#live();
			if (this.nameProblem !== undefined) throw new Error(this.nameProblem);
			this.sessionName = name;
			this.#note(`named ${name}`);
		},
	} as unknown as ExtensionAPI;

	readonly #ctx = {
		ui: {
			setStatus: (_key: string, text: string) => this.#note(`status ${text}`),
			notify: (text: string, level: string) => {
				if (this.notifyProblem !== undefined) throw new Error(this.notifyProblem);
				this.#note(`${level} ${text}`);
			},
			getEditorText: () => this.editorText,
			setEditorText: (text: string) => void (this.editorText = text),
			custom: (factory: (tui: object, theme: object, keys: object, done: (result: unknown) => void) => FakeBox) =>
				new Promise((resolve) => {
					const box = factory(fakeTui(), plainColours, keys, (result) => {
						this.box = undefined;
						box.dispose();
						resolve(result);
					});
					this.box = box;
				}),
			setWidget: (_key: string, content: unknown) => this.#note(content === undefined ? "widget gone" : `widget ${widgetText(content)}`),
			confirm: (title: string, text: string) => {
				this.#note(`asked ${title}\n${text}`);
				return Promise.resolve(this.person === "yes");
			},
		},
		sessionManager: {
			getSessionId: () => this.sessionId,
			getSessionFile: () => undefined,
			getEntries: () => this.saved,
			getBranch: () => this.branch,
		},
		getContextUsage: () => undefined,
		modelRegistry: { getAvailable: () => this.models },
		isIdle: () => {
			this.#live();
			return this.idle;
		},
		isProjectTrusted: () => this.trusted,
		hasPendingMessages: () => this.pendingMessages,
		abort: () => {
			this.#live();
			this.idle = true;
			this.#note("aborted");
		},
		shutdown: () => this.#note("shut down"),
		waitForIdle: () => Promise.resolve(),
	};

	/** Runs a command as Pi does where one is typed or sent. */
	async runsCommand(text: string): Promise<void> {
		const [, name = "", args = ""] = /^\/(\S+) ?(.*)$/s.exec(text) ?? [];
		await this.commands.get(name)?.(args, { ...this.#ctx, mode: this.mode, model: { provider: "fake", id: this.model } });
	}

	/** Presses a key that the extension has taken for itself. */
	async presses(key: string): Promise<void> {
		await this.shortcuts.get(key)?.({ ...this.#ctx, mode: this.mode });
	}

	/** Emits one event as Pi does, with a ctx of the moment; the results of the callbacks. */
	async emit(type: string, event: object = {}): Promise<unknown[]> {
		const results = [];
		const modelId = (): string => this.model;
		const model = {
			provider: "fake",
			get id() {
				return modelId();
			},
		};
		for (const callback of this.callbacks.get(type) ?? []) {
			results.push(await callback({ type, ...event }, {
				...this.#ctx,
				...{ mode: this.mode, cwd: this.#cwd, signal: undefined },
				model,
				hasUI: this.person !== undefined,
			}));
		}
		return results;
	}

	/** Emits what Pi emits for the message that was sent last, up to its saving. */
	async runsWithLastMessage(): Promise<void> {
		const message = this.sent.at(-1);
		await this.emit("agent_start");
		await this.emit("message_end", { message: { role: "custom", ...message } });
		this.saved.push({ type: "custom_message", id: `e${this.saved.length}`, ...message });
		await this.emit("context", { messages: [{ role: "custom", ...message }] });
	}

	/** Resolves with the first of what happened, past or coming, that matches. */
	until(pattern: RegExp): Promise<string> {
		const past = this.happened.find((text) => pattern.test(text));
		if (past !== undefined) return Promise.resolve(past);
		return new Promise((resolve) => this.#waiting.push({ pattern, resolve }));
	}

	#live(): void {
		if (this.stale) throw new Error("this ctx is stale");
	}

	#note(text: string): void {
		this.happened.push(text);
		for (const waiting of this.#waiting) if (waiting.pattern.test(text)) waiting.resolve(text);
	}
}
