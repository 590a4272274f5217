import type { CommandContext } from "./command-door.ts";
import type { JobEvent } from "./contract.ts";
import type { Inbox } from "./inbox.ts";
import { KeptText } from "./kept-text.ts";
import type { Timers } from "./timers.ts";

/** Under the broker's deadline of a stop, so that its failure is told before. */
const STOP_LIMIT_MS = 25_000;
/** How long the session must stand still before it is called stopped. */
const STILL_MS = 300;
/** How long a prompt may be on its way through the host's input hooks before its run begins. */
const PREFLIGHT_MS = 2_000;

/** Text that came in, as the host's input event tells it. */
export interface Input {
	readonly text: string;
	readonly source: string;
	/** Set where a run is active and the text is queued for it. */
	readonly streamingBehavior?: string;
}

/**
 * Cancels what the session does and makes sure that nothing restarts it. Acts after the control's answer went out: aborts,
 * waits until the host is idle, and looks again until it stands still, since a prompt may be on its way to a run that no
 * abort reaches before it begins. What begins meanwhile is cancelled before its first model request. Deliveries wait.
 */
export class Stopper {
	readonly #enterCommand: (ticket: string) => Promise<CommandContext>;
	readonly #inbox: Inbox;
	readonly #timers: Timers;
	readonly #report: (event: JobEvent) => void;
	readonly #jobs = new Set<string>();
	readonly #kept = new KeptText();
	#command: CommandContext | undefined;
	#promptOnItsWay: { readonly input: Input; readonly sinceMs: number } | undefined;
	#stirredAtMs = 0;
	#stir: (() => void) | undefined;
	#isClosed = false;

	constructor(enterCommand: (ticket: string) => Promise<CommandContext>, inbox: Inbox, timers: Timers, report: (event: JobEvent) => void) {
		this.#enterCommand = enterCommand;
		this.#inbox = inbox;
		this.#timers = timers;
		this.#report = report;
	}

	/** Returns before anything is done. A second stop joins the one that runs. */
	stop(jobId: string, requestedAtMs: number): void {
		if (this.#isClosed) return;
		this.#inbox.pause(requestedAtMs);
		const isRunning = this.#jobs.size > 0;
		this.#jobs.add(jobId);
		if (!isRunning) this.#timers.after(0, () => void this.#run(jobId));
	}

	inputArrived(input: Input): void {
		if (input.streamingBehavior === undefined) this.#promptOnItsWay = { input, sinceMs: this.#timers.now() };
		else if (isPersons(input)) this.#kept.queued(input.text);
		this.#stirred();
	}

	/** Called in the host's event before a run's first model request. */
	runPrepared(): void {
		const input = this.#promptOnItsWay?.input;
		this.#promptOnItsWay = undefined;
		if (this.#command === undefined) return;
		if (input !== undefined && isPersons(input)) this.#kept.cancelled(input.text);
		this.#cancel(this.#command);
		this.#stirred();
	}

	/** A user message is in the session, perhaps one that was queued: a run that is cancelled in a tool takes it along. */
	userMessageShown(text: string): void {
		const wasQueued = this.#kept.shown(text);
		if (wasQueued && this.#command !== undefined) this.#kept.cancelled(text);
	}

	settled(isQueueEmpty: boolean): void {
		if (isQueueEmpty) this.#kept.queueIsEmpty();
	}

	/** The session goes: what is under way does nothing more and reports nothing. */
	close(): void {
		this.#isClosed = true;
		this.#jobs.clear();
		this.#command = undefined;
		this.#stirred();
	}

	async #run(ticket: string): Promise<void> {
		let outcome: Omit<JobEvent, "jobId">;
		const giveUpAtMs = this.#timers.now() + STOP_LIMIT_MS;
		try {
			this.#command = await this.#enterCommand(ticket);
			outcome = { event: "stopped", detail: await this.#standStill(this.#command, giveUpAtMs) };
		} catch (error) {
			outcome = { event: "stopFailed", detail: error instanceof Error ? error.message : String(error) };
		}
		this.#command = undefined;
		if (this.#isClosed) return;
		const jobs = [...this.#jobs];
		this.#jobs.clear();
		for (const jobId of jobs) this.#report({ jobId, ...outcome });
		this.#inbox.resume();
	}

	/** Returns what a person should know. */
	async #standStill(command: CommandContext, giveUpAtMs: number): Promise<string> {
		const wasIdle = command.isIdle();
		this.#stirredAtMs = this.#timers.now();
		for (;;) {
			if (this.#isClosed) throw new Error("the session has ended");
			if (this.#timers.now() >= giveUpAtMs) {
				throw new Error(`the session did not come to rest within ${STOP_LIMIT_MS / 1000} s: something in it does not heed its cancellation`);
			}
			if (!command.isIdle()) {
				this.#cancel(command);
				await this.#sooner(giveUpAtMs - this.#timers.now(), command.waitForIdle());
				this.#stirredAtMs = this.#timers.now();
				continue;
			}
			const restMs = this.#stillAtMs() - this.#timers.now();
			if (restMs <= 0) break;
			await this.#sooner(restMs);
		}
		return [wasIdle ? "It stood still already." : "Its work was cancelled.", ...this.#kept.describe(command.hasPendingMessages())].join(" ");
	}

	#cancel(command: CommandContext): void {
		const before = command.editorText();
		command.abort();
		this.#kept.editorChanged(before, command.editorText());
	}

	/** When the session may be called still, if nothing stirs until then. */
	#stillAtMs(): number {
		const promptIsLostAtMs = this.#promptOnItsWay === undefined ? 0 : this.#promptOnItsWay.sinceMs + PREFLIGHT_MS;
		return Math.max(this.#stirredAtMs + STILL_MS, promptIsLostAtMs);
	}

	#stirred(): void {
		this.#stirredAtMs = this.#timers.now();
		this.#stir?.();
	}

	/** Resolves after `limitMs`, with `event`, or when something stirs, whichever is first, and never within the same tick. */
	async #sooner(limitMs: number, event?: Promise<void>): Promise<void> {
		let cancel: (() => void) | undefined;
		const first = new Promise<void>((resolve) => {
			cancel = this.#timers.after(limitMs, resolve);
			this.#stir = resolve;
		});
		try {
			await (event === undefined ? first : Promise.race([first, event]));
		} finally {
			cancel?.();
			this.#stir = undefined;
		}
		await new Promise<void>((resolve) => void this.#timers.after(0, resolve));
	}
}

function isPersons(input: Input): boolean {
	return input.source !== "extension";
}
