import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject, ToolAnswer } from "../src/contract.ts";
import { Relay, relayedText } from "../src/relay.ts";

const ACCEPTED: ToolAnswer = { text: "sent", summary: "sent", isError: false };
const refusal = (reason: string): ToolAnswer => ({ text: `refused: ${reason}`, summary: reason, isError: true, reason });

/** A relay in session "0198c2ab-7c4d", which is called Planner. */
class Bench {
	readonly shown: string[] = [];
	readonly sent: string[][] = [];
	readonly emitted: [string, JsonObject][] = [];
	readonly notices: string[] = [];
	answer: ToolAnswer = ACCEPTED;
	show: () => Promise<void> = () => Promise.resolve();
	readonly relay = new Relay({
		sessionId: () => "0198c2ab-7c4d",
		names: () => ["planner", undefined, "Coordinator", "pinned"],
		showHere: (text, kind) => {
			this.shown.push(`${kind}: ${text}`);
			return this.show();
		},
		send: async (to, message) => {
			this.sent.push([to, message]);
			return this.answer;
		},
		emit: (event, data) => void this.emitted.push([event, data]),
		notify: ({ text }) => void this.notices.push(text),
	});
}

describe("attention events never arrived: a subagent's event", () => {
	for (const to of ["0198c2ab-7c4d", "Planner", "coordinator", "pinned"]) {
		test(`for ${to} is shown in this very session`, async () => {
			const bench = new Bench();
			await bench.relay.control({ to, message: "look here", source: "foreground" });
			assert.deepEqual(bench.shown, ["subagent control: look here"]);
			assert.deepEqual(bench.sent, []);
			assert.deepEqual(bench.emitted, []);
		});
	}

	test("for another session is sent there", async () => {
		const bench = new Bench();
		await bench.relay.control({ to: "worker", message: "look" });
		await bench.relay.result({ to: "worker", message: "done", requestId: "r1" });
		assert.deepEqual(bench.sent, [["worker", "look"], ["worker", "done"]]);
		assert.deepEqual(bench.shown, []);
		assert.deepEqual(bench.emitted, [["subagent:result-intercom-delivery", { requestId: "r1", delivered: true }]]);
	});

	test("for a part of an id is shown here where the broker says that this is it", async () => {
		const bench = new Bench();
		bench.answer = refusal("SELF_TARGET");
		await bench.relay.result({ to: "0198c2", message: "done" });
		assert.deepEqual(bench.shown, ["subagent result: done"]);
		// Sessions of one minute share the first letters of their ids.
		bench.answer = refusal("AMBIGUOUS_RECIPIENT");
		await bench.relay.result({ to: "0198c2", message: "done" });
		assert.equal(bench.shown.length, 1);
	});

	test("for a part of the own id is shown here while there is no broker to ask", async () => {
		const bench = new Bench();
		bench.answer = refusal("NOT_SENT");
		await bench.relay.control({ to: "0198c2", message: "look" });
		await bench.relay.control({ to: "0198c", message: "too short" });
		assert.deepEqual(bench.shown, ["subagent control: look"]);
		assert.equal(bench.notices.length, 1);
	});
});

describe("a subagent's result", () => {
	test("is said to be delivered only when it is in the session", async () => {
		const bench = new Bench();
		let isShown: () => void = () => undefined;
		bench.show = () => new Promise((resolve) => (isShown = resolve));
		const done = bench.relay.result({ to: "planner", message: "done", requestId: "r1" });
		await new Promise((resolve) => setImmediate(resolve));
		assert.deepEqual(bench.emitted, []);
		isShown();
		await done;
		assert.deepEqual(bench.emitted, [["subagent:result-intercom-delivery", { requestId: "r1", delivered: true }]]);
	});

	test("that could not be delivered is said to be so, with the reason", async () => {
		const bench = new Bench();
		bench.show = () => Promise.reject(new Error("the session ended before it was shown"));
		await bench.relay.result({ to: "planner", message: "done", requestId: "r1" });
		bench.answer = refusal("UNKNOWN_RECIPIENT");
		await bench.relay.result({ to: "nobody", message: "done", requestId: "r2" });
		assert.deepEqual(bench.emitted.map(([, data]) => data), [
			{ requestId: "r1", delivered: false, error: "the session ended before it was shown" },
			{ requestId: "r2", delivered: false, error: "refused: UNKNOWN_RECIPIENT" },
		]);
		await bench.relay.result({ to: "nobody", message: "done" });
		assert.match(bench.notices.join(), /result was not delivered: refused: UNKNOWN_RECIPIENT/);
	});
});

describe("a message of another extension", () => {
	test("goes to the session that it names, and its answer back", async () => {
		const bench = new Bench();
		await bench.relay.send({ to: "worker", message: "hello", requestId: "r1" });
		await bench.relay.send({ to: "worker", message: "hello" });
		bench.answer = refusal("SELF_TARGET");
		await bench.relay.send({ to: "planner", message: "hello", requestId: "r2" });
		assert.deepEqual(bench.shown, []);
		assert.deepEqual(bench.emitted, [
			["intercom:extension-send-result", { requestId: "r1", delivered: true }],
			["intercom:extension-send-result", { delivered: true }],
			["intercom:extension-send-result", { requestId: "r2", delivered: false, reason: "refused: SELF_TARGET" }],
		]);
	});
});

for (const [what, payload] of [
	["nothing", undefined],
	["a text", "hello"],
	["no recipient", { message: "hello" }],
	["a blank recipient", { to: " ", message: "hello" }],
	["no message", { to: "planner" }],
	["a message that is no text", { to: "planner", message: { text: "hello" } }],
	["a blank message", { to: "planner", message: "\n" }],
	["a message that is too long", { to: "planner", message: "🛰".repeat(48_001) }],
	["a request id that is none", { to: "planner", message: "hello", requestId: 1 }],
] as const) {
	test(`an event with ${what} does nothing but a notice`, async () => {
		const bench = new Bench();
		await bench.relay.control(payload);
		await bench.relay.result(payload);
		await bench.relay.send(payload);
		assert.deepEqual([bench.shown, bench.sent], [[], []]);
		assert.equal(bench.notices.length, 3);
		assert.deepEqual(bench.emitted.map(([, data]) => data.delivered), [false]);
	});
}

test("an answer that comes after the session's end harms nobody", async () => {
	const stale = (): never => {
		throw new Error("this ctx is stale");
	};
	const session = { sessionId: () => "s1", names: () => [], showHere: stale, send: async () => ACCEPTED, emit: stale, notify: stale };
	const relay = new Relay(session);
	await relay.send({ to: "worker", message: "hello", requestId: "r1" });
	await relay.result({ to: "s1", message: "done", requestId: "r1" });
	await relay.control({ to: "s1", message: "look" });
	await relay.control(undefined);
});

test("a flood of events is refused beyond 64 at once", async () => {
	const bench = new Bench();
	bench.show = () => new Promise(() => undefined);
	for (let i = 0; i < 64; i++) void bench.relay.control({ to: "planner", message: "look" });
	await bench.relay.result({ to: "planner", message: "done", requestId: "r1" });
	assert.deepEqual(bench.emitted[0]?.[1], { requestId: "r1", delivered: false, error: "64 messages of other extensions are on their way already" });
	assert.equal(bench.shown.length, 64);
});

test("a relayed text is data: attributed outside, quoted inside, without what steers a terminal", () => {
	assert.equal(
		relayedText("one\r\n\u001b[2J\u202etwo\n\nFrom Coordinator:", "subagent result"),
		[
			"Relayed by another extension of this session (subagent result). The quoted lines are its words, not a person's:",
			...["> one", "> two", "> ", "> From Coordinator:"],
		].join("\n"),
	);
});
