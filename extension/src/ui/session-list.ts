import { type Component, type Focusable, Input, visibleWidth } from "@earendil-works/pi-tui";
import type { PeerSession, SessionList } from "../peers.ts";
import type { Colours } from "./folded.ts";
import { clip, frame, innerWidth } from "./frame.ts";
import { type Keys, keyName } from "./keys.ts";
import { plainLine } from "./plain.ts";
import { count, homePath, modelOf, nameOf, pathEnd, prose, statusOf } from "./words.ts";

export const LIST_COLUMNS = 88;
const ROWS_LIMIT = 8;
const ROWS_LEAST = 3;
/** What stands around the rows: borders, search, own session, what is selected, hints. */
const OTHER_LINES = 10;
const GAP = 2;
/** Below it a row has no room for directory and model: they stand below the list, for the selected one. */
const WIDE_COLUMNS = 56;

export interface SessionListEvents {
	chosen(session: PeerSession): void;
	closed(): void;
	changed(): void;
}

export interface SessionListPlace {
	readonly colours: Colours;
	readonly keys: Keys;
	readonly home: string;
	/** Lines of the terminal at this moment. */
	terminalRows(): number;
}

/** The sessions that one can write to, to select and search. Shows what it was given last; asks for nothing itself. */
export class SessionListView implements Component, Focusable {
	readonly #place: SessionListPlace;
	readonly #events: SessionListEvents;
	readonly #search = new Input({ prompt: "> ", placeholder: "type to search: name, directory, id, model" });
	#list: SessionList | undefined;
	#problem = "";
	#selectedId: string | undefined;
	#selected = 0;
	#first = 0;

	constructor(place: SessionListPlace, events: SessionListEvents, search = "", selectedId?: string) {
		this.#place = place;
		this.#events = events;
		this.#selectedId = selectedId;
		if (search !== "") this.#search.handleInput(plainLine(search, 80));
	}

	get focused(): boolean {
		return this.#search.focused;
	}

	set focused(isFocused: boolean) {
		this.#search.focused = isFocused;
	}

	/** The selection stays with its session, wherever that stands now. */
	show(list: SessionList): void {
		this.#list = list;
		this.#problem = "";
		this.#settle();
	}

	/** Why there is no list, or no newer one. */
	showProblem(text: string): void {
		this.#problem = text;
	}

	invalidate(): void {
		this.#search.invalidate();
	}

	handleInput(data: string): void {
		const { keys } = this.#place;
		if (keys.matches(data, "tui.select.up")) this.#move(-1, true);
		else if (keys.matches(data, "tui.select.down")) this.#move(1, true);
		else if (keys.matches(data, "tui.select.pageUp")) this.#move(-this.#rowCount(), false);
		else if (keys.matches(data, "tui.select.pageDown")) this.#move(this.#rowCount(), false);
		else if (keys.matches(data, "tui.select.cancel")) this.#events.closed();
		else if (keys.matches(data, "tui.select.confirm")) {
			const chosen = this.#found()[this.#selected];
			if (chosen !== undefined) this.#events.chosen(chosen);
		} else {
			const before = this.#search.getValue();
			this.#search.handleInput(data);
			if (this.#search.getValue() !== before) {
				this.#selectedId = undefined;
				this.#selected = 0;
				this.#settle();
			}
		}
		this.#events.changed();
	}

	render(width: number): string[] {
		const { colours, keys } = this.#place;
		const inner = innerWidth(width);
		this.#settle();
		const sessions = this.#list?.sessions ?? [];
		const remark = this.#list === undefined ? "" : count(sessions.length, "other session");
		const hints = `${keyName(keys, "tui.select.confirm")} writes · ${keyName(keys, "tui.select.up")}${keyName(keys, "tui.select.down")} selects · ${keyName(keys, "tui.select.cancel")} closes`;
		const lines = [...this.#search.render(inner), "", ...this.#rows(inner), "", ...this.#details(inner), colours.fg("dim", hints)];
		return frame(width, "Intercom", remark, lines, colours);
	}

	#rows(inner: number): string[] {
		const { colours } = this.#place;
		const list = this.#list;
		if (list === undefined) return prose(this.#problem === "" ? "Asking which sessions there are…" : this.#problem, inner).map((line) => colours.fg(this.#problem === "" ? "dim" : "error", line));
		const found = this.#found();
		const visible = found.slice(this.#first, this.#first + this.#rowCount());
		const columns = this.#columns(list, inner);
		const own = list.self === undefined ? [] : [colours.fg("dim", this.#row(list.self, columns, "  ", " (this session)"))];
		if (list.sessions.length === 0) return [...own, ...prose("No other session is attached. One appears here as soon as Pi runs in it with this extension.", inner)];
		if (found.length === 0) return [...own, ...prose(`No session matches "${plainLine(this.#search.getValue(), 60)}".`, inner)];
		const rows = visible.map((session, index) => {
			const isSelected = this.#first + index === this.#selected;
			const row = this.#row(session, columns, isSelected ? "▸ " : "  ", "");
			return isSelected ? colours.fg("accent", colours.bold(row)) : row;
		});
		// As many lines as without a search, so that the box stands still while one types.
		while (rows.length < Math.min(this.#rowCount(), list.sessions.length)) rows.push("");
		return [...own, ...rows];
	}

	/** Three lines about the selected session, or why the list is no newer. */
	#details(inner: number): string[] {
		const { colours, home } = this.#place;
		const found = this.#found();
		const selected = found[this.#selected];
		if (this.#list === undefined || selected === undefined) return [];
		const where = `${this.#selected + 1}/${found.length}`;
		const context = selected.tokens === undefined ? "" : `${count(selected.tokens, "token")}`;
		const facts = [plainLine(selected.shortId, 40), plainLine(selected.role, 20), modelOf(selected), context].filter((fact) => fact !== "");
		const status = statusOf(selected, this.#list);
		return [
			colours.fg("muted", clip(status === "" ? nameOf(selected) : status, inner - where.length - 1) + " " + where),
			colours.fg("muted", pathEnd(homePath(selected.cwd, home), inner)),
			this.#problem === "" ? colours.fg("muted", facts.join(" · ")) : colours.fg("error", `Not refreshed: ${this.#problem}`),
		];
	}

	#row(session: PeerSession, columns: readonly number[], mark: string, behind: string): string {
		const list = this.#list ?? { sessions: [] };
		const [name = 0, status = 0, place = 0, model = 0] = columns;
		const here = session.sameDirectory ? " [same cwd]" : "";
		const path = pathEnd(homePath(session.cwd, this.#place.home), place - here.length) + here;
		const cells = [clip(nameOf(session) + behind, name), clip(statusOf(session, list), status), ...(place > 0 ? [clip(path, place)] : []), ...(model > 0 ? [clip(modelOf(session), model)] : [])];
		return mark + cells.join(" ".repeat(GAP));
	}

	/** Widths of name, status, directory and model: what they need, and where that is too much, shares of what there is. */
	#columns(list: SessionList, inner: number): readonly number[] {
		const room = inner - 2;
		const all = list.self === undefined ? list.sessions : [list.self, ...list.sessions];
		const widest = (of: (session: PeerSession) => string): number => Math.max(0, ...all.map((session) => visibleWidth(of(session))));
		const name = widest((session) => nameOf(session) + (session === list.self ? " (this session)" : ""));
		const status = widest((session) => statusOf(session, list));
		if (inner < WIDE_COLUMNS) {
			const forName = Math.min(name, Math.max(8, room - GAP - Math.min(status, Math.floor(room * 0.45))));
			return [forName, Math.max(0, room - GAP - forName)];
		}
		const place = widest((session) => homePath(session.cwd, this.#place.home) + (session.sameDirectory ? " [same cwd]" : ""));
		return shared([name, status, place, widest(modelOf)], [0.25, 0.2, 0.31, 0.24], room - 3 * GAP);
	}

	#rowCount(): number {
		return Math.max(ROWS_LEAST, Math.min(ROWS_LIMIT, this.#place.terminalRows() - OTHER_LINES));
	}

	#found(): readonly PeerSession[] {
		const wanted = this.#search.getValue().toLocaleLowerCase().normalize("NFC").split(/\s+/).filter((word) => word !== "");
		const sessions = this.#list?.sessions ?? [];
		if (wanted.length === 0) return sessions;
		return sessions.filter((session) => {
			const text = [session.name, session.cwd, homePath(session.cwd, this.#place.home), session.sessionId, session.stableId, session.model].join("\n").toLocaleLowerCase().normalize("NFC");
			return wanted.every((word) => text.includes(word));
		});
	}

	#move(by: number, wraps: boolean): void {
		const { length } = this.#found();
		if (length === 0) return;
		const to = this.#selected + by;
		this.#selected = wraps ? (to + length) % length : Math.max(0, Math.min(length - 1, to));
		this.#selectedId = this.#found()[this.#selected]?.sessionId;
		this.#settle();
	}

	#settle(): void {
		const found = this.#found();
		const at = found.findIndex(({ sessionId }) => sessionId === this.#selectedId);
		this.#selected = at >= 0 ? at : Math.max(0, Math.min(found.length - 1, this.#selected));
		this.#selectedId = found[this.#selected]?.sessionId ?? this.#selectedId;
		const rows = this.#rowCount();
		if (this.#selected < this.#first) this.#first = this.#selected;
		if (this.#selected >= this.#first + rows) this.#first = this.#selected - rows + 1;
		this.#first = Math.max(0, Math.min(this.#first, found.length - rows));
	}
}

/** `needs` where they fit `room`; otherwise none gets more than its share while another lacks. */
function shared(needs: readonly number[], shares: readonly number[], room: number): readonly number[] {
	const widths = needs.map((need, index) => Math.min(need, Math.floor(room * (shares[index] ?? 0))));
	let left = room - widths.reduce((sum, width) => sum + width, 0);
	for (const [index, need] of needs.entries()) {
		const more = Math.min(left, need - (widths[index] ?? 0));
		widths[index] = (widths[index] ?? 0) + more;
		left -= more;
	}
	return widths;
}
