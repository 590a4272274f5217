import { isObject, type JsonObject, type RunEvent } from "./contract.ts";
import { RunFigures } from "./run-figures.ts";
import { intercomDetails } from "./session-entries.ts";

/** How an answer ends after which nothing goes on by itself: input then begins something else. */
export const COMPLETE: ReadonlySet<unknown> = new Set(["stop", "length"]);

/** What the session's entries hold of one run. */
export interface RunEntries {
	/** The entries that came of its envelope, oldest first. */
	readonly after: readonly unknown[];
	/** Whether what this process does belongs to it. */
	readonly mayGrow: boolean;
}

/**
 * Undefined where the envelope is no entry. `inherited` is how many entries an earlier process left, undefined where that
 * is not known: what came after those is nothing to a run of that process. Compaction leaves entries as they are; those of
 * other branches are passed over.
 */
export function entriesOfRun(entries: readonly unknown[], deliveryId: string, inherited: number | undefined): RunEntries | undefined {
	const at = entries.findIndex((entry) => isObject(entry) && entry.type === "custom_message" && intercomDetails(entry)?.deliveryId === deliveryId);
	if (at < 0) return undefined;
	const isInherited = inherited !== undefined && at < inherited;
	const line = new Set<unknown>([idOf(entries[at])]);
	const after: unknown[] = [];
	for (const entry of entries.slice(at + 1, isInherited ? inherited : undefined)) {
		if (!isObject(entry)) continue;
		if (typeof entry.parentId === "string" && !line.has(entry.parentId)) continue;
		line.add(idOf(entry));
		after.push(entry);
	}
	return { after, mayGrow: !isInherited };
}

/** Done where the last answer that came of the envelope is complete, else interrupted. */
export function outcomeOf(after: readonly unknown[], whyNot = "the session ended before it had settled"): Omit<RunEvent, "deliveryId"> {
	const figures = new RunFigures();
	for (const entry of after) {
		if (!isObject(entry)) continue;
		if (isInput(entry) && COMPLETE.has(figures.stopReason)) break;
		if (entry.type !== "message" || !isObject(entry.message) || entry.message.role !== "assistant") continue;
		figures.add(entry.message);
		figures.turns++;
	}
	if (COMPLETE.has(figures.stopReason)) return { event: "done", ...figures.whole() };
	return { event: "interrupted", ...figures.whole(), error: figures.errorMessage ?? whyNot };
}

function idOf(entry: unknown): unknown {
	return isObject(entry) ? entry.id : undefined;
}

function isInput(entry: JsonObject): boolean {
	return entry.type === "custom_message" || (entry.type === "message" && isObject(entry.message) && entry.message.role === "user");
}
