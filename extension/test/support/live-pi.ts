import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isObject, type JsonObject } from "../../src/contract.ts";
import { jsonLines } from "./json-lines.ts";

const run = promisify(execFile);
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const NODE = here("../../node_modules/node/bin/node");
const PI = here("../../node_modules/.bin/pi");
const EXTENSION = here("../../src/index.ts");
const PACKAGE = here("../..");
/** Writes down how a terminal's program ended, and keeps the terminal. */
const IN_TERMINAL = '"$@"; echo $? >"$0"; sleep 600';

export type LiveMode = "rpc" | "tui";

export interface LiveOptions {
	readonly mode: LiveMode;
	readonly sessionId?: string;
	/** Further extensions. */
	readonly extensions?: readonly string[];
	/** The first state that the agent sends; a plain peer where it is left out. */
	readonly session?: JsonObject;
	/** The text of the person's intercom/config.json. */
	readonly config?: string;
	/** Loads the extension as the package that it is, rather than by its file. */
	readonly asPackage?: boolean;
	/** False where the session is not to attach. */
	readonly attaches?: boolean;
}

export interface ModelRequest {
	readonly isCompaction: boolean;
	readonly users: readonly string[];
	readonly tools: readonly string[];
}

/** Calls `look` until it returns something; rejects at the deadline with what it was for. */
export async function until<T>(what: string, look: () => T | undefined | false | Promise<T | undefined | false>, detail?: () => unknown): Promise<T> {
	const deadline = performance.now() + 30_000;
	for (;;) {
		const found = await look();
		if (found !== undefined && found !== false) return found;
		if (performance.now() > deadline) throw new Error(`waited in vain for ${what}${detail === undefined ? "" : `\n${String(await detail())}`}`);
		await new Promise((resolve) => setTimeout(resolve, 30));
	}
}

/** Runs `body` with a session of its own, and leaves nothing of it behind. */
export async function withPi(options: LiveOptions, body: (pi: LivePi) => Promise<void>): Promise<void> {
	const pi = await LivePi.start(options);
	try {
		await body(pi);
	} finally {
		await pi.stop();
	}
}

/** A `deliver` whose text is the script of what the model does then. */
export function deliver(id: string, acceptedAt: string, text: string, kind = "message"): JsonObject {
	const from = { sessionId: "alice", name: "Alice", role: "worker", origin: "session" };
	const params = { deliveryId: `alice/${id}`, envelopeId: id, kind, quiet: false, from, acceptedAt };
	return { method: "deliver", params: { ...params, content: `Alice:\n> ${text}`, summary: text } };
}

/** The installed Pi with this extension, offline, with a scripted model of its own and `fake-agent.mjs` as the agent. */
export class LivePi {
	readonly folder = mkdtempSync(join(tmpdir(), "icl-"));
	readonly project = join(this.folder, "project");
	readonly sessionId: string;
	readonly #options: LiveOptions;
	#socket = "";
	#model: ChildProcess | undefined;
	#modelUrl = "";
	#host: ChildProcess | undefined;
	#output = "";
	#exit: number | undefined;
	#controls = 0;

	private constructor(options: LiveOptions) {
		this.#options = options;
		this.sessionId = options.sessionId ?? randomUUID();
	}

	/** Starts everything and waits until the session is attached. */
	static async start(options: LiveOptions): Promise<LivePi> {
		const pi = new LivePi(options);
		mkdirSync(pi.project);
		mkdirSync(join(pi.folder, "agent", "send"), { recursive: true });
		try {
			await pi.#startModel();
			await pi.startHost();
		} catch (error) {
			await pi.stop();
			throw error;
		}
		return pi;
	}

	/** Starts the host, perhaps again, with the same session, which `as` names. */
	async startHost(as: "--session-id" | "--session" = "--session-id"): Promise<void> {
		writeFileSync(this.#receivedPath(), "");
		rmSync(this.#exitPath(), { force: true });
		const own = this.#options.asPackage === true ? [] : [EXTENSION];
		const argv = [NODE, PI, as, this.sessionId, ...[...own, ...(this.#options.extensions ?? [])].flatMap((path) => ["-e", path])];
		const inherited = Object.entries(process.env).filter(([name]) => ["PATH", "HOME", "USER", "SHELL"].includes(name));
		const env = {
			...Object.fromEntries(inherited),
			...{ LANG: "C.UTF-8", TERM: "xterm-256color", PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" },
			...{ PI_CODING_AGENT_DIR: join(this.folder, "pi"), PI_INTERCOM_AGENT: here("fake-agent.mjs"), PI_INTERCOM_LAUNCH_TOKEN: "a token" },
			...{ FAKE_AGENT_DIR: join(this.folder, "agent"), ...(this.#options.session === undefined ? {} : { FAKE_AGENT_SESSION: JSON.stringify(this.#options.session) }) },
		};
		if (this.#options.mode === "rpc") {
			this.#host = spawn(argv[0] ?? "", [...argv.slice(1), "--mode", "rpc"], { cwd: this.project, env, stdio: ["pipe", "pipe", "pipe"] });
			for (const stream of [this.#host.stdout, this.#host.stderr]) stream?.on("data", (chunk: Buffer) => void (this.#output += chunk.toString("utf8")));
			this.#host.once("exit", (code) => void (this.#exit = code ?? -1));
		} else {
			const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
			await this.#endTerminal();
			this.#socket = `icl-${randomBytes(6).toString("hex")}`;
			await this.#tmux("new-session", "-d", "-x", "110", "-y", "35", "-c", this.project, ...variables, "--", "/bin/sh", "-c", IN_TERMINAL, this.#exitPath(), ...argv);
		}
		if (this.#options.attaches !== false) await until("the session to attach", () => this.received("initialize")[0], () => this.screen());
		if (this.#options.mode === "tui") await until("the terminal's footer", async () => /fake-1/.test(await this.screen()), () => this.screen());
	}

	/** The pid of the running host. */
	get pid(): number {
		const { host } = this.received("initialize")[0] ?? {};
		return isObject(host) && typeof host.pid === "number" ? host.pid : 0;
	}

	/** Types a prompt, or sends it as RPC. */
	async prompt(text: string, command: JsonObject = { type: "prompt" }): Promise<void> {
		if (this.#options.mode === "rpc") {
			this.#host?.stdin?.write(`${JSON.stringify({ id: randomUUID(), ...command, message: text })}\n`);
			return;
		}
		await this.#tmux("send-keys", "-t", "0", "-l", text);
		await until(`"${text}" in the editor`, async () => (await this.screen()).includes(text.slice(0, 40)), () => this.screen());
		await this.#tmux("send-keys", "-t", "0", "Enter");
	}

	/** Presses keys in the terminal, each by tmux's name for it. */
	async press(...keys: string[]): Promise<void> {
		await this.#tmux("send-keys", "-t", "0", ...keys);
	}

	/** Types text in the terminal, whatever has its focus. */
	async type(text: string): Promise<void> {
		await this.#tmux("send-keys", "-t", "0", "-l", text);
	}

	async resize(columns: number, rows: number): Promise<void> {
		await this.#tmux("resize-window", "-t", "0", "-x", String(columns), "-y", String(rows));
	}

	/** Puts a file into the agent's folder, from which it takes its answers. */
	tellAgent(name: string, content: JsonObject): void {
		writeFileSync(join(this.folder, "agent", `.${name}`), JSON.stringify(content));
		renameSync(join(this.folder, "agent", `.${name}`), join(this.folder, "agent", name));
	}

	/** A command of the RPC protocol. */
	rpc(command: JsonObject): void {
		this.#host?.stdin?.write(`${JSON.stringify(command)}\n`);
	}

	agentSends(...messages: JsonObject[]): void {
		const name = `${process.hrtime.bigint()}`;
		const path = join(this.folder, "agent", `.${name}`);
		writeFileSync(path, messages.map((message) => JSON.stringify({ jsonrpc: "2.0", ...message })).join("\n"));
		renameSync(path, join(this.folder, "agent", "send", name));
	}

	/** Sends a control and resolves with its answer. */
	async control(kind: string, params: JsonObject = {}): Promise<JsonObject> {
		const id = `control-${kind}-${++this.#controls}`;
		this.agentSends({ id, method: "control", params: { controlId: id, kind, ...params } });
		return this.answerTo(id);
	}

	/** The host's answer to the agent's request `id`. */
	async answerTo(id: string): Promise<JsonObject> {
		const answer = await until(`the answer to ${id}`, () => this.#lines().find((message) => message.id === id), () => this.report());
		return isObject(answer.result) ? answer.result : answer;
	}

	/** Makes a file in the project, as that for which a tool waits. */
	write(name: string): void {
		writeFileSync(join(this.project, name), "");
	}

	/** Ends an RPC host, and starts it again with the same session. */
	async restart(): Promise<void> {
		this.#host?.stdin?.end();
		await this.exitCode();
		this.#exit = undefined;
		await this.startHost();
	}

	/** The params of what the agent has received of `method`, oldest first. */
	received(method: string): JsonObject[] {
		return this.#lines().flatMap((message) => (message.method === method && isObject(message.params) ? [message.params] : []));
	}

	/** The methods of all that the agent has received, in order. */
	receivedMethods(): unknown[] {
		return this.#lines().map(({ method }) => method);
	}

	untilJob(event: string): Promise<JsonObject> {
		return until(`the job event ${event}`, () => this.received("job").find((params) => params.event === event), () => this.report());
	}

	/** The model requests so far. */
	async requests(): Promise<ModelRequest[]> {
		const answer = await fetch(`${this.#modelUrl}/requests`, { signal: AbortSignal.timeout(10_000) });
		return (await answer.json()) as ModelRequest[];
	}

	async untilRequest(text: string): Promise<ModelRequest> {
		return until(`a model request with "${text}"`, async () => (await this.requests()).find((request) => JSON.stringify(request).includes(text)), () => this.report());
	}

	/** Sets fields of the scripted model's `control`. */
	async modelWill(fields: JsonObject): Promise<void> {
		await fetch(`${this.#modelUrl}/control`, { method: "POST", body: JSON.stringify(fields) });
	}

	/** Resolves after `ms` with the number of model requests that came in that time. */
	async requestsWithin(ms: number): Promise<number> {
		const before = (await this.requests()).length;
		await new Promise((resolve) => setTimeout(resolve, ms));
		return (await this.requests()).length - before;
	}

	/** The entries of the session's file; none while there is no file. */
	entries(): JsonObject[] {
		const sessions = join(this.folder, "pi", "sessions");
		const files = existsSync(sessions) ? readdirSync(sessions, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl")) : [];
		return files.flatMap((name) => jsonLines<JsonObject>(join(sessions, name)));
	}

	async screen(): Promise<string> {
		return this.#options.mode === "tui" ? this.#tmux("capture-pane", "-p", "-t", "0") : this.#output.slice(-3_000);
	}

	/** The host's exit code. */
	async exitCode(): Promise<number> {
		const look = (): string | undefined => {
			if (this.#options.mode === "rpc") return this.#exit?.toString();
			return existsSync(this.#exitPath()) ? readFileSync(this.#exitPath(), "utf8").trim() : undefined;
		};
		return Number(await until("the host's end", look, () => this.report()));
	}

	async report(): Promise<string> {
		const requests = JSON.stringify(await this.requests().catch(() => []), undefined, 1);
		return [await this.screen(), readFileSync(this.#receivedPath(), "utf8").slice(-3_000), requests.slice(-2_000)].join("\n");
	}

	async stop(): Promise<void> {
		const { pid } = this;
		this.#host?.kill("SIGTERM");
		await this.#endTerminal();
		if (pid > 0) await until("the host's end", () => !existsSync(`/proc/${pid}/cwd`));
		this.#model?.kill();
		rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
	}

	async #endTerminal(): Promise<void> {
		if (this.#socket !== "") await this.#tmux("kill-server").catch(() => "");
	}

	async #startModel(): Promise<void> {
		this.#model = spawn(NODE, [here("fake-model.mjs"), "0"], { stdio: ["ignore", "pipe", "inherit"] });
		let said = "";
		this.#model.stdout?.on("data", (chunk: Buffer) => void (said += chunk.toString("utf8")));
		const port = await until("the model's port", () => /fake model on (\d+)/.exec(said)?.[1]);
		this.#modelUrl = `http://127.0.0.1:${port}`;
		mkdirSync(join(this.folder, "pi"));
		const models = [{ id: "fake-1", contextWindow: 128_000, maxTokens: 4_096 }];
		const fake = { baseUrl: `${this.#modelUrl}/v1`, api: "openai-completions", apiKey: "dummy", models };
		// A short session can be compacted, and a retry waits for seconds.
		const packages = this.#options.asPackage === true ? { packages: [PACKAGE] } : {};
		const settings = { defaultProvider: "fake", defaultModel: "fake-1", enableInstallTelemetry: false, quietStartup: true, compaction: { keepRecentTokens: 1 }, ...packages };
		writeFileSync(join(this.folder, "pi", "models.json"), JSON.stringify({ providers: { fake } }));
		writeFileSync(join(this.folder, "pi", "settings.json"), JSON.stringify(settings));
		if (this.#options.config !== undefined) {
			mkdirSync(join(this.folder, "pi", "intercom"));
			writeFileSync(join(this.folder, "pi", "intercom", "config.json"), this.#options.config);
		}
	}

	#lines(): JsonObject[] {
		return jsonLines(this.#receivedPath()).flatMap(({ message }) => (isObject(message) ? [message] : []));
	}

	#receivedPath(): string {
		return join(this.folder, "agent", "received.jsonl");
	}

	#exitPath(): string {
		return join(this.folder, "exit");
	}

	async #tmux(...args: string[]): Promise<string> {
		const env = { PATH: process.env.PATH, LANG: "C.UTF-8", TERM: "xterm-256color" };
		const { stdout } = await run("tmux", ["-L", this.#socket, "-f", "/dev/null", ...args], { env, timeout: 10_000 });
		return stdout;
	}
}
