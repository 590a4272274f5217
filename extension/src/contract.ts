// The values that cross the link to `intercom-agent`, and the checks that turn what arrives into them. The contract
// itself is worker-agent/host/README.md.

import type { SessionInfo } from "../extension-api.ts";

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
	/** How to answer it, in one line. */
	readonly hint?: string;
	readonly attachments: readonly MessageAttachment[];
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

function object(value: unknown, field: string): JsonObject {
	if (!isObject(value)) throw new ContractError(`${field} is not an object`);
	return value;
}

function text(value: unknown, field: string): string {
	if (typeof value !== "string") throw new ContractError(`${field} is not a string`);
	return value;
}

function optionalText(value: unknown, field: string): string | undefined {
	return value === undefined || value === null ? undefined : text(value, field);
}

function optionalTime(value: unknown, field: string): number | undefined {
	const time = optionalText(value, field);
	if (time === undefined) return undefined;
	const timeMs = Date.parse(time);
	if (Number.isNaN(timeMs)) throw new ContractError(`${field} is not a time`);
	return timeMs;
}

function flag(value: unknown): boolean {
	return value === true;
}

function list(value: unknown, field: string): readonly unknown[] {
	if (value === undefined || value === null) return [];
	if (!Array.isArray(value)) throw new ContractError(`${field} is not a list`);
	return value;
}

function oneOf<T extends string>(value: unknown, allowed: readonly T[], field: string): T {
	const found = allowed.find((item) => item === value);
	if (found === undefined) throw new ContractError(`${field} is none of ${allowed.join(", ")}`);
	return found;
}

const CONNECTIONS: readonly Connection[] = ["connecting", "connected", "refused", "ended"];
const ROLES: readonly Role[] = ["coordinator", "worker", "anonymous", "peer"];
const LEVELS: readonly Notice["level"][] = ["info", "warning", "error"];
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

export function parseDelivery(params: unknown): Delivery {
	const from = object(object(params, "deliver").from, "deliver.from");
	const delivery = object(params, "deliver");
	return {
		deliveryId: text(delivery.deliveryId, "deliver.deliveryId"),
		envelopeId: text(delivery.envelopeId, "deliver.envelopeId"),
		kind: text(delivery.kind, "deliver.kind"),
		quiet: flag(delivery.quiet),
		redelivered: flag(delivery.redelivered),
		acceptedAtMs: optionalTime(delivery.acceptedAt, "deliver.acceptedAt"),
		from: {
			sessionId: text(from.sessionId, "deliver.from.sessionId"),
			name: optionalText(from.name, "deliver.from.name") ?? "",
			role: optionalText(from.role, "deliver.from.role") ?? "",
			origin: optionalText(from.origin, "deliver.from.origin") ?? "",
			directory: optionalText(from.directory, "deliver.from.directory"),
		},
		content: text(delivery.content, "deliver.content"),
		summary: optionalText(delivery.summary, "deliver.summary") ?? "",
		replyTo: optionalText(delivery.replyTo, "deliver.replyTo"),
		hint: optionalText(delivery.hint, "deliver.hint"),
		attachments: list(delivery.attachments, "deliver.attachments").map(parseAttachment),
	};
}

function parseAttachment(value: unknown): MessageAttachment {
	const attachment = object(value, "deliver.attachments[]");
	return {
		type: text(attachment.type, "deliver.attachments[].type"),
		name: text(attachment.name, "deliver.attachments[].name"),
		language: optionalText(attachment.language, "deliver.attachments[].language"),
		characters: typeof attachment.characters === "number" ? attachment.characters : undefined,
	};
}

function parseTool(value: unknown): ToolSpec {
	const tool = object(value, "session.tools[]");
	const name = text(tool.name, "session.tools[].name");
	if (!TOOL_NAME.test(name)) throw new ContractError("session.tools[].name is not a tool name");
	return {
		name,
		label: optionalText(tool.label, `${name}.label`) ?? name,
		description: text(tool.description, `${name}.description`),
		promptSnippet: optionalText(tool.promptSnippet, `${name}.promptSnippet`),
		promptGuidelines: list(tool.promptGuidelines, `${name}.promptGuidelines`).map((line) => text(line, `${name}.promptGuidelines[]`)),
		parameters: object(tool.parameters, `${name}.parameters`),
		effect: optionalText(tool.effect, `${name}.effect`),
	};
}

function parseEntry(value: unknown): AgentEntry | undefined {
	if (value === undefined || value === null) return undefined;
	const entry = object(value, "entry");
	return {
		name: text(entry.name, "entry.name"),
		description: optionalText(entry.description, "entry.description") ?? "",
		projectDirectory: optionalText(entry.projectDirectory, "entry.projectDirectory") ?? "",
		coordinator: flag(entry.coordinator),
		hash: optionalText(entry.hash, "entry.hash") ?? "",
	};
}

function parseError(value: unknown): AgentError | undefined {
	if (value === undefined || value === null) return undefined;
	const error = object(value, "session.error");
	return {
		code: optionalText(error.code, "session.error.code") ?? "",
		reason: optionalText(error.reason, "session.error.reason") ?? "",
		message: optionalText(error.message, "session.error.message") ?? "",
	};
}

export function parseSession(params: unknown): SessionState {
	const session = object(params, "session");
	return {
		connection: oneOf(session.connection, CONNECTIONS, "session.connection"),
		role: session.role === undefined || session.role === null ? undefined : oneOf(session.role, ROLES, "session.role"),
		loaded: typeof session.loaded === "boolean" ? session.loaded : undefined,
		awaitReload: flag(session.awaitReload),
		final: flag(session.final),
		workspaceRoot: optionalText(session.workspaceRoot, "session.workspaceRoot"),
		entry: parseEntry(session.entry),
		tools: list(session.tools, "session.tools").map(parseTool),
		instructions: optionalText(session.instructions, "session.instructions") ?? "",
		statusText: optionalText(session.statusText, "session.statusText") ?? "",
		error: parseError(session.error),
		features: list(session.features, "session.features").map((feature) => text(feature, "session.features[]")),
		stableId: optionalText(session.stableId, "session.stableId"),
	};
}

function wholeNumber(value: unknown, field: string): number {
	if (!Number.isSafeInteger(value)) throw new ContractError(`${field} is not a whole number`);
	return Number(value);
}

function parseChannelOwner(value: unknown): ChannelOwner | undefined {
	if (value === undefined || value === null) return undefined;
	const owner = object(value, "channel/event.owner");
	return { sessionId: text(owner.sessionId, "owner.sessionId"), epoch: text(owner.epoch, "owner.epoch") };
}

export function parseChannelEvent(params: unknown): ChannelEvent {
	const event = object(params, "channel/event");
	const namespace = text(event.namespace, "channel/event.namespace");
	const type = oneOf(event.type, ["owner", "state", "message", "membership"] as const, "channel/event.type");
	switch (type) {
		case "owner":
			return { namespace, type, owner: parseChannelOwner(event.owner) };
		case "state": {
			const state = object(event.state, "channel/event.state");
			return { namespace, type, state: { revision: wholeNumber(state.revision, "state.revision"), payload: state.payload } };
		}
		case "message":
			return { namespace, type, fromSessionId: text(event.fromSessionId, "channel/event.fromSessionId"), payload: event.payload, owner: parseChannelOwner(event.owner) };
		case "membership":
			return {
				namespace,
				type: event.joined === true ? "joined" : "left",
				sessionId: text(event.sessionId, "channel/event.sessionId"),
				name: optionalText(event.name, "channel/event.name") ?? "",
			};
	}
}

export function parseChannelResult(value: unknown): ChannelResult {
	const result = object(value, "channel result");
	return {
		ok: flag(result.ok),
		reason: optionalText(result.reason, "channel result.reason") ?? "",
		message: optionalText(result.message, "channel result.message") ?? "",
		revision: result.revision === undefined ? undefined : wholeNumber(result.revision, "channel result.revision"),
	};
}

/** The sessions of a `sessions/list` answer, the asking one first, as other extensions know them. */
export function parseSessionInfos(value: unknown): SessionInfo[] {
	const answer = object(value, "sessions/list result");
	const own = answer.self === undefined || answer.self === null ? [] : [answer.self];
	return [...own, ...list(answer.sessions, "sessions/list result.sessions")].map((item) => {
		const session = object(item, "sessions[]");
		const name = optionalText(session.name, "sessions[].name") || optionalText(session.runtimeName, "sessions[].runtimeName");
		const status = optionalText(session.status, "sessions[].status");
		const { contextPercent, tokens } = session;
		return {
			id: text(session.sessionId, "sessions[].sessionId"),
			...(name === undefined || name === "" ? {} : { name }),
			cwd: optionalText(session.cwd, "sessions[].cwd") ?? "",
			model: optionalText(session.model, "sessions[].model") ?? "",
			...(status === undefined ? {} : { status }),
			...(typeof contextPercent === "number" ? { contextPercent } : {}),
			...(typeof tokens === "number" ? { tokens } : {}),
		};
	});
}

export function parseToolAnswer(value: unknown): ToolAnswer {
	const answer = object(value, "tools/call result");
	return {
		text: text(answer.text, "tools/call result.text"),
		summary: optionalText(answer.summary, "tools/call result.summary") ?? "",
		isError: flag(answer.isError),
		code: optionalText(answer.code, "tools/call result.code"),
		reason: optionalText(answer.reason, "tools/call result.reason"),
		details: answer.details,
		deliveryId: optionalText(answer.deliveryId, "tools/call result.deliveryId"),
	};
}

export function parseToolProgress(params: unknown): ToolProgress {
	const progress = object(params, "tools/progress");
	return { callId: text(progress.callId, "tools/progress.callId"), text: text(progress.text, "tools/progress.text") };
}

/** Oldest first. */
export function parseAsks(params: unknown): readonly PendingAsk[] {
	return list(object(params, "asks").pending, "asks.pending").map((value) => {
		const ask = object(value, "asks.pending[]");
		const from = object(ask.from, "asks.pending[].from");
		return {
			deliveryId: text(ask.deliveryId, "asks.pending[].deliveryId"),
			envelopeId: text(ask.envelopeId, "asks.pending[].envelopeId"),
			from: { sessionId: text(from.sessionId, "asks.pending[].from.sessionId"), name: optionalText(from.name, "asks.pending[].from.name") ?? "" },
			askedAtMs: optionalTime(ask.askedAt, "asks.pending[].askedAt"),
			deadlineAtMs: optionalTime(ask.deadlineAt, "asks.pending[].deadlineAt"),
			awaited: flag(ask.awaited),
			preview: optionalText(ask.preview, "asks.pending[].preview") ?? "",
		};
	});
}

export function parseNotice(params: unknown): Notice {
	const notice = object(params, "notice");
	return { level: oneOf(notice.level, LEVELS, "notice.level"), text: text(notice.text, "notice.text") };
}

export function parseControl(params: unknown): Control {
	const control = object(params, "control");
	return {
		controlId: text(control.controlId, "control.controlId"),
		kind: text(control.kind, "control.kind"),
		entry: parseEntry(control.entry),
		instructions: optionalText(control.instructions, "control.instructions"),
		jobId: optionalText(control.jobId, "control.jobId"),
		requestedAtMs: optionalTime(control.requestedAt, "control.requestedAt"),
		handoffEnvelopeId: optionalText(control.handoffEnvelopeId, "control.handoffEnvelopeId"),
		nonce: optionalText(control.nonce, "control.nonce"),
	};
}

export function parseDeliveryId(params: unknown): string {
	return text(object(params, "withdraw").deliveryId, "withdraw.deliveryId");
}

export function parseDeliveryIds(params: unknown): readonly string[] {
	return list(object(params, "reconcile").deliveryIds, "reconcile.deliveryIds").map((id) => text(id, "reconcile.deliveryIds[]"));
}
