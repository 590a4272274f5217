import { type Component, truncateToWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { contentText } from "../content-text.ts";
import type { PendingAsk } from "../contract.ts";
import { type EntryDetails, intercomDetails } from "../session-entries.ts";
import type { Colours } from "./folded.ts";
import { plainLine, plainLines, shownName } from "./plain.ts";
import { count, homePath, localTime, nameOf, senderOf } from "./words.ts";

const FOLDED_LINES = 4;
const HINT_LINES = 2;
/** What a model reads holds another agent's words in lines that begin so. */
const QUOTE = /^> ?/;

export interface CardPlace {
	readonly colours: Colours;
	readonly isExpanded: boolean;
	readonly paddingColumns: number;
	/** How the key that unfolds is written. */
	readonly expandKey: string;
	readonly home: string;
	/** Milliseconds since 1970. */
	clock(): number;
	/** Undefined where the ask waits for no answer of this session any more. */
	pendingAsk(deliveryId: string): PendingAsk | undefined;
}

/**
 * A message from another session. Folded: who, when and what kind, and the first lines of what was said. Unfolded: the
 * text that the model read, whole. What is a fact rather than somebody's words stays on one line.
 */
export class MessageCard implements Component {
	readonly #place: CardPlace;
	readonly #details: EntryDetails | undefined;
	readonly #text: string;
	/** The lines drawn last, for a width and a head: what else they show never changes. */
	#drawn: { readonly width: number; readonly head: string; readonly lines: readonly string[] } | undefined;

	constructor(message: { readonly content: unknown }, place: CardPlace) {
		this.#place = place;
		this.#details = intercomDetails(message);
		this.#text = contentText(message.content);
	}

	invalidate(): void {
		this.#drawn = undefined;
	}

	render(width: number): readonly string[] {
		const head = this.#head();
		if (this.#drawn?.width !== width || this.#drawn.head !== head) this.#drawn = { width, head, lines: this.#draw(width, head) };
		return this.#drawn.lines;
	}

	#draw(width: number, head: string): string[] {
		const indent = " ".repeat(Math.min(this.#place.paddingColumns, Math.floor(Math.max(0, width - 1) / 2)));
		const room = Math.max(1, width - 2 * indent.length);
		return [truncateToWidth(head, room, "…"), ...this.#body(room)].map((line) => truncateToWidth(indent + line, width, "…"));
	}

	#head(): string {
		const { colours, home } = this.#place;
		const details = this.#details;
		const kind = details?.kind ?? "";
		// Of what was sent from here it is the recipient.
		const name = details === undefined ? "intercom" : kind === "sent" ? nameOf(details.from) : senderOf(details.from);
		// What is cut in a narrow terminal comes last.
		const where = this.#isWords() ? homePath(details?.from.directory ?? "", home) : "";
		const facts = [this.#waits(), this.#time(), shownName(details?.runId ?? "", 40), shownName(details?.from.role ?? "", 20), where].filter((fact) => fact !== "");
		const sender = colours.fg("customMessageLabel", colours.bold(`${mark(kind)} ${name}${VERBS[kind] ?? ""}`)) + (facts.length === 0 ? "" : colours.fg("dim", ` · ${facts.join(" · ")}`));
		return this.#isWords() ? sender : `${sender}  ${colours.fg("customMessageText", this.#summary())}`;
	}

	#body(room: number): string[] {
		const { colours, isExpanded } = this.#place;
		const text = (lines: readonly string[]): string[] => lines.map((line) => colours.fg("customMessageText", line));
		if (isExpanded) return [...text(wrapped(plainLines(this.#text), room)), ...this.#attachments()];
		if (!this.#isWords()) return this.#attachments();
		const lines = wrapped(this.#quoted(), room);
		const isCut = lines.length > FOLDED_LINES;
		const more = isCut ? [colours.fg("dim", `… ${count(lines.length - FOLDED_LINES + 1, "more line")} (${this.#place.expandKey})`)] : [];
		return [...text(isCut ? lines.slice(0, FOLDED_LINES - 1) : lines), ...more, ...this.#attachments(), ...this.#hint(room)];
	}

	#attachments(): string[] {
		const { colours } = this.#place;
		return (this.#details?.attachments ?? []).map(({ type, name, language, characters }) => {
			const facts = [plainLine(language ?? "", 40), characters === undefined ? "" : count(characters, "character")].filter((fact) => fact !== "");
			return colours.fg("muted", `+ ${shownName(type, 20)} ${plainLine(name, 120)}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`);
		});
	}

	#hint(room: number): string[] {
		const hint = plainLine(this.#details?.hint ?? "", 300);
		return hint === "" ? [] : wrapTextWithAnsi(hint, room).slice(0, HINT_LINES).map((line) => this.#place.colours.fg("dim", line));
	}

	#time(): string {
		const acceptedAtMs = this.#details?.acceptedAtMs;
		return acceptedAtMs === undefined ? "" : localTime(acceptedAtMs, this.#place.clock());
	}

	#waits(): string {
		if (this.#details?.kind !== "ask") return "";
		const ask = this.#place.pendingAsk(this.#details.deliveryId);
		if (ask === undefined) return "";
		if (!ask.awaited) return "unanswered, waits no more";
		return `waits for your answer${ask.deadlineAtMs === undefined ? "" : ` until ${localTime(ask.deadlineAtMs, this.#place.clock())}`}`;
	}

	/** Whether it is somebody's words, which get lines of their own. Entries of earlier versions do not say. */
	#isWords(): boolean {
		return this.#details !== undefined && ["message", "ask", "reply", "sent"].includes(this.#details.kind);
	}

	#summary(): string {
		return plainLine(this.#details?.summary ?? "") || plainLine(this.#text);
	}

	/** The sender's own words; attachments, which follow them, are listed apart. */
	#quoted(): string[] {
		const lines = plainLines(this.#text);
		const from = lines.findIndex((line) => QUOTE.test(line));
		const length = lines.slice(from).findIndex((line) => !QUOTE.test(line));
		if (from < 0) return [this.#summary()];
		return lines.slice(from, length < 0 ? undefined : from + length).map((line) => line.replace(QUOTE, ""));
	}
}

const VERBS: { readonly [kind: string]: string } = { ask: " asks", reply: " replies", report: " reports" };

function mark(kind: string): string {
	switch (kind) {
		case "ask":
			return "?";
		case "reply":
			return "↩";
		case "sent":
			return "→";
		case "notice":
			return "•";
		case "report":
			return "■";
		case "bulletin":
			return "◆";
		default:
			return "✉";
	}
}

function wrapped(lines: readonly string[], width: number): string[] {
	return lines.flatMap((line) => (line === "" ? [""] : wrapTextWithAnsi(line, width)));
}
