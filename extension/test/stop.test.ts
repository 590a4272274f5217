import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JobEvent } from "../src/contract.ts";
import { Inbox } from "../src/inbox.ts";
import { Stopper } from "../src/stop.ts";
import { FakeCommand } from "./support/fake-command.ts";
import { delivery, FakeSession } from "./support/fake-session.ts";
import { FakeTimers, passes } from "./support/fake-timers.ts";

/** A stopper before a host whose command a test plays. */
class Bench {
	readonly timers = new FakeTimers();
	readonly session = new FakeSession();
	readonly command = new FakeCommand();
	readonly events: JobEvent[] = [];
	readonly inbox = new Inbox(this.session, this.timers, () => undefined);
	enter: () => Promise<FakeCommand> = () => Promise.resolve(this.command);
	entered = 0;
	readonly stopper = new Stopper(
		() => {
			this.entered++;
			return this.enter();
		},
		this.inbox,
		this.timers,
		(event) => this.events.push(event),
	);

	get lastEvent(): string {
		return this.events.at(-1)?.event ?? "";
	}

	get detail(): string {
		return this.events.at(-1)?.detail ?? "";
	}

	prompt(text: string, source = "interactive"): void {
		this.stopper.inputArrived({ text, source });
	}

	queue(text: string, source = "interactive"): void {
		this.stopper.inputArrived({ text, source, streamingBehavior: "steer" });
	}
}

/** A bench whose session works until it is aborted. */
function busy(): Bench {
	const bench = new Bench();
	bench.command.idle = false;
	bench.command.onAbort = () => bench.command.becomesIdle();
	return bench;
}

describe("a stop", () => {
	test("does nothing before its answer is out", () => {
		const bench = busy();
		bench.stopper.stop("j", 0);
		assert.equal(bench.entered, 0);
		assert.equal(bench.command.aborts, 0);
	});

	test("cancels the work and reports once the session has stood still", async () => {
		const bench = busy();
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 250);
		assert.equal(bench.command.aborts, 1);
		assert.deepEqual(bench.events, []);
		await passes(bench.timers, 150);
		assert.deepEqual(bench.events, [{ jobId: "j", event: "stopped", detail: "Its work was cancelled." }]);
	});

	test("of a session that stands still is stopped without an abort", async () => {
		const bench = new Bench();
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 500);
		assert.equal(bench.command.aborts, 0);
		assert.deepEqual(bench.events, [{ jobId: "j", event: "stopped", detail: "It stood still already." }]);
	});

	test("waits for a host that takes its time to become idle", async () => {
		const bench = new Bench();
		bench.command.idle = false;
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 10_000);
		assert.deepEqual(bench.events, []);
		bench.command.becomesIdle();
		await passes(bench.timers, 400);
		assert.equal(bench.lastEvent, "stopped");
	});

	test("fails in words where something does not heed its cancellation", async () => {
		const bench = new Bench();
		bench.command.idle = false;
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 28_000, 1_000);
		assert.equal(bench.lastEvent, "stopFailed");
		assert.match(bench.detail, /did not come to rest within 25 s/);
	});

	test("fails in words where the host does not run the command", async () => {
		const bench = busy();
		bench.enter = () => Promise.reject(new Error("no such command"));
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 100);
		assert.deepEqual(bench.events, [{ jobId: "j", event: "stopFailed", detail: "no such command" }]);
		assert.equal(bench.command.aborts, 0);
	});

	test("fails in words where the host throws", async () => {
		const bench = busy();
		bench.command.onAbort = () => {
			throw new Error("this ctx is stale");
		};
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 100);
		assert.deepEqual(bench.events, [{ jobId: "j", event: "stopFailed", detail: "this ctx is stale" }]);
	});

	test("cancels a second run before its first request", async () => {
		const bench = busy();
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 200);
		bench.command.idle = false;
		bench.stopper.runPrepared();
		assert.equal(bench.command.aborts, 2);
		await passes(bench.timers, 250);
		assert.deepEqual(bench.events, []);
		await passes(bench.timers, 250);
		assert.equal(bench.lastEvent, "stopped");
	});

	test("waits for the run of a prompt that is on its way, cancels it and names its text", async () => {
		const bench = new Bench();
		bench.prompt("late words");
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 1_500);
		assert.deepEqual(bench.events, []);
		bench.command.idle = false;
		bench.command.onAbort = () => bench.command.becomesIdle();
		bench.stopper.runPrepared();
		await passes(bench.timers, 400);
		assert.match(bench.detail, /its text is in the session: 1 message \("late words"\)/);
	});

	test("waits 2 s for a prompt that never becomes a run", async () => {
		const bench = new Bench();
		bench.prompt("handled by another extension");
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 2_100);
		assert.deepEqual(bench.events, [{ jobId: "j", event: "stopped", detail: "It stood still already." }]);
	});

	test("cancels nothing after its report", async () => {
		const bench = busy();
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 500);
		bench.prompt("the person goes on");
		bench.stopper.runPrepared();
		assert.equal(bench.command.aborts, 1);
	});

	test("that is asked for twice is one, and each job is told", async () => {
		const bench = busy();
		bench.stopper.stop("j", 0);
		bench.stopper.stop("j", 0);
		bench.stopper.stop("k", 0);
		await passes(bench.timers, 500);
		assert.equal(bench.entered, 1);
		assert.deepEqual(bench.events.map(({ jobId, event }) => `${jobId} ${event}`), ["j stopped", "k stopped"]);
	});

	test("of a session that goes does nothing more and reports nothing", async () => {
		const bench = new Bench();
		bench.command.idle = false;
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 100);
		bench.stopper.close();
		const { aborts } = bench.command;
		bench.stopper.runPrepared();
		bench.command.becomesIdle();
		await passes(bench.timers, 1_000);
		assert.deepEqual(bench.events, []);
		assert.equal(bench.command.aborts, aborts);
	});
});

describe("what the person had queued", () => {
	test("is named with its count and first characters where the host put it into the editor", async () => {
		const bench = busy();
		bench.queue("first words");
		bench.queue("second words");
		bench.queue("of a program", "extension");
		bench.command.editor = "half a thought";
		bench.command.onAbort = () => {
			bench.command.editor = "first words\n\nsecond words\n\nhalf a thought";
			bench.command.becomesIdle();
		};
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 500);
		assert.equal(bench.detail, 'Its work was cancelled. Queued text is kept: 2 messages ("first words second words") is back in the editor.');
	});

	test("is cut to its first characters, and no control character comes along", async () => {
		const bench = busy();
		bench.command.onAbort = () => {
			bench.command.editor = `\u001b[31m${"x".repeat(500)}`;
			bench.command.becomesIdle();
		};
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 500);
		assert.match(bench.detail, /1 message \("x{59}…"\)/);
		assert.ok(bench.detail.length < 512);
	});

	test("and stays in the host's queue is named so", async () => {
		const bench = busy();
		bench.queue("words");
		bench.command.pending = true;
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 500);
		assert.match(bench.detail, /1 message \("words"\) stays queued/);
	});

	test("and went into the session with the cancelled run is named so", async () => {
		const bench = busy();
		bench.queue("words");
		bench.command.onAbort = () => {
			bench.stopper.userMessageShown("words");
			bench.command.becomesIdle();
		};
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 500);
		assert.match(bench.detail, /its text is in the session: 1 message \("words"\)/);
	});

	test("and was sent, or taken back, before the stop is not named", async () => {
		const bench = busy();
		bench.queue("sent");
		bench.stopper.userMessageShown("sent");
		bench.queue("taken back");
		bench.stopper.settled(true);
		bench.command.pending = true;
		bench.stopper.stop("j", 0);
		await passes(bench.timers, 500);
		assert.match(bench.detail, /1 message stays queued/);
	});
});

describe("mail and a stop", () => {
	test("waits while it is under way", async () => {
		const bench = busy();
		bench.stopper.stop("j", 100);
		bench.inbox.deliver(delivery("new", { acceptedAtMs: 101 }));
		await passes(bench.timers, 250);
		assert.deepEqual(bench.session.sentIds, []);
	});

	test("from before it starts no turn, mail from after it does", async () => {
		const bench = busy();
		bench.session.idle = false;
		bench.inbox.deliver(delivery("old", { acceptedAtMs: 99 }));
		bench.stopper.stop("j", 100);
		bench.inbox.deliver(delivery("same", { acceptedAtMs: 100 }));
		bench.inbox.deliver(delivery("new", { acceptedAtMs: 101 }));
		bench.session.idle = true;
		await passes(bench.timers, 500);
		assert.deepEqual(bench.session.sent.map(({ message, options }) => `${message.details.intercom.envelopeId} ${options.triggerTurn}`), ["old false", "same false", "new true"]);
	});

	test("that was handed over and cancelled goes in without a turn, ahead of newer mail", async () => {
		const bench = busy();
		bench.inbox.runStarted();
		bench.inbox.deliver(delivery("old", { acceptedAtMs: 99 }));
		bench.inbox.turnEnded(true);
		bench.stopper.stop("j", 100);
		bench.command.onAbort = () => {
			bench.session.idle = true;
			bench.inbox.settled();
			bench.command.becomesIdle();
		};
		await passes(bench.timers, 500);
		assert.deepEqual(bench.session.sent.map(({ options }) => options.triggerTurn), [true, false]);
	});

	test("is let go after a stop that failed, too", async () => {
		const bench = busy();
		bench.enter = () => Promise.reject(new Error("no such command"));
		bench.stopper.stop("j", 100);
		bench.inbox.deliver(delivery("new", { acceptedAtMs: 101 }));
		await passes(bench.timers, 100);
		assert.deepEqual(bench.session.sentIds, ["new"]);
	});
});
