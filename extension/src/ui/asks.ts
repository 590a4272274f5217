import type { Component } from "@earendil-works/pi-tui";
import type { PendingAsk } from "../contract.ts";
import type { Timers } from "../timers.ts";
import type { Colours } from "./folded.ts";
import { clip } from "./frame.ts";
import { plainLine } from "./plain.ts";
import { age, localTime, nameOf } from "./words.ts";

const LINES_LIMIT = 3;
/** Ages are told in minutes. */
const REFRESH_MS = 30_000;

/** The questions for whose answer somebody waits, one line each near the editor while there are any. What nobody waits for any more disturbs nobody. */
export class PendingAsks {
	readonly #show: (lines: readonly string[] | undefined) => void;
	readonly #timers: Timers;
	readonly #clock: () => number;
	#asks: readonly PendingAsk[] = [];
	#shown = "";
	#cancel: (() => void) | undefined;

	/** `show` is called on changes only; with undefined where there is nothing to show. `clock` gives milliseconds since 1970. */
	constructor(show: (lines: readonly string[] | undefined) => void, timers: Timers, clock: () => number) {
		this.#show = show;
		this.#timers = timers;
		this.#clock = clock;
	}

	get count(): number {
		return this.#awaited.length;
	}

	get #awaited(): readonly PendingAsk[] {
		return this.#asks.filter((ask) => ask.awaited);
	}

	/** Undefined where it waits no longer. */
	find(deliveryId: string): PendingAsk | undefined {
		return this.#asks.find((ask) => ask.deliveryId === deliveryId);
	}

	set(asks: readonly PendingAsk[]): void {
		this.#asks = asks;
		this.#refresh();
	}

	/** Nothing is shown after it, and no timer is left. */
	close(): void {
		this.#cancel?.();
		this.#cancel = undefined;
		this.#asks = [];
	}

	#refresh(): void {
		this.#cancel?.();
		const asks = this.#awaited;
		this.#cancel = asks.length === 0 ? undefined : this.#timers.after(REFRESH_MS, () => this.#refresh());
		const lines = asks.slice(0, LINES_LIMIT).map((ask) => askLine(ask, this.#clock()));
		const text = lines.join("\n");
		if (text === this.#shown) return;
		this.#shown = text;
		this.#show(lines.length === 0 ? undefined : lines);
	}
}

/** The lines above the editor, each cut to the width. */
export class AskLines implements Component {
	readonly #lines: readonly string[];
	readonly #colours: Colours;

	constructor(lines: readonly string[], colours: Colours) {
		this.#lines = lines;
		this.#colours = colours;
	}

	invalidate(): void {}

	render(width: number): string[] {
		return this.#lines.map((line) => this.#colours.fg("warning", clip(` ${line}`, width)));
	}
}

function askLine(ask: PendingAsk, nowMs: number): string {
	const since = ask.askedAtMs === undefined ? "" : ` ${age(nowMs - ask.askedAtMs)}`;
	const until = ask.deadlineAtMs === undefined ? "" : ` until ${localTime(ask.deadlineAtMs, nowMs)}`;
	return `? ${nameOf(ask.from)} asked${since}, waits${until}: ${plainLine(ask.preview, 160)}`;
}
