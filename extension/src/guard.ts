type Guarded<A extends unknown[], R> = (...args: A) => R | undefined;

/**
 * Wrappers for callbacks that the host calls: whatever they throw goes to `report`, and the host gets undefined. An
 * uncaught throw in an extension callback can end Pi.
 */
export function guards(report: (error: unknown) => void): {
	guarded<A extends unknown[], R>(run: (...args: A) => R): Guarded<A, R>;
	guardedAsync<A extends unknown[], R>(run: (...args: A) => Promise<R>): (...args: A) => Promise<R | undefined>;
} {
	return {
		guarded:
			(run) =>
			(...args) => {
				try {
					return run(...args);
				} catch (error) {
					report(error);
					return undefined;
				}
			},
		guardedAsync:
			(run) =>
			async (...args) => {
				try {
					return await run(...args);
				} catch (error) {
					report(error);
					return undefined;
				}
			},
	};
}
