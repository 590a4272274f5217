import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isObject, type JsonObject } from "../../src/contract.ts";
import { deliver, type LivePi, until, withPi } from "../support/live-pi.ts";

const parameters = { type: "object", properties: { action: { type: "string" } } };
const TOOL = { name: "intercom", label: "Intercom", description: "Talks", promptGuidelines: [], parameters, effect: "mail" };
const MODELS = { ...TOOL, name: "intercom_models", host: true };
const session: JsonObject = { connection: "connected", role: "worker", tools: [TOOL, MODELS], instructions: "", statusText: "worker" };
const WAIT = 'TOOL bash {"command":"until [ -e go ]; do sleep 0.1; done"}';

/** A `deliver` that opens a run. */
function hand(id: string, text: string): JsonObject {
	const { params, ...rest } = deliver(id, new Date().toISOString(), text);
	return { ...rest, params: { ...(isObject(params) ? params : {}), runId: `run-${id}` } };
}

function runs(...ids: string[]): JsonObject {
	return { method: "runs", params: { open: ids.map((id) => ({ runId: `run-${id}`, deliveryId: `alice/${id}`, label: "", supervisor: { sessionId: "alice", name: "Alice" } })) } };
}

function news(topic: string, key: string, text: string, ids: readonly string[] = []): JsonObject {
	return { method: "bulletin", params: { topic, key, ids, content: `News.\n> ${text}`, summary: text, quiet: false } };
}

function told(pi: LivePi, id: string): JsonObject[] {
	return pi.received("run").filter(({ deliveryId }) => deliveryId === `alice/${id}`);
}

async function untilEnd(pi: LivePi, id: string): Promise<JsonObject> {
	return until(`the end of ${id}`, () => told(pi, id).find(({ event }) => event !== "progress"), () => pi.report());
}

async function untilIdle(pi: LivePi): Promise<void> {
	await until("idle", () => pi.received("activity").at(-1)?.phase === "idle", () => pi.report());
}

async function untilWorking(pi: LivePi): Promise<void> {
	await until("the tool", () => pi.received("activity").at(-1)?.tool === "bash", () => pi.report());
}

describe("a run in the installed Pi", { concurrency: 4 }, () => {
	test("is told from the first question to the model on, turn by turn and at its end", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			pi.agentSends(runs("a"), hand("a", 'TOOL bash {"command":"echo hi"} ;; SAY the result'));
			const end = await untilEnd(pi, "a");
			const usage = { input: 200, output: 10, cacheRead: 0, cacheWrite: 0, cost: 0 };
			assert.deepEqual({ ...end, text: String(end.text).split(" |")[0] }, { deliveryId: "alice/a", event: "done", turns: 2, model: "fake/fake-1", usage, text: "the result" });
			assert.deepEqual(told(pi, "a").map(({ event, turns }) => [event, turns]), [["progress", 0], ["progress", 1], ["progress", 2], ["done", 2]]);
			// A new session has no file before its first answer, so the proof of its envelope follows.
			const order = pi.receivedMethods().filter((method) => method === "receipt" || method === "run");
			assert.ok(order.indexOf("receipt") < order.lastIndexOf("run"));
		}));

	test("that is steered into another prolongs it, and both end with its last text", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			pi.agentSends(hand("a", `${WAIT} ;; SAY first`));
			await untilWorking(pi);
			pi.agentSends(hand("b", "SAY second"));
			await until("it to be held", () => pi.received("receipt").some(({ deliveryId, event }) => deliveryId === "alice/b" && event === "held"));
			pi.write("go");
			const ends = [await untilEnd(pi, "a"), await untilEnd(pi, "b")];
			assert.deepEqual(ends.map(({ event }) => event), ["done", "done"]);
			assert.match(String(ends[0]?.text), /second/);
			assert.equal(ends[0]?.text, ends[1]?.text);
		}));

	test("fails with what the provider said", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			pi.agentSends(hand("a", "ERR 400 no such model"));
			const end = await untilEnd(pi, "a");
			assert.equal(end.event, "failed");
			assert.match(String(end.error), /no such model/);
		}));

	test("does not end with an attempt that the host repeats", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			await pi.modelWill({ failNext: [529] });
			pi.agentSends(hand("a", "SAY after all"));
			const end = await untilEnd(pi, "a");
			assert.deepEqual([end.event, end.text], ["done", "after all"]);
			assert.equal(told(pi, "a").filter(({ event }) => event !== "progress").length, 1);
		}));

	for (const [when, script, ready] of [
		["in a tool", WAIT, untilWorking],
		["while the model answers", "SLOW 20 never", async (pi: LivePi) => void (await pi.untilRequest("SLOW"))],
	] as const) {
		test(`is stopped where it is aborted ${when}`, () =>
			withPi({ mode: "rpc", session }, async (pi) => {
				pi.agentSends(hand("a", script));
				await ready(pi);
				pi.rpc({ type: "abort" });
				assert.equal((await untilEnd(pi, "a")).event, "stopped");
			}));
	}

	test("is stopped where it is aborted in the pause before another attempt", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			await pi.modelWill({ failNext: [529, 529, 529] });
			pi.agentSends(hand("a", "SAY never"));
			await until("the failed attempt", () => told(pi, "a").length > 0, () => pi.report());
			pi.rpc({ type: "abort" });
			assert.equal((await untilEnd(pi, "a")).event, "stopped");
		}));

	test("is stopped by a stop job, whose outcome follows", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			pi.agentSends(hand("a", WAIT));
			await untilWorking(pi);
			assert.equal((await pi.control("stop", { jobId: "j", requestedAt: new Date().toISOString() })).ok, true);
			assert.equal((await untilEnd(pi, "a")).event, "stopped");
			await pi.untilJob("stopped");
		}));

	test("that the host was killed in is interrupted once the session is back", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			pi.agentSends(hand("a", `${WAIT} ;; SAY never`));
			await untilWorking(pi);
			process.kill(pi.pid, "SIGKILL");
			pi.write("go");
			await pi.restart();
			pi.agentSends(runs("a"));
			assert.equal((await untilEnd(pi, "a")).event, "interrupted");
			assert.equal(await pi.requestsWithin(300), 0);
		}));

	test("that was complete is done once the session is back, also over a compaction", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			pi.agentSends(hand("a", "SAY the whole result"));
			await untilEnd(pi, "a");
			await pi.prompt("SAY something else");
			await pi.untilRequest("something else");
			await untilIdle(pi);
			pi.rpc({ type: "compact" });
			await until("the compaction", () => pi.entries().some(({ type }) => type === "compaction"), () => pi.report());
			await pi.restart();
			pi.agentSends(runs("a"));
			const end = await untilEnd(pi, "a");
			assert.deepEqual([end.event, end.text, end.turns], ["done", "the whole result", 1]);
		}));

	test("is told again after a reload, from the session's entries", () =>
		withPi({ mode: "tui", session }, async (pi) => {
			pi.agentSends(hand("a", "SAY the whole result"));
			await untilEnd(pi, "a");
			await untilIdle(pi);
			await pi.prompt("/reload");
			await until("the next agent", () => pi.received("initialize").length === 2, () => pi.report());
			pi.agentSends(runs("a"));
			await until("the second telling", () => told(pi, "a").filter(({ event, text }) => event === "done" && text === "the whole result").length === 2, () => pi.report());
		}));
});

describe("what the agent says in the installed Pi", { concurrency: 4 }, () => {
	test("waits for a busy session, starts a turn in an idle one, and is told as shown", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			await pi.prompt(`${WAIT} ;; SAY at rest`);
			await untilWorking(pi);
			pi.agentSends(news("runs", "k1", "SAY old news"), news("runs", "k2", "SAY fresh news"));
			assert.equal(await pi.requestsWithin(1_000), 0);
			pi.write("go");
			await pi.untilRequest("SAY fresh news");
			await until("the proof", () => pi.received("bulletin/shown")[0], () => pi.report());
			assert.deepEqual(pi.received("bulletin/shown"), [{ topic: "runs", key: "k2" }]);
			assert.doesNotMatch(JSON.stringify(await pi.requests()), /old news/);
		}));

	test("is not said again where a call's result told it, and the call is charged", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			const answer = { text: "all about run-1", ids: ["run-1"], usage: { input: 7, output: 5, cacheRead: 2, cacheWrite: 1, cost: 0.125 } };
			await pi.prompt(`TOOL intercom ${JSON.stringify({ action: "result", answer })} ;; SAY thanks`);
			await until("the result", () => JSON.stringify(pi.entries()).includes("thanks |"), () => pi.report());
			const result = pi.entries().map(({ message }) => message).find((message) => isObject(message) && message.role === "toolResult");
			assert.ok(isObject(result) && isObject(result.usage));
			assert.deepEqual([result.usage.input, result.usage.totalTokens, isObject(result.usage.cost) && result.usage.cost.total], [7, 15, 0.125]);
			pi.agentSends(news("runs", "k1", "SAY known already", ["run-1", "run-2"]));
			// Once for the result, and once more for the news of it.
			await until("the word that it is known", () => pi.received("results/shown")[1], () => pi.report());
			assert.deepEqual(pi.received("results/shown"), [{ ids: ["run-1"] }, { ids: ["run-1"] }]);
			assert.equal(await pi.requestsWithin(500), 0);
			assert.deepEqual(pi.received("bulletin/shown"), []);
		}));
});

describe("a person at the installed Pi", { concurrency: 2 }, () => {
	test("refuses runs, also after a restart, and sees the models, the rows and the news", () =>
		withPi({ mode: "tui", session }, async (pi) => {
			const onScreen = (text: RegExp): Promise<string> => until(`${text} on the screen`, async () => text.test(await pi.screen()) && pi.screen(), () => pi.report());
			assert.deepEqual([pi.received("initialize")[0]?.refusesRuns, pi.received("initialize")[0]?.programs], [false, true]);
			await pi.prompt("/intercom runs off");
			await onScreen(/this session takes no runs/);
			await pi.prompt("/models FAKE-");
			await onScreen(/\* fake\/fake-1/);
			const answer = { text: "one\ntwo\nthree\nfour\nfive\nsix" };
			await pi.prompt(`TOOL intercom ${JSON.stringify({ action: "peek", answer })} ;; TOOL intercom_models {"query":"fake"} ;; SAY done`);
			await onScreen(/intercom peek all/);
			await onScreen(/four\s+… 2 more lines \(ctrl\+o\)/);
			await onScreen(/intercom_models "fake"/);
			assert.deepEqual(pi.received("tools/call").length, 1);
			await untilIdle(pi);
			pi.agentSends(news("watch", "w", "SAY seen"));
			await onScreen(/◆ watch · \d\d:\d\d +SAY seen/);
			await untilIdle(pi);
			await pi.prompt("/quit");
			assert.equal(await pi.exitCode(), 0);
			await pi.startHost("--session");
			assert.equal(pi.received("initialize")[0]?.refusesRuns, true);
		}));
});
