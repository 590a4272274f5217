import { AgentGone, AgentRefusal } from "./json-rpc.ts";
import { type JsonObject, parseToolAnswer, type ToolAnswer, type ToolSpec } from "./contract.ts";
import type { Timers } from "./timers.ts";

const REPEAT_LIMIT_MS = 5_000;
const CANCEL_ANSWER_LIMIT_MS = 2_000;

/** The part of the agent link that a tool call needs. */
export interface ToolLink {
	whenUp(limitMs: number, order: number, signal?: AbortSignal): Promise<boolean>;
	call(method: string, params: JsonObject): Promise<unknown>;
	notify(method: string, params: JsonObject): boolean;
}

/** The tool with which a worker hands over before it is closed. */
export const HANDOFF_TOOL = "intercom_report_handoff";

/** Runs one tool call, whose id in the host is `toolCallId`, and never rejects. */
export type RunTool = (tool: ToolSpec, args: unknown, signal: AbortSignal | undefined, toolCallId: string) => Promise<ToolAnswer>;

/**
 * Keeps the host's tools equal to those that the agent lists for the session's role. A host tool can't be removed: one
 * that is no longer listed is registered again as hidden.
 */
export class ToolSet {
	readonly #register: (tool: ToolSpec, isVisible: boolean) => void;
	readonly #registered = new Map<string, { readonly tool: ToolSpec; readonly text: string; isVisible: boolean }>();

	constructor(register: (tool: ToolSpec, isVisible: boolean) => void) {
		this.#register = register;
	}

	show(tools: readonly ToolSpec[]): void {
		const listed = new Set(tools.map((tool) => tool.name));
		for (const [name, known] of this.#registered) {
			if (listed.has(name) || !known.isVisible) continue;
			known.isVisible = false;
			this.#register(known.tool, false);
		}
		for (const tool of tools) {
			const text = JSON.stringify(tool);
			const known = this.#registered.get(tool.name);
			if (known?.isVisible === true && known.text === text) continue;
			this.#registered.set(tool.name, { tool, text, isVisible: true });
			this.#register(tool, true);
		}
	}
}

/** Runs tool calls over the link in the order in which they are made, each under one call id however often it has to be repeated. */
export class ToolCalls {
	readonly #link: ToolLink;
	readonly #timers: Timers;
	readonly #mintId: () => string;
	#made = 0;

	constructor(link: ToolLink, timers: Timers, mintId: () => string) {
		this.#link = link;
		this.#timers = timers;
		this.#mintId = mintId;
	}

	/** Never rejects. */
	async run(name: string, args: unknown, signal: AbortSignal | undefined): Promise<ToolAnswer> {
		const callId = this.#mintId();
		const order = ++this.#made;
		let wasSent = false;
		let giveUpAt = this.#timers.now() + REPEAT_LIMIT_MS;
		for (;;) {
			const isUp = await this.#link.whenUp(giveUpAt - this.#timers.now(), order, signal);
			if (signal?.aborted === true) return wasSent ? outcomeUnknown(name, callId) : cancelled(name);
			if (!isUp || (wasSent && this.#timers.now() >= giveUpAt)) return wasSent ? outcomeUnknown(name, callId) : notRunning(name);
			try {
				const answer = this.#link.call("tools/call", { name, arguments: args ?? {}, callId, ...(wasSent ? { repeated: true } : {}) });
				return parseToolAnswer(await this.#abortable(answer, callId, signal));
			} catch (error) {
				if (error instanceof CancelUnanswered) return outcomeUnknown(name, callId);
				if (!(error instanceof AgentGone)) return failed(error);
				// The time to repeat in runs from the first loss: a call that waits may have run for minutes before.
				if (!wasSent) giveUpAt = this.#timers.now() + REPEAT_LIMIT_MS;
				wasSent = true;
			}
		}
	}

	/** An abort asks the agent to cancel, and waits a moment for its word on what had happened by then. */
	#abortable(answer: Promise<unknown>, callId: string, signal: AbortSignal | undefined): Promise<unknown> {
		if (signal === undefined) return answer;
		return new Promise((resolve, reject) => {
			let cancelLimit: (() => void) | undefined;
			const onAbort = (): void => {
				this.#link.notify("tools/cancel", { callId });
				cancelLimit = this.#timers.after(CANCEL_ANSWER_LIMIT_MS, () => {
					signal.removeEventListener("abort", onAbort);
					reject(new CancelUnanswered());
				});
			};
			const finish = (settle: () => void): void => {
				signal.removeEventListener("abort", onAbort);
				cancelLimit?.();
				settle();
			};
			if (signal.aborted) onAbort();
			else signal.addEventListener("abort", onAbort, { once: true });
			answer.then(
				(result) => finish(() => resolve(result)),
				(error: unknown) => finish(() => reject(error)),
			);
		});
	}
}

class CancelUnanswered extends Error {}

function problem(text: string, summary: string, reason: string): ToolAnswer {
	return { text, summary, isError: true, reason };
}

/** What tells whether a call happened: messages and launches are found by the call's id, other jobs are listed. */
function whereToLook(name: string, callId: string): string {
	switch (name) {
		case "intercom_send":
			return `\`intercom status ${callId}\` in a shell tells.`;
		case "intercom_create_worker":
		case "intercom_resume_worker":
			return `\`intercom job show ${callId}\` in a shell tells.`;
		case "intercom_stop_worker":
		case "intercom_close_worker":
			return "`intercom jobs` in a shell lists the job, if there is one.";
		default:
			return "Where intercom_list is at hand it shows how things are, and the workspace's config what was written.";
	}
}

function outcomeUnknown(name: string, callId: string): ToolAnswer {
	return problem(
		`Outcome unknown: the intercom agent gave no answer to ${name}. It may or may not have happened; do not simply repeat it. ${whereToLook(name, callId)}`,
		`outcome unknown, id ${callId}`,
		"OUTCOME_UNKNOWN",
	);
}

function notRunning(name: string): ToolAnswer {
	return problem(`${name} was not sent: the intercom agent is not running. Nothing happened.`, "not sent: the intercom agent is not running", "AGENT_NOT_RUNNING");
}

function cancelled(name: string): ToolAnswer {
	return problem(`${name} was cancelled before it was sent. Nothing happened.`, "cancelled before it was sent", "CANCELLED");
}

function failed(error: unknown): ToolAnswer {
	const message = error instanceof Error ? error.message : String(error);
	if (!(error instanceof AgentRefusal)) return problem(message, message, "HOST_LINK_FAILED");
	return { text: message, summary: message, isError: true, code: error.code, reason: error.reason };
}
