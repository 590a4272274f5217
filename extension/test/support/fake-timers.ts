import type { Timers } from "../../src/timers.ts";

/** A clock that stands still until a test moves it. */
export class FakeTimers implements Timers {
	#nowMs = 0;
	#pending: { readonly dueMs: number; readonly run: () => void }[] = [];

	now(): number {
		return this.#nowMs;
	}

	after(delayMs: number, run: () => void): () => void {
		const timer = { dueMs: this.#nowMs + delayMs, run };
		this.#pending.push(timer);
		return () => {
			this.#pending = this.#pending.filter((other) => other !== timer);
		};
	}

	/** Moves the clock, running what falls due in order. */
	advance(byMs: number): void {
		const untilMs = this.#nowMs + byMs;
		for (;;) {
			const next = this.#pending.filter((timer) => timer.dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs)[0];
			if (next === undefined) break;
			this.#pending = this.#pending.filter((timer) => timer !== next);
			this.#nowMs = Math.max(this.#nowMs, next.dueMs);
			next.run();
		}
		this.#nowMs = untilMs;
	}

	get pendingCount(): number {
		return this.#pending.length;
	}
}

/** Moves the clock in steps, and lets every promise that can go on do so after each. */
export async function passes(timers: FakeTimers, ms: number, stepMs = 10): Promise<void> {
	for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
		timers.advance(stepMs);
		await new Promise((resolve) => setImmediate(resolve));
	}
}
