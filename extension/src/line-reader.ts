const LF = 0x0a;

/** A line that the link must not act on; `lengthBytes` is what had arrived of it. */
export interface BadLine {
	readonly problem: "too long" | "not UTF-8" | "cut off";
	readonly lengthBytes: number;
}

/**
 * Cuts a byte stream into LF-terminated UTF-8 lines. Holds at most one line of `limitBytes` (its LF included): the
 * rest of a longer one is dropped up to its LF, and it is reported once.
 */
export class LineReader {
	readonly #limitBytes: number;
	readonly #onLine: (line: string) => void;
	readonly #onBadLine: (bad: BadLine) => void;
	readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
	#parts: Buffer[] = [];
	#lengthBytes = 0;

	constructor(limitBytes: number, onLine: (line: string) => void, onBadLine: (bad: BadLine) => void) {
		this.#limitBytes = limitBytes;
		this.#onLine = onLine;
		this.#onBadLine = onBadLine;
	}

	read(chunk: Buffer): void {
		let from = 0;
		for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
			this.#keep(chunk.subarray(from, end));
			this.#finish();
			from = end + 1;
		}
		this.#keep(chunk.subarray(from));
	}

	/** The stream ended: what has no LF is no line. */
	end(): void {
		if (this.#lengthBytes > 0) this.#onBadLine({ problem: "cut off", lengthBytes: this.#lengthBytes });
		this.#parts = [];
		this.#lengthBytes = 0;
	}

	#keep(part: Buffer): void {
		if (part.length === 0) return;
		this.#lengthBytes += part.length;
		if (this.#lengthBytes < this.#limitBytes) this.#parts.push(part);
		else this.#parts = [];
	}

	#finish(): void {
		const lengthBytes = this.#lengthBytes;
		const bytes = Buffer.concat(this.#parts);
		this.#parts = [];
		this.#lengthBytes = 0;
		if (lengthBytes === 0) return;
		if (lengthBytes >= this.#limitBytes) {
			this.#onBadLine({ problem: "too long", lengthBytes });
			return;
		}
		let line: string;
		try {
			line = this.#decoder.decode(bytes);
		} catch {
			this.#onBadLine({ problem: "not UTF-8", lengthBytes });
			return;
		}
		this.#onLine(line);
	}
}
