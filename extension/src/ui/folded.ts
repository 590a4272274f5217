import type { Theme } from "@earendil-works/pi-coding-agent";
import { type Component, truncateToWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";

/** One line that is cut to the width, with a body below it where it is unfolded. */
export class FoldedText implements Component {
	readonly #head: string;
	readonly #body: readonly string[];
	readonly #indent: string;

	constructor(head: string, body: readonly string[], paddingColumns: number) {
		this.#head = head;
		this.#body = body;
		this.#indent = " ".repeat(paddingColumns);
	}

	render(width: number): string[] {
		const room = Math.max(1, width - 2 * this.#indent.length);
		const lines = [truncateToWidth(this.#head, room, "…"), ...this.#body.flatMap((line) => wrapTextWithAnsi(line, room))];
		return lines.map((line) => truncateToWidth(this.#indent + line, width, "…"));
	}

	invalidate(): void {}
}

/** Lines of which each is cut to the width: a preview, which takes no more rows in a narrow terminal. */
export class CutLines implements Component {
	readonly #lines: readonly string[];

	constructor(lines: readonly string[]) {
		this.#lines = lines;
	}

	render(width: number): string[] {
		return this.#lines.map((line) => truncateToWidth(line, width, "…"));
	}

	invalidate(): void {}
}

/** The colours that the cards use; Pi's Theme has them. */
export type Colours = Pick<Theme, "fg" | "bold">;
