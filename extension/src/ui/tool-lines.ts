import { isObject } from "../contract.ts";
import { type Colours, FoldedText } from "./folded.ts";
import { plainLine, plainLines } from "./plain.ts";

const ARGUMENT_LIMIT = 60;

/** A tool call on one line: its label and its arguments, each cut short. */
export function toolCallLine(label: string, args: unknown, colours: Colours): FoldedText {
	const parts = isObject(args) ? Object.entries(args).map(([name, value]) => `${colours.fg("dim", `${plainLine(name, 30)}=`)}${argument(value)}`) : [];
	return new FoldedText([colours.fg("toolTitle", colours.bold(plainLine(label, 60))), ...parts].join(" "), [], 0);
}

/** A tool's result on one line, the whole text when unfolded. */
export function toolResultLine(text: string, summary: string, isError: boolean, isExpanded: boolean, colours: Colours): FoldedText {
	const colour = isError ? "error" : "toolOutput";
	const lines = plainLines(text);
	if (isExpanded) return new FoldedText(colours.fg(colour, lines[0] ?? ""), lines.slice(1).map((line) => colours.fg(colour, line)), 0);
	return new FoldedText(colours.fg(colour, plainLine(summary) || plainLine(text)), [], 0);
}

function argument(value: unknown): string {
	return plainLine(typeof value === "string" ? value : (JSON.stringify(value) ?? ""), ARGUMENT_LIMIT);
}
