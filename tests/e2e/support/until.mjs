// Waiting in the end-to-end tests: always for something, never for a time.

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// A loaded machine is slow, not wrong: one factor stretches every deadline.
const FACTOR = Number(process.env.INTERCOM_TEST_PATIENCE ?? 1);

/**
 * Calls `look` until it returns something truthy, and returns that. Rejects at
 * the deadline with what it waited for and what `look` last said.
 */
export async function until(what, look, { timeoutMs = 20_000, everyMs = 40, detail } = {}) {
	const deadline = Date.now() + timeoutMs * FACTOR;
	let problem;
	for (;;) {
		try {
			const found = await look();
			if (found) return found;
			problem = undefined;
		} catch (error) {
			if (error?.final) throw error;
			problem = error;
		}
		if (Date.now() > deadline) {
			const said = detail ? `\nlast seen: ${await detail()}` : "";
			const why = problem ? `\nlast error: ${problem.message}` : "";
			throw new Error(`waited ${timeoutMs * FACTOR} ms in vain for ${what}${why}${said}`);
		}
		await sleep(everyMs);
	}
}

/** Checks for `ms` that `look` stays falsy; for things that must not happen. */
export async function never(what, look, ms = 1_000) {
	const end = Date.now() + ms;
	while (Date.now() < end) {
		const found = await look();
		if (found) throw new Error(`must not happen: ${what}: ${JSON.stringify(found)?.slice(0, 300)}`);
		await sleep(40);
	}
}

/** Waits until `count()` is 1, and makes sure that it stays so. */
export async function once(what, count) {
	await until(`one ${what}`, () => count() === 1);
	await never(`more than one ${what}`, () => count() !== 1);
}

/** A promise with its resolve function outside. */
export function gate() {
	let open;
	const promise = new Promise((resolve) => {
		open = resolve;
	});
	return { promise, open };
}
