import type { Readable, Writable } from "node:stream";
import { ContractError, isObject, type JsonObject } from "./contract.ts";
import { LineReader } from "./line-reader.ts";

const LINE_LIMIT_BYTES = 1024 * 1024;
const UNREAD_LIMIT_BYTES = 8 * 1024 * 1024;

/** The agent went away before it answered, or there is none: what was asked may or may not have happened. */
export class AgentGone extends Error {}

/** The agent's error answer to a request. */
export class AgentRefusal extends Error {
	readonly code: string;
	readonly reason: string;

	constructor(message: string, code: string, reason: string) {
		super(message);
		this.code = code;
		this.reason = reason;
	}
}

/** Gets the outcome of one request, within the line that brought it. */
export interface OpenCall {
	resolve(result: unknown): void;
	reject(error: Error): void;
}

export interface JsonRpcOwner {
	onNotification(method: string, params: unknown): void;
	/** Answers a request of the other side; a rejection becomes an error answer. */
	onRequest(method: string, params: unknown): Promise<JsonObject>;
	/** The other side leaves too much unread. */
	onStuck(): void;
	/** For the log. */
	onRemark(text: string): void;
}

/** JSON-RPC 2.0 over two streams, one LF-terminated line of 1 MiB at most a message. No callback of the streams throws. */
export class JsonRpc {
	readonly #output: Writable;
	readonly #owner: JsonRpcOwner;
	readonly #calls = new Map<number, OpenCall>();
	#nextId = 1;
	#isClosed = false;
	#isStuck = false;

	constructor(input: Readable, output: Writable, owner: JsonRpcOwner) {
		this.#output = output;
		this.#owner = owner;
		const reader = new LineReader(
			LINE_LIMIT_BYTES,
			(line) => this.#guarded(() => this.#receive(line)),
			({ problem, lengthBytes }) => owner.onRemark(`a line of ${lengthBytes} bytes from the agent is ${problem} and was dropped`),
		);
		input.on("data", (chunk: Buffer) => reader.read(chunk));
		input.on("end", () => reader.end());
		input.on("error", (error: Error) => owner.onRemark(`reading failed: ${error.message}`));
		output.on("error", (error: Error) => owner.onRemark(`writing failed: ${error.message}`));
	}

	/** Whether messages can be sent. */
	get isOpen(): boolean {
		return !this.#isClosed && !this.#isStuck && this.#output.writable;
	}

	/** `call` is rejected with AgentGone, with AgentRefusal, or with an Error where the message is too long. */
	request(method: string, params: JsonObject, call: OpenCall): void {
		const id = this.#nextId++;
		const line = encode({ id, method, params });
		if (line === undefined) {
			call.reject(new Error(`the message is longer than ${LINE_LIMIT_BYTES} bytes`));
			return;
		}
		this.#calls.set(id, call);
		if (!this.#write(line) && this.#calls.delete(id)) call.reject(new AgentGone("the intercom agent takes no message"));
	}

	/** False where the message was not sent. */
	notify(method: string, params: JsonObject): boolean {
		return this.#write(encode({ method, params }));
	}

	/** Nothing is read or written any more, and every open request is rejected. */
	close(): void {
		this.#isClosed = true;
		for (const call of this.#calls.values()) call.reject(new AgentGone("the intercom agent ended"));
		this.#calls.clear();
	}

	#write(line: string | undefined): boolean {
		if (line === undefined || !this.isOpen) return false;
		if (this.#output.writableLength > UNREAD_LIMIT_BYTES) {
			this.#owner.onRemark(`the agent left ${UNREAD_LIMIT_BYTES} bytes unread`);
			this.#isStuck = true;
			this.#owner.onStuck();
			return false;
		}
		this.#output.write(line);
		return true;
	}

	#receive(line: string): void {
		if (this.#isClosed) return;
		let message: unknown;
		try {
			message = JSON.parse(line);
		} catch {
			this.#owner.onRemark(`a line of ${line.length} characters is not JSON`);
			return;
		}
		const { id, method, params, result, error } = isObject(message) ? message : {};
		if (typeof method === "string") {
			if (typeof id === "number" || typeof id === "string") void this.#answer(id, method, params);
			else this.#owner.onNotification(method, params);
			return;
		}
		if (typeof id !== "number") {
			this.#owner.onRemark("a message is neither request nor answer");
			return;
		}
		const call = this.#calls.get(id);
		this.#calls.delete(id);
		if (isObject(error)) call?.reject(refusal(error));
		else call?.resolve(result);
	}

	async #answer(id: number | string, method: string, params: unknown): Promise<void> {
		try {
			const result = await this.#owner.onRequest(method, params);
			this.#write(encode({ id, result }));
		} catch (error) {
			const message = error instanceof Error ? error.message : String(error);
			const [code, data] = error instanceof ContractError ? [-32602, { code: "INVALID_ARGUMENT", reason: "BAD_PARAMS" }] : [-32603, { code: "INTERNAL", reason: "HOST_FAILED" }];
			this.#write(encode({ id, error: { code, message, data } }));
		}
	}

	#guarded(run: () => void): void {
		try {
			run();
		} catch (error) {
			this.#owner.onRemark(error instanceof Error ? error.message : String(error));
		}
	}
}

/** One line, or undefined where it is too long. */
function encode(message: JsonObject): string | undefined {
	const line = `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
	return Buffer.byteLength(line) > LINE_LIMIT_BYTES ? undefined : line;
}

function refusal(error: JsonObject): AgentRefusal {
	const data = isObject(error.data) ? error.data : {};
	return new AgentRefusal(
		typeof error.message === "string" ? error.message : "the intercom agent refused",
		typeof data.code === "string" ? data.code : "UNKNOWN",
		typeof data.reason === "string" ? data.reason : "",
	);
}
