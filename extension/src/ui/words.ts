import { homedir } from "node:os";
import { visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type { PeerSession, SessionList } from "../peers.ts";
import { plainLine, shownName } from "./plain.ts";

/** `path` with the home directory as `~`. */
export function homePath(path: string, home = homedir()): string {
	const plain = plainLine(path);
	if (home !== "" && home !== "/" && plain === home) return "~";
	return home !== "" && home !== "/" && plain.startsWith(`${home}/`) ? `~${plain.slice(home.length)}` : plain;
}

/** The end of a path that fits `width` columns: it says more than the beginning. */
export function pathEnd(path: string, width: number): string {
	if (visibleWidth(path) <= width) return path;
	const characters = [...path];
	let end = "";
	while (characters.length > 0) {
		const next = characters.pop() + end;
		if (visibleWidth(next) > width - 1) break;
		end = next;
	}
	return `…${end}`;
}

/** What a session is called, for a person. The account's person stands in the place of one. */
export function nameOf(session: { readonly name: string; readonly shortId?: string; readonly sessionId: string }): string {
	if (session.sessionId.startsWith("person:")) return "a person";
	return shownName(session.name) || `session ${plainLine(session.shortId ?? session.sessionId.slice(0, 8), 40)}`;
}

/** Who a message is from, for a person: of what is no session, what it is. */
export function senderOf({ name, sessionId, origin }: { readonly name: string; readonly sessionId: string; readonly origin: string }): string {
	if (origin === "person") return "a person";
	if (origin === "client") return "a program";
	const known = shownName(name) || shownName(sessionId) || "intercom";
	return origin === "shell" ? `a shell of ${known}` : known;
}

export function modelOf({ model, contextPercent }: PeerSession): string {
	const name = plainLine(model, 60);
	const used = contextPercent === undefined ? "" : `${Math.round(contextPercent)}%`;
	return [name, used].filter((part) => part !== "").join(" · ");
}

/** The names of those whose reply `session` waits for. */
export function waitsForOf(session: PeerSession, all: SessionList): string {
	const names = session.waitsFor.map((idOrName) => {
		if (idOrName === all.self?.sessionId) return "this session";
		const known = all.sessions.find(({ sessionId }) => sessionId === idOrName);
		return known === undefined ? shownName(idOrName, 40) : nameOf(known);
	});
	return names.join(", ");
}

export function statusOf(session: PeerSession, all: SessionList): string {
	const waits = waitsForOf(session, all);
	const status = plainLine(session.status, 80);
	if (waits === "") return status;
	return status === "" ? `waits for ${waits}` : `${status} · waits for ${waits}`;
}

const MINUTE_MS = 60_000;

/** How long ago, in the largest unit: it changes once a minute at most. */
export function age(ms: number): string {
	const minutes = Math.floor(Math.max(0, ms) / MINUTE_MS);
	if (minutes < 1) return "just now";
	if (minutes < 60) return `${minutes} min ago`;
	const hours = Math.floor(minutes / 60);
	return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Local time; with the day where that is not today's. */
export function localTime(timeMs: number, nowMs: number): string {
	const time = new Date(timeMs);
	if (Number.isNaN(time.getTime())) return "";
	const two = (value: number): string => String(value).padStart(2, "0");
	const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
	return time.toDateString() === new Date(nowMs).toDateString() ? clock : `${MONTHS[time.getMonth()] ?? ""} ${time.getDate()}, ${clock}`;
}

export function count(amount: number, thing: string): string {
	return `${amount.toLocaleString("en-US")} ${thing}${amount === 1 ? "" : "s"}`;
}

/** A sentence or two for a person, in lines of at most `width` columns. */
export function prose(text: string, width: number): string[] {
	return wrapTextWithAnsi(plainLine(text, 600), Math.max(1, width));
}
