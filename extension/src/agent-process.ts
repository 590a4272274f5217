import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { isObject, type JsonObject, PROTOCOL_VERSION } from "./contract.ts";
import { AgentGone, JsonRpc } from "./json-rpc.ts";
import type { Timers } from "./timers.ts";

const STDERR_LIMIT_CHARS = 8 * 1024;
const FIRST_BACKOFF_MS = 200;
const LAST_BACKOFF_MS = 10_000;
const BACKOFF_GROWTH = 3.7;
const STARTS_PER_MINUTE = 5;
const MINUTE_MS = 60_000;
const INITIALIZE_LIMIT_MS = 10_000;
const END_LIMIT_MS = 1_000;
const TERM_LIMIT_MS = 500;

export type AgentChild = ChildProcessByStdio<Writable, Readable, Readable>;

/** What the link's owner provides. No callback may throw; one that does is reported as a notice and goes no further. */
export interface AgentOwner {
	/** Starts one agent process. May throw. */
	spawn(): AgentChild;
	/** The params of `initialize`. `again` is true where an agent of this link died before. */
	initialize(again: boolean): JsonObject;
	onUp(): void;
	/** The agent died or stopped reading. Another start follows unless `onGaveUp` is called. */
	onDown(): void;
	/** There will be no further start. `problem` is for a person. */
	onGaveUp(problem: string): void;
	onNotification(method: string, params: unknown): void;
	/** Answers a request of the agent; a rejection becomes an error answer. */
	onRequest(method: string, params: unknown): Promise<JsonObject>;
}

/** One running agent process. */
interface Life {
	readonly child: AgentChild;
	readonly exited: Promise<void>;
	readonly rpc: JsonRpc;
	up: boolean;
	over: boolean;
}

/**
 * The JSON-RPC link to the agent over the standard streams of a child process: starts it, starts it again after a
 * death (0.2 s to 10 s apart, at most five starts a minute), and ends it. Nothing here throws into the host.
 */
export class AgentProcess {
	readonly #owner: AgentOwner;
	readonly #timers: Timers;
	readonly #starts: number[] = [];
	readonly #waiting = new Map<() => void, number>();
	#life: Life | undefined;
	#launches = 0;
	#started = false;
	#gaveUp = false;
	#retired = false;
	#stopping: Promise<void> | undefined;
	#cancelRestart: (() => void) | undefined;
	#log = "";

	constructor(owner: AgentOwner, timers: Timers) {
		this.#owner = owner;
		this.#timers = timers;
	}

	/** Whether a call can be sent now: an agent that is about to be found dead is not up. */
	get isUp(): boolean {
		return this.#life?.up === true && this.#life.rpc.isOpen;
	}

	/** Whether no agent will come up any more. */
	get isFinal(): boolean {
		return this.#gaveUp || this.#retired || this.#stopping !== undefined;
	}

	/** The end of what agents wrote to standard error, with the link's own remarks. */
	get log(): string {
		return this.#log;
	}

	start(): void {
		if (this.#started || this.isFinal) return;
		this.#started = true;
		this.#launch();
	}

	/** Whether the agent said that its session has ended or is refused: its exit is then no death. */
	setRetired(isRetired: boolean): void {
		this.#retired = isRetired;
		if (!isRetired) return;
		this.#cancelRestart?.();
		this.#wake();
	}

	/** Rejects with AgentGone, with AgentRefusal, or with an Error where the message is too long to send. */
	call(method: string, params: JsonObject): Promise<unknown> {
		const life = this.#life;
		if (life === undefined || !life.up) return Promise.reject(new AgentGone("the intercom agent is not running"));
		return new Promise((resolve, reject) => life.rpc.request(method, params, { resolve, reject }));
	}

	/** False where the message was not sent: no agent, or too long. */
	notify(method: string, params: JsonObject): boolean {
		const life = this.#life;
		return life !== undefined && life.up && life.rpc.notify(method, params);
	}

	/**
	 * Resolves to whether an agent is up, within `limitMs`. Of those that wait, the lowest `order` goes on first: a call
	 * that an agent's death cut off waits later than one made after it, and is to be repeated before that one is sent.
	 */
	whenUp(limitMs: number, order: number, signal?: AbortSignal): Promise<boolean> {
		if (this.isUp) return Promise.resolve(true);
		if (this.isFinal || signal?.aborted === true) return Promise.resolve(false);
		return new Promise((resolve) => {
			const finish = (): void => {
				this.#waiting.delete(finish);
				signal?.removeEventListener("abort", finish);
				cancel();
				resolve(this.isUp);
			};
			const cancel = this.#timers.after(Math.max(0, limitMs), finish);
			this.#waiting.set(finish, order);
			signal?.addEventListener("abort", finish);
		});
	}

	/** Says goodbye and leaves no process behind. Calling it twice is harmless. */
	stop(reason: string): Promise<void> {
		this.#stopping ??= this.#stop(reason);
		return this.#stopping;
	}

	async #stop(reason: string): Promise<void> {
		this.#cancelRestart?.();
		const life = this.#life;
		this.#wake();
		if (life === undefined) return;
		if (life.up) life.rpc.notify("goodbye", { reason });
		life.child.stdin.end();
		if (!(await this.#exitsWithin(life, END_LIMIT_MS))) {
			life.child.kill("SIGTERM");
			if (!(await this.#exitsWithin(life, TERM_LIMIT_MS))) {
				life.child.kill("SIGKILL");
				await this.#exitsWithin(life, TERM_LIMIT_MS);
			}
		}
		this.#bury(life);
	}

	#exitsWithin(life: Life, limitMs: number): Promise<boolean> {
		return new Promise((resolve) => {
			const cancel = this.#timers.after(limitMs, () => resolve(false));
			void life.exited.then(() => {
				cancel();
				resolve(true);
			});
		});
	}

	#launch(): void {
		const now = this.#timers.now();
		while (this.#starts[0] !== undefined && now - this.#starts[0] >= MINUTE_MS) this.#starts.shift();
		if (this.#starts.length >= STARTS_PER_MINUTE) {
			this.#giveUp(`The intercom agent ended ${STARTS_PER_MINUTE} times within a minute and is not started again; /reload tries anew.`);
			return;
		}
		this.#starts.push(now);
		this.#launches++;
		let child: AgentChild;
		try {
			child = this.#owner.spawn();
		} catch (error) {
			this.#remark(`start failed: ${String(error)}`);
			this.#restart();
			return;
		}
		const exited = new Promise<void>((resolve) => {
			child.once("close", () => resolve());
			child.once("error", (error) => {
				this.#remark(`start failed: ${error.message}`);
				if (child.pid === undefined) resolve();
			});
		});
		const rpc = new JsonRpc(child.stdout, child.stdin, {
			onNotification: (method, params) => this.#owner.onNotification(method, params),
			onRequest: (method, params) => this.#owner.onRequest(method, params),
			onStuck: () => child.kill("SIGKILL"),
			onRemark: (text) => this.#remark(text),
		});
		const life: Life = { child, exited, rpc, up: false, over: false };
		this.#life = life;
		child.stderr.on("data", (chunk: Buffer) => this.#keepLog(chunk.toString("utf8")));
		child.stderr.on("error", (error: Error) => this.#remark(`reading failed: ${error.message}`));
		void exited.then(() => this.#died(life));
		this.#initialize(life);
	}

	#initialize(life: Life): void {
		const cancelLimit = this.#timers.after(INITIALIZE_LIMIT_MS, () => {
			this.#remark("initialize was not answered");
			life.child.kill("SIGKILL");
		});
		const failed = (error: unknown): void => {
			cancelLimit();
			this.#remark(`initialize failed: ${error instanceof Error ? error.message : String(error)}`);
			if (!life.over) life.child.kill("SIGTERM");
		};
		// The answer takes effect within its own line: the next one, often in the same chunk, is the session's state.
		const resolve = (result: unknown): void => {
			cancelLimit();
			this.#initialized(life, result);
		};
		let params: JsonObject;
		try {
			params = { protocolVersion: PROTOCOL_VERSION, ...this.#owner.initialize(this.#launches > 1) };
		} catch (error) {
			failed(error);
			return;
		}
		life.rpc.request("initialize", params, { resolve, reject: failed });
	}

	#initialized(life: Life, result: unknown): void {
		if (!isObject(result) || result.protocolVersion !== PROTOCOL_VERSION) {
			this.#giveUp(`The intercom agent speaks another protocol version than this extension (${PROTOCOL_VERSION}): install both from one release.`);
			life.child.kill("SIGTERM");
			return;
		}
		if (this.#stopping !== undefined) return;
		life.up = true;
		this.#guarded(() => this.#owner.onUp());
		this.#wake();
	}

	#died(life: Life): void {
		if (life.over) return;
		const wasUp = life.up;
		this.#bury(life);
		if (this.isFinal) return;
		if (wasUp) this.#guarded(() => this.#owner.onDown());
		this.#restart();
	}

	#bury(life: Life): void {
		life.over = true;
		life.up = false;
		if (this.#life === life) this.#life = undefined;
		life.rpc.close();
	}

	#restart(): void {
		const delayMs = Math.min(LAST_BACKOFF_MS, FIRST_BACKOFF_MS * BACKOFF_GROWTH ** (this.#starts.length - 1));
		this.#cancelRestart = this.#timers.after(delayMs, () => {
			if (!this.isFinal) this.#launch();
		});
	}

	#giveUp(problem: string): void {
		if (this.isFinal) return;
		this.#gaveUp = true;
		this.#wake();
		const tail = this.#log.trim().split("\n").slice(-3).join("\n");
		this.#guarded(() => this.#owner.onGaveUp(tail === "" ? problem : `${problem}\n${tail}`));
	}

	#wake(): void {
		const inOrder = [...this.#waiting].sort(([, a], [, b]) => a - b);
		for (const [finish] of inOrder) finish();
	}

	#guarded(run: () => void): void {
		try {
			run();
		} catch (error) {
			this.#remark(error instanceof Error ? error.message : String(error));
		}
	}

	#remark(text: string): void {
		this.#keepLog(`extension: ${text}\n`);
	}

	#keepLog(text: string): void {
		this.#log = (this.#log + text).slice(-STDERR_LIMIT_CHARS);
	}
}
