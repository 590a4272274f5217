import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type AgentChild, type AgentOwner, AgentProcess } from "../src/agent-process.ts";
import type { JsonObject } from "../src/contract.ts";
import { AgentGone } from "../src/json-rpc.ts";
import { type BadLine, LineReader } from "../src/line-reader.ts";
import { FakeTimers } from "./support/fake-timers.ts";
import { jsonLines } from "./support/json-lines.ts";

const FAKE_AGENT = fileURLToPath(new URL("support/fake-agent.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "pi-intercom-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function readLines(limitBytes: number, chunks: readonly Buffer[]): { lines: string[]; bad: BadLine[] } {
	const lines: string[] = [];
	const bad: BadLine[] = [];
	const reader = new LineReader(limitBytes, (line) => lines.push(line), (line) => bad.push(line));
	for (const chunk of chunks) reader.read(chunk);
	reader.end();
	return { lines, bad };
}

describe("lines", () => {
	test("may come in any pieces, within a character too", () => {
		const bytes = Buffer.from('{"a":"ä€"}\n\n{"b":1}\n');
		const { lines, bad } = readLines(100, [...bytes].map((byte) => Buffer.of(byte)));
		assert.deepEqual(lines, ['{"a":"ä€"}', '{"b":1}']);
		assert.deepEqual(bad, []);
	});

	test("over the limit are dropped whole, and the next one is read", () => {
		const { lines, bad } = readLines(8, [Buffer.from("12345"), Buffer.from("6789\n1234567\n12345678\n")]);
		assert.deepEqual(lines, ["1234567"]);
		assert.deepEqual(bad, [{ problem: "too long", lengthBytes: 9 }, { problem: "too long", lengthBytes: 8 }]);
	});

	test("that are not UTF-8 or have no end are reported", () => {
		const { lines, bad } = readLines(100, [Buffer.from([0x22, 0xff, 0x22, 0x0a]), Buffer.from("ok\nrest")]);
		assert.deepEqual(lines, ["ok"]);
		assert.deepEqual(bad, [{ problem: "not UTF-8", lengthBytes: 3 }, { problem: "cut off", lengthBytes: 4 }]);
	});
});

/** A link to real child processes, with hand-driven time and a promise for each thing that can happen to it. */
class Bench {
	readonly timers = new FakeTimers();
	readonly children: AgentChild[] = [];
	readonly initializations: boolean[] = [];
	readonly notifications: string[] = [];
	readonly happened: string[] = [];
	readonly folder = mkdtempSync(join(folder, "agent-"));
	readonly link: AgentProcess;
	gaveUp = "";
	#waiting: { readonly event: string; readonly count: number; resolve(): void }[] = [];

	constructor(mode = "", command: readonly string[] = [process.execPath, FAKE_AGENT]) {
		const owner: AgentOwner = {
			spawn: () => {
				const [program = "", ...args] = command;
				const child = spawn(program, args, { env: { ...process.env, FAKE_AGENT_DIR: this.folder, FAKE_AGENT_MODE: mode }, stdio: ["pipe", "pipe", "pipe"] });
				this.children.push(child);
				child.once("close", () => setImmediate(() => this.#note("closed")));
				return child;
			},
			initialize: (again) => {
				this.initializations.push(again);
				return { sessionId: "s" };
			},
			onUp: () => this.#note("up"),
			onDown: () => this.#note("down"),
			onGaveUp: (problem) => {
				this.gaveUp = problem;
				this.#note("gave up");
			},
			onNotification: (method) => {
				this.notifications.push(method);
				this.#note(method);
			},
			onRequest: (method, params) => this.answer(method, params),
		};
		this.link = new AgentProcess(owner, this.timers);
	}

	answer: (method: string, params: unknown) => Promise<JsonObject> = () => Promise.resolve({});

	/** Resolves when `event` has happened `count` times. */
	until(event: string, count = 1): Promise<void> {
		if (this.#count(event) >= count) return Promise.resolve();
		return new Promise((resolve) => this.#waiting.push({ event, count, resolve }));
	}

	send(name: string, text: string): void {
		// Whole at once: the agent takes a file as soon as it sees its name.
		writeFileSync(join(this.folder, name), text);
		renameSync(join(this.folder, name), join(this.folder, "send", name));
	}

	received(): { event: string; message?: JsonObject }[] {
		return jsonLines<{ event: string; message?: JsonObject }>(join(this.folder, "received.jsonl"));
	}

	#count(event: string): number {
		return this.happened.filter((other) => other === event).length;
	}

	#note(event: string): void {
		this.happened.push(event);
		for (const waiting of this.#waiting.filter((other) => other.event === event && this.#count(event) >= other.count)) waiting.resolve();
	}
}

function isAlive(pid: number | undefined): boolean {
	try {
		process.kill(pid ?? 0, 0);
		return pid !== undefined;
	} catch {
		return false;
	}
}

describe("the link", () => {
	test("initializes the agent, carries calls and says goodbye", async () => {
		const bench = new Bench();
		bench.link.start();
		await bench.until("session");
		const answer = await bench.link.call("tools/call", { name: "t", arguments: {}, callId: "c1" });
		assert.deepEqual(answer, { text: "t ran as c1", summary: "t ran", isError: false });
		await bench.link.stop("reload");
		await bench.link.stop("quit");
		assert.equal(isAlive(bench.children[0]?.pid), false);
		assert.deepEqual(bench.received().filter(({ message }) => message?.method === "goodbye").map(({ message }) => message?.params), [{ reason: "reload" }]);
		assert.deepEqual(bench.happened.includes("down"), false);
	});

	test("is up before the session state that comes in the same chunk as the initialize answer", async () => {
		const bench = new Bench();
		bench.link.start();
		await bench.until("session");
		assert.deepEqual(bench.happened, ["up", "session"]);
		await bench.link.stop("quit");
	});

	test("starts a dead agent again and says that it reconnects", async () => {
		const bench = new Bench();
		bench.link.start();
		await bench.until("up");
		const lost = bench.link.call("tools/call", { name: "t", arguments: { die: true }, callId: "c1" });
		await assert.rejects(lost, AgentGone);
		await bench.until("down");
		assert.equal(bench.link.isUp, false);
		bench.timers.advance(199);
		assert.equal(bench.children.length, 1);
		bench.timers.advance(1);
		await bench.until("up", 2);
		assert.deepEqual(bench.initializations, [false, true]);
		await bench.link.stop("quit");
	});

	test("is not up while its agent is about to be found dead, so that nobody repeats a call without end", async () => {
		const bench = new Bench();
		bench.link.start();
		await bench.until("up");
		bench.children[0]?.stdin.destroy();
		assert.equal(bench.link.isUp, false);
		const isUp = bench.link.whenUp(1_000, 1);
		await bench.until("down");
		bench.timers.advance(200);
		assert.equal(await isUp, true);
		await bench.link.stop("quit");
	});

	test("lets those go on who wait for an agent in their own order, not in that of their waiting", async () => {
		const bench = new Bench();
		bench.link.start();
		const woken: number[] = [];
		const waiting = [2, 3, 1].map((order) => bench.link.whenUp(1_000, order).then(() => woken.push(order)));
		await Promise.all(waiting);
		assert.deepEqual(woken, [1, 2, 3]);
		await bench.link.stop("quit");
	});

	test("gives up after five starts within a minute and shows the agent's last words", async () => {
		const bench = new Bench("dying");
		bench.link.start();
		for (let start = 1; start <= 5; start++) {
			await bench.until("closed", start);
			bench.timers.advance(10_000);
		}
		await bench.until("gave up");
		assert.equal(bench.children.length, 5);
		assert.match(bench.gaveUp, /5 times within a minute/);
		assert.match(bench.gaveUp, /dies as told/);
		assert.equal(await bench.link.whenUp(1_000, 1), false);
	});

	test("survives a program that can't be started", async () => {
		const bench = new Bench("", [join(folder, "no-such-program")]);
		bench.link.start();
		for (let start = 1; start <= 5; start++) {
			await bench.until("closed", start);
			bench.timers.advance(10_000);
		}
		assert.match(bench.gaveUp, /ENOENT/);
	});

	test("ends an agent that never answers initialize", async () => {
		const bench = new Bench("mute");
		bench.link.start();
		bench.timers.advance(10_000);
		await bench.until("closed");
		assert.equal(bench.link.isUp, false);
		await bench.link.stop("quit");
	});

	test("leaves no process behind even where the agent ignores goodbye, end of input and SIGTERM", async () => {
		const bench = new Bench("deaf");
		bench.link.start();
		await bench.until("up");
		const stopped = bench.link.stop("quit");
		bench.timers.advance(1_000);
		await Promise.resolve().then(() => undefined);
		await new Promise((resolve) => setImmediate(resolve));
		bench.timers.advance(500);
		await stopped;
		assert.equal(isAlive(bench.children[0]?.pid), false);
	});

	test("answers the agent's requests, and its own failure with an error", async () => {
		const bench = new Bench();
		bench.answer = (method) => (method === "withdraw" ? Promise.resolve({ outcome: "tooLate" }) : Promise.reject(new Error("no such request")));
		bench.link.start();
		await bench.until("session");
		bench.send("1", '{"jsonrpc":"2.0","id":"w","method":"withdraw","params":{}}\nnot json\n{"jsonrpc":"2.0","id":"x","method":"other"}\n{"jsonrpc":"2.0","method":"after"}\n');
		await bench.until("after");
		await bench.link.call("tools/call", { name: "t", arguments: {}, callId: "c" });
		const answers = bench.received().map(({ message }) => message).filter((message) => message?.id === "w" || message?.id === "x");
		assert.deepEqual(answers[0]?.result, { outcome: "tooLate" });
		assert.deepEqual((answers[1]?.error as JsonObject | undefined)?.message, "no such request");
		assert.match(bench.link.log, /not JSON/);
		await bench.link.stop("quit");
	});

	test("refuses to send a message over 1 MiB and stays usable", async () => {
		const bench = new Bench();
		bench.link.start();
		await bench.until("up");
		const big = "x".repeat(1024 * 1024);
		await assert.rejects(bench.link.call("tools/call", { name: big, arguments: {}, callId: "c" }), /longer than/);
		assert.equal(bench.link.notify("receipt", { big }), false);
		assert.ok(await bench.link.call("tools/call", { name: "t", arguments: {}, callId: "c" }));
		await bench.link.stop("quit");
	});

	test("counts the exit of an agent that has ended for good as no death", async () => {
		const bench = new Bench();
		bench.link.start();
		await bench.until("up");
		bench.link.setRetired(true);
		bench.children[0]?.kill("SIGKILL");
		await bench.until("closed");
		bench.timers.advance(60_000);
		assert.equal(bench.children.length, 1);
	});

	test("can be stopped before it was started", async () => {
		const bench = new Bench();
		await bench.link.stop("quit");
		bench.link.start();
		assert.equal(bench.children.length, 0);
	});
});
