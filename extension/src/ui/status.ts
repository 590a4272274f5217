import type { SessionState } from "../contract.ts";
import { plainLine } from "./plain.ts";
import { count } from "./words.ts";

export type StatusSource = { readonly kind: "starting" | "restarting" | "stopped" } | { readonly kind: "session"; readonly state: SessionState };

/** What waits for the session. */
export interface Waiting {
	/** Messages that are not in the session yet. */
	readonly unread: number;
	/** Questions without an answer of this session's. */
	readonly asks: number;
}

/** One short line for the host's status bar. */
export function statusLine(source: StatusSource, waiting: Waiting = { unread: 0, asks: 0 }): string {
	const parts = [sourceLine(source), waiting.unread === 0 ? "" : `${waiting.unread} unread`, waiting.asks === 0 ? "" : `${count(waiting.asks, "ask")} to answer`];
	return parts.filter((part) => part !== "").join(" · ");
}

function sourceLine(source: StatusSource): string {
	switch (source.kind) {
		case "starting":
			return "intercom: starting";
		case "restarting":
			return "intercom: starting the agent again";
		case "stopped":
			return "intercom: off, the agent does not run";
		case "session":
			return sessionLine(source.state);
	}
}

function sessionLine(state: SessionState): string {
	const given = plainLine(state.statusText, 120);
	if (given !== "") return given;
	switch (state.connection) {
		case "connecting":
			return "intercom: connecting";
		case "refused":
			return `intercom: refused${state.error === undefined ? "" : ` (${plainLine(state.error.reason, 60)})`}`;
		case "ended":
			return "intercom: ended, another host has this session";
		case "connected": {
			const who = plainLine([state.role ?? "", state.entry?.name ?? ""].filter((part) => part !== "").join(" "), 80);
			const where = state.workspaceRoot === undefined ? "" : ` · ${plainLine(state.workspaceRoot, 80)}`;
			return `intercom: ${who}${where}`;
		}
	}
}

/** Why a session is not connected, and what to do; undefined where it is. */
export function offlineLine(source: StatusSource): string | undefined {
	if (source.kind === "stopped") return "Not connected: the intercom agent does not run any more. /reload starts it anew.";
	const state = source.kind === "session" ? source.state : undefined;
	switch (state?.connection) {
		case "connected":
			return undefined;
		case "ended":
			return "Not connected: another host has this session. It is connected again where you go on there, or after /reload here once the other one has ended.";
		case "refused": {
			const why = state.error === undefined ? "the broker refuses this session." : `${plainLine(state.error.message, 400)} (${plainLine(state.error.reason, 60)})`;
			return `Not connected: ${why} ${state.final ? "Once that is mended, /reload connects." : "It is tried again every 10 s."}`;
		}
		default:
			return "Not connected yet: intercom looks for its broker, and starts one where there is none. This goes on by itself; if it lasts, /reload begins anew.";
	}
}
