/** Time as the extension's modules see it, so that a test drives it by hand. */
export interface Timers {
	/** Milliseconds since some fixed moment; never goes back. */
	now(): number;
	/** Runs `run` once after `delayMs`; the returned function cancels it. */
	after(delayMs: number, run: () => void): () => void;
}

/**
 * The real clock. A callback that throws would end Pi, so whatever it throws goes to `report`. Its timers keep no
 * process alive.
 */
export function systemTimers(report: (error: unknown) => void): Timers {
	return {
		now: () => performance.now(),
		after: (delayMs, run) => {
			const timer = setTimeout(() => {
				try {
					run();
				} catch (error) {
					report(error);
				}
			}, delayMs);
			timer.unref();
			return () => clearTimeout(timer);
		},
	};
}
