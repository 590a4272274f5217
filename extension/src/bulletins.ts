import type { Bulletin, BulletinMark, BulletinTopic, JsonObject, Notice } from "./contract.ts";
import type { LocalMessage, LocalOutcome } from "./local-messages.ts";
import type { Timers } from "./timers.ts";

/** A burst of changes is one bulletin. */
const QUIET_MS = 150;
const RETRY_MS = 400;
const FAILURE_LIMIT = 3;

/** The inbox, as far as bulletins need it. */
export interface BulletinInbox {
	showNow(message: LocalMessage, bulletin: BulletinMark, outcome: LocalOutcome): boolean;
	told(ids: readonly string[]): string[];
	toldByResults(ids: readonly string[]): string[];
}

export interface BulletinLink {
	/** Tells the agent what became of one. */
	shown(params: JsonObject): void;
	/** Tells it that results of tool calls have these ids. */
	collected(ids: readonly string[]): void;
	notify(notice: Notice): void;
}

interface Pending {
	readonly bulletin: Bulletin;
	/** The same however often it is handed over. */
	readonly id: string;
	readonly arrivedAtMs: number;
	dueMs: number;
	failures: number;
}

/**
 * Shows what the agent itself has to say: of each topic the latest, once it has not changed for a moment and the session
 * is idle. Until then it can be replaced and taken back. What the session knows already is not shown but said to the
 * agent, which leaves it out. Nothing runs while nothing waits.
 */
export class Bulletins {
	readonly #inbox: BulletinInbox;
	readonly #link: BulletinLink;
	readonly #timers: Timers;
	readonly #mintId: () => string;
	readonly #clock: () => number;
	/** The latest of each topic that is not in the session, handed over or not. */
	readonly #latest = new Map<BulletinTopic, Pending>();
	/** Handed over, and neither proved nor failed. */
	readonly #handed = new Set<Pending>();
	#cancelLook: (() => void) | undefined;

	/** `clock` gives milliseconds since 1970. */
	constructor(inbox: BulletinInbox, link: BulletinLink, timers: Timers, mintId: () => string, clock: () => number) {
		this.#inbox = inbox;
		this.#link = link;
		this.#timers = timers;
		this.#mintId = mintId;
		this.#clock = clock;
	}

	/** Replaces what is not handed over of its topic. */
	set(bulletin: Bulletin): void {
		const { topic, content } = bulletin;
		if (content === "") this.#latest.delete(topic);
		else this.#latest.set(topic, { bulletin, id: `bulletin/${this.#mintId()}`, arrivedAtMs: this.#clock(), dueMs: this.#timers.now() + QUIET_MS, failures: 0 });
		this.#lookWhenDue();
	}

	/** Drops what is not handed over, and leaves no timer. */
	close(): void {
		this.#latest.clear();
		this.#cancelLook?.();
	}

	#lookWhenDue(): void {
		this.#cancelLook?.();
		const dues = [...this.#latest.values()].filter((pending) => !this.#handed.has(pending)).map(({ dueMs }) => dueMs);
		if (dues.length === 0) return;
		this.#cancelLook = this.#timers.after(Math.max(0, Math.min(...dues) - this.#timers.now()), () => this.#look());
	}

	#look(): void {
		for (const pending of [...this.#latest.values()]) {
			if (!this.#handed.has(pending) && pending.dueMs <= this.#timers.now()) this.#offer(pending);
		}
		this.#lookWhenDue();
	}

	#offer(pending: Pending): void {
		const { topic, key, ids, content, summary, quiet } = pending.bulletin;
		const told = this.#inbox.told(ids);
		if (told.length > 0) {
			this.#latest.delete(topic);
			const collected = this.#inbox.toldByResults(told);
			if (collected.length > 0) this.#link.collected(collected);
			const announced = told.filter((id) => !collected.includes(id));
			if (announced.length > 0) this.#link.shown({ topic, ids: announced });
			return;
		}
		pending.dueMs = this.#timers.now() + RETRY_MS;
		// What is on its way into the session is about to be told.
		if ([...this.#handed].some(({ bulletin }) => bulletin.topic === topic)) return;
		const from = { sessionId: "", name: topic, role: "", origin: "agent" };
		const message = { id: pending.id, kind: "bulletin", quiet, from, content, summary, acceptedAtMs: pending.arrivedAtMs };
		this.#handed.add(pending);
		const isHanded = this.#inbox.showNow(message, { topic, key, ids }, { shown: () => this.#shown(pending), failed: (problem) => this.#failed(pending, problem) });
		if (!isHanded) this.#handed.delete(pending);
	}

	#shown(pending: Pending): void {
		const { topic, key } = pending.bulletin;
		this.#handed.delete(pending);
		if (this.#latest.get(topic) === pending) this.#latest.delete(topic);
		this.#link.shown({ topic, key });
		this.#lookWhenDue();
	}

	/** It is tried again, unless it changed meanwhile; one that can't be shown is left until it does. */
	#failed(pending: Pending, problem: string): void {
		const { topic } = pending.bulletin;
		this.#handed.delete(pending);
		if (this.#latest.get(topic) !== pending) return;
		if (++pending.failures >= FAILURE_LIMIT) {
			this.#latest.delete(topic);
			this.#link.notify({ level: "warning", text: `Intercom could not show its news on ${TOPICS[topic]}: ${FAILURE_LIMIT} attempts, the last: ${problem}. The next change is tried anew.` });
			return;
		}
		pending.dueMs = this.#timers.now() + RETRY_MS;
		this.#lookWhenDue();
	}
}

const TOPICS: { readonly [topic in BulletinTopic]: string } = { runs: "runs", watch: "watches" };
