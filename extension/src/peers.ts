import { ContractError } from "./contract.ts";
import { list, object } from "./contract-parse.ts";

/** One session of the account, as the agent tells it. */
export interface PeerSession {
	readonly sessionId: string;
	/** Tells it from all others of the answer. */
	readonly shortId: string;
	/** Its own, else what it is shown by while it has none. May be empty. */
	readonly name: string;
	readonly role: string;
	readonly stableId: string;
	readonly cwd: string;
	readonly sameDirectory: boolean;
	readonly model: string;
	readonly contextPercent?: number;
	readonly tokens?: number;
	/** Ready to show. */
	readonly status: string;
	/** Names, or ids, of those whose reply it waits for. */
	readonly waitsFor: readonly string[];
}

export interface SessionList {
	/** The session that asks. */
	readonly self?: PeerSession;
	/** Others, in the order in which they are shown. */
	readonly sessions: readonly PeerSession[];
}

function text(value: unknown, field: string): string {
	if (value === undefined || value === null) return "";
	if (typeof value !== "string") throw new ContractError(`${field} is not a string`);
	return value;
}

function id(value: unknown, field: string): string {
	const given = text(value, field);
	if (given === "") throw new ContractError(`${field} is missing`);
	return given;
}

function number(value: unknown): number | undefined {
	return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function parsePeer(value: unknown): PeerSession {
	const peer = object(value, "sessions[]");
	const sessionId = id(peer.sessionId, "sessions[].sessionId");
	return {
		sessionId,
		shortId: text(peer.shortId, "sessions[].shortId") || sessionId.slice(0, 8),
		name: text(peer.name, "sessions[].name") || text(peer.runtimeName, "sessions[].runtimeName"),
		role: text(peer.role, "sessions[].role"),
		stableId: text(peer.stableId, "sessions[].stableId"),
		cwd: text(peer.cwd, "sessions[].cwd"),
		sameDirectory: peer.sameDirectory === true,
		model: text(peer.model, "sessions[].model"),
		contextPercent: number(peer.contextPercent),
		tokens: number(peer.tokens),
		status: text(peer.status, "sessions[].status"),
		waitsFor: list(peer.waitsFor, "sessions[].waitsFor").map((name) => id(name, "sessions[].waitsFor[]")),
	};
}

export function parseSessionList(value: unknown): SessionList {
	const answer = object(value, "sessions/list result");
	return {
		self: answer.self === undefined || answer.self === null ? undefined : parsePeer(answer.self),
		sessions: list(answer.sessions, "sessions").map(parsePeer),
	};
}
