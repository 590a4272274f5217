// The checks that turn what arrives from `intercom-agent` into the values of the contract.

import { type AgentEntry, type AgentError, type Bulletin, type BulletinTopic, type ChannelEvent, type ChannelOwner, type ChannelResult, type Connection, ContractError, type Control, type Delivery, isObject, type JsonObject, type MessageAttachment, type Notice, type OpenRun, type PendingAsk, type Role, type SessionState, type ToolAnswer, type ToolProgress, type ToolSpec, type Usage } from "./contract.ts";

export function object(value: unknown, field: string): JsonObject {
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

export function list(value: unknown, field: string): readonly unknown[] {
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
const TOPICS: readonly BulletinTopic[] = ["runs", "watch"];
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
		runId: optionalText(delivery.runId, "deliver.runId"),
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
		...(flag(tool.host) ? { host: true } : {}),
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
		ids: answer.ids === undefined || answer.ids === null ? undefined : ids(answer.ids, "tools/call result.ids"),
		usage: answer.usage === undefined || answer.usage === null ? undefined : parseUsage(answer.usage, "tools/call result.usage"),
	};
}

function ids(value: unknown, field: string): readonly string[] {
	return list(value, field).map((id) => text(id, `${field}[]`));
}

/** What is left out is 0. */
function parseUsage(value: unknown, field: string): Usage {
	const usage = object(value, field);
	const figure = (key: keyof Usage): number => {
		const amount = usage[key] ?? 0;
		if (typeof amount !== "number" || !Number.isFinite(amount) || amount < 0) throw new ContractError(`${field}.${key} is not an amount`);
		return amount;
	};
	return { input: figure("input"), output: figure("output"), cacheRead: figure("cacheRead"), cacheWrite: figure("cacheWrite"), cost: figure("cost") };
}

export function parseRuns(params: unknown): readonly OpenRun[] {
	return list(object(params, "runs").open, "runs.open").map((value) => {
		const run = object(value, "runs.open[]");
		return { runId: text(run.runId, "runs.open[].runId"), deliveryId: text(run.deliveryId, "runs.open[].deliveryId") };
	});
}

export function parseBulletin(params: unknown): Bulletin {
	const bulletin = object(params, "bulletin");
	return {
		topic: oneOf(bulletin.topic, TOPICS, "bulletin.topic"),
		key: optionalText(bulletin.key, "bulletin.key") ?? "",
		ids: ids(bulletin.ids, "bulletin.ids"),
		content: optionalText(bulletin.content, "bulletin.content") ?? "",
		summary: optionalText(bulletin.summary, "bulletin.summary") ?? "",
		quiet: flag(bulletin.quiet),
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
	return ids(object(params, "reconcile").deliveryIds, "reconcile.deliveryIds");
}

/** The ids of a `told` request. */
export function parseIds(params: unknown): readonly string[] {
	return ids(object(params, "told").ids, "told.ids");
}
