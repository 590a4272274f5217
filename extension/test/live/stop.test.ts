import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deliver, type LiveMode, type LivePi, until, withPi } from "../support/live-pi.ts";

const QUIET_MS = 5_000;
const SLOW_INPUT = fileURLToPath(new URL("../support/slow-input.ts", import.meta.url));

/** Stops the session and proves that it stands still and stays the same one. Returns what the host said of it. */
async function stopped(pi: LivePi): Promise<string> {
	assert.deepEqual(await pi.control("stop", { jobId: "job-1", requestedAt: new Date().toISOString() }), { ok: true });
	const { detail } = await pi.untilJob("stopped");
	assert.equal(await pi.requestsWithin(QUIET_MS), 0, await pi.report());
	assert.deepEqual(await pi.control("probe"), { ok: true, busy: false, sessionId: pi.sessionId });
	return String(detail);
}

function childCommands(pid: number): string[] {
	const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === pid);
	return children.flatMap((child) => [commandOf(child), ...childCommands(Number(child))]);
}

function parentOf(pid: string): number {
	return Number(/^\S+ \(.*\) \S (\d+)/s.exec(read(`/proc/${pid}/stat`))?.[1] ?? 0);
}

function commandOf(pid: string): string {
	return read(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
}

function read(path: string): string {
	return existsSync(path) ? readFileSync(path, "utf8") : "";
}

describe("a stop of the installed Pi leaves nothing that restarts", { concurrency: 4 }, () => {
	for (const mode of ["tui", "rpc"] satisfies LiveMode[]) {
		test(`in retry backoff, ${mode}`, () =>
			withPi({ mode }, async (pi) => {
				await pi.modelWill({ failNext: [529, 529, 529, 529] });
				await pi.prompt("SAY never said");
				await pi.untilRequest("never said");
				assert.match(await stopped(pi), /Its work was cancelled/);
			}));

		test(`in a bash tool, whose process ends, ${mode}`, () =>
			withPi({ mode }, async (pi) => {
				await pi.prompt('TOOL bash {"command":"sleep 471"} ;; SAY done');
				await until("the tool's process", () => childCommands(pid(pi)).some((command) => /sleep 471/.test(command)), () => pi.report());
				await stopped(pi);
				assert.equal(childCommands(pid(pi)).some((command) => /sleep 471/.test(command)), false);
			}));

		test(`while streaming, ${mode}`, () =>
			withPi({ mode }, async (pi) => {
				await pi.prompt("SLOW 30 the end");
				await until("the stream", () => pi.received("activity").some(({ phase }) => phase === "responding"), () => pi.report());
				await stopped(pi);
			}));
	}

	const pid = (pi: LivePi): number => pi.pid;

	test("in a request that hangs, in a session without an answer yet", () =>
		withPi({ mode: "tui" }, async (pi) => {
			await pi.prompt("HANG");
			await pi.untilRequest("HANG");
			await stopped(pi);
		}));

	test("in a manual compaction, and what was typed meanwhile is back in the editor", () =>
		withPi({ mode: "tui" }, async (pi) => {
			await pi.prompt("SAY something to compact");
			await until("the answer", () => pi.entries().some((entry) => JSON.stringify(entry).includes('"assistant"')));
			await pi.prompt("SAY something more");
			await until("the answer", () => pi.entries().filter((entry) => JSON.stringify(entry).includes('"assistant"')).length > 1);
			await pi.modelWill({ compactDelayMs: 20_000 });
			await pi.prompt("/compact");
			await until("the compaction", async () => (await pi.requests()).some(({ isCompaction }) => isCompaction), () => pi.report());
			await pi.prompt("words of a person");
			await until("the queue", async () => /Steering: words of a person/.test(await pi.screen()), () => pi.screen());
			assert.match(await stopped(pi), /1 message \("words of a person"\) is back in the editor/);
			assert.match(await pi.screen(), /words of a person/);
		}));

	test("in an automatic compaction", () =>
		withPi({ mode: "rpc" }, async (pi) => {
			await pi.prompt("SAY something to compact");
			await until("the answer", () => pi.entries().some((entry) => JSON.stringify(entry).includes('"assistant"')));
			await pi.modelWill({ compactDelayMs: 20_000, usage: { prompt_tokens: 127_000, completion_tokens: 5, total_tokens: 127_005 } });
			await pi.prompt("SAY too much");
			await until("the compaction", async () => (await pi.requests()).some(({ isCompaction }) => isCompaction), () => pi.report());
			await stopped(pi);
		}));

	test("where nothing runs, in a session without a file", () =>
		withPi({ mode: "tui" }, async (pi) => {
			assert.match(await stopped(pi), /stood still already/);
			assert.deepEqual(pi.entries(), []);
		}));

	test("and the person's queued text is back in the editor of a terminal", () =>
		withPi({ mode: "tui" }, async (pi) => {
			await pi.prompt('TOOL bash {"command":"sleep 472"} ;; SAY done');
			await until("the tool", () => pi.received("activity").some(({ phase }) => phase === "tool"), () => pi.report());
			await pi.prompt("first words of a person");
			await until("the queue", async () => /Steering: first words/.test(await pi.screen()), () => pi.screen());
			await pi.prompt("second words");
			await until("the queue", async () => /Steering: second words/.test(await pi.screen()), () => pi.screen());
			assert.match(await stopped(pi), /2 messages \("first words of a person second words"\) is back in the editor/);
			const screen = await pi.screen();
			assert.match(screen, /first words of a person/);
			assert.doesNotMatch(screen, /Steering:/);
		}));

	test("and text that an RPC client queued behind a stream stays queued", () =>
		withPi({ mode: "rpc" }, async (pi) => {
			await pi.prompt("SLOW 30 the end");
			await until("the stream", () => pi.received("activity").some(({ phase }) => phase === "responding"), () => pi.report());
			await pi.prompt("words of a client", { type: "steer" });
			await until("the queue", async () => /queue_update.*words of a client/.test(await pi.screen()), () => pi.screen());
			assert.match(await stopped(pi), /1 message \("words of a client"\) stays queued/);
			await pi.prompt("SAY the next prompt");
			await pi.untilRequest("words of a client");
		}));

	test("and text that an RPC client queued behind a tool is in the session", () =>
		withPi({ mode: "rpc" }, async (pi) => {
			await pi.prompt('TOOL bash {"command":"sleep 473"} ;; SAY done');
			await until("the tool", () => pi.received("activity").some(({ phase }) => phase === "tool"), () => pi.report());
			await pi.prompt("words of a client", { type: "steer" });
			await until("the queue", async () => /queue_update.*words of a client/.test(await pi.screen()), () => pi.screen());
			assert.match(await stopped(pi), /its text is in the session: 1 message \("words of a client"\)/);
			assert.match(JSON.stringify(pi.entries()), /words of a client/);
		}));

	for (const mode of ["tui", "rpc"] satisfies LiveMode[]) {
		test(`where a prompt is still in another extension's input hook, ${mode}`, () =>
			withPi({ mode, extensions: [SLOW_INPUT] }, async (pi) => {
				await pi.prompt("SAY a late prompt");
				assert.match(await stopped(pi), /its text is in the session: 1 message \("SAY a late prompt"\)/);
				assert.deepEqual(await pi.requests(), []);
				assert.match(JSON.stringify(pi.entries()), /a late prompt/);
			}));
	}

	test("and mail from before it goes into the session without a turn, mail from after it as always", () =>
		withPi({ mode: "rpc" }, async (pi) => {
			await pi.prompt("SLOW 30 the end");
			await until("the stream", () => pi.received("activity").some(({ phase }) => phase === "responding"), () => pi.report());
			pi.agentSends(deliver("old", new Date(Date.now() - 60_000).toISOString(), "SAY old"));
			await until("the held receipt", () => pi.received("receipt").find(({ event }) => event === "held"));
			await stopped(pi);
			await until("the entry", () => pi.received("receipt").find(({ deliveryId, event }) => deliveryId === "alice/old" && event === "injected"), () => pi.report());
			pi.agentSends(deliver("new", new Date(Date.now() + 60_000).toISOString(), "SAY new"));
			const { users } = await pi.untilRequest("SAY new");
			assert.match(users.join("\n"), /SAY old/);
		}));
});
