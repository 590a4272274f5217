import { randomUUID } from "node:crypto";
import type { AttachedHost, AttachFacts } from "./attached-host.ts";
import { Attachment } from "./attachment.ts";
import type { Channels } from "./channels.ts";
import { Claim } from "./claim.ts";
import type { MutateFile } from "./config-queue.ts";
import type { GoodbyeReason, StartReason } from "./contract.ts";
import type { FoundAgent } from "./find-agent.ts";
import type { HostLaunch } from "./host-launch.ts";
import { takeLaunchFacts } from "./launch.ts";
import { readSettings, type Settings, SettingsError } from "./settings.ts";
import { givenName, type Supervisor, supervisorOf } from "./supervisor.ts";
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

/** Makes the host of an attachment from the paths of the binaries; the broker's is given where the person named one. */
export type HostFor = (paths: { readonly agentPath: string; readonly brokerPath?: string }) => AttachedHost;

/**
 * TUI sessions attach, and children of another program in any mode, since they have somebody to contact; RPC sessions
 * where they were launched or the person wants it; other print and JSON ones never.
 */
export function mayAttach(mode: string, settings: Settings, wasLaunched: boolean, isChild: boolean): boolean {
	return settings.enabled && (mode === "tui" || isChild || (mode === "rpc" && (wasLaunched || settings.rpc)));
}

/** Attaches each session of this extension copy and detaches it again; a session of another copy is left alone. */
export class Lifecycle {
	readonly #around: Surroundings;
	#attachment: Attachment | undefined;
	#claim: Claim | undefined;
	#whyOff = "Intercom is off in this session: its settings, or the kind of session, keep it out.";

	constructor(around: Surroundings) {
		this.#around = around;
	}

	get attachment(): Attachment | undefined {
		return this.#attachment;
	}

	/** Why there is no attachment, for a person. */
	get whyOff(): string {
		return this.#whyOff;
	}

	/** `hostFor` makes the host of the attachment. */
	start(session: StartedSession, tell: AttachedHost["notify"], hostFor: HostFor): void {
		const notify: AttachedHost["notify"] = (notice) => {
			this.#whyOff = notice.text;
			tell(notice);
		};
		if (this.#attachment !== undefined || !session.isTrusted) return;
		const supervisor = supervisorOf(this.#around.env);
		if (session.mode !== "tui" && session.mode !== "rpc" && supervisor === undefined) return;
		try {
			this.#attach(session, supervisor, notify, hostFor);
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

	#attach(session: StartedSession, supervisor: Supervisor | undefined, notify: AttachedHost["notify"], hostFor: HostFor): void {
		const { env, agentDir, hostVersion, timers, scope, mutateFile, channels } = this.#around;
		const { wasLaunched, ...launch } = takeLaunchFacts(env, session.sessionId, scope);
		const settings = readSettings({ env, agentDir, cwd: session.cwd, workspaceRoot: launch.workspaceRoot });
		if (!mayAttach(session.mode, settings, wasLaunched, supervisor !== undefined)) return;
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
			// Another program's child is no session that a coordinator would configure.
			workspaceMode: supervisor === undefined || wasLaunched ? settings.workspace : "never",
			launch: this.#around.hostLaunch(),
			...launch,
			stableId: settings.stableId,
			replyHint: settings.replyHint,
			askTimeoutMs: settings.askTimeoutMs,
			livenessIntervalMs: settings.livenessIntervalMs,
			livenessTimeoutMs: settings.livenessTimeoutMs,
			supervisor,
			runsKept: settings.runsKept,
			mostHeadless: settings.mostHeadless,
			monitor: settings.monitor,
		};
		const { inboundTrigger, toolVisibility, status: note } = settings;
		// Behind the RPC of a launched session there is a program of ours, and nobody who could confirm anything.
		const confirmSend = settings.confirmSend && !(session.mode === "rpc" && wasLaunched);
		const policy = { confirmSend, inboundTrigger, toolVisibility, note, givenName: givenName(env) };
		const host = hostFor({ agentPath: agent.path, brokerPath: settings.brokerPath });
		const attachment = new Attachment(host, facts, policy, timers, randomUUID, mutateFile, channels);
		this.#attachment = attachment;
		attachment.start();
	}
}
