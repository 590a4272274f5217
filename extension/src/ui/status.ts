import type { SessionState } from "../contract.ts";
import { plainLine } from "./plain.ts";

export type StatusSource = { readonly kind: "starting" | "restarting" | "stopped" } | { readonly kind: "session"; readonly state: SessionState };

/** One short line for the host's status bar. */
export function statusLine(source: StatusSource): string {
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
