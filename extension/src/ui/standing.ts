import type { PendingAsk } from "../contract.ts";
import type { Timers } from "../timers.ts";
import { PendingAsks } from "./asks.ts";
import { offlineLine, type StatusSource, statusLine } from "./status.ts";

/** Where it is shown. */
export interface StandingHost {
	setStatus(text: string): void;
	/** Lines near the editor, or none. */
	showAsks(lines: readonly string[] | undefined): void;
}

/** What a person sees of the session's standing beside the transcript: the status line, and the asks that wait for an answer. Only changes are set. */
export class Standing {
	readonly #host: StandingHost;
	readonly #unread: () => number;
	readonly #asks: PendingAsks;
	#source: StatusSource = { kind: "starting" };
	#shown = "";

	/** `unread` counts messages that are not in the session yet; `clock` gives milliseconds since 1970. */
	constructor(host: StandingHost, timers: Timers, clock: () => number, unread: () => number) {
		this.#host = host;
		this.#unread = unread;
		this.#asks = new PendingAsks((lines) => host.showAsks(lines), timers, clock);
	}

	show(source: StatusSource): void {
		this.#source = source;
		this.refresh();
	}

	/** Mail came or went. */
	refresh(): void {
		const text = statusLine(this.#source, { unread: this.#unread(), asks: this.#asks.count });
		if (text === this.#shown) return;
		this.#shown = text;
		this.#host.setStatus(text);
	}

	setAsks(asks: readonly PendingAsk[]): void {
		this.#asks.set(asks);
		this.refresh();
	}

	/** Undefined where it waits for no answer of this session any more. */
	pendingAsk(deliveryId: string): PendingAsk | undefined {
		return this.#asks.find(deliveryId);
	}

	/** Why the session is not connected, and what to do; undefined where it is. */
	whyOffline(): string | undefined {
		return offlineLine(this.#source);
	}

	/** Nothing is shown after it, and no timer is left. */
	close(): void {
		this.#asks.close();
	}
}
