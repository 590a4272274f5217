// The values that cross the link to `intercom-agent`. The contract itself is worker-agent/host/README.md.

export const PROTOCOL_VERSION = 1;

export type JsonObject = { readonly [key: string]: unknown };
export type Role = "coordinator" | "worker" | "anonymous" | "peer";
export type Connection = "connecting" | "connected" | "refused" | "ended";
export type StartReason = "startup" | "reload" | "new" | "resume" | "fork" | "reconnect";
export type GoodbyeReason = "quit" | "reload" | "new" | "resume" | "fork";
export type WaitReason = "compaction" | "starting" | "busy" | "closing";
/** A job that a host does only where its very version is known to do it safely. */
export type Capability = "stop" | "close";

export interface Sender {
	readonly sessionId: string;
	readonly name: string;
	readonly role: string;
	readonly origin: string;
	/** Where its host works, where it was told. */
	readonly directory?: string;
}

/** What came with a message; its content is part of the message's. */
export interface MessageAttachment {
	readonly type: string;
	readonly name: string;
	readonly language?: string;
	readonly characters?: number;
}

export interface Delivery {
	readonly deliveryId: string;
	readonly envelopeId: string;
	readonly kind: string;
	readonly quiet: boolean;
	readonly redelivered: boolean;
	/** Milliseconds since 1970 by the broker's clock; undefined where it was not told. */
	readonly acceptedAtMs?: number;
	readonly from: Sender;
	readonly content: string;
	readonly summary: string;
	/** What of this session's it answers. */
	readonly replyTo?: string;
	/** The run that it opens: the session works on it until its host settles. */
	readonly runId?: string;
	/** How to answer it, in one line. */
	readonly hint?: string;
	readonly attachments: readonly MessageAttachment[];
}

/** Tokens, and US dollars. */
export interface Usage {
	readonly input: number;
	readonly output: number;
	readonly cacheRead: number;
	readonly cacheWrite: number;
	readonly cost: number;
}

/** How a run of this session goes. Figures count from its envelope on. */
export interface RunEvent {
	readonly deliveryId: string;
	readonly event: "progress" | "done" | "failed" | "stopped" | "interrupted";
	readonly turns: number;
	/** Provider/id. */
	readonly model?: string;
	readonly usage?: Usage;
	/** The last assistant text, bounded. */
	readonly text?: string;
	/** Characters that `text` lacks. */
	readonly leftOut?: number;
	/** What the host said went wrong. */
	readonly error?: string;
}

/** An open run of which this session is the worker. */
export interface OpenRun {
	readonly runId: string;
	/** That of the envelope that opened it. */
	readonly deliveryId: string;
}

export type BulletinTopic = "runs" | "watch";

/** What of a bulletin its entry keeps. */
export interface BulletinMark {
	readonly topic: BulletinTopic;
	readonly key: string;
	/** What it tells of. */
	readonly ids: readonly string[];
}

/** What the agent itself has to say to the session. */
export interface Bulletin extends BulletinMark {
	/** Empty where there is nothing to say any more. */
	readonly content: string;
	readonly summary: string;
	readonly quiet: boolean;
}

export interface Receipt {
	readonly deliveryId: string;
	readonly event: "held" | "injected" | "seen" | "failed" | "notTaken";
	readonly waitReason?: WaitReason;
	readonly evidence?: string;
}

export interface ToolSpec {
	readonly name: string;
	readonly label: string;
	readonly description: string;
	readonly promptSnippet?: string;
	readonly promptGuidelines: readonly string[];
	readonly parameters: JsonObject;
	/** What a call changes; `config` is the workspace's config file. */
	readonly effect?: string;
	/** The host answers its calls itself. */
	readonly host?: boolean;
}

export interface AgentEntry {
	readonly name: string;
	readonly description: string;
	readonly projectDirectory: string;
	readonly coordinator: boolean;
	readonly hash: string;
}

export interface AgentError {
	readonly code: string;
	readonly reason: string;
	readonly message: string;
}

export interface SessionState {
	readonly connection: Connection;
	readonly role?: Role;
	readonly loaded?: boolean;
	readonly awaitReload: boolean;
	/** Nothing follows until the host starts a new agent. */
	readonly final: boolean;
	readonly workspaceRoot?: string;
	readonly entry?: AgentEntry;
	readonly tools: readonly ToolSpec[];
	readonly instructions: string;
	readonly statusText: string;
	readonly error?: AgentError;
	/** What the broker offers beyond its first version. */
	readonly features: readonly string[];
	/** The pinned address, where it is this session's. */
	readonly stableId?: string;
}

export interface ChannelOwner {
	readonly sessionId: string;
	readonly epoch: string;
}

export interface ChannelState {
	readonly revision: number;
	readonly payload: unknown;
}

export type ChannelEvent = { readonly namespace: string } & (
	| { readonly type: "owner"; readonly owner?: ChannelOwner }
	| { readonly type: "state"; readonly state: ChannelState }
	| { readonly type: "message"; readonly fromSessionId: string; readonly payload: unknown; readonly owner?: ChannelOwner }
	| { readonly type: "joined" | "left"; readonly sessionId: string; readonly name: string }
);

/** What became of a channel request. */
export interface ChannelResult {
	readonly ok: boolean;
	readonly reason: string;
	readonly message: string;
	readonly revision?: number;
}

export interface ToolAnswer {
	readonly text: string;
	readonly summary: string;
	readonly isError: boolean;
	readonly code?: string;
	readonly reason?: string;
	readonly details?: unknown;
	/** The answer is this delivery, a reply: it counts as shown once the call's result is in the session. */
	readonly deliveryId?: string;
	/** What it tells, which a bulletin would tell otherwise. */
	readonly ids?: readonly string[];
	/** What the call is charged with. */
	readonly usage?: Usage;
}

/** One line for a person on what an open tool call waits for. */
export interface ToolProgress {
	readonly callId: string;
	readonly text: string;
}

/** An ask that waits for this session's answer. */
export interface PendingAsk {
	readonly deliveryId: string;
	readonly envelopeId: string;
	readonly from: { readonly sessionId: string; readonly name: string };
	/** Milliseconds since 1970 by the broker's clock, as is the deadline. */
	readonly askedAtMs?: number;
	readonly deadlineAtMs?: number;
	/** Whether its sender waits still. */
	readonly awaited: boolean;
	readonly preview: string;
}

export interface Notice {
	readonly level: "info" | "warning" | "error";
	readonly text: string;
}

export interface Control {
	readonly controlId: string;
	readonly kind: string;
	readonly entry?: AgentEntry;
	readonly instructions?: string;
	readonly jobId?: string;
	/** Milliseconds since 1970 by the broker's clock. */
	readonly requestedAtMs?: number;
	readonly handoffEnvelopeId?: string;
	readonly nonce?: string;
}

/** How a job goes on, beyond the answer to its control. */
export interface JobEvent {
	readonly jobId: string;
	readonly event: "stopped" | "stopFailed" | "settled" | "invalidated";
	/** For a person. */
	readonly detail?: string;
}

/** What arrived does not have the shape that the contract gives it. The message names the field. */
export class ContractError extends Error {}

export function isObject(value: unknown): value is JsonObject {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
