import { contentText } from "../content-text.ts";
import { intercomDetails } from "../session-entries.ts";
import { type Colours, FoldedText } from "./folded.ts";
import { plainLine, plainLines } from "./plain.ts";

/** A message from another session: one line with its sender, the text that the model read below it when unfolded. */
export function messageCard(message: { readonly content: unknown }, isExpanded: boolean, paddingColumns: number, colours: Colours): FoldedText {
	const details = intercomDetails(message);
	const text = contentText(message.content);
	const name = plainLine(details?.from.name ?? "", 80) || plainLine(details?.from.sessionId ?? "", 80) || "intercom";
	const role = plainLine(details?.from.role ?? "", 20);
	const summary = plainLine(details?.summary ?? "") || plainLine(text);
	const sender = colours.fg("customMessageLabel", colours.bold(`✉ ${name}`)) + (role === "" ? "" : colours.fg("dim", ` ${role}`));
	const body = isExpanded ? plainLines(text).map((line) => colours.fg("customMessageText", line)) : [];
	return new FoldedText(`${sender}  ${colours.fg("customMessageText", summary)}`, body, paddingColumns);
}
