import { isObject } from "../contract.ts";
import { type Colours, FoldedText } from "./folded.ts";
import { plainLine, plainLines } from "./plain.ts";

const ARGUMENT_LIMIT = 60;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A tool call on one line: its label and its arguments, each cut short. Those that were cut stand whole below it when unfolded. */
export function toolCallLine(label: string, args: unknown, isExpanded: boolean, colours: Colours): FoldedText {
	const named = (isObject(args) ? Object.entries(args) : []).map(([name, value]) => ({ name: plainLine(name, 30), text: argumentText(value) }));
	const parts = named.map(({ name, text }) => `${colours.fg("dim", `${name}=`)}${short(text)}`);
	const long = isExpanded ? named.filter(({ text }) => short(text) !== text) : [];
	const body = long.flatMap(({ name, text }) => [colours.fg("dim", `${name}:`), ...plainLines(text).map((line) => colours.fg("toolOutput", `  ${line}`))]);
	return new FoldedText([colours.fg("toolTitle", colours.bold(plainLine(label, 60))), ...parts].join(" "), body, 0);
}

/** A tool's result on one line, the whole text when unfolded. */
export function toolResultLine(text: string, summary: string, isError: boolean, isExpanded: boolean, colours: Colours): FoldedText {
	const colour = isError ? "error" : "toolOutput";
	const mark = isError ? "✗ " : "";
	const lines = isExpanded ? plainLines(readable(text)) : [plainLine(summary) || plainLine(text)];
	return new FoldedText(colours.fg(colour, mark + (lines[0] ?? "")), lines.slice(1).map((line) => colours.fg(colour, line)), 0);
}

function argumentText(value: unknown): string {
	return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function short(text: string): string {
	return UUID.test(text) ? `${text.slice(0, 8)}…` : plainLine(text, ARGUMENT_LIMIT);
}

/** A page of JSON, which is made for the model, with an indent for a person. */
function readable(text: string): string {
	if (!text.startsWith("{")) return text;
	try {
		return JSON.stringify(JSON.parse(text), undefined, 2);
	} catch {
		return text;
	}
}
