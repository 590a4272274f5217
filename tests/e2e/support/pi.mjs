// One real Pi session in a terminal of its own.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./broker.mjs";
import { childrenOf, end, isAlive } from "./processes.mjs";
import { injected, sessionEntries, toolResults } from "./session-file.mjs";
import { until } from "./until.mjs";

export const NODE = join(ROOT, "extension/node_modules/node/bin/node");
export const PI = join(ROOT, "extension/node_modules/.bin/pi");
export const EXTENSION = process.env.INTERCOM_EXTENSION ?? join(ROOT, "extension/src/index.ts");

/** Pi's own directory for a session: its model answers under `name`. Returns it. */
export function writeAgentDirectory(rig, name) {
	const directory = join(rig.directory, "agents", name);
	mkdirSync(directory, { recursive: true });
	const model = { id: "fake-1", contextWindow: 128_000, maxTokens: 4_096 };
	const provider = { baseUrl: rig.model.url(name), api: "openai-completions", apiKey: "none", models: [model] };
	writeFileSync(join(directory, "models.json"), JSON.stringify({ providers: { fake: provider } }));
	const settings = {
		...{ defaultProvider: "fake", defaultModel: "fake-1", enableInstallTelemetry: false, quietStartup: true },
		// A short session can be compacted, and two Escapes are only that.
		...{ compaction: { keepRecentTokens: 1 }, doubleEscapeAction: "none" },
	};
	writeFileSync(join(directory, "settings.json"), JSON.stringify(settings));
	return directory;
}

export class PiSession {
	#rig;
	#pane;
	#launchedBy;
	#hasLaunched = false;

	/** Made by Rig.startPi. */
	constructor(rig, { name, dir, sessionId, args = [], env = {} }) {
		this.#rig = rig;
		this.name = name;
		this.dir = dir;
		this.sessionId = sessionId;
		this.args = args;
		this.env = env;
		this.agentDirectory = join(rig.directory, "agents", name);
	}

	/**
	 * A Pi that the coordinator `by` launched into this scenario's tmux: it shares that one's agent directory and model
	 * address, so its requests are told by the name in its system prompt.
	 */
	static async launched(rig, by, { sessionId, name }) {
		const pi = new PiSession(rig, { name, dir: by.dir, sessionId });
		pi.agentDirectory = by.agentDirectory;
		pi.#launchedBy = by;
		by.#hasLaunched = true;
		const entry = await until(`${sessionId} attached`, () => pi.rosterEntry());
		pi.pid = Number(entry.hostPid);
		pi.#pane = await until(`the pane of ${name}`, async () => (await rig.tmux.panes()).find((pane) => pane.pid === pi.pid)?.pane);
		rig.sessions.push(pi);
		return pi;
	}

	/** Its place in tmux. */
	get pane() {
		return this.#pane;
	}

	/** Starts the host, or starts it again with the same session. */
	async start() {
		writeAgentDirectory(this.#rig, this.name);
		const opened = await this.#rig.tmux.open({
			argv: [NODE, PI, "--session-id", this.sessionId, "-e", EXTENSION, ...this.args],
			cwd: this.dir,
			env: { ...this.#rig.env, PI_CODING_AGENT_DIR: this.agentDirectory, ...this.env },
		});
		this.#pane = opened.pane;
		this.pid = opened.pid;
		return this;
	}

	/** Waits for the status line to say `pattern`; by default, that it is attached. */
	async ready(pattern = /coordinator|anonymous|worker/i) {
		await this.waitForScreen(pattern, { timeoutMs: 40_000 });
		await until(`${this.name} in the roster`, async () => (await this.rosterEntry())?.presence === "PRESENCE_ATTACHED", {
			timeoutMs: 20_000,
		});
		return this;
	}

	/** This session as the broker's roster shows it. */
	async rosterEntry() {
		const { entries = [] } = await this.#rig.broker.call("InspectionService/ListAttachments");
		return entries.find((entry) => entry.sessionId === this.sessionId);
	}

	screen() {
		return this.#rig.tmux.screen(this.#pane);
	}

	waitForScreen(pattern, options = {}) {
		const look = async () => {
			const screen = await this.screen();
			if (!pattern.test(screen) && (await this.#rig.tmux.isDead(this.#pane))) {
				throw Object.assign(new Error(`${this.name} ended:\n${screen}`), { final: true });
			}
			return pattern.test(screen);
		};
		return until(`${pattern} on the screen of ${this.name}`, look, { detail: () => this.screen(), ...options });
	}

	/** Types a line and presses Enter once the editor shows it. */
	async prompt(text) {
		await this.#rig.tmux.type(this.#pane, text);
		const visible = text.slice(0, 40);
		await until(`"${visible}" typed into ${this.name}`, async () => (await this.screen()).includes(visible), {
			detail: () => this.screen(),
		});
		await this.#rig.tmux.press(this.#pane, "Enter");
	}

	press(...keys) {
		return this.#rig.tmux.press(this.#pane, ...keys);
	}

	requests() {
		if (this.#launchedBy !== undefined) {
			return this.#rig.model.requests(this.#launchedBy.name).filter((request) => request.system.includes(`You are ${this.name}, a worker in`));
		}
		const all = this.#rig.model.requests(this.name);
		return this.#hasLaunched ? all.filter((request) => request.system.includes("You are the coordinator of")) : all;
	}

	/** Waits for an ordinary model request that `matches`; returns it. */
	waitForRequest(what, matches, options = {}) {
		return until(
			`a model request of ${this.name}: ${what}`,
			() => this.requests().find((request) => !request.compaction && matches(request)),
			{ timeoutMs: 30_000, detail: () => this.screen(), ...options },
		);
	}

	/** Waits for a request whose newest message contains `text`. */
	waitForText(text, options = {}) {
		return this.waitForRequest(`"${text}"`, (request) => request.users.some((user) => user.includes(text)), options);
	}

	entries(sessionId = this.sessionId) {
		return sessionEntries(this.agentDirectory, sessionId);
	}

	/** The intercom messages in the session's file, in order. */
	injected(sessionId = this.sessionId) {
		return injected(this.agentDirectory, sessionId);
	}

	toolResults(sessionId = this.sessionId) {
		return toolResults(this.agentDirectory, sessionId);
	}

	/** Waits for the nth result (from 0) of a tool in the session's file. */
	toolResult(tool, nth = 0, options = {}) {
		return until(
			`result ${nth} of ${tool} in ${this.name}`,
			() => this.toolResults().filter((result) => result.tool === tool)[nth],
			{ timeoutMs: 30_000, detail: () => this.screen(), ...options },
		);
	}

	/** How often the injected messages contain `text`. */
	times(text, sessionId = this.sessionId) {
		return this.injected(sessionId).filter((message) => message.content.includes(text)).length;
	}

	agentPids() {
		return childrenOf(this.pid, "intercom-agent");
	}

	/** SIGKILL to the host; its agent ends with it. */
	async kill() {
		const agents = this.agentPids();
		await end(this.pid);
		for (const agent of agents) {
			await until(`the end of agent ${agent}`, () => !isAlive(agent), { timeoutMs: 10_000 });
		}
	}

	/** Leaves as a person does, and returns the exit status. */
	async quit() {
		await this.#rig.tmux.press(this.#pane, "C-d");
		await until(`the end of ${this.name}`, () => this.#rig.tmux.isDead(this.#pane), { detail: () => this.screen() });
		return this.#rig.tmux.exitStatus(this.#pane);
	}

	async report() {
		const screen = await this.#rig.tmux.history(this.#pane).catch((error) => `(no screen: ${error.message})`);
		const requests = this.requests().map((request) => {
			return `  #${request.id} ${request.lastRole}: ${request.lastText.slice(0, 160).replaceAll("\n", "⏎")}`;
		});
		return `--- ${this.name} (${this.sessionId}, pid ${this.pid})\n${screen.replace(/\n{3,}/g, "\n\n")}\nmodel requests:\n${requests.join("\n")}`;
	}
}
