import type { CommandContext } from "./command-door.ts";
import { isObject, type JobEvent, type Notice } from "./contract.ts";
import type { Inbox } from "./inbox.ts";
import type { Timers } from "./timers.ts";

/** Longer than the broker's deadline of a close: mail is not held for a job that nobody ended. */
const CLOSE_LIMIT_MS = 180_000;
/** How long a commit waits for the host to become idle before it asks it to end all the same. */
const IDLE_LIMIT_MS = 5_000;

/** The host, as far as a close needs it. */
export interface ClosableHost {
	enterCommand(ticket: string): Promise<CommandContext>;
	isIdle(): boolean;
	/** The entries of the session's current branch, oldest first. */
	branch(): readonly unknown[];
	notify(notice: Notice): void;
}

interface Close {
	readonly jobId: string;
	/** The successful call that handed over. */
	toolCallId: string | undefined;
	/** `over`: the run of that call has ended. */
	state: "open" | "reported" | "over" | "settled" | "invalid" | "committed";
	readonly cancelLimit: () => void;
}

/**
 * Follows one close job in the session: deliveries wait but for the request of a handoff; the handoff counts once its run
 * has ended and its result is in the session's branch, and any input, run or move to another branch after it invalidates
 * it for good. The host is ended only on a commit, and only if that still holds.
 */
export class Closer {
	readonly #host: ClosableHost;
	readonly #inbox: Inbox;
	readonly #timers: Timers;
	readonly #report: (event: JobEvent) => void;
	#close: Close | undefined;

	constructor(host: ClosableHost, inbox: Inbox, timers: Timers, report: (event: JobEvent) => void) {
		this.#host = host;
		this.#inbox = inbox;
		this.#timers = timers;
		this.#report = report;
	}

	/** Preparing a job again changes nothing; preparing another forgets the first. */
	prepare(jobId: string, handoffEnvelopeId: string): void {
		if (this.#close?.jobId === jobId) return;
		this.forget();
		const cancelLimit = this.#timers.after(CLOSE_LIMIT_MS, () => this.end(jobId));
		this.#close = { jobId, toolCallId: undefined, state: "open", cancelLimit };
		this.#inbox.holdAllBut(handoffEnvelopeId);
	}

	/** The tool call with a handoff for `jobId` has succeeded; its result is about to be saved. A repeat changes nothing. */
	handoffReported(jobId: string, toolCallId: string): void {
		if (this.#close?.jobId !== jobId || this.#close.state !== "open") return;
		this.#close.toolCallId = toolCallId;
		this.#close.state = "reported";
	}

	/** Input, a command of the person's or a move to another branch. */
	disturbed(what: string): void {
		if (this.#close?.state === "reported" || this.#close?.state === "over" || this.#close?.state === "settled") this.#invalidate(this.#close, what);
	}

	/** A run begins. Before the handoff's own run has ended it is a part of that. */
	runStarted(): void {
		if (this.#close?.state !== "reported") this.disturbed("a new run began");
	}

	/** A compaction of the run's own comes before its end. */
	compactionStarted(): void {
		if (this.#close?.state === "settled") this.disturbed("a compaction began");
	}

	/** The host says that its run has ended. What it starts in the same breath shows before the look. */
	runEnded(): void {
		const close = this.#close;
		if (close?.state !== "reported") return;
		close.state = "over";
		this.#timers.after(0, () => {
			if (this.#close !== close || close.state !== "over") return;
			const problem = this.#disproof(close);
			if (problem !== undefined) this.#invalidate(close, problem);
			else {
				close.state = "settled";
				this.#report({ jobId: close.jobId, event: "settled" });
			}
		});
	}

	/** Whether the run that has just ended handed over. */
	get hasHandedOver(): boolean {
		return this.#close?.state === "over";
	}

	/** Ends the host after the answer to this; else resolves to why not. */
	async commit(jobId: string): Promise<string | undefined> {
		const problem = this.#objection(jobId);
		if (problem !== undefined) return problem;
		const command = await this.#host.enterCommand(jobId);
		const lateProblem = this.#objection(jobId);
		if (lateProblem !== undefined || this.#close === undefined) return lateProblem;
		this.#close.state = "committed";
		this.#close.cancelLimit();
		const close = this.#close;
		this.#timers.after(0, () => void this.#endHost(command, close));
		return undefined;
	}

	/** The job is over without a close: mail flows again, also where the host was asked to end and did not. */
	end(jobId: string): void {
		if (this.#close?.jobId === jobId) this.#drop(this.#close);
	}

	/** Whatever was prepared is forgotten, but not what was committed. */
	forget(): void {
		if (this.#close !== undefined && this.#close.state !== "committed") this.#drop(this.#close);
	}

	#drop(close: Close): void {
		close.cancelLimit();
		this.#close = undefined;
		this.#inbox.release();
	}

	#invalidate(close: Close, detail: string): void {
		close.state = "invalid";
		this.#report({ jobId: close.jobId, event: "invalidated", detail: `After the handoff: ${detail}.` });
	}

	/** Why the host must not be ended for this job now. */
	#objection(jobId: string): string | undefined {
		const close = this.#close;
		if (close?.jobId !== jobId) return "no close of that job is prepared here";
		if (close.state === "invalid") return "something came after the handoff";
		if (close.state !== "settled") return "the handoff has not settled";
		const problem = this.#disproof(close);
		if (problem !== undefined) this.#invalidate(close, problem);
		return problem;
	}

	/** Why the session's own entries do not show a handoff with nothing after it; undefined where they do. */
	#disproof(close: Close): string | undefined {
		if (!this.#host.isIdle()) return "the session works again";
		const branch = this.#host.branch();
		const at = branch.findLastIndex((entry) => toolResult(entry)?.toolCallId === close.toolCallId);
		if (at < 0) return "its result is not in the session's current branch";
		if (toolResult(branch[at])?.isError === true) return "the session has its result as an error";
		return branch.slice(at + 1).some(isInput) ? "there was input" : undefined;
	}

	/** The verified way: nothing is cut off, session_shutdown runs, and the exit code is 0. */
	async #endHost(command: CommandContext, close: Close): Promise<void> {
		try {
			command.abort();
			await new Promise<void>((resolve) => {
				const cancel = this.#timers.after(IDLE_LIMIT_MS, resolve);
				const finish = (): void => {
					cancel();
					resolve();
				};
				command.waitForIdle().then(finish, finish);
			});
			command.shutdown();
		} catch (error) {
			close.state = "invalid";
			const text = `Intercom could not close this session: ${error instanceof Error ? error.message : String(error)}`;
			// A host that failed may fail here, too: a timer's throw goes no further.
			this.#timers.after(0, () => this.#host.notify({ level: "error", text }));
		}
	}
}

const OWN_ROLES: ReadonlySet<unknown> = new Set(["assistant", "toolResult", "system"]);

function toolResult(entry: unknown): { readonly toolCallId: unknown; readonly isError: unknown } | undefined {
	if (!isObject(entry) || entry.type !== "message" || !isObject(entry.message) || entry.message.role !== "toolResult") return undefined;
	return { toolCallId: entry.message.toolCallId, isError: entry.message.isError };
}

/** What the model would read as something new: neither its own work nor the host's bookkeeping. */
function isInput(entry: unknown): boolean {
	if (!isObject(entry)) return false;
	if (entry.type === "message") return !isObject(entry.message) || !OWN_ROLES.has(entry.message.role);
	return entry.type === "custom_message" || entry.type === "branch_summary";
}
