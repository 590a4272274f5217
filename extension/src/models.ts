import { isObject, type ToolAnswer } from "./contract.ts";
import { plainLine } from "./ui/plain.ts";
import { count } from "./ui/words.ts";

/** The tool that the host answers from its own registry. */
export const MODELS_TOOL = "intercom_models";

const ROWS_LIMIT = 40;
const QUERY_LIMIT = 200;

export interface KnownModel {
	readonly provider: string;
	readonly id: string;
}

/** The models that can be used here. */
export interface ModelList {
	/** That of the session's own model, if it has one. */
	readonly provider?: string;
	readonly models: readonly KnownModel[];
}

/** As much of Pi's context as tells its models. */
export interface ModelContext {
	readonly modelRegistry: { getAvailable(): readonly KnownModel[] };
	readonly model: { readonly provider: string } | undefined;
}

export function modelsOf({ modelRegistry, model }: ModelContext): ModelList {
	return { provider: model?.provider, models: modelRegistry.getAvailable().map(({ provider, id }) => ({ provider, id })) };
}

/** The models whose provider/id holds `query`, whatever its case: those of the session's own provider first, with a star. */
export function describeModels(query: string, { provider: own, models }: ModelList): ToolAnswer {
	const wanted = query.trim().slice(0, QUERY_LIMIT);
	const named = models.map(({ provider, id }) => ({ isOwn: provider === own, name: `${provider}/${id}` }));
	const found = named.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
	found.sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || (a.name < b.name ? -1 : 1));
	const rows = found.slice(0, ROWS_LIMIT).map(({ isOwn, name }) => `${isOwn ? "*" : " "} ${plainLine(name, 200)}`);
	const matching = wanted === "" ? "" : ` with "${plainLine(wanted, 80)}"`;
	const summary = `${count(found.length, "model")}${matching}`;
	if (found.length === 0) return { text: `No models${matching} can be used here; ${count(models.length, "model")} can.`, summary, isError: false };
	const shown = found.length > rows.length ? `, of which the first ${rows.length} are listed: a longer query shows the others` : "";
	return { text: [`${summary}${shown}. * marks those of this session's own provider.`, ...rows].join("\n"), summary, isError: false, details: { total: found.length } };
}

/** Answers a call of the tool. */
export function answerModels(args: unknown, list: ModelList): ToolAnswer {
	return describeModels(isObject(args) && typeof args.query === "string" ? args.query : "", list);
}
