import type { Delivery, Receipt } from "./contract.ts";

/** What the deliveries of this Pi's own are called: no session's id begins so. */
const PREFIX = "relay:";

/** What this Pi itself has to say. `id` is unique to it, however often it is tried. */
export type LocalMessage = Pick<Delivery, "content" | "summary" | "acceptedAtMs" | "kind" | "quiet" | "from"> & { readonly id: string };

/** Is told once what became of a message. */
export interface LocalOutcome {
	/** It is an entry of the session. */
	shown(): void;
	failed(problem: string): void;
}

export function isLocal(deliveryId: string): boolean {
	return deliveryId.startsWith(PREFIX);
}

/** The messages of this Pi's own that go through the inbox, until each is proved or given up. Not durable. */
export class LocalMessages {
	readonly #open = new Map<string, LocalOutcome>();

	/** The delivery that `message` is from now on. */
	open({ id, ...message }: LocalMessage, outcome: LocalOutcome): Delivery {
		const deliveryId = PREFIX + id;
		this.#open.set(deliveryId, outcome);
		return { ...message, deliveryId, envelopeId: id, redelivered: false, attachments: [] };
	}

	received({ deliveryId, event, evidence }: Receipt): void {
		const outcome = this.#open.get(deliveryId);
		if (event === "held" || outcome === undefined) return;
		this.#open.delete(deliveryId);
		if (event === "failed") outcome.failed(evidence ?? "the host did not take it");
		else outcome.shown();
	}

	/** The session goes: whatever is open has failed. */
	close(): void {
		for (const { failed } of this.#open.values()) failed("the session ended before it was shown");
		this.#open.clear();
	}
}
