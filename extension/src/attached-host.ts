import type { ActivityFigures } from "./activity.ts";
import type { AgentChild } from "./agent-process.ts";
import type { ClosableHost } from "./close.ts";
import type { AskingHost } from "./confirm-send.ts";
import type { JsonObject, StartReason, ToolSpec } from "./contract.ts";
import type { ControlledHost } from "./controls.ts";
import type { HostLaunch } from "./host-launch.ts";
import type { HostSession } from "./inbox.ts";
import type { ModelList } from "./models.ts";
import type { InboundTrigger, ToolVisibility, WorkspaceMode } from "./settings.ts";
import type { Supervisor } from "./supervisor.ts";
import type { RunTool } from "./tools.ts";
import type { StandingHost } from "./ui/standing.ts";

/** The host's side of one attached session. Any of its methods may throw. */
export interface AttachedHost extends HostSession, ControlledHost, ClosableHost, AskingHost, StandingHost {
	spawnAgent(): AgentChild;
	registerTool(tool: ToolSpec, isVisible: boolean, run: RunTool): void;
	sessionName(): string | undefined;
	setSessionName(name: string): void;
	figures(): ActivityFigures;
	/** Called when the broker knows the session, and when it no longer does. */
	attached(isAttached: boolean): void;
	/** To the other extensions of this host. */
	emit(event: string, data: JsonObject): void;
	models(): ModelList;
	/** Whether the session may run programs now. */
	runsPrograms(): boolean;
	/** Keeps a fact as an entry of the session, which no model reads. */
	remember(fact: string, value: JsonObject): void;
}

export interface AttachFacts {
	readonly sessionId: string;
	readonly cwd: string;
	readonly hostVersion: string;
	readonly mode: string;
	readonly startReason: Exclude<StartReason, "reconnect">;
	readonly workspaceMode: WorkspaceMode;
	readonly workspaceRoot?: string;
	readonly launchToken?: string;
	readonly jobId?: string;
	readonly scope?: string;
	readonly launch?: HostLaunch;
	readonly stableId?: string;
	readonly replyHint: boolean;
	readonly askTimeoutMs?: number;
	readonly livenessIntervalMs?: number;
	readonly livenessTimeoutMs?: number;
	readonly supervisor?: Supervisor;
	readonly runsKept?: number;
	readonly mostHeadless?: number;
	readonly monitor: boolean;
}

/** What the person set of how the session behaves, which is nothing to the agent. */
export interface AttachPolicy {
	readonly confirmSend: boolean;
	readonly inboundTrigger: InboundTrigger;
	readonly toolVisibility: ToolVisibility;
	/** Shown behind what the session does; empty for none. */
	readonly note: string;
	/** The session's name as long as it has none of its own. */
	readonly givenName?: string;
}
