import { contentText } from "./content-text.ts";
import { isObject, type RunEvent, type Usage } from "./contract.ts";

const SALVAGE_CHARS = 8_000;
const TEXT_BYTES = 256 * 1024;
const ERROR_CHARS = 2_000;
/** What a line of the link holds of it, with room for the rest: a control character takes six bytes there. */
const WRITTEN_BYTES = 768 * 1024;
/** Half of a character, which is no text. */
const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

type Figures = Pick<RunEvent, "turns" | "model" | "usage" | "text" | "leftOut">;

/** What the assistant's messages of one run add up to. */
export class RunFigures {
	turns = 0;
	/** Of the last assistant message; undefined before the first. */
	stopReason: string | undefined;
	errorMessage: string | undefined;
	#model: string | undefined;
	#usage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
	#text = "";

	/** A message is final. All but the assistant's are passed over. */
	add(message: unknown): void {
		if (!isObject(message) || message.role !== "assistant") return;
		const { provider, model, stopReason, errorMessage } = message;
		this.stopReason = typeof stopReason === "string" ? stopReason : "";
		this.errorMessage = typeof errorMessage === "string" && errorMessage !== "" ? errorMessage.slice(0, ERROR_CHARS).replace(HALF, "\ufffd") : undefined;
		if (typeof model === "string") this.#model = typeof provider === "string" ? `${provider}/${model}` : model;
		this.#usage = sum(this.#usage, message.usage);
		const text = contentText(message.content).replace(HALF, "\ufffd");
		if (text.trim() !== "") this.#text = text;
	}

	/** For the case that no end is ever told. */
	soFar(underWay = ""): Figures {
		return this.#figures(tailOf(underWay.trim() === "" ? this.#text : underWay.replace(HALF, "\ufffd"), SALVAGE_CHARS));
	}

	whole(): Figures {
		const text = endsOf(this.#text, TEXT_BYTES);
		return this.#figures(Buffer.byteLength(JSON.stringify(text.text)) <= WRITTEN_BYTES ? text : endsOf(this.#text, TEXT_BYTES / 2));
	}

	#figures({ text, leftOut }: Bounded): Figures {
		return {
			turns: this.turns,
			...(this.#model === undefined ? {} : { model: this.#model }),
			usage: this.#usage,
			...(text === "" ? {} : { text }),
			...(leftOut === 0 ? {} : { leftOut }),
		};
	}
}

interface Bounded {
	readonly text: string;
	readonly leftOut: number;
}

/** The last `limit` characters. */
export function tailOf(text: string, limit: number): Bounded {
	if (text.length <= limit) return { text, leftOut: 0 };
	const characters = [...text];
	const leftOut = Math.max(0, characters.length - limit);
	return { text: characters.slice(leftOut).join(""), leftOut };
}

/** As much of both ends as `limit` bytes hold, with a line between them that says so. */
export function endsOf(text: string, limit: number): Bounded {
	const bytes = Buffer.from(text);
	if (bytes.length <= limit) return { text, leftOut: 0 };
	const half = Math.floor((limit - 100) / 2);
	let headEnd = half;
	let tailStart = bytes.length - half;
	while (isWithinCharacter(bytes[headEnd])) headEnd--;
	while (isWithinCharacter(bytes[tailStart])) tailStart++;
	const leftOut = [...bytes.subarray(headEnd, tailStart).toString()].length;
	const gap = `\n[… ${leftOut.toLocaleString("en-US")} characters left out …]\n`;
	return { text: bytes.subarray(0, headEnd).toString() + gap + bytes.subarray(tailStart).toString(), leftOut };
}

function isWithinCharacter(byte: number | undefined): boolean {
	return byte !== undefined && (byte & 0xc0) === 0x80;
}

function sum(usage: Usage, more: unknown): Usage {
	const given = isObject(more) ? more : {};
	const cost = isObject(given.cost) ? given.cost.total : given.cost;
	return {
		input: usage.input + amount(given.input),
		output: usage.output + amount(given.output),
		cacheRead: usage.cacheRead + amount(given.cacheRead),
		cacheWrite: usage.cacheWrite + amount(given.cacheWrite),
		cost: usage.cost + amount(cost),
	};
}

function amount(value: unknown): number {
	return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
