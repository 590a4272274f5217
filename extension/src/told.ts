import { isObject, type JsonObject } from "./contract.ts";

/**
 * A yes or no of the session's that the agent knows from `initialize`, and is told again where it has changed: at once,
 * or once an agent is up that was begun with before.
 */
export class ToldFact {
	readonly #read: () => boolean;
	readonly #tell: (value: boolean) => boolean;
	#told: boolean | undefined;

	/** `tell` returns whether the agent was told. */
	constructor(read: () => boolean, tell: (value: boolean) => boolean) {
		this.#read = read;
		this.#tell = tell;
	}

	/** The value, which an agent is begun with. */
	begin(): boolean {
		this.#told = this.#read();
		return this.#told;
	}

	/** Tells it where it is not as it was told. */
	check(): void {
		const value = this.#read();
		if (this.#told !== undefined && value !== this.#told && this.#tell(value)) this.#told = value;
	}
}

/** The fact that keeps over restarts whether the session refuses runs. */
export const RUNS_FACT = "intercom-runs";

/** What `remember` kept of a fact last, whichever branch of the session that was on. */
export function remembered(entries: readonly unknown[], fact: string): JsonObject {
	const last = entries.findLast((entry) => isObject(entry) && entry.type === "custom" && entry.customType === fact);
	return isObject(last) && isObject(last.data) ? last.data : {};
}
