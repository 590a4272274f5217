import type { JsonObject } from "./contract.ts";

type Phase = "idle" | "working" | "thinking" | "responding" | "tool";

/** Figures that go along with a phase; what is not known is left out. */
export interface ActivityFigures {
	readonly model?: string;
	readonly contextPercent?: number;
	readonly tokens?: number;
}

const TOOL_LIMIT = 64;
const TOOL_LABELS: ReadonlyMap<string, string> = new Map([
	["read", "Reading files"],
	["edit", "Editing files"],
	["write", "Editing files"],
	["bash", "Running command"],
	["powershell", "Running command"],
]);

/**
 * Follows what the session is doing and reports each change as a phase with a public label and, of a running tool, its
 * name. Never says more: no arguments, no text. Running tools outrank streaming.
 */
export class Activity {
	readonly #emit: (activity: JsonObject) => void;
	readonly #figures: () => ActivityFigures;
	readonly #note: string;
	/** Tool call id to tool name. */
	readonly #tools = new Map<string, string>();
	#phase: Phase = "idle";
	#label = "";
	/** The one that was started last. */
	#tool: string | undefined;
	#turns = 0;

	/** `note` is what the person set to be shown behind the status; empty for none. */
	constructor(emit: (activity: JsonObject) => void, figures: () => ActivityFigures, note = "") {
		this.#emit = emit;
		this.#figures = figures;
		this.#note = note;
	}

	/** Reports the present state, as to an agent that has just started, and when figures may have changed. */
	report(): void {
		const { model, contextPercent, tokens } = this.#figures();
		this.#emit({
			phase: this.#phase,
			...(this.#label === "" ? {} : { label: this.#label }),
			...(this.#tool === undefined ? {} : { tool: this.#tool }),
			...(this.#note === "" ? {} : { note: this.#note }),
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
		this.report();
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
		const names = [...this.#tools.values()];
		const latest = names.at(-1)?.slice(0, TOOL_LIMIT);
		if (latest === undefined) this.#become("working", "Processing");
		else if (names.length > 1) this.#become("tool", "Running multiple tools", latest);
		else this.#become("tool", TOOL_LABELS.get(latest) ?? "Using a tool", latest);
	}

	#become(phase: Phase, label: string, tool?: string): void {
		if (phase === this.#phase && label === this.#label && tool === this.#tool) return;
		this.#phase = phase;
		this.#label = label;
		this.#tool = tool;
		this.report();
	}
}
