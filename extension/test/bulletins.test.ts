import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Bulletins } from "../src/bulletins.ts";
import { type Bulletin, ContractError, type JsonObject, type Notice, type Receipt } from "../src/contract.ts";
import { parseBulletin } from "../src/contract-parse.ts";
import { type HostMessage, Inbox } from "../src/inbox.ts";
import { delivery, FakeSession } from "./support/fake-session.ts";
import { FakeTimers } from "./support/fake-timers.ts";

const WALL_CLOCK = 1_000_000;

function bulletin(key: string, overrides: Partial<Bulletin> = {}): Bulletin {
	return { topic: "runs", key, ids: [key], content: `news ${key}`, summary: `sum ${key}`, quiet: false, ...overrides };
}

const NOTHING: Bulletin = bulletin("", { ids: [], content: "" });

/** Bulletins before a real inbox and a clock that stands still. */
class Bench {
	readonly session = new FakeSession();
	readonly timers = new FakeTimers();
	readonly receipts: Receipt[] = [];
	readonly shown: JsonObject[] = [];
	readonly collected: string[] = [];
	readonly notices: Notice[] = [];
	readonly inbox = new Inbox(this.session, this.timers, (receipt) => void this.receipts.push(receipt), { inboundTrigger: "never" });
	readonly bulletins: Bulletins;

	constructor() {
		let minted = 0;
		const link = { shown: (params: JsonObject) => void this.shown.push(params), collected: (ids: readonly string[]) => void this.collected.push(...ids), notify: (notice: Notice) => void this.notices.push(notice) };
		this.bulletins = new Bulletins(this.inbox, link, this.timers, () => `${++minted}`, () => WALL_CLOCK + this.timers.now());
	}

	sets(...bulletins: Bulletin[]): this {
		for (const one of bulletins) this.bulletins.set(one);
		return this;
	}

	passes(ms: number): this {
		this.timers.advance(ms);
		return this;
	}

	/** A run of the host begins with the message that was sent last, and saves it. */
	runs(): HostMessage {
		const message = this.session.sent.at(-1)?.message;
		assert.ok(message);
		this.inbox.runStarted();
		this.inbox.messageEnded({ role: "custom", ...message });
		this.session.save(message);
		this.timers.advance(0);
		return message;
	}

	settles(): this {
		this.session.idle = true;
		this.inbox.settled();
		this.timers.advance(0);
		return this;
	}

	/** A call's result is in the session that tells of these ids. */
	saves(...ids: string[]): void {
		this.session.saved.push({ type: "message", id: `e${this.session.saved.length + 1}`, message: { role: "toolResult", toolName: "intercom", details: { intercom: { ids } } } });
	}

	get texts(): string[] {
		return this.session.sent.map(({ message }) => message.content);
	}
}

describe("a bulletin", () => {
	test("goes to an idle session 150 ms after its last change, and starts a turn whatever mail may", () => {
		const bench = new Bench().sets(bulletin("k1")).passes(149);
		assert.deepEqual(bench.texts, []);
		bench.passes(1);
		assert.deepEqual(bench.texts, ["news k1"]);
		assert.deepEqual(bench.session.sent[0]?.options, { triggerTurn: true, deliverAs: "steer" });
		const { intercom } = bench.session.sent[0]?.message.details ?? assert.fail();
		assert.deepEqual([intercom.kind, intercom.from.name, intercom.summary], ["bulletin", "runs", "sum k1"]);
		assert.deepEqual(intercom.bulletin, { topic: "runs", key: "k1", ids: ["k1"] });
	});

	test("of a burst is the last one alone", () => {
		const bench = new Bench().sets(bulletin("k1")).passes(100).sets(bulletin("k2")).passes(100).sets(bulletin("k3")).passes(149);
		assert.deepEqual(bench.texts, []);
		bench.passes(1);
		assert.deepEqual(bench.texts, ["news k3"]);
		bench.runs();
		bench.settles().passes(10_000);
		assert.deepEqual(bench.texts, ["news k3"]);
	});

	test("is told as shown once its entry proves it, and once only", () => {
		const bench = new Bench().sets(bulletin("k1")).passes(150);
		assert.deepEqual(bench.shown, []);
		bench.runs();
		assert.deepEqual(bench.shown, [{ topic: "runs", key: "k1" }]);
		bench.settles().passes(10_000);
		assert.deepEqual(bench.shown.length, 1);
		assert.deepEqual(bench.receipts, []);
	});

	test("is not told as shown while the session has no file", () => {
		const bench = new Bench();
		bench.session.fileState = "absent";
		bench.sets(bulletin("k1")).passes(150).runs();
		assert.deepEqual(bench.shown, []);
		bench.session.fileState = "present";
		bench.inbox.messageEnded({ role: "assistant", stopReason: "stop" });
		bench.passes(0);
		assert.deepEqual(bench.shown, [{ topic: "runs", key: "k1" }]);
	});

	test("that is quiet starts no turn", () => {
		const bench = new Bench().sets(bulletin("k1", { quiet: true })).passes(150);
		assert.deepEqual(bench.session.sent[0]?.options, { triggerTurn: false });
		assert.deepEqual(bench.shown, [{ topic: "runs", key: "k1" }]);
	});

	test("waits for a busy session, never goes into its run, and is looked at every 400 ms", () => {
		const bench = new Bench();
		bench.inbox.runStarted();
		bench.session.idle = false;
		bench.sets(bulletin("k1")).passes(1_000);
		bench.inbox.turnEnded(true);
		bench.passes(1_000);
		assert.deepEqual(bench.texts, []);
		// Looks were 150 ms after the change and every 400 ms since.
		bench.settles().passes(149);
		assert.deepEqual(bench.texts, []);
		bench.passes(1);
		assert.deepEqual(bench.texts, ["news k1"]);
	});

	test("waits for what the person has typed, and for a compaction", () => {
		const bench = new Bench();
		bench.inbox.inputArrived();
		bench.sets(bulletin("k1")).passes(1_900);
		assert.deepEqual(bench.texts, []);
		bench.inbox.compactionStarted();
		bench.session.idle = false;
		bench.passes(2_000);
		assert.deepEqual(bench.texts, []);
		bench.session.idle = true;
		bench.inbox.compactionEnded();
		bench.passes(400);
		assert.deepEqual(bench.texts, ["news k1"]);
	});

	test("lets mail go first", () => {
		const bench = new Bench();
		bench.session.idle = false;
		bench.sets(bulletin("k1")).passes(100);
		bench.inbox.deliver(delivery("m", { quiet: true }));
		bench.session.idle = true;
		bench.passes(50);
		assert.deepEqual(bench.texts, []);
		bench.passes(400);
		assert.equal(bench.texts[0], "Message from Alice\n> text of m");
		bench.passes(400);
		assert.equal(bench.texts[1], "news k1");
	});

	test("can be replaced until it is handed over", () => {
		const bench = new Bench();
		bench.session.idle = false;
		bench.sets(bulletin("k1")).passes(5_000).sets(bulletin("k2"));
		bench.session.idle = true;
		bench.passes(149);
		assert.deepEqual(bench.texts, []);
		bench.passes(1);
		assert.deepEqual(bench.texts, ["news k2"]);
	});

	test("can be taken back until it is handed over", () => {
		const bench = new Bench().sets(bulletin("k1")).passes(100).sets(NOTHING).passes(10_000);
		assert.deepEqual(bench.texts, []);
		assert.equal(bench.timers.pendingCount, 0);
	});

	test("that was handed over is shown though it is taken back", () => {
		const bench = new Bench().sets(bulletin("k1")).passes(150).sets(NOTHING);
		bench.runs();
		assert.deepEqual(bench.shown, [{ topic: "runs", key: "k1" }]);
	});

	test("of another topic has its own place", () => {
		const bench = new Bench().sets(bulletin("k1", { quiet: true }), bulletin("w1", { topic: "watch", quiet: true }), NOTHING).passes(150);
		assert.deepEqual(bench.texts, ["news w1"]);
		bench.sets(bulletin("k2", { quiet: true })).passes(150);
		assert.deepEqual(bench.shown, [{ topic: "watch", key: "w1" }, { topic: "runs", key: "k2" }]);
	});

	test("that follows one on its way waits until that is proved", () => {
		const bench = new Bench().sets(bulletin("k1")).passes(150);
		bench.session.fileState = "absent";
		bench.runs();
		bench.sets(bulletin("k2", { ids: ["k1", "k2"] }));
		bench.settles().passes(5_000);
		assert.deepEqual(bench.texts, ["news k1"]);
		bench.session.fileState = "present";
		bench.inbox.messageEnded({ role: "user" });
		bench.passes(400);
		assert.deepEqual(bench.shown, [{ topic: "runs", key: "k1" }, { topic: "runs", ids: ["k1"] }]);
		assert.deepEqual(bench.texts, ["news k1"]);
	});
});

describe("what the session knows already", () => {
	test("from a call's result is said to the agent instead of being shown", () => {
		const bench = new Bench();
		bench.saves("run-1", "run-3");
		bench.sets(bulletin("k1", { ids: ["run-1", "run-2", "run-3"] })).passes(10_000);
		assert.deepEqual(bench.texts, []);
		assert.deepEqual(bench.collected, ["run-1", "run-3"]);
		assert.deepEqual(bench.shown, []);
		assert.equal(bench.timers.pendingCount, 0);
		bench.sets(bulletin("k2", { ids: ["run-2"] })).passes(150);
		assert.deepEqual(bench.texts, ["news k2"]);
	});

	test("from a bulletin that an earlier agent or process showed", () => {
		const bench = new Bench().sets(bulletin("k1", { ids: ["run-1"], quiet: true })).passes(150);
		bench.bulletins.close();
		bench.sets(bulletin("other", { ids: ["run-1"] })).passes(150);
		assert.deepEqual(bench.texts, ["news k1"]);
		assert.deepEqual(bench.shown[1], { topic: "runs", ids: ["run-1"] });
	});

	test("counts from the disk only", () => {
		const bench = new Bench();
		bench.saves("run-1");
		bench.session.fileState = "absent";
		bench.sets(bulletin("k1", { ids: ["run-1"], quiet: true })).passes(150);
		assert.deepEqual(bench.shown, []);
		assert.deepEqual(bench.texts, ["news k1"]);
	});

	test("counts at the moment of handing over: a result that came while the bulletin waited", () => {
		const bench = new Bench();
		bench.session.idle = false;
		bench.sets(bulletin("k1", { ids: ["run-1"] })).passes(3_000);
		bench.saves("run-1");
		bench.session.idle = true;
		bench.passes(400);
		assert.deepEqual(bench.texts, []);
		assert.deepEqual(bench.collected, ["run-1"]);
	});
});

describe("a bulletin that can't be shown", () => {
	test("because the host throws is tried three times, 400 ms apart, and then left until it changes", () => {
		const bench = new Bench();
		let sends = 0;
		bench.session.send = () => {
			sends++;
			throw new Error("stale");
		};
		bench.sets(bulletin("k1")).passes(150);
		assert.equal(sends, 1);
		bench.passes(399);
		assert.equal(sends, 1);
		bench.passes(1).passes(400);
		assert.equal(sends, 3);
		bench.passes(60_000);
		assert.equal(sends, 3);
		assert.equal(bench.timers.pendingCount, 0);
		assert.deepEqual(bench.notices.map(({ level }) => level), ["warning"]);
		assert.match(bench.notices[0]?.text ?? "", /news on runs: 3 attempts, the last: stale/);
		bench.sets(bulletin("k2")).passes(150);
		assert.equal(sends, 4);
	});

	test("because no run begins goes back, and holds up no mail", () => {
		const bench = new Bench().sets(bulletin("k1")).passes(150);
		bench.session.idle = true;
		bench.passes(5_000);
		bench.inbox.deliver(delivery("m", { quiet: true }));
		assert.equal(bench.texts.at(-1), "Message from Alice\n> text of m");
		bench.passes(400);
		assert.deepEqual(bench.texts.filter((text) => text === "news k1").length, 2);
	});

	test("because the host empties its queue each time ends after three attempts, too", () => {
		const bench = new Bench().sets(bulletin("k1")).passes(150);
		for (let i = 0; i < 5; i++) {
			bench.inbox.runStarted();
			bench.settles().passes(400);
		}
		assert.equal(bench.texts.length, 3);
		assert.equal(bench.notices.length, 1);
	});

	test("gives way to a newer one of its topic", () => {
		const bench = new Bench().sets(bulletin("k1")).passes(150).sets(bulletin("k2")).passes(150);
		bench.session.idle = true;
		bench.inbox.runStarted();
		bench.settles().passes(400);
		assert.deepEqual(bench.texts, ["news k1", "news k2"]);
	});

	test("for the third time harms no newer one", () => {
		const bench = new Bench().sets(bulletin("k1")).passes(150);
		for (let i = 0; i < 2; i++) {
			bench.inbox.runStarted();
			bench.settles().passes(400);
		}
		bench.sets(bulletin("k2"));
		bench.inbox.runStarted();
		bench.settles().passes(400);
		assert.deepEqual(bench.texts, ["news k1", "news k1", "news k1", "news k2"]);
		assert.deepEqual(bench.notices, []);
	});

	test("is not tried again once it was taken back", () => {
		const bench = new Bench().sets(bulletin("k1")).passes(150).sets(NOTHING);
		bench.inbox.runStarted();
		bench.settles().passes(10_000);
		assert.deepEqual(bench.texts, ["news k1"]);
		assert.equal(bench.timers.pendingCount, 0);
	});

	test("but that the host had kept all the same is not shown twice", () => {
		const bench = new Bench().sets(bulletin("k1", { ids: [] })).passes(150);
		const message = bench.session.sent[0]?.message ?? assert.fail();
		bench.inbox.runStarted();
		bench.settles();
		bench.session.save(message);
		bench.passes(400);
		assert.deepEqual(bench.texts, ["news k1"]);
		assert.deepEqual(bench.shown, [{ topic: "runs", key: "k1" }]);
	});
});

describe("while the session is stopped or closed", () => {
	test("no bulletin is handed over, and one from before the stop starts no turn after it", () => {
		const bench = new Bench().sets(bulletin("k1"));
		bench.inbox.pause(WALL_CLOCK + 1);
		bench.passes(5_000);
		assert.deepEqual(bench.texts, []);
		bench.inbox.resume();
		bench.passes(400);
		assert.deepEqual(bench.session.sent.map(({ options }) => options.triggerTurn), [false]);
		bench.sets(bulletin("k2")).passes(150);
		assert.deepEqual(bench.session.sent.map(({ options }) => options.triggerTurn), [false, true]);
	});

	test("it waits for the end of a close", () => {
		const bench = new Bench().sets(bulletin("k1"));
		bench.inbox.holdAllBut("handoff");
		bench.passes(5_000);
		assert.deepEqual(bench.texts, []);
		bench.inbox.release();
		bench.passes(400);
		assert.deepEqual(bench.texts, ["news k1"]);
	});

	test("the session's end drops what waits and leaves no timer", () => {
		const bench = new Bench().sets(bulletin("k1"));
		bench.bulletins.close();
		bench.inbox.close();
		bench.passes(10_000);
		assert.deepEqual([bench.texts, bench.timers.pendingCount], [[], 0]);
	});

	test("the session's end is no failure of what is on its way", () => {
		const bench = new Bench().sets(bulletin("k1")).passes(150);
		bench.bulletins.close();
		bench.inbox.close();
		bench.passes(10_000);
		assert.deepEqual([bench.notices, bench.timers.pendingCount], [[], 0]);
	});
});

test("an agent's death takes no bulletin along", () => {
	const bench = new Bench().sets(bulletin("k1"));
	bench.inbox.linkLost();
	bench.passes(150);
	assert.deepEqual(bench.texts, ["news k1"]);
});

test("a bulletin is read from what the agent sends, and one without content takes it back", () => {
	assert.deepEqual(parseBulletin({ topic: "runs", key: "k", ids: ["run-1"], content: "c", summary: "s", quiet: true }), bulletin("k", { ids: ["run-1"], content: "c", summary: "s", quiet: true }));
	assert.deepEqual(parseBulletin({ topic: "watch", key: "" }), { topic: "watch", key: "", ids: [], content: "", summary: "", quiet: false });
	assert.throws(() => parseBulletin({ topic: "gossip", key: "", content: "x" }), ContractError);
	assert.throws(() => parseBulletin({ topic: "runs", key: "", ids: [1] }), ContractError);
});
