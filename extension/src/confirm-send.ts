import { isObject, type ToolAnswer, type ToolSpec } from "./contract.ts";
import { PEER_TOOL } from "./session-entries.ts";
import { plainLine, plainLines } from "./ui/plain.ts";

const SHOWN_LINES = 8;
const LINE_CHARACTERS = 200;

/** The host, as far as asking its person goes. */
export interface AskingHost {
	hasUI(): boolean;
	/** Resolves to false also where the question was dismissed, as by `signal`. */
	confirm(title: string, text: string, signal: AbortSignal | undefined): Promise<boolean>;
}

/** Whether the person confirms a call of this kind: a message that answers nothing named, of one's own accord. */
export function isUnasked(tool: ToolSpec, args: unknown): boolean {
	return tool.name === PEER_TOOL && isObject(args) && args.action === "send" && (args.replyTo === undefined || args.replyTo === "");
}

/** Asks the person about a message. Resolves to the call's answer where it is not to be sent, else to undefined. */
export async function refusedByPerson(host: AskingHost, args: unknown, signal: AbortSignal | undefined): Promise<ToolAnswer | undefined> {
	if (!host.hasUI() || !isObject(args)) return undefined;
	const recipient = recipientOf(args);
	if (await host.confirm(`Send a message to ${recipient}?`, [...excerpt(args.message), ...attachments(args.attachments)].join("\n"), signal)) return undefined;
	const isAborted = signal?.aborted === true;
	const summary = isAborted ? "cancelled before it was sent" : "the person declined; not sent";
	const text = isAborted
		? "The message was cancelled before it was sent. Nothing happened."
		: `The person declined this message to ${recipient}: nothing was sent. Don't send it again unless they ask for it.`;
	return { text, summary, isError: true, reason: isAborted ? "CANCELLED" : "DECLINED_BY_PERSON" };
}

function recipientOf({ to, cwd }: { readonly to?: unknown; readonly cwd?: unknown }): string {
	const name = line(to);
	const directory = line(cwd);
	if (name === "") return directory === "" ? "nobody named" : `the session in ${directory}`;
	return directory === "" ? name : `${name} in ${directory}`;
}

function excerpt(message: unknown): string[] {
	const lines = typeof message === "string" ? plainLines(message) : [];
	const shown = lines.slice(0, SHOWN_LINES).map((text) => plainLine(text, LINE_CHARACTERS));
	const left = lines.length - shown.length;
	return left > 0 ? [...shown, `… ${left} more ${left === 1 ? "line" : "lines"}`] : shown;
}

function attachments(value: unknown): string[] {
	const list: readonly unknown[] = Array.isArray(value) ? value : [];
	return list.filter(isObject).map(({ type, name, content }) => {
		const size = typeof content === "string" ? ` (${[...content].length} characters)` : "";
		return `+ ${line(type)} ${line(name)}${size}`;
	});
}

function line(value: unknown): string {
	return typeof value === "string" ? plainLine(value, 100) : "";
}
