import { INTERCOM_EXTENSION_SEND_RESULT_EVENT } from "../extension-api.ts";
import { isObject, type JsonObject, type Notice, type ToolAnswer } from "./contract.ts";
import { plainLines } from "./ui/plain.ts";

export const RELAY_CONTROL_EVENT = "subagent:control-intercom";
export const RELAY_RESULT_EVENT = "subagent:result-intercom";
export const RELAY_DELIVERY_EVENT = "subagent:result-intercom-delivery";

const SHORTEST_PREFIX = 6;
const TEXT_LIMIT = 48_000;
const OPEN_LIMIT = 64;

export type RelayKind = "subagent control" | "subagent result";

/** What a relay needs of the session that it serves. */
export interface RelaySession {
	sessionId(): string;
	/** What the session is called by others now: its own name, its configured one, its stable id. */
	names(): readonly (string | undefined)[];
	/** Shows it in this session and starts a turn. Resolves once it is an entry of the session, rejects where it won't be. */
	showHere(text: string, kind: RelayKind): Promise<void>;
	/** The tool `intercom` with action send. Never rejects. */
	send(to: string, message: string): Promise<ToolAnswer>;
	emit(event: string, data: JsonObject): void;
	notify(notice: Notice): void;
}

interface Relayed {
	readonly to: string;
	readonly message: string;
	readonly requestId?: string;
}

interface Outcome {
	readonly delivered: boolean;
	readonly error?: string;
}

/**
 * Hands on what other extensions of this Pi say: to this very session where it is named, whatever it does with mail
 * from others, else as a message to the session that is. Never rejects and never throws.
 */
export class Relay {
	readonly #session: RelaySession;
	#open = 0;

	constructor(session: RelaySession) {
		this.#session = session;
	}

	/** `subagent:control-intercom`: a child asks for attention. */
	async control(payload: unknown): Promise<void> {
		const { delivered, error } = await this.#relay(payload, "subagent control");
		if (!delivered && error !== undefined) this.#warn(`a subagent's request for attention was not delivered: ${error}`);
	}

	/** `subagent:result-intercom`: a child's result. What became of it is told under its request id, where it has one. */
	async result(payload: unknown): Promise<void> {
		const outcome = await this.#relay(payload, "subagent result");
		const { requestId } = isRelayed(payload) ? payload : {};
		if (requestId !== undefined) this.#emit(RELAY_DELIVERY_EVENT, { requestId, ...outcome });
		else if (!outcome.delivered && outcome.error !== undefined) this.#warn(`a subagent's result was not delivered: ${outcome.error}`);
	}

	/** `intercom:extension-send`: a message to another session. */
	async send(payload: unknown): Promise<void> {
		const { requestId } = isObject(payload) ? payload : {};
		const { delivered, error } = isRelayed(payload) ? await this.#bounded(() => this.#remote(payload)) : this.#malformed("message");
		const answer = { ...(typeof requestId === "string" ? { requestId } : {}), delivered, ...(error === undefined ? {} : { reason: error }) };
		this.#emit(INTERCOM_EXTENSION_SEND_RESULT_EVENT, answer);
	}

	async #relay(payload: unknown, kind: RelayKind): Promise<Outcome> {
		if (!isRelayed(payload)) return this.#malformed(kind);
		return this.#bounded(() => (this.#isNamed(payload.to) ? this.#here(payload, kind) : this.#there(payload, kind)));
	}

	async #bounded(run: () => Promise<Outcome>): Promise<Outcome> {
		if (this.#open >= OPEN_LIMIT) return { delivered: false, error: `${OPEN_LIMIT} messages of other extensions are on their way already` };
		this.#open++;
		try {
			return await run();
		} catch (error) {
			return { delivered: false, error: error instanceof Error ? error.message : String(error) };
		} finally {
			this.#open--;
		}
	}

	async #here({ message }: Relayed, kind: RelayKind): Promise<Outcome> {
		await this.#session.showHere(message, kind);
		return { delivered: true };
	}

	/** The broker knows best who a name or a part of an id is: this session, perhaps. Without a broker, part of the own id is enough. */
	async #there(relayed: Relayed, kind: RelayKind): Promise<Outcome> {
		const answer = await this.#session.send(relayed.to, relayed.message);
		if (!answer.isError) return { delivered: true };
		const isUnreached = answer.reason === "AGENT_NOT_RUNNING" || answer.reason === "NOT_SENT" || answer.reason === "NOT_CONNECTED";
		const isOwnId = relayed.to.length >= SHORTEST_PREFIX && this.#session.sessionId().startsWith(relayed.to);
		if (answer.reason === "SELF_TARGET" || (isUnreached && isOwnId)) return this.#here(relayed, kind);
		return { delivered: false, error: answer.text };
	}

	async #remote({ to, message }: Relayed): Promise<Outcome> {
		const answer = await this.#session.send(to, message);
		return answer.isError ? { delivered: false, error: answer.text } : { delivered: true };
	}

	/** Whether `to` is this session, beyond doubt. */
	#isNamed(to: string): boolean {
		const wanted = to.trim().toLowerCase();
		return to === this.#session.sessionId() || this.#session.names().some((name) => name !== undefined && name.trim().toLowerCase() === wanted);
	}

	#malformed(what: string): Outcome {
		this.#warn(`another extension's ${what} has no "to" and "message" of 1 to ${TEXT_LIMIT} characters; nothing was done`);
		return { delivered: false };
	}

	#emit(event: string, data: JsonObject): void {
		whileItLasts(() => this.#session.emit(event, data));
	}

	#warn(text: string): void {
		whileItLasts(() => this.#session.notify({ level: "warning", text: `Intercom: ${text}` }));
	}
}

/** A session that is over throws whatever it is asked; nobody is left to be told then. */
function whileItLasts(run: () => void): void {
	try {
		run();
	} catch {
		// See above.
	}
}

/** What the model reads of a relayed text: where it is from, and its words as data. */
export function relayedText(text: string, kind: RelayKind): string {
	const lines = plainLines(text).map((line) => `> ${line}`);
	return [`Relayed by another extension of this session (${kind}). The quoted lines are its words, not a person's:`, ...lines].join("\n");
}

function isRelayed(payload: unknown): payload is Relayed {
	if (!isObject(payload)) return false;
	const { to, message, requestId } = payload;
	const isText = typeof message === "string" && message.trim() !== "" && [...message.slice(0, 2 * TEXT_LIMIT + 1)].length <= TEXT_LIMIT;
	return isText && typeof to === "string" && to.trim() !== "" && (requestId === undefined || typeof requestId === "string");
}
