import { AgentGone, AgentRefusal } from "./json-rpc.ts";
import { isObject, type JsonObject, type ToolAnswer, type ToolProgress, type ToolSpec } from "./contract.ts";
import { parseToolAnswer } from "./contract-parse.ts";
import { PEER_TOOL } from "./session-entries.ts";
import type { Timers } from "./timers.ts";

const REPEAT_LIMIT_MS = 5_000;
const CANCEL_ANSWER_LIMIT_MS = 2_000;

/** The part of the agent link that a tool call needs. */
export interface ToolLink {
	whenUp(limitMs: number, order: number, signal?: AbortSignal): Promise<boolean>;
	call(method: string, params: JsonObject): Promise<unknown>;
	notify(method: string, params: JsonObject): boolean;
}

/** The tool with which a worker hands over before it is closed. */
export const HANDOFF_TOOL = "intercom_report_handoff";

/** Gets one line for a person on what an open call waits for, as often as that changes. */
export type OnProgress = (text: string) => void;

/** Runs one tool call, whose id in the host is `toolCallId`, and never rejects. */
export type RunTool = (tool: ToolSpec, args: unknown, signal: AbortSignal | undefined, toolCallId: string, onProgress?: OnProgress) => Promise<ToolAnswer>;

/** What goes along with a call beside its arguments. */
export interface CallSurroundings {
	/** The delivery that started the present run of the host, if one did. */
	readonly trigger?: string;
	readonly onProgress?: OnProgress;
}

/** What an answer that never comes into the session is or tells. */
export interface UnshownAnswer {
	readonly deliveryId?: string;
	readonly ids: readonly string[];
}

/**
 * Keeps the host's tools equal to those that the agent lists for the session's role. A host tool can't be removed: one
 * that is no longer listed is registered again as hidden.
 */
export class ToolSet {
	readonly #register: (tool: ToolSpec, isVisible: boolean) => void;
	readonly #registered = new Map<string, { readonly tool: ToolSpec; readonly text: string; isVisible: boolean }>();

	constructor(register: (tool: ToolSpec, isVisible: boolean) => void) {
		this.#register = register;
	}

	show(tools: readonly ToolSpec[]): void {
		const listed = new Set(tools.map((tool) => tool.name));
		for (const [name, known] of this.#registered) {
			if (listed.has(name) || !known.isVisible) continue;
			known.isVisible = false;
			this.#register(known.tool, false);
		}
		for (const tool of tools) {
			const text = JSON.stringify(tool);
			const known = this.#registered.get(tool.name);
			if (known?.isVisible === true && known.text === text) continue;
			this.#registered.set(tool.name, { tool, text, isVisible: true });
			this.#register(tool, true);
		}
	}
}

/** Runs tool calls over the link in the order in which they are made, each under one call id however often it has to be repeated. */
export class ToolCalls {
	readonly #link: ToolLink;
	readonly #timers: Timers;
	readonly #mintId: () => string;
	readonly #onUnshown: (answer: UnshownAnswer) => void;
	/** What the open calls tell their progress, by call id. */
	readonly #watched = new Map<string, OnProgress>();
	#made = 0;

	/** `onUnshown` is told of an answer that came when nobody waited for it any more. */
	constructor(link: ToolLink, timers: Timers, mintId: () => string, onUnshown: (answer: UnshownAnswer) => void = () => undefined) {
		this.#link = link;
		this.#timers = timers;
		this.#mintId = mintId;
		this.#onUnshown = onUnshown;
	}

	/** Never rejects. */
	async run(name: string, args: unknown, signal: AbortSignal | undefined, { trigger, onProgress }: CallSurroundings = {}): Promise<ToolAnswer> {
		const callId = this.#mintId();
		if (onProgress !== undefined) this.#watched.set(callId, onProgress);
		try {
			return await this.#repeat({ name, arguments: args ?? {}, callId, ...(trigger === undefined ? {} : { trigger }) }, signal);
		} finally {
			this.#watched.delete(callId);
		}
	}

	progressed({ callId, text }: ToolProgress): void {
		this.#watched.get(callId)?.(text);
	}

	async #repeat(call: Call, signal: AbortSignal | undefined): Promise<ToolAnswer> {
		const order = ++this.#made;
		let wasSent = false;
		let giveUpAt = this.#timers.now() + REPEAT_LIMIT_MS;
		for (;;) {
			const isUp = await this.#link.whenUp(giveUpAt - this.#timers.now(), order, signal);
			if (signal?.aborted === true) return wasSent ? outcomeUnknown(call) : cancelled(call.name);
			if (!isUp || (wasSent && this.#timers.now() >= giveUpAt)) return wasSent ? outcomeUnknown(call) : notRunning(call.name);
			const sentAt = this.#timers.now();
			try {
				const answer = this.#link.call("tools/call", { ...call, ...(wasSent ? { repeated: true } : {}) });
				return parseToolAnswer(await this.#abortable(answer, call.callId, signal));
			} catch (error) {
				if (error instanceof CancelUnanswered) return outcomeUnknown(call);
				if (!(error instanceof AgentGone)) return failed(error);
				// The time to repeat in runs from the loss: a call that waits may have run for minutes before. One that ends every
				// agent at once has no more than that time altogether.
				const now = this.#timers.now();
				if (!wasSent || now - sentAt >= REPEAT_LIMIT_MS) giveUpAt = now + REPEAT_LIMIT_MS;
				wasSent = true;
			}
		}
	}

	/** An abort asks the agent to cancel, and waits a moment for its word on what had happened by then. */
	#abortable(answer: Promise<unknown>, callId: string, signal: AbortSignal | undefined): Promise<unknown> {
		if (signal === undefined) return answer;
		return new Promise((resolve, reject) => {
			let cancelLimit: (() => void) | undefined;
			const onAbort = (): void => {
				this.#link.notify("tools/cancel", { callId });
				cancelLimit = this.#timers.after(CANCEL_ANSWER_LIMIT_MS, () => {
					signal.removeEventListener("abort", onAbort);
					reject(new CancelUnanswered());
					// The answer may be on its way still, and be or tell what the session has no other way to get.
					answer.then((result) => this.#tooLate(result), () => undefined);
				});
			};
			const finish = (settle: () => void): void => {
				signal.removeEventListener("abort", onAbort);
				cancelLimit?.();
				settle();
			};
			if (signal.aborted) onAbort();
			else signal.addEventListener("abort", onAbort, { once: true });
			answer.then(
				(result) => finish(() => resolve(result)),
				(error: unknown) => finish(() => reject(error)),
			);
		});
	}

	#tooLate(result: unknown): void {
		if (!isObject(result)) return;
		const ids = Array.isArray(result.ids) ? result.ids.filter((id) => typeof id === "string") : [];
		const deliveryId = typeof result.deliveryId === "string" ? result.deliveryId : undefined;
		if (ids.length > 0 || deliveryId !== undefined) this.#onUnshown({ ids, ...(deliveryId === undefined ? {} : { deliveryId }) });
	}
}

/** The params of a call, the same however often it is repeated. */
interface Call {
	readonly name: string;
	readonly arguments: unknown;
	readonly callId: string;
	readonly trigger?: string;
}

class CancelUnanswered extends Error {}

function problem(text: string, summary: string, reason: string): ToolAnswer {
	return { text, summary, isError: true, reason };
}

/** Those of the tool `intercom` that do more than to show how things are. */
const CHANGING_ACTIONS: ReadonlySet<unknown> = new Set(["send", "ask", "reply", "cancel", "steer", "stop", "inbox"]);
/** Those that send no message, and what tells whether they happened. */
const WITHOUT_MESSAGE: ReadonlyMap<unknown, string> = new Map([
	["stop", "Its action `peek` shows how the run stands; a second stop would settle it at once."],
	["inbox", "Called again it brings what waits there, and what this call drained."],
]);
/** Each call is a message of its own. */
const SENDING_TOOLS: ReadonlySet<string> = new Set(["intercom_send", "contact_supervisor", "contact_peer"]);

/** The message that a call is about; undefined where it sends none. */
function messageOf({ name, callId, arguments: args }: Call): string | undefined {
	if (SENDING_TOOLS.has(name)) return callId;
	if (name !== PEER_TOOL || !isObject(args) || WITHOUT_MESSAGE.has(args.action)) return undefined;
	return typeof args.messageId === "string" && args.messageId !== "" ? args.messageId : callId;
}

/** What tells whether a call happened: messages and launches are found by an id, other jobs are listed. */
function whereToLook(call: Call): string {
	const messageId = messageOf(call);
	if (messageId !== undefined) return `\`intercom status ${messageId}\` in a shell tells.`;
	const { name, arguments: args } = call;
	const advice = name === PEER_TOOL && isObject(args) ? WITHOUT_MESSAGE.get(args.action) : undefined;
	if (advice !== undefined) return advice;
	switch (name) {
		case "intercom_watch":
			return "Its action `list` shows the watches that there are; those of an agent that ended are gone.";
		case "intercom_create_worker":
		case "intercom_resume_worker":
			return `\`intercom job show ${call.callId}\` in a shell tells.`;
		case "intercom_stop_worker":
		case "intercom_close_worker":
			return "`intercom jobs` in a shell lists the job, if there is one.";
		default:
			return "Where intercom_list is at hand it shows how things are, and the workspace's config what was written.";
	}
}

function outcomeUnknown(call: Call): ToolAnswer {
	const { name, arguments: args } = call;
	const changesNothing = name === PEER_TOOL && isObject(args) && !CHANGING_ACTIONS.has(args.action);
	const advice = changesNothing
		? "It changes nothing, so it can be called again."
		: `It may or may not have happened; do not simply repeat it. ${whereToLook(call)}`;
	return problem(`Outcome unknown: the intercom agent gave no answer to ${name}. ${advice}`, `outcome unknown, id ${messageOf(call) ?? call.callId}`, "OUTCOME_UNKNOWN");
}

function notRunning(name: string): ToolAnswer {
	return problem(`${name} was not sent: the intercom agent is not running. Nothing happened.`, "not sent: the intercom agent is not running", "AGENT_NOT_RUNNING");
}

function cancelled(name: string): ToolAnswer {
	return problem(`${name} was cancelled before it was sent. Nothing happened.`, "cancelled before it was sent", "CANCELLED");
}

function failed(error: unknown): ToolAnswer {
	const message = error instanceof Error ? error.message : String(error);
	if (!(error instanceof AgentRefusal)) return problem(message, message, "HOST_LINK_FAILED");
	return { text: message, summary: message, isError: true, code: error.code, reason: error.reason };
}
