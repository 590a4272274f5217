import { plainLine } from "./ui/plain.ts";

const QUOTE_LIMIT = 60;

/** Follows the text of the person's that waits in the host's queue, and says what became of it when the work was cancelled. */
export class KeptText {
	readonly #queued: string[] = [];
	readonly #inEditor: string[] = [];
	readonly #cancelled: string[] = [];
	#inEditorCount = 0;

	queued(text: string): void {
		this.#queued.push(text);
	}

	/** A user message is in the session; returns whether it left the queue for it. */
	shown(text: string): boolean {
		const at = this.#queued.indexOf(text);
		if (at >= 0) this.#queued.splice(at, 1);
		return at >= 0;
	}

	queueIsEmpty(): void {
		this.#queued.length = 0;
	}

	/** The host puts what was queued before what stands in the editor, a blank line between them. */
	editorChanged(before: string, after: string): void {
		if (after === before) return;
		const rest = `\n\n${before}`;
		const restored = before.trim() !== "" && after.endsWith(rest) ? after.slice(0, -rest.length) : after;
		this.#inEditor.push(restored);
		this.#inEditorCount += Math.max(1, this.#queued.filter((text) => restored.includes(text)).length);
		this.#queued.length = 0;
	}

	/** It went into the session, and the work on it was cancelled as it began. */
	cancelled(text: string): void {
		this.#cancelled.push(text);
	}

	/** What a person must know of it, and forgets it. `isPending` tells whether text waits in the host's queue still. */
	describe(isPending: boolean): string[] {
		const sentences: string[] = [];
		const inEditor = this.#inEditor.join("\n");
		if (inEditor !== "") sentences.push(`Queued text is kept: ${messages(this.#inEditorCount, inEditor)} is back in the editor.`);
		if (isPending) sentences.push(`Queued text is kept: ${messages(Math.max(1, this.#queued.length), this.#queued.join("\n"))} stays queued and goes along with the next prompt.`);
		const cancelled = this.#cancelled.join("\n");
		if (cancelled !== "") sentences.push(`Cancelled as it began, its text is in the session: ${messages(this.#cancelled.length, cancelled)}.`);
		this.#inEditor.length = 0;
		this.#inEditorCount = 0;
		this.#cancelled.length = 0;
		return sentences;
	}
}

function messages(count: number, text: string): string {
	const quote = plainLine(text, QUOTE_LIMIT);
	return `${count === 1 ? "1 message" : `${count} messages`}${quote === "" ? "" : ` ("${quote}")`}`;
}
