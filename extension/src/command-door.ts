import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { Timers } from "./timers.ts";

const COMMAND = "intercom-stop";
/** Well under the time in which the broker wants a commit answered, so that a refusal is heard. */
const ENTER_LIMIT_MS = 3_000;

/** What a job does to the session, which the host allows in a command only. Any of it throws once the session was replaced. */
export interface CommandContext {
	isIdle(): boolean;
	/** Cancels the work. In a terminal the host puts queued text back into the editor at once. */
	abort(): void;
	waitForIdle(): Promise<void>;
	/** Ends the host, with the exit code of a host that was left in order. */
	shutdown(): void;
	/** Whether text of the person's waits in the host's queue. */
	hasPendingMessages(): boolean;
	/** What stands in the editor of a terminal; empty elsewhere. */
	editorText(): string;
}

/**
 * Gets a command's context from outside of any: sends the host our own command, which it runs at once, whatever it is
 * doing. A person who types that command cancels the session's work and no more.
 */
export class CommandDoor {
	readonly #pi: ExtensionAPI;
	readonly #timers: Timers;
	readonly #waiting = new Map<string, (context: CommandContext) => void>();

	constructor(pi: ExtensionAPI, timers: Timers) {
		this.#pi = pi;
		this.#timers = timers;
		pi.registerCommand(COMMAND, {
			description: "Intercom's own, for stopping and closing a worker: cancels what this session is doing",
			handler: (ticket, ctx) => this.#entered(ticket.trim(), ctx),
		});
	}

	/** Whether the host knows the command as ours. Text that is no command would become a prompt. */
	get isThere(): boolean {
		return this.#pi.getCommands().some(({ name, source }) => name === COMMAND && source === "extension");
	}

	/** `ticket` is unique to this call. Rejects where the host does not run the command. */
	enter(ticket: string): Promise<CommandContext> {
		return new Promise((resolve, reject) => {
			if (!this.isThere) {
				reject(new Error(`the host does not know the command /${COMMAND}`));
				return;
			}
			const cancel = this.#timers.after(ENTER_LIMIT_MS, () => {
				this.#waiting.delete(ticket);
				reject(new Error(`the host did not run the command /${COMMAND}`));
			});
			this.#waiting.set(ticket, (context) => {
				cancel();
				resolve(context);
			});
			this.#pi.sendUserMessage(`/${COMMAND} ${ticket}`, { expandPromptTemplates: true });
		});
	}

	/** A ticket that nobody waits for any more is none of a person's either, so it does nothing. */
	#entered(ticket: string, ctx: ExtensionCommandContext): Promise<void> {
		const enter = this.#waiting.get(ticket);
		this.#waiting.delete(ticket);
		if (enter !== undefined) enter(commandContext(ctx));
		else if (ticket === "") ctx.abort();
		return Promise.resolve();
	}
}

function commandContext(ctx: ExtensionCommandContext): CommandContext {
	return {
		isIdle: () => ctx.isIdle(),
		abort: () => ctx.abort(),
		waitForIdle: () => ctx.waitForIdle(),
		shutdown: () => ctx.shutdown(),
		hasPendingMessages: () => ctx.hasPendingMessages(),
		editorText: () => (ctx.mode === "tui" ? ctx.ui.getEditorText() : ""),
	};
}
