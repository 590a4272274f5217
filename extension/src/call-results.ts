/** Most ids of which the agent has not heard. */
const UNTOLD_LIMIT = 1024;

/** Tells the agent what became of ids that the result of a tool call has. False where no agent heard it. */
export type TellResults = (event: "shown" | "lost", ids: readonly string[]) => boolean;

/** Follows what results of tool calls tell, from the agent's answer until that is an entry of the session or never will be. */
export class CallResults {
	readonly #proved: (ids: readonly string[]) => readonly string[];
	readonly #tell: TellResults;
	/** No entries yet. */
	readonly #awaited = new Set<string>();
	/** Entries of which no agent has heard. */
	readonly #untold = new Set<string>();

	/** `proved` gives those ids that entries of the session have. */
	constructor(proved: (ids: readonly string[]) => readonly string[], tell: TellResults) {
		this.#proved = proved;
		this.#tell = tell;
	}

	get isAwaited(): boolean {
		return this.#awaited.size > 0;
	}

	/** The host is about to save a result that has these ids. */
	returned(ids: readonly string[]): void {
		for (const id of ids) this.#awaited.add(id);
	}

	/** Tells what is proved by now. */
	look(): void {
		for (const id of this.#proved([...this.#awaited])) {
			this.#awaited.delete(id);
			this.#untold.add(id);
			if (this.#untold.size > UNTOLD_LIMIT) this.#untold.delete(this.#untold.values().next().value ?? "");
		}
		if (this.#untold.size > 0 && this.#tell("shown", [...this.#untold])) this.#untold.clear();
	}

	/** The host's run is over: what is no entry now never will be. */
	giveUp(): void {
		if (this.#awaited.size > 0) this.#tell("lost", [...this.#awaited]);
		this.#awaited.clear();
	}

	close(): void {
		this.#awaited.clear();
		this.#untold.clear();
	}
}
