import { isObject } from "../contract.ts";
import { type Colours, FoldedText } from "./folded.ts";
import { plainLine, plainLines } from "./plain.ts";
import { count } from "./words.ts";

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

/**
 * A call of the tool with which sessions talk, as one would say it: who does what to whom, and the beginning of the
 * text. Unfolded, the whole text stands below it.
 */
export function peerCallLine(name: string, args: unknown, isExpanded: boolean, colours: Colours): FoldedText {
	const given = isObject(args) ? args : {};
	const what = textOf(given.action) || textOf(given.reason);
	const whom = textOf(given.to) || textOf(given.cwd);
	const which = [textOf(given.messageId), textOf(given.replyTo)].find((id) => id !== "") ?? "";
	const message = textOf(given.message);
	const attachments = Array.isArray(given.attachments) ? given.attachments.filter(isObject) : [];
	const more = [
		message === "" && which !== "" ? short(which) : "",
		attachments.length === 0 ? "" : `+ ${count(attachments.length, "attachment")}`,
		given.openProjectPaneIfMissing === true ? "+ opens a project pane" : "",
	].filter((part) => part !== "");
	const title = colours.fg("toolTitle", colours.bold([plainLine(name, 60), plainLine(what, 40)].filter((part) => part !== "").join(" ")));
	const head = [title, whom === "" ? "" : `→ ${short(whom)}`, ...more.map((part) => colours.fg("dim", part))].filter((part) => part !== "").join(" ");
	const names = attachments.map((attachment) => colours.fg("dim", `+ ${plainLine(textOf(attachment.type), 20)} ${plainLine(textOf(attachment.name), 120)}`));
	const body = isExpanded ? [...(message === "" ? [] : plainLines(message)).map((line) => colours.fg("toolOutput", line)), ...names] : [];
	return new FoldedText(message === "" || isExpanded ? head : `${head}: ${plainLine(message)}`, body, 0);
}

/** What a call waits for, while it does. */
export function toolProgressLine(text: string, colours: Colours): FoldedText {
	return new FoldedText(colours.fg("dim", plainLine(text)), [], 0);
}

/** A tool's result on one line, the whole text when unfolded. */
export function toolResultLine(text: string, summary: string, isError: boolean, isExpanded: boolean, colours: Colours): FoldedText {
	const colour = isError ? "error" : "toolOutput";
	const mark = isError ? "✗ " : "";
	const lines = isExpanded ? plainLines(readable(text)) : [plainLine(summary) || plainLine(text)];
	return new FoldedText(colours.fg(colour, mark + (lines[0] ?? "")), lines.slice(1).map((line) => colours.fg(colour, line)), 0);
}

function textOf(value: unknown): string {
	return typeof value === "string" ? value : "";
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
