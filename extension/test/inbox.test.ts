import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TellResults } from "../src/call-results.ts";
import type { Receipt } from "../src/contract.ts";
import { type HostMessage, Inbox, type InboxOptions } from "../src/inbox.ts";
import { delivery, FakeSession } from "./support/fake-session.ts";
import { FakeTimers } from "./support/fake-timers.ts";

/** An inbox before a host session and a clock that stands still, with the host's event order in one place. */
class Bench {
	readonly session = new FakeSession();
	readonly timers = new FakeTimers();
	readonly receipts: Receipt[] = [];
	readonly inbox: Inbox;

	constructor(options: InboxOptions = {}) {
		this.inbox = new Inbox(this.session, this.timers, (receipt) => void this.receipts.push(receipt), options);
	}

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

	test("gets one message at each turn's end, steered, so that an inbound message aborts no busy turn (4.12)", () => {
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
	test("acknowledge a delivery that is in the session already and do not show it: an answered ask injected again (4.38)", () => {
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

/** The message that a tool call's result becomes. */
function toolResult(deliveryId: string | undefined, toolCallId = "call-1"): object {
	return { role: "toolResult", toolCallId, toolName: "intercom", details: { summary: "Reply from Alice", intercom: { deliveryId } } };
}

describe("a reply that is the result of a tool call", () => {
	/** A run that has asked, and whose call was answered with the reply. */
	function answered(): Bench {
		const bench = new Bench();
		bench.inbox.runStarted();
		bench.session.idle = false;
		bench.inbox.resultReturned("alice/r");
		return bench;
	}

	function saves(bench: Bench, message = toolResult("alice/r")): void {
		bench.inbox.messageEnded(message);
		bench.session.saved.push({ type: "message", id: "t1", message });
		bench.timers.advance(0);
	}

	test("is injected by the result's entry, and seen by the request that holds it", () => {
		const bench = answered();
		bench.timers.advance(60_000);
		assert.deepEqual(bench.events("r"), []);
		saves(bench);
		assert.deepEqual(bench.receipts, [{ deliveryId: "alice/r", event: "injected", evidence: "entry t1" }]);
		bench.inbox.contextBuilt([{ role: "user" }, toolResult("alice/r")]);
		bench.assistantAnswers();
		assert.deepEqual(bench.events("r"), ["injected", "seen"]);
	});

	test("is not injected while the session has no file", () => {
		const bench = answered();
		bench.session.fileState = "absent";
		saves(bench);
		assert.deepEqual(bench.events("r"), []);
		assert.deepEqual(bench.inbox.reconcile(["alice/r"]), []);
		bench.session.fileState = "present";
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.events("r"), ["injected"]);
	});

	test("that is delivered as well is held for its entry, and not shown again", () => {
		const bench = answered();
		bench.inbox.deliver(delivery("r", { kind: "reply" }));
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.session.sent, []);
		assert.deepEqual(bench.events("r"), ["busy"]);
		saves(bench);
		bench.inbox.turnEnded(true);
		bench.settles();
		bench.inbox.deliver(delivery("r", { kind: "reply", redelivered: true }));
		assert.deepEqual(bench.session.sent, []);
		assert.deepEqual(bench.events("r"), ["busy", "injected", "injected"]);
	});

	test("that was delivered before it, and waited, is not shown as a message any more", () => {
		const bench = new Bench();
		bench.inbox.runStarted();
		bench.session.idle = false;
		bench.inbox.deliver(delivery("r", { kind: "reply" }));
		bench.inbox.resultReturned("alice/r");
		saves(bench);
		bench.inbox.turnEnded(true);
		bench.settles();
		assert.deepEqual(bench.session.sent, []);
		assert.deepEqual(bench.events("r"), ["busy", "injected"]);
	});

	test("that never came into the session is shown as the message that came meanwhile, before what came later", () => {
		const bench = answered();
		bench.inbox.deliver(delivery("r", { kind: "reply" }));
		bench.inbox.deliver(delivery("later"));
		bench.settles();
		assert.deepEqual(bench.session.sentIds, ["r"]);
		bench.runStarts();
		bench.assistantAnswers();
		assert.deepEqual(bench.events("r"), ["busy", "injected", "seen"]);
	});

	test("that never came into the session, and of which nothing else is here, is not taken, so that it comes as mail", () => {
		const bench = answered();
		bench.settles();
		assert.deepEqual(bench.events("r"), ["notTaken"]);
		bench.inbox.deliver(delivery("r", { kind: "reply", redelivered: true }));
		assert.deepEqual(bench.session.sentIds, ["r"]);
	});

	test("saved late, after other calls of its turn, counts once", () => {
		const bench = answered();
		bench.inbox.resultReturned("alice/s");
		bench.inbox.messageEnded({ role: "toolResult", toolCallId: "other" });
		bench.timers.advance(300_000);
		assert.deepEqual(bench.receipts, []);
		saves(bench);
		saves(bench, toolResult("alice/s", "call-2"));
		bench.inbox.turnEnded(true);
		assert.deepEqual([bench.events("r"), bench.events("s")], [["injected"], ["injected"]]);
	});

	test("is present to a later start of the session by the result's entry alone", () => {
		const bench = new Bench();
		bench.session.saved.push({ type: "message", id: "t1", message: toolResult("alice/r") }, { type: "message", id: "t2", message: { ...toolResult("alice/x"), role: "assistant" } });
		assert.deepEqual(bench.inbox.reconcile(["alice/r", "alice/x"]), ["alice/r"]);
		bench.inbox.deliver(delivery("r", { redelivered: true }));
		assert.deepEqual(bench.session.sent, []);
		assert.deepEqual(bench.events("r"), ["injected"]);
	});

	test("can't be withdrawn", () => {
		assert.equal(answered().inbox.withdraw("alice/r"), "tooLate");
	});

	test("stays with its call where a copy of it is in the same request", () => {
		const bench = answered();
		const copy = { role: "custom", customType: "intercom", details: { intercom: { deliveryId: "alice/r" } } };
		assert.deepEqual(bench.inbox.contextBuilt([copy, toolResult("alice/r")]), [toolResult("alice/r")]);
	});

	test("is offered again by the broker where the agent was lost before its entry came", () => {
		const bench = answered();
		bench.inbox.deliver(delivery("r", { kind: "reply" }));
		bench.inbox.linkLost();
		bench.settles();
		assert.deepEqual(bench.session.sent, []);
		assert.deepEqual(bench.events("r"), ["busy", "notTaken"]);
	});
});

describe("what the result of a tool call tells", () => {
	function returned(isUp: () => boolean = () => true): Bench & { readonly told: string[] } {
		const told: string[] = [];
		const tellResults: TellResults = (event, ids) => isUp() && told.push(`${event} ${ids.join(" ")}`) > 0;
		const bench = Object.assign(new Bench({ tellResults }), { told });
		bench.inbox.runStarted();
		bench.session.idle = false;
		bench.inbox.resultTells(["run-1", "run-2"]);
		return bench;
	}

	function saves(bench: Bench, ...ids: string[]): void {
		const message = { role: "toolResult", toolCallId: "call-1", details: { intercom: { ids } } };
		bench.inbox.messageEnded(message);
		bench.session.saved.push({ type: "message", id: "t1", message });
		bench.timers.advance(0);
	}

	test("is shown once the result is an entry, and told once", () => {
		const bench = returned();
		bench.timers.advance(60_000);
		assert.deepEqual(bench.told, []);
		saves(bench, "run-1", "run-2");
		bench.assistantAnswers();
		bench.inbox.turnEnded(true);
		bench.settles();
		assert.deepEqual(bench.told, ["shown run-1 run-2"]);
		assert.deepEqual(bench.receipts, []);
	});

	test("is not shown while the session has no file", () => {
		const bench = returned();
		bench.session.fileState = "absent";
		saves(bench, "run-1", "run-2");
		assert.deepEqual(bench.told, []);
		bench.session.fileState = "present";
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.told, ["shown run-1 run-2"]);
	});

	test("is lost where the run ends without it, as where it was aborted", () => {
		const bench = returned();
		saves(bench, "run-2");
		bench.settles();
		assert.deepEqual(bench.told, ["shown run-2", "lost run-1"]);
	});

	test("is told to the next agent where the one that gave it has died", () => {
		let isUp = false;
		const bench = returned(() => isUp);
		saves(bench, "run-1", "run-2");
		bench.settles();
		assert.deepEqual(bench.told, []);
		isUp = true;
		bench.inbox.linkUp();
		bench.inbox.linkUp();
		assert.deepEqual(bench.told, ["shown run-1 run-2"]);
	});

	test("is neither where the session was left before: its entries decide later", () => {
		const bench = returned();
		bench.inbox.close();
		bench.settles();
		assert.deepEqual(bench.told, []);
	});
});

describe("the delivery that started the run", () => {
	test("is the one that was handed to an idle session, until the run has settled", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a", { kind: "ask" }));
		assert.equal(bench.inbox.trigger, undefined);
		bench.runStarts();
		assert.equal(bench.inbox.trigger, "alice/a");
		bench.assistantAnswers("error");
		bench.inbox.runStarted();
		assert.equal(bench.inbox.trigger, "alice/a");
		bench.assistantAnswers();
		bench.settles();
		assert.equal(bench.inbox.trigger, undefined);
	});

	test("is still the first where a note is steered into the run: a reply goes to the asker that is meant (3.20)", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a", { kind: "ask" }));
		bench.runStarts();
		bench.inbox.deliver(delivery("note"));
		bench.inbox.turnEnded(true);
		bench.messageEnds(bench.session.sent[1]?.message as HostMessage);
		assert.deepEqual(bench.session.sentIds, ["a", "note"]);
		assert.equal(bench.inbox.trigger, "alice/a");
	});

	test("is none in a person's run, whatever is steered into it: an unrelated message answers no ask (4.1)", () => {
		const bench = new Bench();
		bench.inbox.runStarted();
		bench.session.idle = false;
		bench.inbox.messageEnded({ role: "user" });
		bench.inbox.deliver(delivery("a", { kind: "ask" }));
		bench.inbox.turnEnded(true);
		bench.messageEnds(bench.session.sent[0]?.message as HostMessage);
		assert.equal(bench.inbox.trigger, undefined);
	});

	test("is none in a person's run that is tried again after what was steered into it", () => {
		const bench = new Bench();
		bench.inbox.runStarted();
		bench.session.idle = false;
		bench.inbox.messageEnded({ role: "user" });
		bench.inbox.deliver(delivery("a", { kind: "ask" }));
		bench.inbox.turnEnded(true);
		bench.inbox.runStarted();
		bench.messageEnds(bench.session.sent[0]?.message as HostMessage);
		assert.equal(bench.inbox.trigger, undefined);
	});

	test("is none where a hand-over that started no run came up in a person's", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a", { kind: "ask" }));
		bench.inbox.runStarted();
		bench.inbox.messageEnded({ role: "user" });
		bench.messageEnds(bench.session.sent[0]?.message as HostMessage);
		assert.equal(bench.inbox.trigger, undefined);
	});

	test("is the one that began the run, also behind the host's own system message", () => {
		const bench = new Bench();
		bench.inbox.deliver(delivery("a"));
		bench.inbox.runStarted();
		bench.inbox.messageEnded({ role: "system" });
		bench.messageEnds(bench.session.sent[0]?.message as HostMessage);
		assert.equal(bench.inbox.trigger, "alice/a");
	});

	test("is none for what went in without a turn", () => {
		const bench = new Bench({ inboundTrigger: "never" });
		bench.inbox.deliver(delivery("a"));
		bench.inbox.messageEnded({ role: "custom", ...bench.session.sent[0]?.message });
		bench.inbox.runStarted();
		bench.inbox.messageEnded({ role: "user" });
		assert.equal(bench.inbox.trigger, undefined);
	});
});

describe("inboundTrigger", () => {
	const deliveries = [
		delivery("message"),
		delivery("ask", { kind: "ask" }),
		delivery("reply", { kind: "reply" }),
		delivery("answer", { replyTo: "me/x" }),
		delivery("notice", { kind: "notice" }),
		delivery("report", { kind: "report" }),
	];

	for (const [inboundTrigger, starting] of [
		["always", ["message", "ask", "reply", "answer", "notice", "report"]],
		["replies", ["reply", "answer", "notice", "report"]],
		["never", ["notice", "report"]],
	] as const) {
		test(`${inboundTrigger} lets ${starting.join(", ")} start a turn, and shows all the rest without one`, () => {
			for (const each of deliveries) {
				const bench = new Bench({ inboundTrigger });
				bench.inbox.deliver(each);
				const startsTurn = (starting as readonly string[]).includes(each.envelopeId);
				assert.equal(bench.session.sent[0]?.options.triggerTurn, startsTurn, each.envelopeId);
				if (!startsTurn) assert.deepEqual(bench.events(each.envelopeId), ["injected"]);
			}
		});
	}

	test("lets what it withholds go into a run without prolonging it", () => {
		const bench = new Bench({ inboundTrigger: "never" });
		bench.inbox.runStarted();
		bench.session.idle = false;
		bench.inbox.deliver(delivery("a", { kind: "ask" }));
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.session.sent[0]?.options, { triggerTurn: false });
	});

	test("does not withhold the request of a close", () => {
		const bench = new Bench({ inboundTrigger: "never" });
		bench.inbox.holdAllBut("request");
		bench.inbox.deliver(delivery("request"));
		assert.equal(bench.session.sent[0]?.options.triggerTurn, true);
	});
});

test("each hand-over is announced before the host has it", () => {
	const seen: number[] = [];
	const bench: Bench = new Bench({ onHandOver: () => void seen.push(bench.session.sent.length) });
	bench.inbox.deliver(delivery("a"));
	assert.deepEqual(seen, [0]);
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
	const from = { sessionId: "", name: "subagent result", role: "", origin: "extension" };
	const relayed = (id: string) => ({ id, kind: "relay", quiet: false, from, content: `Relayed:\n> ${id}`, summary: id });

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
