import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ContractError, type Receipt, type RunEvent } from "../src/contract.ts";
import { parseDelivery, parseRuns } from "../src/contract-parse.ts";
import { type HostMessage, Inbox } from "../src/inbox.ts";
import { endsOf, tailOf } from "../src/run-figures.ts";
import { Runs } from "../src/runs.ts";
import { delivery, FakeSession } from "./support/fake-session.ts";
import { FakeTimers } from "./support/fake-timers.ts";

const USAGE = { input: 100, output: 20, cacheRead: 5, cacheWrite: 3, totalTokens: 128, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.25 } };

function assistant(text: string, overrides: object = {}): object {
	return { role: "assistant", provider: "fake", model: "m1", content: [{ type: "text", text }], usage: USAGE, stopReason: "stop", ...overrides };
}

/** Inbox and runs of one session, in the order of a host's events. */
class Bench {
	readonly session: FakeSession;
	readonly timers = new FakeTimers();
	/** Receipts and events of runs, as the agent gets them. */
	readonly told: string[] = [];
	readonly events: RunEvent[] = [];
	readonly inbox: Inbox;
	readonly runs: Runs;

	constructor(session = new FakeSession()) {
		this.session = session;
		this.runs = new Runs(session, this.timers, (event) => {
			const isAsked = event.event === "progress" && event.turns === 0;
			this.told.push(`${isAsked ? "asked" : event.event} ${event.deliveryId}`);
			if (!isAsked) this.events.push(event);
		});
		const receipt = ({ deliveryId, event }: Receipt): void => {
			if (event !== "held") this.told.push(`${event} ${deliveryId}`);
			if (event === "injected") this.runs.injected(deliveryId, this.inbox.runIsActive);
		};
		const onShown = ({ deliveryId, runId }: { deliveryId: string; runId?: string }, startsTurn: boolean): void => {
			if (runId !== undefined || this.runs.isOpen(deliveryId)) this.runs.begun(deliveryId, startsTurn);
		};
		const onRequested = (deliveryIds: ReadonlySet<string>): void => this.runs.requested(deliveryIds);
		this.inbox = new Inbox(session, this.timers, receipt, { onShown, onRequested });
	}

	/** An envelope that opens a run. */
	hands(id: string, overrides: object = {}): void {
		this.inbox.deliver(delivery(id, { runId: `run-${id}`, ...overrides }));
	}

	/** The message that was handed over last comes into a run of the host. */
	shows(): void {
		const message = this.session.sent.at(-1)?.message;
		assert.ok(message);
		this.messageEnds(message);
		this.inbox.contextBuilt([{ role: "custom", ...message }]);
	}

	starts(): void {
		this.inbox.runStarted();
		this.shows();
	}

	messageEnds(message: HostMessage): void {
		this.inbox.messageEnded({ role: "custom", ...message });
		this.runs.messageEnded({ role: "custom", ...message });
		this.session.save(message);
		this.timers.advance(0);
	}

	answers(text: string, overrides: object = {}): void {
		const message = assistant(text, overrides);
		this.inbox.messageEnded(message);
		this.runs.messageEnded(message);
		this.session.saved.push({ type: "message", id: `e${this.session.saved.length + 1}`, message });
		this.session.fileState = "present";
		this.timers.advance(0);
	}

	endsTurn(isComplete = true): void {
		this.inbox.turnEnded(isComplete);
		this.runs.turnEnded();
	}

	settles(wasAborted = false, isHandedOver = false): void {
		this.session.idle = true;
		this.inbox.settled();
		this.runs.settled(wasAborted, isHandedOver);
		this.timers.advance(500);
	}

	/** The agent names open runs. */
	names(...ids: string[]): void {
		this.runs.opened(ids.map((id) => ({ runId: `run-${id}`, deliveryId: `alice/${id}` })));
	}

	get last(): RunEvent {
		const event = this.events.at(-1);
		assert.ok(event);
		return event;
	}

	get kinds(): string[] {
		return this.events.map(({ deliveryId, event }) => `${event} ${deliveryId.slice("alice/".length)}`);
	}
}

describe("a run", () => {
	test("goes from its envelope over its turns to the host's settlement, each told once and after what proves it", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.answers("looking", { stopReason: "toolUse" });
		bench.endsTurn();
		bench.answers("all done");
		bench.endsTurn();
		bench.settles();
		bench.settles();
		assert.deepEqual(bench.told, ["injected alice/a", "asked alice/a", "seen alice/a", "progress alice/a", "progress alice/a", "done alice/a"]);
		const usage = { input: 200, output: 40, cacheRead: 10, cacheWrite: 6, cost: 0.5 };
		assert.deepEqual(bench.last, { deliveryId: "alice/a", event: "done", turns: 2, model: "fake/m1", usage, text: "all done" });
		assert.deepEqual(bench.events[0], { deliveryId: "alice/a", event: "progress", turns: 1, model: "fake/m1", usage: { input: 100, output: 20, cacheRead: 5, cacheWrite: 3, cost: 0.25 }, text: "looking" });
	});

	test("of a session that has no file yet goes on from the first question to the model, and is proved before its first progress", () => {
		const session = new FakeSession();
		session.fileState = "absent";
		const bench = new Bench(session);
		bench.hands("a");
		bench.starts();
		assert.deepEqual(bench.told, ["asked alice/a"]);
		bench.answers("first");
		bench.endsTurn();
		assert.deepEqual(bench.told, ["asked alice/a", "injected alice/a", "seen alice/a", "progress alice/a"]);
		assert.equal(bench.last.usage?.input, 100);
	});

	test("ends with its own answer where the host goes on with other input", () => {
		for (const input of [{ role: "user", content: "something else" }, { role: "custom", customType: "note", content: "fyi" }]) {
			const bench = new Bench();
			bench.hands("a");
			bench.starts();
			bench.answers("looking", { stopReason: "toolUse" });
			bench.runs.messageEnded(input);
			bench.endsTurn();
			bench.answers("all done");
			bench.endsTurn();
			assert.deepEqual(bench.kinds, ["progress a", "progress a"]);
			bench.runs.messageEnded(input);
			assert.deepEqual([bench.last.event, bench.last.text, bench.last.turns, bench.last.usage?.input], ["done", "all done", 2, 200]);
			bench.answers("noted");
			bench.endsTurn();
			bench.settles();
			assert.deepEqual(bench.kinds, ["progress a", "progress a", "done a"]);
		}
	});

	test("that waits behind another has its own result, turns and tokens", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.hands("b");
		bench.starts();
		bench.answers("result of a");
		bench.endsTurn();
		bench.shows();
		bench.answers("result of b");
		bench.endsTurn();
		bench.settles();
		const ends = bench.events.filter(({ event }) => event === "done");
		assert.deepEqual(ends.map(({ deliveryId, text, turns, usage }) => [deliveryId, text, turns, usage?.input]), [["alice/a", "result of a", 1, 100], ["alice/b", "result of b", 1, 100]]);
	});

	test("is none where a delivery opens none", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a"));
		bench.starts();
		bench.answers("hello");
		bench.endsTurn();
		bench.settles();
		assert.deepEqual(bench.events, []);
	});

	test("is known also by the list of open runs", () => {
		const bench = new Bench();
		bench.names("a");
		bench.inbox.deliver(delivery("a"));
		bench.starts();
		bench.answers("hello");
		bench.settles();
		assert.deepEqual(bench.kinds, ["done a"]);
	});

	test("keeps the last text that has words, where the turn ends with a call", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.answers("the report", { stopReason: "toolUse" });
		bench.endsTurn();
		bench.answers("", { stopReason: "toolUse" });
		bench.endsTurn();
		bench.settles();
		assert.deepEqual([bench.last.event, bench.last.text, bench.last.turns], ["done", "the report", 2]);
	});

	test("fails with what the provider said, and keeps the text before", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.answers("half of it", { stopReason: "toolUse" });
		bench.endsTurn();
		bench.answers("", { stopReason: "error", errorMessage: "429 overloaded" });
		bench.endsTurn(false);
		bench.settles();
		assert.deepEqual([bench.last.event, bench.last.error, bench.last.text], ["failed", "429 overloaded", "half of it"]);
	});

	test("does not end with an attempt that is repeated", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.answers("", { stopReason: "error", errorMessage: "500" });
		bench.endsTurn(false);
		assert.deepEqual(bench.kinds, ["progress a"]);
		// The host tries again in the same run.
		bench.inbox.runStarted();
		bench.answers("now it works");
		bench.endsTurn();
		bench.settles();
		assert.deepEqual([bench.last.event, bench.last.text, bench.last.error], ["done", "now it works", undefined]);
		assert.deepEqual(bench.kinds, ["progress a", "progress a", "done a"]);
	});

	test("is stopped where its turn was aborted", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.answers("as far as", { stopReason: "aborted", errorMessage: "aborted by the person" });
		bench.endsTurn(false);
		bench.settles();
		assert.deepEqual([bench.last.event, bench.last.text, bench.last.error], ["stopped", "as far as", undefined]);
	});

	test("that a handoff cut short is interrupted, with what it had written", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.answers("half of it", { stopReason: "toolUse" });
		bench.endsTurn();
		bench.inbox.deliver(delivery("handoff"));
		bench.shows();
		bench.answers("", { stopReason: "toolUse" });
		bench.endsTurn();
		bench.settles(false, true);
		assert.deepEqual([bench.last.event, bench.last.text], ["interrupted", "half of it"]);
		assert.match(String(bench.last.error), /handed over/);
		assert.deepEqual(bench.kinds.filter((kind) => !kind.startsWith("progress")), ["interrupted a"]);
	});

	test("that was complete before a handoff is done, with its own text", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.answers("all of it");
		bench.endsTurn();
		bench.inbox.deliver(delivery("handoff"));
		bench.shows();
		bench.answers("I hand over", { stopReason: "toolUse" });
		bench.endsTurn();
		bench.settles(false, true);
		assert.deepEqual([bench.last.event, bench.last.text], ["done", "all of it"]);
	});

	test("is under way from when it is named until it has ended here, and then nothing of it is to be stopped", () => {
		const bench = new Bench();
		assert.equal(bench.runs.isUnderWay("run-a"), false);
		bench.names("a");
		assert.equal(bench.runs.isUnderWay("run-a"), true);
		bench.hands("a");
		bench.starts();
		bench.answers("done");
		assert.equal(bench.runs.isUnderWay("run-a"), true);
		bench.settles();
		assert.equal(bench.runs.isUnderWay("run-a"), false);
		bench.names();
		assert.equal(bench.runs.isUnderWay("run-a"), false);
	});

	test("is told to advance while a long answer is written, every 10 s", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.runs.streamed(assistant("once"));
		bench.timers.advance(9_999);
		bench.runs.streamed(assistant("once upon"));
		assert.deepEqual(bench.events, []);
		bench.timers.advance(1);
		bench.runs.streamed(assistant("once upon a"));
		bench.runs.streamed(assistant("once upon a time"));
		assert.deepEqual(bench.told.filter((text) => text.startsWith("asked")).length, 2);
		bench.answers("once upon a time.");
		bench.endsTurn();
		assert.deepEqual([bench.last.turns, bench.last.text], [1, "once upon a time."]);
	});

	test("is interrupted where it was aborted because the host is being ended", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.answers("as far as", { stopReason: "aborted" });
		bench.session.idle = true;
		bench.inbox.settled();
		bench.runs.settled(true);
		bench.names("a");
		bench.timers.advance(499);
		bench.runs.close(false);
		bench.timers.advance(500);
		assert.deepEqual(bench.kinds, ["interrupted a"]);
		assert.deepEqual([bench.last.text, bench.last.error], ["as far as", "the session was left"]);
	});

	test("is stopped where the host was aborted between two turns, as in a retry's pause", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.answers("", { stopReason: "error", errorMessage: "500" });
		bench.settles(true);
		assert.equal(bench.last.event, "stopped");
	});

	test("fails where the host settles without any answer", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.settles();
		assert.deepEqual([bench.last.event, bench.last.error, bench.last.turns], ["failed", "the session settled without an answer", 0]);
	});

	test("that comes into another's run counts from there, and both settle together with the same text", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.hands("b");
		bench.answers("step", { stopReason: "toolUse" });
		bench.endsTurn();
		bench.shows();
		bench.answers("both are done");
		bench.endsTurn();
		bench.settles();
		assert.deepEqual(bench.kinds, ["progress a", "progress a", "progress b", "done a", "done b"]);
		const [a, b] = bench.events.slice(-2);
		assert.deepEqual([a?.text, b?.text, a?.turns, b?.turns, a?.usage?.input, b?.usage?.input], ["both are done", "both are done", 2, 1, 200, 100]);
	});

	test("that the host lost before it was in the session has not begun", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.inbox.runStarted();
		bench.settles(true);
		assert.deepEqual(bench.events, []);
		bench.starts();
		bench.answers("done");
		bench.settles();
		assert.deepEqual(bench.kinds, ["done a"]);
	});

	test("of before a stop begins no turn, and is told as stopped once it is proved", () => {
		const bench = new Bench();
		bench.inbox.pause(1_000);
		bench.hands("a", { acceptedAtMs: 900 });
		bench.inbox.resume();
		bench.timers.advance(0);
		assert.deepEqual(bench.told, ["injected alice/a", "stopped alice/a"]);
		assert.equal(bench.last.error, "the session was stopped before it began with this");
	});

	test("that is shown and started by nobody yet ends with the person's next run", () => {
		const bench = new Bench();
		bench.hands("a", { quiet: true });
		assert.deepEqual(bench.told, ["injected alice/a"]);
		bench.inbox.runStarted();
		bench.answers("at last");
		bench.endsTurn();
		bench.settles();
		assert.deepEqual(bench.kinds, ["progress a", "done a"]);
	});

	test("is interrupted where the session is left, and goes on over a reload", () => {
		for (const [goesOn, kinds] of [[false, ["interrupted a"]], [true, []]] as const) {
			const bench = new Bench();
			bench.hands("a");
			bench.starts();
			bench.runs.close(goesOn);
			assert.deepEqual(bench.kinds, kinds);
			bench.runs.settled(false);
			assert.deepEqual(bench.kinds, kinds);
		}
	});
});

describe("the end of a run", () => {
	function ended(): Bench {
		const bench = new Bench();
		bench.names("a");
		bench.hands("a");
		bench.starts();
		bench.answers("done");
		bench.endsTurn();
		bench.settles();
		return bench;
	}

	test("is told again with each list that names it, and no more once one does not", () => {
		const bench = ended();
		const { last } = bench;
		bench.names("a");
		bench.names("a", "z");
		assert.deepEqual(bench.kinds, ["progress a", "done a", "done a", "done a"]);
		assert.equal(bench.last, last);
		bench.names();
		// A list that is late is answered from the session's entries.
		bench.session.idle = false;
		bench.names("a");
		assert.equal(bench.events.length, 4);
	});

	test("is kept where the list that names it is later than the run", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.answers("", { stopReason: "error", errorMessage: "500" });
		bench.settles();
		bench.names();
		bench.names("a");
		assert.deepEqual(bench.kinds, ["failed a", "failed a"]);
		assert.equal(bench.last.error, "500");
	});

	test("is told to the next agent, which names the run still", () => {
		const bench = ended();
		bench.inbox.linkLost();
		bench.names("a");
		assert.deepEqual(bench.kinds.slice(1), ["done a", "done a"]);
	});

	test("is not told while the run goes on, whatever the list says", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.names("a");
		bench.names();
		bench.answers("done");
		bench.settles();
		assert.deepEqual(bench.kinds, ["done a"]);
	});

	test("is kept for 64 runs; of older ones the session's entries tell", () => {
		const bench = new Bench();
		for (let i = 0; i < 65; i++) {
			bench.runs.begun(`alice/${i}`, true);
			bench.runs.messageEnded(assistant(`${i}`));
			bench.runs.settled(false);
		}
		bench.names("0", "1");
		assert.deepEqual(bench.kinds.slice(65), ["done 1"]);
	});
});

describe("a run of an earlier process", () => {
	/** A session's entries as one finds them at its start: the envelope, then what `after` says. */
	function found(after: readonly object[], envelope: object = {}): Bench {
		const session = new FakeSession();
		const before = new Bench(session);
		before.hands("a");
		const message = session.sent[0]?.message;
		session.saved.push({ type: "custom_message", id: "env", parentId: null, ...message, ...envelope }, ...after);
		session.idle = true;
		return new Bench(session);
	}

	function entry(id: string, parentId: string, message: object): object {
		return { type: "message", id, parentId, message };
	}

	const PERSON = { role: "user", content: "something else" };
	const CALL = assistant("half", { stopReason: "toolUse" });
	const RESULT = { role: "toolResult", content: [] };

	test("is done where its turn was complete", () => {
		const bench = found([entry("1", "env", CALL), entry("2", "1", RESULT), entry("3", "2", assistant("whole"))]);
		bench.names("a");
		const usage = { input: 200, output: 40, cacheRead: 10, cacheWrite: 6, cost: 0.5 };
		assert.deepEqual(bench.events, [{ deliveryId: "alice/a", event: "done", turns: 2, model: "fake/m1", usage, text: "whole" }]);
	});

	for (const [what, after, text] of [
		["nothing came after the envelope", [], undefined],
		["the last turn called a tool", [entry("1", "env", CALL)], "half"],
		["the last turn got the tool's result and no answer", [entry("1", "env", CALL), entry("2", "1", RESULT)], "half"],
		["the last attempt failed", [entry("1", "env", CALL), entry("2", "1", assistant("", { stopReason: "error", errorMessage: "500" }))], "half"],
		["it was aborted", [entry("1", "env", assistant("ha", { stopReason: "aborted" }))], "ha"],
	] as const) {
		test(`is interrupted where ${what}`, () => {
			const bench = found(after);
			bench.names("a");
			assert.deepEqual([bench.last.event, bench.last.text], ["interrupted", text]);
			assert.notEqual(bench.last.error, undefined);
		});
	}

	test("is told once for each list that names it", () => {
		const bench = found([entry("1", "env", assistant("whole"))]);
		bench.names("a");
		bench.names("a");
		bench.names();
		assert.deepEqual(bench.kinds, ["done a", "done a"]);
	});

	test("whose envelope is not in the session is not spoken of", () => {
		const bench = found([]);
		bench.names("b");
		assert.deepEqual(bench.events, []);
	});

	test("is not changed by what the person did after it was complete", () => {
		const bench = found([entry("1", "env", assistant("whole")), entry("2", "1", PERSON), entry("3", "2", assistant("other"))]);
		bench.names("a");
		assert.deepEqual([bench.last.event, bench.last.text, bench.last.turns], ["done", "whole", 1]);
	});

	test("takes along what was steered into it", () => {
		const bench = found([entry("1", "env", CALL), entry("2", "1", RESULT), entry("3", "2", PERSON), entry("4", "3", assistant("as you wish"))]);
		bench.names("a");
		assert.deepEqual([bench.last.event, bench.last.text], ["done", "as you wish"]);
	});

	test("is found over a compaction", () => {
		const bench = found([entry("1", "env", CALL), { type: "compaction", id: "c", parentId: "1", summary: "…", firstKeptEntryId: "1" }, entry("2", "c", assistant("whole"))]);
		bench.names("a");
		assert.deepEqual([bench.last.event, bench.last.text], ["done", "whole"]);
	});

	test("is not mixed up with another branch", () => {
		const bench = found([entry("1", "env", CALL), entry("2", "elsewhere", PERSON), entry("3", "2", assistant("of the other branch"))]);
		bench.names("a");
		assert.deepEqual([bench.last.event, bench.last.text], ["interrupted", "half"]);
	});

	test("is not taken for this process' work, which begins when the person resumes", () => {
		const bench = found([entry("1", "env", CALL)]);
		bench.inbox.runStarted();
		bench.session.idle = false;
		bench.answers("an answer to the person");
		bench.settles();
		bench.names("a");
		assert.deepEqual([bench.last.event, bench.last.text], ["interrupted", "half"]);
	});

	test("is told at once though this process is at work already", () => {
		const bench = found([entry("1", "env", CALL)]);
		bench.session.idle = false;
		bench.names("a");
		assert.deepEqual(bench.kinds, ["interrupted a"]);
	});

	test("whose envelope is offered again is proved and then decided", () => {
		const bench = found([entry("1", "env", assistant("whole"))]);
		bench.hands("a", { redelivered: true });
		bench.names("a");
		assert.deepEqual(bench.told, ["injected alice/a", "done alice/a"]);
	});

	test("is decided again by the modules that a reload evaluates anew", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.answers("whole");
		bench.settles();
		const after = new Bench(bench.session);
		after.names("a");
		assert.deepEqual([after.last.event, after.last.text], ["done", "whole"]);
	});

	test("that goes on over a reload is decided once the host settles", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.answers("", { stopReason: "error", errorMessage: "500" });
		const after = new Bench(bench.session);
		after.names("a");
		assert.deepEqual(after.events, []);
		after.inbox.runStarted();
		after.answers("whole");
		after.settles();
		assert.deepEqual([after.last.event, after.last.text], ["done", "whole"]);
		assert.equal(after.events.length, 1);
	});
});

describe("the text of a run", () => {
	test("is whole at the end up to 256 KiB, and its last 8,000 characters meanwhile", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		const text = `begin${"x".repeat(256 * 1024 - 8)}end`;
		bench.answers(text);
		bench.endsTurn();
		assert.deepEqual([bench.last.text?.length, bench.last.text?.endsWith("xend"), bench.last.leftOut], [8_000, true, 256 * 1024 - 8_000]);
		bench.settles();
		assert.deepEqual([bench.last.text, bench.last.leftOut], [text, undefined]);
	});

	test("keeps both ends where it is longer, cuts within no character and says what is missing", () => {
		const text = `begin${"👍".repeat(100_000)}end`;
		const cut = endsOf(text, 1024);
		assert.ok(Buffer.byteLength(cut.text) <= 1024);
		assert.match(cut.text, /^begin(👍)+\n\[… [\d,]+ characters left out …\]\n(👍)+end$/u);
		const kept = [...cut.text.replace(/\n.*\n/u, "")].length;
		assert.equal(kept + cut.leftOut, [...text].length);
	});

	test("fits a line of the link, whatever characters it is of", () => {
		for (const character of ["\u0001", "\ud83d", "👍", "\""]) {
			const bench = new Bench();
			bench.hands("a");
			bench.starts();
			bench.answers(`a${character.repeat(600_000)}z`);
			bench.settles();
			assert.ok(Buffer.byteLength(JSON.stringify(bench.last)) < 1024 * 1024 - 4096);
			assert.ok(bench.last.text?.startsWith("a") === true && bench.last.text.endsWith("z"));
			assert.ok((bench.last.leftOut ?? 0) > 0);
			assert.doesNotMatch(bench.last.text, /[\ud800-\udbff](?![\udc00-\udfff])/);
		}
	});

	test("holds no half of a character, which would be no text on the link", () => {
		const bench = new Bench();
		bench.hands("a");
		bench.starts();
		bench.answers("cut \ud83d");
		bench.settles();
		assert.equal(bench.last.text, "cut \ufffd");
	});

	test("has a tail that begins with a whole character", () => {
		assert.deepEqual(tailOf("👍👍👍", 2), { text: "👍👍", leftOut: 1 });
		assert.deepEqual(tailOf("👍👍", 2), { text: "👍👍", leftOut: 0 });
	});
});

test("figures that a host leaves out, or that are none, count as nothing", () => {
	const bench = new Bench();
	bench.hands("a");
	bench.starts();
	bench.answers("x", { usage: { input: Number.NaN, output: -3, cost: "much" }, model: undefined });
	bench.answers("y", { usage: undefined });
	bench.settles();
	assert.deepEqual(bench.last.usage, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 });
});

test("open runs and a run's envelope are read from what the agent sends", () => {
	const open = [{ runId: "run-1", deliveryId: "s/1", label: "x", supervisor: { sessionId: "s", name: "S" } }];
	assert.deepEqual(parseRuns({ open }), [{ runId: "run-1", deliveryId: "s/1" }]);
	assert.deepEqual(parseRuns({}), []);
	assert.throws(() => parseRuns({ open: [{ runId: "run-1" }] }), ContractError);
	const { attachments: _, ...rest } = delivery("a", { runId: "run-7" });
	assert.equal(parseDelivery(rest).runId, "run-7");
});
