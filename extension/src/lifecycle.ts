import { randomUUID } from "node:crypto";
import { type AttachFacts, type AttachedHost, Attachment } from "./attachment.ts";
import type { Channels } from "./channels.ts";
import { Claim } from "./claim.ts";
import type { MutateFile } from "./config-queue.ts";
import type { GoodbyeReason, StartReason } from "./contract.ts";
import type { FoundAgent } from "./find-agent.ts";
import type { HostLaunch } from "./host-launch.ts";
import { takeLaunchFacts } from "./launch.ts";
import { readSettings, type Settings, SettingsError, settingsPath } from "./settings.ts";
import type { Timers } from "./timers.ts";

/** The session that has just started, as its host tells it. */
export interface StartedSession {
	readonly reason: Exclude<StartReason, "reconnect">;
	readonly mode: string;
	readonly isTrusted: boolean;
	readonly sessionId: string;
	readonly cwd: string;
}

/** What the process around the session provides. */
export interface Surroundings {
	readonly env: NodeJS.ProcessEnv;
	readonly agentDir: string;
	readonly hostVersion: string;
	readonly timers: Timers;
	/** Where claim and launch ticket stand: globalThis outside tests. */
	readonly scope: object;
	/** The host's queue of file changes, where it has one. */
	readonly mutateFile: MutateFile | undefined;
	/** Of the host's other extensions. */
	readonly channels?: Channels;
	findAgent(): FoundAgent;
	hostLaunch(): HostLaunch | undefined;
}

/** TUI sessions attach; RPC sessions where they were launched or the person wants it; print and JSON ones never. */
export function mayAttach(mode: string, settings: Settings, wasLaunched: boolean): boolean {
	return settings.enabled && (mode === "tui" || (mode === "rpc" && (wasLaunched || settings.rpc)));
}

/** Attaches each session of this extension copy and detaches it again; a session of another copy is left alone. */
export class Lifecycle {
	readonly #around: Surroundings;
	#attachment: Attachment | undefined;
	#claim: Claim | undefined;

	constructor(around: Surroundings) {
		this.#around = around;
	}

	get attachment(): Attachment | undefined {
		return this.#attachment;
	}

	/** `hostFor` makes the host of the attachment, given the agent's path. */
	start(session: StartedSession, notify: AttachedHost["notify"], hostFor: (agentPath: string) => AttachedHost): void {
		if (this.#attachment !== undefined || !session.isTrusted || (session.mode !== "tui" && session.mode !== "rpc")) return;
		try {
			this.#attach(session, notify, hostFor);
		} catch (error) {
			this.#claim?.release();
			this.#claim = undefined;
			const message = error instanceof Error ? error.message : String(error);
			notify({ level: "error", text: error instanceof SettingsError ? `Intercom is off: ${message}` : `Intercom could not start: ${message}` });
		}
	}

	/** Ends the session's attachment. Calling it twice, or without a start, is harmless. */
	async stop(reason: GoodbyeReason): Promise<void> {
		const attachment = this.#attachment;
		this.#attachment = undefined;
		try {
			await attachment?.stop(reason);
		} finally {
			this.#claim?.release();
			this.#claim = undefined;
		}
	}

	#attach(session: StartedSession, notify: AttachedHost["notify"], hostFor: (agentPath: string) => AttachedHost): void {
		const { env, agentDir, hostVersion, timers, scope, mutateFile, channels } = this.#around;
		const settings = readSettings(settingsPath(agentDir));
		const { wasLaunched, ...launch } = takeLaunchFacts(env, session.sessionId, scope);
		if (!mayAttach(session.mode, settings, wasLaunched)) return;
		this.#claim = Claim.take(scope);
		if (this.#claim === undefined) {
			notify({ level: "warning", text: "Intercom is installed twice: this copy stands down, the other one serves the session." });
			return;
		}
		const agent = this.#around.findAgent();
		if ("problem" in agent) {
			this.#claim.release();
			this.#claim = undefined;
			notify({ level: "warning", text: `Intercom is off: ${agent.problem}` });
			return;
		}
		const facts: AttachFacts = {
			sessionId: session.sessionId,
			cwd: session.cwd,
			hostVersion,
			mode: session.mode,
			startReason: session.reason,
			workspaceMode: settings.workspace,
			launch: this.#around.hostLaunch(),
			...launch,
		};
		const attachment = new Attachment(hostFor(agent.path), facts, timers, randomUUID, mutateFile, channels);
		this.#attachment = attachment;
		attachment.start();
	}
}
