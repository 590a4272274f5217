import { isObject, type JsonObject } from "../contract.ts";
import { type Colours, CutLines, FoldedText } from "./folded.ts";
import { plainLine, plainLines } from "./plain.ts";
import { count } from "./words.ts";

const ARGUMENT_LIMIT = 60;
const PREVIEW_LINES = 4;
const PREVIEW_COLUMNS = 100;
/** What a supervisor does with runs. */
const RUN_ACTIONS: ReadonlySet<unknown> = new Set(["peek", "result", "wait", "steer", "stop", "inbox", "message"]);
const PEER_TOOLS: ReadonlySet<string> = new Set(["intercom", "contact_supervisor", "contact_peer"]);
const PREVIEWED_TOOLS: ReadonlySet<string> = new Set(["intercom_watch", "intercom_models", "contact_peer"]);

/** What a call looks like, as its tool and its action are. `label` is for tools of which nothing more is known. */
export function callLine(name: string, label: string, args: unknown, isExpanded: boolean, colours: Colours): FoldedText {
	if (name === "intercom_watch") return watchCallLine(args, isExpanded, colours);
	if (name === "intercom_models") return modelsCallLine(args, colours);
	if (name === "intercom" && isRunCall(args)) return runCallLine(args, isExpanded, colours);
	return PEER_TOOLS.has(name) ? peerCallLine(name, args, isExpanded, colours) : toolCallLine(label, args, isExpanded, colours);
}

/** Whether a call's result is worth some lines where it is folded. */
export function isPreviewed(name: string, args: unknown): boolean {
	return PREVIEWED_TOOLS.has(name) || (name === "intercom" && isRunCall(args));
}
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
	const which = [textOf(given.messageId), textOf(given.replyTo), textOf(given.askId)].find((id) => id !== "") ?? "";
	const message = textOf(given.message);
	const attachments = Array.isArray(given.attachments) ? given.attachments.filter(isObject) : [];
	const more = [
		message === "" && which !== "" ? short(which) : "",
		attachments.length === 0 ? "" : `+ ${count(attachments.length, "attachment")}`,
		given.openProjectPaneIfMissing === true ? "+ opens a project pane" : "",
		given.run === true ? `+ run${textOf(given.label) === "" ? "" : ` "${short(textOf(given.label))}"`}` : "",
	].filter((part) => part !== "");
	const named = [plainLine(name, 60), plainLine(what, 40)].filter((part) => part !== "").join(" ");
	const head = [title(named, colours), whom === "" ? "" : `→ ${short(whom)}`, ...more.map((part) => colours.fg("dim", part))].filter((part) => part !== "").join(" ");
	const names = attachments.map((attachment) => colours.fg("dim", `+ ${plainLine(textOf(attachment.type), 20)} ${plainLine(textOf(attachment.name), 120)}`));
	const body = isExpanded ? [...(message === "" ? [] : plainLines(message)).map((line) => colours.fg("toolOutput", line)), ...names] : [];
	return new FoldedText(message === "" || isExpanded ? head : `${head}: ${plainLine(message)}`, body, 0);
}

function isRunCall(args: unknown): args is JsonObject {
	return isObject(args) && RUN_ACTIONS.has(args.action);
}

/** What is done with which run. Unfolded, a text that goes along stands below it. */
function runCallLine(args: JsonObject, isExpanded: boolean, colours: Colours): FoldedText {
	const action = textOf(args.action);
	const run = textOf(args.runId) || textOf(args.to) || textOf(args.messageId);
	const target = short(run) || (action === "peek" || action === "wait" ? "all" : "");
	const limit = action === "wait" && typeof args.timeoutMs === "number" ? `up to ${count(Math.round(args.timeoutMs / 1000), "second")}` : "";
	const message = textOf(args.message);
	const head = [title(`intercom ${action}`, colours), target, colours.fg("dim", limit)].filter((part) => part !== "").join(" ");
	const body = isExpanded && message !== "" ? plainLines(message).map((line) => colours.fg("toolOutput", line)) : [];
	return new FoldedText(message === "" || isExpanded ? head : `${head}: ${plainLine(message)}`, body, 0);
}

function watchCallLine(args: unknown, isExpanded: boolean, colours: Colours): FoldedText {
	const given = isObject(args) ? args : {};
	const words = [given.command, ...(Array.isArray(given.args) ? given.args : [])].filter((word): word is string => typeof word === "string");
	const label = plainLine(textOf(given.label), ARGUMENT_LIMIT);
	const parts = [title(`intercom_watch ${plainLine(textOf(given.action), 40)}`.trim(), colours), short(textOf(given.id)), label];
	const head = parts.filter((part) => part !== "").join(" ");
	const command = plainLine(words.join(" "));
	const body = isExpanded ? words.map((word) => colours.fg("toolOutput", `  ${plainLine(word, 400)}`)) : [];
	return new FoldedText(command === "" || isExpanded ? head : `${head} ${colours.fg("dim", `$ ${command}`)}`, body, 0);
}

function modelsCallLine(args: unknown, colours: Colours): FoldedText {
	const query = isObject(args) ? plainLine(textOf(args.query), ARGUMENT_LIMIT) : "";
	return new FoldedText(`${title("intercom_models", colours)} ${colours.fg("dim", query === "" ? "all" : `"${query}"`)}`, [], 0);
}

function title(text: string, colours: Colours): string {
	return colours.fg("toolTitle", colours.bold(text));
}

/** A result's first lines, and how to see the others. A failure is marked as one. */
export function toolPreview(text: string, isError: boolean, expandKey: string, colours: Colours): CutLines {
	const lines = plainLines(text).filter((line) => line.trim() !== "");
	const shown = lines.slice(0, PREVIEW_LINES);
	const cut = shown.map((line) => plainLine(line, PREVIEW_COLUMNS));
	const isCut = lines.length > shown.length || shown.some((line) => [...line.trim()].length > PREVIEW_COLUMNS);
	const more = lines.length > shown.length ? `… ${count(lines.length - shown.length, "more line")} (${expandKey})` : `… (${expandKey})`;
	const rows = (cut.length === 0 ? ["(nothing)"] : cut).map((line, index) => colours.fg(isError ? "error" : "toolOutput", isError && index === 0 ? `✗ ${line}` : line));
	return new CutLines(isCut ? [...rows, colours.fg("dim", more)] : rows);
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
