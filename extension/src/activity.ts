import type { JsonObject } from "./contract.ts";

type Phase = "idle" | "working" | "thinking" | "responding" | "tool";

/** Figures that go along with a phase; what is not known is left out. */
export interface ActivityFigures {
	readonly model?: string;
	readonly contextPercent?: number;
	readonly tokens?: number;
}

const TOOL_LABELS: ReadonlyMap<string, string> = new Map([
	["read", "Reading files"],
	["edit", "Editing files"],
	["write", "Editing files"],
	["bash", "Running command"],
	["powershell", "Running command"],
]);

/**
 * Follows what the session is doing and reports each change as a phase with a public label. Never says more: no
 * arguments, no text, no names of tools that are not Pi's own. Running tools outrank streaming.
 */
export class Activity {
	readonly #emit: (activity: JsonObject) => void;
	readonly #figures: () => ActivityFigures;
	/** Tool call id to tool name. */
	readonly #tools = new Map<string, string>();
	#phase: Phase = "idle";
	#label = "";
	#turns = 0;

	constructor(emit: (activity: JsonObject) => void, figures: () => ActivityFigures) {
		this.#emit = emit;
		this.#figures = figures;
	}

	/** Reports the present state, as to an agent that has just started. */
	report(): void {
		const { model, contextPercent, tokens } = this.#figures();
		this.#emit({
			phase: this.#phase,
			...(this.#label === "" ? {} : { label: this.#label }),
			...(model === undefined ? {} : { model }),
			...(contextPercent === undefined ? {} : { contextPercent }),
			...(tokens === undefined ? {} : { tokens }),
			turns: this.#turns,
		});
	}

	runStarted(): void {
		this.#become("working", "Processing");
	}

	/** `kind` is the type of an assistant stream event. */
	streamed(kind: string): void {
		if (this.#tools.size > 0) return;
		if (kind.startsWith("thinking_")) this.#become("thinking", "Thinking");
		else if (kind.startsWith("text_")) this.#become("responding", "Writing response");
		else if (kind.startsWith("toolcall_")) this.#become("working", "Processing");
	}

	toolStarted(callId: string, name: string): void {
		this.#tools.set(callId, name);
		this.#showTools();
	}

	toolEnded(callId: string): void {
		this.#tools.delete(callId);
		this.#showTools();
	}

	turnEnded(): void {
		this.#turns++;
	}

	compactionStarted(): void {
		if (this.#phase === "idle") this.#become("working", "Processing");
	}

	compactionEnded(runIsActive: boolean): void {
		if (!runIsActive) this.settled();
	}

	settled(): void {
		this.#tools.clear();
		this.#become("idle", "Turn settled");
	}

	#showTools(): void {
		const [only] = this.#tools.values();
		if (only === undefined) this.#become("working", "Processing");
		else if (this.#tools.size > 1) this.#become("tool", "Running multiple tools");
		else this.#become("tool", TOOL_LABELS.get(only) ?? "Using a tool");
	}

	#become(phase: Phase, label: string): void {
		if (phase === this.#phase && label === this.#label) return;
		this.#phase = phase;
		this.#label = label;
		this.report();
	}
}
