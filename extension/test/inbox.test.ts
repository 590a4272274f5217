import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Receipt } from "../src/contract.ts";
import { type HostMessage, Inbox } from "../src/inbox.ts";
import { delivery, FakeSession } from "./support/fake-session.ts";
import { FakeTimers } from "./support/fake-timers.ts";

/** An inbox before a host session and a clock that stands still, with the host's event order in one place. */
class Bench {
	readonly session = new FakeSession();
	readonly timers = new FakeTimers();
	readonly receipts: Receipt[] = [];
	readonly inbox = new Inbox(this.session, this.timers, (receipt) => this.receipts.push(receipt));

	/** The host begins a run with the last message sent: events up to the request. */
	runStarts(): HostMessage {
		const message = this.session.sent.at(-1)?.message;
		assert.ok(message);
		this.inbox.runStarted();
		this.messageEnds(message);
		this.inbox.contextBuilt([{ role: "custom", ...message }]);
		return message;
	}

	messageEnds(message: HostMessage): void {
		this.inbox.messageEnded({ role: "custom", ...message });
		this.session.save(message);
		this.timers.advance(0);
	}

	assistantAnswers(stopReason = "stop"): void {
		this.inbox.messageEnded({ role: "assistant", stopReason });
		this.session.fileState = "present";
		this.timers.advance(0);
	}

	settles(): void {
		this.session.idle = true;
		this.inbox.settled();
		this.timers.advance(0);
	}

	events(envelopeId: string): string[] {
		return this.receipts.filter((receipt) => receipt.deliveryId === `alice/${envelopeId}`).map((receipt) => receipt.waitReason ?? receipt.event);
	}
}

describe("an idle session", () => {
	test("gets a delivery as a message that starts a run", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a"));
		assert.deepEqual(bench.session.sent[0]?.options, { triggerTurn: true, deliverAs: "steer" });
		assert.equal(bench.session.sent[0]?.message.details.intercom.deliveryId, "alice/a");
		assert.deepEqual(bench.receipts, []);
	});

	test("proves injected by the entry and seen by the answered request", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a"));
		bench.runStarts();
		assert.deepEqual(bench.events("a"), ["injected"]);
		bench.assistantAnswers();
		assert.deepEqual(bench.events("a"), ["injected", "seen"]);
		assert.equal(bench.receipts[0]?.evidence, "entry e1");
	});

	test("does not call a failed request seen, and does call the repeated one", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a"));
		const message = bench.runStarts();
		bench.assistantAnswers("error");
		assert.deepEqual(bench.events("a"), ["injected"]);
		bench.inbox.contextBuilt([{ role: "custom", ...message }]);
		bench.assistantAnswers();
		assert.deepEqual(bench.events("a"), ["injected", "seen"]);
	});

	test("keeps two deliveries of one instant in order, one at a time", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a"));
		bench.inbox.deliver(delivery("b"));
		assert.deepEqual(bench.session.sentIds, ["a"]);
		assert.deepEqual(bench.events("b"), ["busy"]);
		bench.runStarts();
		bench.assistantAnswers();
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.session.sentIds, ["a", "b"]);
	});

	test("reports injected only once the session file exists", () => {
		const bench = new Bench();
		bench.session.fileState = "absent";
		bench.inbox.deliver(delivery("a"));
		bench.runStarts();
		assert.deepEqual(bench.events("a"), []);
		bench.assistantAnswers();
		assert.deepEqual(bench.events("a"), ["injected", "seen"]);
	});

	test("says in the evidence that a session is kept in memory", () => {
		const bench = new Bench();
		bench.session.fileState = "memory";
		bench.inbox.deliver(delivery("a"));
		bench.runStarts();
		assert.match(bench.receipts[0]?.evidence ?? "", /in memory/);
	});

	test("holds again what started no run within 5 s", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a"));
		bench.session.idle = true;
		bench.timers.advance(4_999);
		assert.deepEqual(bench.session.sentIds, ["a"]);
		bench.timers.advance(1);
		assert.deepEqual(bench.session.sentIds, ["a", "a"]);
	});

	test("gives a host that is busy before the run more than 5 s", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a"));
		bench.timers.advance(30_000);
		assert.deepEqual(bench.session.sentIds, ["a"]);
	});

	test("fails a delivery after three sends that started no run", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a"));
		for (let i = 0; i < 3; i++) {
			bench.session.idle = true;
			bench.timers.advance(5_000);
		}
		assert.equal(bench.session.sent.length, 3);
		assert.deepEqual(bench.events("a"), ["failed"]);
	});

	test("fails a delivery that the host throws at three times, and goes on with the next", () => {
		const bench = new Bench();
		bench.session.sendError = new Error("stale");
		bench.inbox.deliver(delivery("a"));
		bench.timers.advance(4_999);
		assert.equal(bench.events("a").includes("failed"), false);
		bench.timers.advance(500);
		assert.equal(bench.events("a").at(-1), "failed");
		assert.equal(bench.receipts.at(-1)?.evidence, "3 attempts, the last: stale");
		bench.session.sendError = undefined;
		bench.inbox.deliver(delivery("b"));
		assert.deepEqual(bench.session.sentIds, ["b"]);
	});

	test("lets nothing overtake a delivery that the host threw at once", () => {
		const bench = new Bench();
		bench.session.sendError = new Error("stale");
		bench.inbox.deliver(delivery("a"));
		bench.session.sendError = undefined;
		bench.inbox.deliver(delivery("b"));
		assert.deepEqual(bench.session.sentIds, []);
		bench.timers.advance(1_250);
		assert.equal(bench.session.sentIds[0], "a");
	});

	test("lets the person's own input go first", () => {
		const bench = new Bench();
		bench.inbox.inputArrived();
		bench.inbox.deliver(delivery("a"));
		assert.deepEqual(bench.session.sentIds, []);
		assert.deepEqual(bench.events("a"), ["starting"]);
		bench.timers.advance(2_250);
		assert.deepEqual(bench.session.sentIds, ["a"]);
	});
});

describe("a quiet delivery", () => {
	test("is shown without a run and proved by its entry", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("q", { quiet: true }));
		assert.deepEqual(bench.session.sent[0]?.options, { triggerTurn: false });
		assert.deepEqual(bench.events("q"), ["injected"]);
	});

	test("waits for its proof where no session file exists yet", () => {
		const bench = new Bench();
		bench.session.fileState = "absent";
		bench.inbox.deliver(delivery("q", { quiet: true }));
		assert.deepEqual(bench.events("q"), []);
		bench.session.fileState = "present";
		bench.inbox.messageEnded({ role: "user" });
		bench.timers.advance(0);
		assert.deepEqual(bench.events("q"), ["injected"]);
	});

	test("does not prolong a run, nor hold up what comes after it", () => {
		const bench = new Bench();
		bench.inbox.runStarted();
		bench.session.idle = false;
		bench.inbox.deliver(delivery("q", { quiet: true }));
		bench.inbox.deliver(delivery("a"));
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.session.sent[0]?.options, { triggerTurn: false });
		bench.session.save(bench.session.sent[0]?.message as HostMessage);
		bench.settles();
		assert.deepEqual(bench.session.sentIds, ["q", "a"]);
	});
});

describe("a busy session", () => {
	function busy(): Bench {
		const bench = new Bench();
		bench.inbox.runStarted();
		bench.session.idle = false;
		return bench;
	}

	test("gets one message at each turn's end, steered", () => {
		const bench = busy();
		bench.inbox.deliver(delivery("a"));
		bench.inbox.deliver(delivery("b"));
		assert.deepEqual(bench.session.sentIds, []);
		assert.deepEqual([bench.events("a"), bench.events("b")], [["busy"], ["busy"]]);
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.session.sentIds, ["a"]);
		assert.equal(bench.session.sent[0]?.options.deliverAs, "steer");
		bench.messageEnds(bench.session.sent[0]?.message as HostMessage);
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.session.sentIds, ["a", "b"]);
	});

	test("gets nothing at the end of an aborted turn, and gets it when settled", () => {
		const bench = busy();
		bench.inbox.deliver(delivery("a"));
		bench.inbox.turnEnded(false);
		assert.deepEqual(bench.session.sentIds, []);
		bench.settles();
		assert.deepEqual(bench.session.sentIds, ["a"]);
	});

	test("holds again what Escape took out of the host's queue", () => {
		const bench = busy();
		bench.inbox.deliver(delivery("a"));
		bench.inbox.deliver(delivery("b"));
		bench.inbox.turnEnded(true);
		bench.settles();
		assert.deepEqual(bench.session.sentIds, ["a", "a"]);
		bench.runStarts();
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.session.sentIds, ["a", "a", "b"]);
	});

	test("shows the model one copy where the host kept the steered message as well", () => {
		const bench = busy();
		bench.inbox.deliver(delivery("a"));
		bench.inbox.turnEnded(true);
		bench.settles();
		const message = bench.runStarts();
		const copy = { role: "custom", ...message };
		assert.deepEqual(bench.inbox.contextBuilt([copy, { role: "user" }, copy]), [copy, { role: "user" }]);
		assert.equal(bench.inbox.contextBuilt([copy]), undefined);
	});
});

describe("compaction", () => {
	test("holds deliveries and lets them go once the host is idle again", () => {
		const bench = new Bench();
		bench.session.idle = false;
		bench.inbox.compactionStarted();
		bench.inbox.deliver(delivery("a"));
		assert.deepEqual(bench.events("a"), ["compaction"]);
		bench.inbox.compactionEnded();
		bench.timers.advance(0);
		assert.deepEqual(bench.session.sentIds, []);
		bench.session.idle = true;
		bench.timers.advance(250);
		assert.deepEqual(bench.session.sentIds, ["a"]);
	});

	test("inside a run holds until the run's next turn ends", () => {
		const bench = new Bench();
		bench.inbox.runStarted();
		bench.session.idle = false;
		bench.inbox.deliver(delivery("a"));
		bench.inbox.compactionStarted();
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.session.sentIds, []);
		bench.inbox.compactionEnded();
		bench.timers.advance(0);
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.events("a"), ["busy", "compaction", "busy"]);
		assert.deepEqual(bench.session.sentIds, ["a"]);
	});
});

describe("repeats", () => {
	test("acknowledge a delivery that is in the session already and do not show it", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a", { quiet: true }));
		const second = new Bench();
		second.session.saved.push(...bench.session.saved);
		second.inbox.deliver(delivery("a", { redelivered: true }));
		assert.deepEqual(second.session.sent, []);
		assert.deepEqual(second.events("a"), ["injected"]);
	});

	test("of a held delivery show it once and report held again", () => {
		const bench = new Bench();
		bench.inbox.runStarted();
		bench.inbox.deliver(delivery("a"));
		bench.inbox.deliver(delivery("a", { redelivered: true }));
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.events("a"), ["busy", "busy"]);
		assert.deepEqual(bench.session.sentIds, ["a"]);
	});

	test("after the agent's death come from the broker, not from what was held", () => {
		const bench = new Bench();
		bench.inbox.runStarted();
		bench.inbox.deliver(delivery("a"));
		bench.inbox.linkLost();
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.session.sentIds, []);
	});

	test("reconcile names what the session's own entries hold", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a", { quiet: true }));
		const later = new Bench();
		later.session.saved.push({ type: "message" }, ...bench.session.saved, { type: "custom_message", customType: "other", details: { intercom: { deliveryId: "alice/b" } } });
		assert.deepEqual(later.inbox.reconcile(["alice/a", "alice/b", "alice/c"]), ["alice/a"]);
	});

	test("reconcile leads to seen once an answered request holds the entry", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a", { quiet: true }));
		const later = new Bench();
		later.session.saved.push(...bench.session.saved);
		later.inbox.reconcile(["alice/a"]);
		later.inbox.contextBuilt([{ role: "custom", ...bench.session.sent[0]?.message }]);
		later.assistantAnswers();
		assert.deepEqual(later.events("a"), ["seen"]);
	});

	test("reconcile calls nothing present while there is no session file", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a", { quiet: true }));
		bench.session.fileState = "absent";
		assert.deepEqual(bench.inbox.reconcile(["alice/a"]), []);
	});
});

describe("withdrawal", () => {
	test("takes back what is held and says too late for what was handed over", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a"));
		bench.inbox.deliver(delivery("b"));
		assert.equal(bench.inbox.withdraw("alice/a"), "tooLate");
		assert.equal(bench.inbox.withdraw("alice/b"), "withdrawn");
		bench.runStarts();
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.session.sentIds, ["a"]);
	});

	test("of what never came is granted", () => {
		assert.equal(new Bench().inbox.withdraw("alice/x"), "withdrawn");
	});
});

test("a closed inbox keeps no timer and shows nothing", () => {
	const bench = new Bench();
	bench.inbox.deliver(delivery("a"));
	bench.inbox.deliver(delivery("b"));
	bench.inbox.close();
	assert.equal(bench.timers.pendingCount, 0);
	bench.inbox.turnEnded(true);
	bench.settles();
	assert.deepEqual(bench.session.sentIds, ["a"]);
});

test("refuses beyond its bound in words", () => {
	const bench = new Bench();
	bench.inbox.runStarted();
	for (let i = 0; i < 257; i++) bench.inbox.deliver(delivery(`m${i}`));
	assert.deepEqual(bench.events("m256"), ["failed"]);
});

describe("a message of another extension of this Pi", () => {
	const relayed = (id: string) => ({ id, name: "subagent result", content: `Relayed:\n> ${id}`, summary: id });

	/** Hands one in; what becomes of it is in `outcomes`. */
	function hands(bench: Bench, id: string, outcomes: string[]): void {
		bench.inbox.local(relayed(id)).then(
			() => outcomes.push(`${id} shown`),
			(error: Error) => outcomes.push(`${id} ${error.message}`),
		);
	}
	const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

	test("starts a turn, and is done when it is an entry on disk", async () => {
		const bench = new Bench();
		const outcomes: string[] = [];
		bench.session.fileState = "absent";
		hands(bench, "r1", outcomes);
		assert.deepEqual(bench.session.sent[0]?.options, { triggerTurn: true, deliverAs: "steer" });
		assert.equal(bench.session.sent[0]?.message.details.intercom.from.name, "subagent result");
		bench.runStarts();
		await settle();
		assert.deepEqual(outcomes, []);
		bench.assistantAnswers();
		await settle();
		assert.deepEqual(outcomes, ["r1 shown"]);
		bench.settles();
		assert.deepEqual(bench.receipts, []);
	});

	test("takes its turn among the deliveries, one at a time", async () => {
		const bench = new Bench();
		const outcomes: string[] = [];
		bench.inbox.deliver(delivery("a"));
		hands(bench, "r1", outcomes);
		bench.inbox.deliver(delivery("b"));
		assert.deepEqual(bench.session.sentIds, ["a"]);
		for (const ids of [["a", "r1"], ["a", "r1", "b"]]) {
			bench.runStarts();
			bench.assistantAnswers();
			bench.inbox.turnEnded(true);
			assert.deepEqual(bench.session.sentIds, ids);
		}
		await settle();
		assert.deepEqual(outcomes, ["r1 shown"]);
		assert.ok(bench.receipts.every(({ deliveryId }) => deliveryId.startsWith("alice/")));
	});

	test("is held over a lost connection, which takes only what the broker has", () => {
		const bench = new Bench();
		bench.inbox.runStarted();
		bench.inbox.deliver(delivery("a"));
		hands(bench, "r1", []);
		bench.inbox.linkLost();
		bench.settles();
		assert.deepEqual(bench.session.sentIds, ["r1"]);
	});

	test("that never was shown is said to be so at the session's end", async () => {
		const bench = new Bench();
		const outcomes: string[] = [];
		bench.inbox.runStarted();
		hands(bench, "r1", outcomes);
		bench.inbox.close();
		hands(bench, "r2", outcomes);
		await settle();
		assert.deepEqual(outcomes, ["r1 the session ended before it was shown", "r2 the session is over"]);
	});

	test("that the host does not take is given up like a delivery, and the broker hears nothing of it", async () => {
		const bench = new Bench();
		const outcomes: string[] = [];
		bench.session.sendError = new Error("no");
		hands(bench, "r1", outcomes);
		bench.timers.advance(10_000);
		await settle();
		assert.deepEqual(outcomes, ["r1 3 attempts, the last: no"]);
		assert.deepEqual(bench.receipts, []);
	});
});
