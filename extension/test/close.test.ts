import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Closer } from "../src/close.ts";
import type { JobEvent, Notice, Receipt } from "../src/contract.ts";
import { Inbox } from "../src/inbox.ts";
import { FakeCommand } from "./support/fake-command.ts";
import { delivery, FakeSession } from "./support/fake-session.ts";
import { FakeTimers, passes } from "./support/fake-timers.ts";

const JOB = "job-1";

function result(toolCallId: string, isError = false): object {
	return { type: "message", id: "r", message: { role: "toolResult", toolCallId, isError } };
}

function message(role: string): object {
	return { type: "message", id: "m", message: { role } };
}

/** A closer before a session whose entries and events a test plays. */
class Bench {
	readonly timers = new FakeTimers();
	readonly session = new FakeSession();
	readonly command = new FakeCommand();
	readonly events: JobEvent[] = [];
	readonly notices: Notice[] = [];
	readonly receipts: Receipt[] = [];
	readonly branch: object[] = [message("user")];
	enter: () => Promise<FakeCommand> = () => Promise.resolve(this.command);
	readonly inbox = new Inbox(this.session, this.timers, (receipt) => this.receipts.push(receipt));
	readonly closer = new Closer(
		{ enterCommand: () => this.enter(), isIdle: () => this.session.idle, branch: () => this.branch, notify: (notice) => this.notices.push(notice) },
		this.inbox,
		this.timers,
		(event) => this.events.push(event),
	);

	get happened(): string[] {
		return this.events.map(({ event }) => event);
	}

	/** The run in which the handoff is reported, up to the host's word that it has ended. */
	handsOver(entries: readonly object[] = [result("call-1")]): void {
		this.closer.prepare(JOB, "request");
		this.closer.runStarted();
		this.closer.handoffReported(JOB, "call-1");
		this.branch.push(...entries);
		this.closer.runEnded();
		this.timers.advance(0);
	}
}

/** A bench whose handoff has settled. */
function settled(): Bench {
	const bench = new Bench();
	bench.handsOver();
	assert.deepEqual(bench.events, [{ jobId: JOB, event: "settled" }]);
	return bench;
}

describe("mail of a session that is being closed", () => {
	test("waits, but for the request of a handoff, which goes ahead", () => {
		const bench = new Bench();
		bench.closer.prepare(JOB, "request");
		bench.inbox.deliver(delivery("mail"));
		bench.inbox.deliver(delivery("request"));
		bench.timers.advance(0);
		assert.deepEqual(bench.session.sentIds, ["request"]);
		assert.deepEqual(bench.receipts.map(({ deliveryId, waitReason }) => `${deliveryId} ${waitReason}`), ["alice/mail closing"]);
	});

	test("that waits already is held on, and the request goes over at the next boundary of a run", () => {
		const bench = new Bench();
		bench.inbox.runStarted();
		bench.inbox.deliver(delivery("mail"));
		bench.closer.prepare(JOB, "request");
		bench.inbox.deliver(delivery("request"));
		bench.inbox.turnEnded(true);
		bench.inbox.turnEnded(true);
		assert.deepEqual(bench.session.sentIds, ["request"]);
	});

	for (const [how, release] of [
		["the job is over", (bench: Bench) => bench.closer.end(JOB)],
		["the agent has died", (bench: Bench) => bench.closer.forget()],
		["nobody ended the job for 3 minutes", (bench: Bench) => bench.timers.advance(180_000)],
	] as const) {
		test(`flows again when ${how}`, () => {
			const bench = new Bench();
			bench.closer.prepare(JOB, "request");
			bench.inbox.deliver(delivery("mail"));
			bench.timers.advance(1_000);
			assert.deepEqual(bench.session.sentIds, []);
			release(bench);
			bench.timers.advance(0);
			assert.deepEqual(bench.session.sentIds, ["mail"]);
		});
	}

	test("is not let go by the end of another job", () => {
		const bench = new Bench();
		bench.closer.prepare(JOB, "request");
		bench.inbox.deliver(delivery("mail"));
		bench.closer.end("job-0");
		bench.timers.advance(1_000);
		assert.deepEqual(bench.session.sentIds, []);
	});
});

describe("a handoff settles", () => {
	test("once its run has ended and its result is in the branch", () => {
		const bench = new Bench();
		bench.closer.prepare(JOB, "request");
		bench.closer.handoffReported(JOB, "call-1");
		bench.branch.push(result("call-1"));
		bench.timers.advance(1_000);
		assert.deepEqual(bench.events, []);
		bench.closer.runEnded();
		bench.timers.advance(0);
		assert.deepEqual(bench.events, [{ jobId: JOB, event: "settled" }]);
	});

	test("where its own run goes on with answers, tools, a retry and a compaction", () => {
		const bench = new Bench();
		bench.closer.prepare(JOB, "request");
		bench.closer.handoffReported(JOB, "call-1");
		bench.closer.runStarted();
		bench.closer.compactionStarted();
		bench.branch.push(result("call-1"), message("assistant"), result("call-2"), { type: "compaction" }, { type: "session_info" });
		bench.closer.runEnded();
		bench.timers.advance(0);
		assert.deepEqual(bench.happened, ["settled"]);
	});

	test("only for the job that it names", () => {
		const bench = new Bench();
		bench.closer.prepare(JOB, "request");
		bench.closer.handoffReported("job-0", "call-1");
		bench.branch.push(result("call-1"));
		bench.closer.runEnded();
		bench.timers.advance(0);
		assert.deepEqual(bench.events, []);
	});

	test("once, however many runs end", () => {
		const bench = settled();
		bench.closer.runEnded();
		bench.timers.advance(0);
		assert.deepEqual(bench.happened, ["settled"]);
	});
});

describe("a handoff is invalid", () => {
	for (const [why, entries] of [
		["whose result is not in the branch", [message("assistant")]],
		["whose result is an error there", [result("call-1", true)]],
		["after which a queued message of a person came", [result("call-1"), message("user")]],
		["after which a person ran a command", [result("call-1"), message("bashExecution")]],
		["after which an extension's message came", [result("call-1"), { type: "custom_message" }]],
		["after which the branch was left and summarised", [result("call-1"), { type: "branch_summary" }]],
	] as const) {
		test(why, () => {
			const bench = new Bench();
			bench.handsOver(entries);
			assert.deepEqual(bench.happened, ["invalidated"]);
		});
	}

	for (const [why, disturb] of [
		["input", (bench: Bench) => bench.closer.disturbed("there was input")],
		["a new run", (bench: Bench) => bench.closer.runStarted()],
		["a compaction", (bench: Bench) => bench.closer.compactionStarted()],
	] as const) {
		test(`for good after ${why}, and its commit is refused`, async () => {
			const bench = settled();
			disturb(bench);
			disturb(bench);
			assert.deepEqual(bench.happened, ["settled", "invalidated"]);
			bench.closer.handoffReported(JOB, "call-2");
			bench.closer.runEnded();
			bench.timers.advance(0);
			assert.deepEqual(bench.happened, ["settled", "invalidated"]);
			assert.equal(await bench.closer.commit(JOB), "something came after the handoff");
			await passes(bench.timers, 100);
			assert.equal(bench.command.shutdowns, 0);
		});
	}

	test("where input comes while its run goes on", () => {
		const bench = new Bench();
		bench.closer.prepare(JOB, "request");
		bench.closer.handoffReported(JOB, "call-1");
		bench.closer.disturbed("there was input");
		assert.deepEqual(bench.happened, ["invalidated"]);
	});

	test("where a run begins in the breath in which its own ends", () => {
		const bench = new Bench();
		bench.closer.prepare(JOB, "request");
		bench.closer.handoffReported(JOB, "call-1");
		bench.branch.push(result("call-1"));
		bench.closer.runEnded();
		bench.closer.runStarted();
		bench.timers.advance(0);
		assert.deepEqual(bench.happened, ["invalidated"]);
	});

	test("never by what came before it", () => {
		const bench = new Bench();
		bench.closer.prepare(JOB, "request");
		bench.closer.disturbed("there was input");
		bench.handsOver();
		assert.deepEqual(bench.happened, ["settled"]);
	});
});

describe("a commit", () => {
	test("is answered first, then aborts, waits until the host is idle and ends it", async () => {
		const bench = settled();
		assert.equal(await bench.closer.commit(JOB), undefined);
		assert.equal(bench.command.aborts, 0);
		bench.command.idle = false;
		await passes(bench.timers, 100);
		assert.equal(bench.command.aborts, 1);
		assert.equal(bench.command.shutdowns, 0);
		bench.command.becomesIdle();
		await passes(bench.timers, 10);
		assert.equal(bench.command.shutdowns, 1);
	});

	test("asks a host that does not become idle to end all the same", async () => {
		const bench = settled();
		await bench.closer.commit(JOB);
		bench.command.idle = false;
		await passes(bench.timers, 5_100, 100);
		assert.equal(bench.command.shutdowns, 1);
	});

	test("is refused before the handoff has settled, and for another job", async () => {
		const bench = new Bench();
		assert.equal(await bench.closer.commit(JOB), "no close of that job is prepared here");
		bench.closer.prepare(JOB, "request");
		assert.equal(await bench.closer.commit(JOB), "the handoff has not settled");
		assert.equal(await bench.closer.commit("job-0"), "no close of that job is prepared here");
	});

	test("is refused where the session's entries show more than was told", async () => {
		const bench = settled();
		bench.branch.push(message("user"));
		assert.equal(await bench.closer.commit(JOB), "there was input");
		assert.deepEqual(bench.happened, ["settled", "invalidated"]);
	});

	test("is refused where something came while it was being answered", async () => {
		const bench = settled();
		bench.enter = () => {
			bench.closer.disturbed("there was input");
			return Promise.resolve(bench.command);
		};
		assert.equal(await bench.closer.commit(JOB), "something came after the handoff");
	});

	test("is refused while the session works", async () => {
		const bench = settled();
		bench.session.idle = false;
		assert.equal(await bench.closer.commit(JOB), "the session works again");
	});

	test("is refused where the agent has died or the session was replaced meanwhile", async () => {
		const bench = settled();
		bench.closer.forget();
		assert.equal(await bench.closer.commit(JOB), "no close of that job is prepared here");
	});

	test("keeps mail waiting over a lost connection, until the job is over and the host has stayed all the same", async () => {
		const bench = settled();
		await bench.closer.commit(JOB);
		bench.closer.forget();
		bench.inbox.deliver(delivery("mail"));
		await passes(bench.timers, 100);
		assert.equal(bench.command.shutdowns, 1);
		assert.deepEqual(bench.session.sentIds, []);
		bench.closer.end(JOB);
		await passes(bench.timers, 10);
		assert.deepEqual(bench.session.sentIds, ["mail"]);
	});

	test("that the host fails to carry out is told to the person, and mail can flow again", async () => {
		const bench = settled();
		bench.command.onAbort = () => {
			throw new Error("this ctx is stale");
		};
		await bench.closer.commit(JOB);
		await passes(bench.timers, 20);
		assert.match(bench.notices[0]?.text ?? "", /could not close this session: this ctx is stale/);
		bench.inbox.deliver(delivery("mail"));
		bench.closer.end(JOB);
		await passes(bench.timers, 10);
		assert.deepEqual(bench.session.sentIds, ["mail"]);
	});
});

test("preparing a job again keeps what was reported, preparing another starts anew", () => {
	const bench = settled();
	bench.closer.prepare(JOB, "request");
	bench.closer.disturbed("there was input");
	assert.deepEqual(bench.happened, ["settled", "invalidated"]);
	bench.closer.prepare("job-2", "request-2");
	bench.closer.handoffReported("job-2", "call-2");
	bench.branch.push(result("call-2"));
	bench.closer.runEnded();
	bench.timers.advance(0);
	assert.deepEqual(bench.events.at(-1), { jobId: "job-2", event: "settled" });
});
