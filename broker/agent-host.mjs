// A session without Pi: starts one `intercom-agent` and speaks the contract of
// worker-agent/host/README.md to it as a host does. It keeps a session's
// entries in memory. Used by the round trip of start.sh and by the tests; runs
// on Node 18 or newer.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

// The agent's parent is what the broker takes for the host. A shell in between
// keeps this process, and what it starts, out of the session.
const HOST = '"$0" "$@"; exit $?';

const ANSWER_WITHIN_MS = 30_000;

export class AgentHost extends EventEmitter {
	#options;
	#child;
	#input = "";
	#nextId = 1;
	#pending = new Map();
	#stderr = "";
	#notes = [];

	/** The deliveries that this session took, oldest first: its "entries". */
	entries = [];
	/** Deliveries that are here but not taken, because `takes` is false. */
	held = [];
	/** What the agent last said of the session. */
	session = { connection: "none", tools: [] };
	/** Whether deliveries are taken into the session as they come. */
	takes = true;
	/** Whether a reload is obeyed at once. */
	obeys = true;

	/**
	 * `bin` is the directory of the programs, `cwd` the session's directory. Optional:
	 * sessionId, name, env, args (of the agent), startReason, workspaceMode,
	 * workspaceRoot, `entries` of an earlier life of the session, `capabilities`
	 * and `launch` as `initialize` carries them, and `controls`: functions by kind
	 * that answer a control in place of this stub.
	 */
	constructor(options) {
		super();
		this.#options = options;
		this.sessionId = options.sessionId ?? randomUUID();
		this.name = options.name ?? "";
		this.entries = options.entries ?? [];
		this.setMaxListeners(100);
	}

	/** Starts the agent and initializes it; does not wait for the broker. */
	start() {
		const { bin, cwd, env = process.env, args = [] } = this.#options;
		this.#child = spawn("/bin/sh", ["-c", HOST, join(bin, "intercom-agent"), ...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
		this.exited = new Promise((resolve) => {
			this.#child.on("error", (error) => resolve(`cannot start: ${error.message}`));
			this.#child.on("exit", (code, signal) => resolve(signal ?? code));
		});
		this.exited.then((how) => this.#ended(how));
		this.#child.stdin.on("error", () => undefined);
		this.#child.stdout.setEncoding("utf8");
		this.#child.stdout.on("data", (data) => this.#read(data));
		this.#child.stderr.on("data", (data) => {
			this.#stderr = (this.#stderr + data).slice(-20_000);
		});
		this.initialized = this.request("initialize", this.#initialize());
		this.initialized.catch(() => undefined);
		return this;
	}

	#initialize() {
		const { cwd, workspaceMode, workspaceRoot, startReason, capabilities, launch } = this.#options;
		return {
			protocolVersion: 1,
			sessionId: this.sessionId,
			...(this.name === "" ? {} : { sessionName: this.name }),
			cwd,
			host: { kind: "pi", version: "1.6.0", pid: this.hostPid, mode: "tui" },
			startReason: startReason ?? "startup",
			workspaceMode: workspaceMode ?? "auto",
			...(workspaceRoot === undefined ? {} : { workspaceRoot }),
			...(capabilities === undefined ? {} : { capabilities }),
			...(launch === undefined ? {} : { launch }),
		};
	}

	/** The process that the broker knows as the host. */
	get hostPid() {
		return this.#child?.pid;
	}

	/** The agent's process, once it runs. */
	get agentPid() {
		try {
			const children = readFileSync(`/proc/${this.hostPid}/task/${this.hostPid}/children`, "utf8");
			return Number(children.trim().split(" ")[0]) || undefined;
		} catch {
			return undefined;
		}
	}

	/** A JSON-RPC request to the agent; rejects with its error. */
	request(method, params) {
		const id = this.#nextId++;
		return new Promise((resolve, reject) => {
			const timer = setTimeout(() => {
				this.#pending.delete(id);
				reject(new Error(`no answer to ${method} within ${ANSWER_WITHIN_MS} ms\n${this.report()}`));
			}, ANSWER_WITHIN_MS);
			timer.unref();
			this.#pending.set(id, { resolve, reject, timer, method });
			this.#write({ jsonrpc: "2.0", id, method, params });
		});
	}

	notify(method, params) {
		this.#write({ jsonrpc: "2.0", method, params });
	}

	/** Calls a tool as the model would: {text, isError, code?, reason?, details?}. */
	callTool(name, args = {}, callId = randomUUID()) {
		return this.request("tools/call", { name, arguments: args, callId });
	}

	/** Takes a delivery into the session and proves it. */
	take(delivery) {
		this.held = this.held.filter((held) => held !== delivery);
		if (!this.#has(delivery.deliveryId)) this.entries.push(delivery);
		this.emit("taken", delivery);
		this.receipt(delivery, "injected");
		this.receipt(delivery, "seen");
	}

	/** Takes what was held, and all that comes from now on. */
	release() {
		this.takes = true;
		for (const delivery of [...this.held]) this.take(delivery);
	}

	receipt(delivery, event, more = {}) {
		this.notify("receipt", { deliveryId: delivery.deliveryId, event, evidence: "host stub", ...more });
	}

	/** Waits until `look(this)` is truthy, and returns what it said. */
	until(what, look, withinMs = 15_000) {
		const found = look(this);
		if (found) return Promise.resolve(found);
		return new Promise((resolve, reject) => {
			const done = (settle, value) => {
				clearTimeout(timer);
				this.off("change", onChange);
				settle(value);
			};
			const onChange = () => {
				const now = look(this);
				if (now) done(resolve, now);
			};
			const timer = setTimeout(() => {
				done(reject, new Error(`${this.name || this.sessionId}: waited ${withinMs} ms in vain for ${what}\n${this.report()}`));
			}, withinMs);
			this.on("change", onChange);
		});
	}

	/** Waits until the session is attached; rejects when it is refused. */
	async attached(withinMs) {
		const session = await this.until("the broker", () => /^(connected|refused|ended)$/.test(this.session.connection) && this.session, withinMs);
		if (session.connection !== "connected") {
			throw new Error(`${session.connection}: ${session.error?.reason}: ${session.error?.message}`);
		}
		return session;
	}

	/** Waits for a delivery whose text contains `text`. */
	delivered(text, withinMs) {
		return this.until(`a delivery with "${text}"`, () => this.entries.find((entry) => entry.content.includes(text)), withinMs);
	}

	/** Says goodbye, closes the agent's input, and waits for its end. */
	async leave(reason = "quit") {
		this.notify("goodbye", { reason });
		this.#child.stdin.end();
		return this.exited;
	}

	/** Ends the agent at once, and the session with it. Harmless after its end. */
	stop(signal = "SIGKILL") {
		const agent = this.agentPid;
		if (agent !== undefined) process.kill(agent, signal);
		this.#child?.kill(signal);
	}

	/** The agent's input as a stream, for what no well-behaved host would write. */
	get stdin() {
		return this.#child.stdin;
	}

	get stdout() {
		return this.#child.stdout;
	}

	get stderr() {
		return this.#stderr;
	}

	report() {
		const { tools, instructions, ...session } = this.session;
		return `session: ${JSON.stringify(session)}\nnotes: ${this.#notes.join(" | ")}\nagent's log:\n${this.#stderr.slice(-3_000)}`;
	}

	#has(deliveryId) {
		return this.entries.some((entry) => entry.deliveryId === deliveryId);
	}

	#write(message) {
		if (this.#child.stdin.writable) this.#child.stdin.write(`${JSON.stringify(message)}\n`);
	}

	#ended(how) {
		for (const { reject, timer, method } of this.#pending.values()) {
			clearTimeout(timer);
			reject(new Error(`the agent ended (${how}) before it answered ${method}\n${this.report()}`));
		}
		this.#pending.clear();
		this.emit("change");
	}

	#read(data) {
		this.#input += data;
		for (let end = this.#input.indexOf("\n"); end >= 0; end = this.#input.indexOf("\n")) {
			const line = this.#input.slice(0, end);
			this.#input = this.#input.slice(end + 1);
			this.#dispatch(JSON.parse(line));
			this.emit("change");
		}
	}

	#dispatch(message) {
		if (message.method === undefined) {
			const waiting = this.#pending.get(message.id);
			this.#pending.delete(message.id);
			clearTimeout(waiting?.timer);
			if (message.error === undefined) waiting?.resolve(message.result);
			else waiting?.reject(Object.assign(new Error(message.error.message), { rpc: message.error }));
			return;
		}
		const result = this.#serve(message.method, message.params);
		if (message.id !== undefined && result !== undefined) this.#write({ jsonrpc: "2.0", id: message.id, result });
	}

	#serve(method, params) {
		switch (method) {
			case "session":
				return this.#onSession(params);
			case "deliver":
				return this.#onDeliver(params);
			case "withdraw": {
				const held = this.held.find((delivery) => delivery.deliveryId === params.deliveryId);
				this.held = this.held.filter((delivery) => delivery !== held);
				return { outcome: held === undefined ? "tooLate" : "withdrawn" };
			}
			case "reconcile":
				return { present: params.deliveryIds.filter((id) => this.#has(id)) };
			case "control":
				return this.#onControl(params);
			case "notice":
				this.#notes.push(`${params.level}: ${params.text}`);
				return undefined;
			default:
				this.#notes.push(`unknown method ${method}`);
				return undefined;
		}
	}

	#onSession(session) {
		this.session = session;
		this.emit("session", session);
		const { entry, loaded, awaitReload } = session;
		if (entry && !loaded && !awaitReload && this.obeys) this.#load(entry);
	}

	#onDeliver(delivery) {
		if (this.takes) {
			this.take(delivery);
			return;
		}
		if (!this.held.some((held) => held.deliveryId === delivery.deliveryId)) this.held.push(delivery);
		this.receipt(delivery, "held", { waitReason: "busy" });
	}

	#onControl(params) {
		const { kind, entry } = params;
		const answer = this.#options.controls?.[kind]?.(params, this);
		if (answer !== undefined) return answer;
		if (kind === "reportStatus" || kind === "probe") return { ok: true, busy: !this.takes, sessionId: this.sessionId };
		if (kind !== "reloadResponsibility") return { ok: false, error: `the stub knows no ${kind}` };
		if (!this.obeys) return { ok: false, error: "the stub does not obey" };
		this.#load(entry);
		return { ok: true };
	}

	#load(entry) {
		if (!entry.coordinator) this.name = entry.name;
		this.notify("responsibility/loaded", { entryHash: entry.hash });
	}
}
