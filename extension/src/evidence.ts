import type { Receipt } from "./contract.ts";
import { SessionEntries } from "./session-entries.ts";

const SHOWN_LIMIT = 1024;

/** The host session, as far as evidence needs it. */
export interface EvidencedSession {
	/** The session's entries, oldest first; it only grows. */
	entries(): readonly unknown[];
	/** "memory" where the session is never saved. */
	file(): "present" | "absent" | "memory";
}

/** A delivery whose entry is, or is about to be, in the session. */
interface Shown {
	injected: boolean;
	inRequest: boolean;
	answered: boolean;
}

/** Reports what the session's entries, its file and its model requests prove of deliveries: injected, then seen. */
export class Evidence {
	readonly #session: EvidencedSession;
	readonly #receipt: (receipt: Receipt) => void;
	readonly #entries: SessionEntries;
	readonly #shown = new Map<string, Shown>();

	constructor(session: EvidencedSession, receipt: (receipt: Receipt) => void) {
		this.#session = session;
		this.#receipt = receipt;
		this.#entries = new SessionEntries(() => session.entries());
	}

	/** Whether there is something to prove still. */
	get isAwaited(): boolean {
		return this.#shown.size > 0;
	}

	/** Whether the delivery is an entry of the session by now. */
	isEntry(deliveryId: string): boolean {
		this.#entries.refresh();
		return this.#entries.has(deliveryId);
	}

	/** Whether the delivery is, or is about to be, in the session. */
	isShown(deliveryId: string): boolean {
		return this.#shown.has(deliveryId) || this.isEntry(deliveryId);
	}

	/** The host shows the delivery: its entry follows. */
	shown(deliveryId: string): void {
		this.#shown.set(deliveryId, { injected: false, inRequest: false, answered: false });
	}

	/** No entry follows after all. */
	notShown(deliveryId: string): void {
		this.#shown.delete(deliveryId);
	}

	/** The broker does not know yet that the delivery is shown: what is proved is reported again. */
	repeat(deliveryId: string): void {
		const known = this.#shown.get(deliveryId);
		this.#shown.set(deliveryId, { injected: false, inRequest: known?.inRequest ?? false, answered: known?.answered ?? false });
		this.report();
	}

	/** Those of `deliveryIds` that are in the session, on disk where it is saved at all. */
	present(deliveryIds: readonly string[]): string[] {
		this.#entries.refresh();
		if (this.#session.file() === "absent") return [];
		const present = deliveryIds.filter((id) => this.#entries.has(id));
		for (const id of present) {
			const shown = this.#shown.get(id);
			if (shown === undefined) this.#shown.set(id, { injected: true, inRequest: false, answered: false });
			else shown.injected = true;
		}
		return present;
	}

	/** Those of `ids` of which an entry of the session tells, on disk where it is saved at all. */
	told(ids: readonly string[]): string[] {
		this.#entries.refresh();
		return this.#session.file() === "absent" ? [] : ids.filter((id) => this.#entries.tells(id));
	}

	/** Those of `ids` of which a result of a tool call among them tells. */
	toldByResults(ids: readonly string[]): string[] {
		this.#entries.refresh();
		return this.#session.file() === "absent" ? [] : ids.filter((id) => this.#entries.resultTells(id));
	}

	/** A model request holds these deliveries and no others. */
	requestBuilt(deliveryIds: ReadonlySet<string>): void {
		for (const [id, shown] of this.#shown) shown.inRequest = deliveryIds.has(id);
	}

	requestEnded(wasAnswered: boolean): void {
		for (const shown of this.#shown.values()) {
			if (shown.inRequest && wasAnswered) shown.answered = true;
			shown.inRequest = false;
		}
	}

	/** Reports whatever the session's entries and its file prove by now. */
	report(): void {
		if (this.#shown.size === 0) return;
		this.#entries.refresh();
		const file = this.#session.file();
		if (file === "absent") return;
		for (const [deliveryId, shown] of this.#shown) {
			const entryId = this.#entries.entryId(deliveryId);
			if (entryId === undefined) continue;
			if (!shown.injected) {
				shown.injected = true;
				this.#receipt({ deliveryId, event: "injected", evidence: file === "memory" ? `entry ${entryId}, session kept in memory` : `entry ${entryId}` });
			}
			if (shown.answered) this.#receipt({ deliveryId, event: "seen", evidence: "in an answered model request" });
			// What a compaction took away before any request is never seen, and not waited for without end.
			if (shown.answered || this.#shown.size > SHOWN_LIMIT) this.#shown.delete(deliveryId);
		}
	}
}
