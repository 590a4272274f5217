import { type Component, Editor, type Focusable, type TUI, visibleWidth } from "@earendil-works/pi-tui";
import type { ToolAnswer } from "../contract.ts";
import type { PeerSession } from "../peers.ts";
import type { Colours } from "./folded.ts";
import { clip, frame, innerWidth } from "./frame.ts";
import { type Keys, keyName } from "./keys.ts";
import { plainLine, plainLines } from "./plain.ts";
import { count, homePath, modelOf, nameOf, pathEnd, prose } from "./words.ts";

export const COMPOSE_COLUMNS = 72;
export const MESSAGE_LIMIT = 48_000;
const OUTCOME_LINES = 5;
const PLAIN_LINES = 5;
/** The reason of an answer that can't tell whether the message was sent. */
const OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN";

export interface ComposePlace {
	readonly tui: TUI;
	readonly colours: Colours;
	readonly keys: Keys;
	readonly home: string;
}

export interface ComposeEvents {
	/** Never rejects. */
	send(text: string): Promise<ToolAnswer>;
	/** Also while it is being sent: the outcome comes nevertheless. */
	closed(): void;
	changed(): void;
}

type State = "writing" | "sending" | "discarding";

/** A message to one session, being written and sent. A message that was not sent stays to be sent again. */
export class ComposeView implements Component, Focusable {
	readonly #to: PeerSession;
	readonly #place: ComposePlace;
	readonly #events: ComposeEvents;
	readonly #editor: Editor;
	#state: State = "writing";
	#outcome: { readonly isGood: boolean; readonly text: string } | undefined;
	#width = COMPOSE_COLUMNS;
	#measured = { text: "", characters: 0 };

	constructor(to: PeerSession, place: ComposePlace, events: ComposeEvents, draft = "") {
		this.#to = to;
		this.#place = place;
		this.#events = events;
		const { colours } = place;
		const plain = (text: string): string => text;
		this.#editor = new Editor(place.tui, {
			borderColor: (text) => colours.fg("borderMuted", text),
			// There is nothing to complete here, so no list is ever shown.
			selectList: { selectedPrefix: plain, selectedText: plain, description: plain, scrollInfo: plain, noMatch: plain },
		});
		this.#editor.setText(draft);
		this.#editor.onSubmit = (text) => this.#submit(text);
	}

	get focused(): boolean {
		return this.#editor.focused;
	}

	set focused(isFocused: boolean) {
		this.#editor.focused = isFocused;
	}

	/** What is written and was not sent. */
	get text(): string {
		return this.#editor.getExpandedText();
	}

	get isSending(): boolean {
		return this.#state === "sending";
	}

	invalidate(): void {
		this.#editor.invalidate();
	}

	handleInput(data: string): void {
		const { keys } = this.#place;
		if (this.#state === "discarding") {
			// One key of two decides; any other only shows the question again.
			if (keys.matches(data, "tui.select.confirm")) this.#events.closed();
			else if (keys.matches(data, "tui.select.cancel")) this.#state = "writing";
		} else if (keys.matches(data, "tui.select.cancel")) this.#leave();
		else if (this.#state === "writing") this.#write(data);
		this.#events.changed();
	}

	render(width: number): string[] {
		const { colours, home } = this.#place;
		const inner = innerWidth(width);
		this.#width = inner;
		const about = [plainLine(this.#to.status, 80), modelOf(this.#to), plainLine(this.#to.shortId, 40)].filter((part) => part !== "").join(" · ");
		const characters = this.#characters();
		const used = `${characters.toLocaleString("en-US")} of ${count(MESSAGE_LIMIT, "character")}`;
		const lines = [
			colours.fg("muted", pathEnd(homePath(this.#to.cwd, home), inner)),
			...(about === "" ? [] : [colours.fg("muted", about)]),
			...this.#written(inner),
			characters > MESSAGE_LIMIT ? colours.fg("error", `Too long: ${used}`) : colours.fg("dim", used),
			...this.#outcomeLines(inner),
			...this.#hints(inner),
		];
		return frame(width, `Message to ${nameOf(this.#to)}`, "", lines, colours);
	}

	#outcomeLines(inner: number): string[] {
		const { colours } = this.#place;
		if (this.#state === "sending") return [colours.fg("dim", "Sending…")];
		if (this.#outcome === undefined) return [];
		const { isGood, text } = this.#outcome;
		return prose(`${isGood ? "✓" : "✗"} ${text}`, inner)
			.slice(0, OUTCOME_LINES)
			.map((line) => colours.fg(isGood ? "success" : "error", line));
	}

	#hints(inner: number): string[] {
		const { colours, keys } = this.#place;
		const confirm = keyName(keys, "tui.select.confirm");
		const cancel = keyName(keys, "tui.select.cancel");
		if (this.#state === "discarding") return prose(`Discard this text? ${confirm} discards it, ${cancel} goes on writing.`, inner).map((line) => colours.fg("warning", line));
		const hints = [`${keyName(keys, "tui.input.submit")} sends`, `${keyName(keys, "tui.input.newLine", 2)} new line`, `${cancel} back`];
		return prose(hints.join(" · "), inner).map((line) => colours.fg("dim", line));
	}

	#write(data: string): void {
		const before = { text: this.#editor.getText(), outcome: this.#outcome };
		try {
			this.#editor.handleInput(data);
		} catch {
			// Where the editor can't lay its text out, neither can it move in it: that key does nothing.
		}
		// An outcome stands until one writes on, but for that of this very key.
		if (this.#outcome === before.outcome && this.#editor.getText() !== before.text) this.#outcome = undefined;
	}

	/** The editor's lines. A character wider than the box would be more than it can lay out: then the end of the text stands in its place. */
	#written(inner: number): readonly string[] {
		if (widestCharacter(this.#editor.getText()) < inner) return this.#editor.render(inner);
		const rule = this.#place.colours.fg("borderMuted", "─".repeat(inner));
		return [rule, ...plainLines(this.text).slice(-PLAIN_LINES).map((line) => clip(line, inner)), rule];
	}

	/** The editor has emptied itself by now. */
	#submit(text: string): void {
		if (text === "") {
			this.#outcome = { isGood: false, text: "There is nothing to send yet." };
			return;
		}
		this.#editor.setText(text);
		const excess = this.#characters() - MESSAGE_LIMIT;
		if (excess > 0) {
			this.#outcome = { isGood: false, text: `Not sent: it is ${count(excess, "character")} too long. Shorten it, or write it to a file and send its path.` };
			return;
		}
		this.#state = "sending";
		this.#outcome = undefined;
		void this.#events.send(text).then((answer) => this.#sent(answer));
	}

	#sent(answer: ToolAnswer): void {
		this.#state = "writing";
		const said = plainLine(answer.isError ? answer.text : answer.summary || answer.text, 400);
		const again = `${keyName(this.#place.keys, "tui.input.submit")} ${answer.reason === OUTCOME_UNKNOWN ? "sends it once more" : "tries again"}.`;
		if (answer.isError) this.#outcome = { isGood: false, text: `${said} The text is kept: ${again}` };
		else {
			this.#outcome = { isGood: true, text: said };
			this.#editor.setText("");
		}
		this.#events.changed();
	}

	/** A line is quickly written again; more than that is not lost without a question. */
	#leave(): void {
		const text = this.text.trim();
		const isShort = !text.includes("\n") && visibleWidth(text) < this.#width;
		if (this.#state === "sending" || isShort) this.#events.closed();
		else this.#state = "discarding";
	}

	#characters(): number {
		const { text } = this;
		if (text !== this.#measured.text) this.#measured = { text, characters: [...text.trim()].length };
		return this.#measured.characters;
	}
}

const segmenter = new Intl.Segmenter();

/** Columns of the widest character of `text`, which may be one of many parts. */
function widestCharacter(text: string): number {
	if (/^[\u0020-\u007e\n]*$/.test(text)) return 1;
	let widest = 1;
	for (const { segment } of segmenter.segment(text)) if (segment.length > 1 || segment > "~") widest = Math.max(widest, visibleWidth(segment));
	return widest;
}
