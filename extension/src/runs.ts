import { contentText } from "./content-text.ts";
import { isObject, type OpenRun, type RunEvent } from "./contract.ts";
import { RunFigures } from "./run-figures.ts";
import { COMPLETE, entriesOfRun, outcomeOf } from "./run-entries.ts";
import type { Timers } from "./timers.ts";

/** How many ends are kept for an agent that is not there. The session's entries tell of older ones. */
const ENDS_LIMIT = 64;
/** A host that is being ended aborts first: so long an abort may turn out to be that. */
const LEAVING_MS = 500;
const STREAM_MS = 10_000;

/** The host session, as far as runs need it. */
export interface RunSession {
	/** All of the session's entries, oldest first; it only grows. */
	entries(): readonly unknown[];
	isIdle(): boolean;
}

/** A run whose envelope this process saw coming into the session. */
interface Tracked {
	readonly figures: RunFigures;
	/** False where it came from before a stop, and into a session that stands still. */
	readonly startsTurn: boolean;
	/** Whether the model was asked about it. */
	isAsked: boolean;
}

interface End {
	readonly event: RunEvent;
	wasNamed: boolean;
}

/**
 * Follows the runs that this session works on: each from its envelope on until the host settles, or gets other input after
 * a complete answer. What came before that is part of it. Its end is told once, and again whenever the agent says that it
 * waits for it still. What another process of the session did not live to tell is decided from the session's own entries.
 */
export class Runs {
	readonly #session: RunSession;
	readonly #tell: (event: RunEvent) => void;
	/** By delivery, as all here. */
	readonly #tracked = new Map<string, Tracked>();
	readonly #ends = new Map<string, End>();
	/** Runs that were aborted a moment ago. */
	readonly #aborted = new Map<string, Tracked>();
	readonly #timers: Timers;
	#cancelAborted: (() => void) | undefined;
	#tellStreamAt = 0;
	/** What the agent named last. */
	#open: ReadonlySet<string> = new Set();
	/** Those, by the ids of their runs. */
	#named: ReadonlyMap<string, string> = new Map();
	/** How many entries the session had before this process did anything in it; undefined where it was at work already. */
	readonly #inherited: number | undefined;

	constructor(session: RunSession, timers: Timers, tell: (event: RunEvent) => void) {
		this.#timers = timers;
		this.#session = session;
		this.#tell = tell;
		this.#inherited = session.isIdle() ? session.entries().length : undefined;
	}

	/** The envelope of a run comes into the session. `startsTurn` is false where it came from before a stop. */
	begun(deliveryId: string, startsTurn: boolean): void {
		if (!this.#isKnown(deliveryId)) this.#tracked.set(deliveryId, { figures: new RunFigures(), startsTurn, isAsked: false });
	}

	/** Whether there is something of this run to stop: it is open, and this session is not done with it. */
	isUnderWay(runId: string): boolean {
		const deliveryId = this.#named.get(runId);
		return deliveryId !== undefined && !this.#ends.has(deliveryId) && !this.#aborted.has(deliveryId);
	}

	/** Whether the agent named the delivery as that of an open run. */
	isOpen(deliveryId: string): boolean {
		return this.#open.has(deliveryId);
	}

	/** The broker is told that the delivery is in the session. One that starts no turn is over with that, unless there is one. */
	injected(deliveryId: string, runIsActive: boolean): void {
		const run = this.#tracked.get(deliveryId);
		if (run === undefined || run.startsTurn || runIsActive) return;
		this.#end(deliveryId, run, "stopped", "the session was stopped before it began with this");
	}

	/**
	 * The model is asked with these deliveries. The run goes on from here, though its envelope may be unproved until the
	 * first answer: a new session has no file before.
	 */
	requested(deliveryIds: ReadonlySet<string>): void {
		for (const [deliveryId, run] of this.#tracked) {
			if (run.isAsked || !deliveryIds.has(deliveryId)) continue;
			run.isAsked = true;
			this.#tellStreamAt = this.#timers.now() + STREAM_MS;
			this.#tell({ deliveryId, event: "progress", ...run.figures.soFar() });
		}
	}

	/** The assistant writes `message`: told now and then, so that a long answer is seen to advance. */
	streamed(message: unknown): void {
		if (this.#tracked.size === 0 || this.#timers.now() < this.#tellStreamAt || !isObject(message)) return;
		this.#tellStreamAt = this.#timers.now() + STREAM_MS;
		const text = contentText(message.content);
		for (const [deliveryId, { figures }] of this.#tracked) this.#tell({ deliveryId, event: "progress", ...figures.soFar(text) });
	}

	/** A message is final, whoever's it is. */
	messageEnded(message: unknown): void {
		const isInput = isObject(message) && (message.role === "user" || message.role === "custom");
		for (const [deliveryId, run] of [...this.#tracked]) {
			if (isInput && COMPLETE.has(run.figures.stopReason)) this.#end(deliveryId, run, "done");
			else run.figures.add(message);
		}
	}

	turnEnded(): void {
		for (const [deliveryId, { figures }] of this.#tracked) {
			figures.turns++;
			this.#tell({ deliveryId, event: "progress", ...figures.soFar() });
		}
	}

	/** The host has settled: nothing of it goes on by itself. `isHandedOver`: a handoff ended what it did, complete or not. */
	settled(wasAborted: boolean, isHandedOver = false): void {
		for (const [deliveryId, run] of [...this.#tracked]) {
			const { stopReason, errorMessage } = run.figures;
			if (wasAborted || stopReason === "aborted") this.#abort(deliveryId, run);
			else if (isHandedOver && this.#handOver(deliveryId)) continue;
			else if (stopReason === "error") this.#end(deliveryId, run, "failed", errorMessage ?? "the model's provider failed without a word");
			else if (stopReason === undefined) this.#end(deliveryId, run, "failed", "the session settled without an answer");
			else this.#end(deliveryId, run, "done");
		}
		this.#decide(true);
	}

	/** The open runs of which this session is the worker. */
	opened(open: readonly OpenRun[]): void {
		this.#open = new Set(open.map(({ deliveryId }) => deliveryId));
		this.#named = new Map(open.map(({ runId, deliveryId }) => [runId, deliveryId]));
		for (const [deliveryId, end] of [...this.#ends]) {
			if (this.#open.has(deliveryId)) {
				end.wasNamed = true;
				this.#tell(end.event);
			} else if (end.wasNamed) this.#ends.delete(deliveryId);
		}
		this.#decide(this.#session.isIdle());
	}

	/** The session is left. With `goesOn` another copy of the extension follows it in this process. */
	close(goesOn: boolean): void {
		if (goesOn) this.#endAborted();
		else for (const [deliveryId, run] of [...this.#tracked, ...this.#aborted]) this.#end(deliveryId, run, "interrupted", "the session was left");
		this.#cancelAborted?.();
		this.#aborted.clear();
		this.#tracked.clear();
		this.#ends.clear();
	}

	/** Ends it as it was when the handoff was asked for. False where the session's entries do not tell. */
	#handOver(deliveryId: string): boolean {
		const entries = entriesOfRun(this.#session.entries(), deliveryId, undefined);
		if (entries === undefined) return false;
		this.#tracked.delete(deliveryId);
		this.#keep({ deliveryId, ...outcomeOf(entries.after, "the session was handed over to be closed before it was through with this") });
		return true;
	}

	#isKnown(deliveryId: string): boolean {
		return this.#tracked.has(deliveryId) || this.#aborted.has(deliveryId) || this.#ends.has(deliveryId);
	}

	#abort(deliveryId: string, run: Tracked): void {
		this.#tracked.delete(deliveryId);
		this.#aborted.set(deliveryId, run);
		this.#cancelAborted?.();
		this.#cancelAborted = this.#timers.after(LEAVING_MS, () => this.#endAborted());
	}

	#endAborted(): void {
		for (const [deliveryId, run] of [...this.#aborted]) this.#end(deliveryId, run, "stopped");
		this.#aborted.clear();
	}

	#end(deliveryId: string, { figures }: Tracked, event: RunEvent["event"], error?: string): void {
		this.#tracked.delete(deliveryId);
		this.#keep({ deliveryId, event, ...figures.whole(), ...(error === undefined ? {} : { error }) });
	}

	#keep(event: RunEvent): void {
		const [oldest] = this.#ends.keys();
		if (this.#ends.size >= ENDS_LIMIT && oldest !== undefined) this.#ends.delete(oldest);
		this.#ends.set(event.deliveryId, { event, wasNamed: this.#open.has(event.deliveryId) });
		this.#tell(event);
	}

	/** Tells the ends of named runs that nobody here saw. */
	#decide(isIdle: boolean): void {
		for (const deliveryId of this.#open) {
			if (this.#isKnown(deliveryId)) continue;
			const entries = entriesOfRun(this.#session.entries(), deliveryId, this.#inherited);
			// Not there yet; or a run of the host is at work that may be its.
			if (entries === undefined || (entries.mayGrow && !isIdle)) continue;
			this.#keep({ deliveryId, ...outcomeOf(entries.after) });
		}
	}
}
