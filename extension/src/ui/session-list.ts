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
const DETAIL_LINES = 3;
/** What stands around the rows: borders, search, own session, what is selected, hints. */
const OTHER_LINES = 10;
const GAP = 2;
const ID_PART = 6;
/** Below it a row has no room for directory and model: they stand below the list, for the selected one. */
const WIDE_COLUMNS = 56;

const SAME_DIRECTORY = " [same cwd]";

/** Widths in columns; 0 where there is no room for one at all. */
interface Columns {
	readonly name: number;
	readonly status: number;
	readonly place: number;
	readonly model: number;
}

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
		const lines = [...this.#search.render(inner), "", ...this.#rows(inner), "", ...this.#details(inner), ...prose(hints, inner).map((line) => colours.fg("dim", line))];
		return frame(width, "Intercom", remark, lines, colours);
	}

	#rows(inner: number): string[] {
		const { colours } = this.#place;
		const list = this.#list;
		if (list === undefined) return prose(this.#problem === "" ? "Asking which sessions there are…" : this.#problem, inner).map((line) => colours.fg(this.#problem === "" ? "dim" : "error", line));
		const found = this.#found();
		const visible = found.slice(this.#first, this.#first + this.#rowCount());
		const columns = this.#columns(list, inner);
		const own = list.self === undefined ? [] : [colours.fg("dim", this.#row(list.self, columns, "  "))];
		const rows = visible.map((session, index) => {
			const isSelected = this.#first + index === this.#selected;
			const row = this.#row(session, columns, isSelected ? "▸ " : "  ");
			return isSelected ? colours.fg("accent", colours.bold(row)) : row;
		});
		if (list.sessions.length === 0) rows.push(...prose("No other session is attached. One appears here as soon as Pi runs in it with this extension.", inner));
		else if (found.length === 0) rows.push(...prose(`No session matches "${plainLine(this.#search.getValue(), 60)}".`, inner));
		// As many lines as without a search, so that the box stands still while one types.
		while (rows.length < Math.min(this.#rowCount(), list.sessions.length)) rows.push("");
		return [...own, ...rows];
	}

	/** Three lines about the selected session, or on why the list is no newer. */
	#details(inner: number): string[] {
		const { colours } = this.#place;
		if (this.#list === undefined) return [];
		const found = this.#found();
		const selected = found[this.#selected];
		const lines = this.#problem === "" ? [] : prose(`Not refreshed: ${this.#problem}`, inner).slice(0, DETAIL_LINES).map((line) => colours.fg("error", line));
		if (lines.length === 0 && selected !== undefined) {
			const where = `${this.#selected + 1}/${found.length}`;
			const tokens = selected.tokens === undefined ? "" : count(selected.tokens, "token");
			const facts = [plainLine(selected.shortId, 40), plainLine(selected.role, 20), modelOf(selected), tokens].filter((fact) => fact !== "");
			const status = statusOf(selected, this.#list) || nameOf(selected);
			lines.push(...[`${clip(status, inner - where.length - 1)} ${where}`, pathEnd(this.#path(selected), inner), facts.join(" · ")].map((line) => colours.fg("muted", line)));
		}
		while (lines.length < DETAIL_LINES && this.#list.sessions.length > 0) lines.push("");
		return lines;
	}

	#row(session: PeerSession, columns: Columns, mark: string): string {
		const here = session.sameDirectory ? SAME_DIRECTORY : "";
		const path = pathEnd(this.#path(session), columns.place - here.length) + here;
		const cells = [[nameOf(session), columns.name], [this.#status(session), columns.status], [path, columns.place], [rowModel(session), columns.model]] as const;
		return mark + cells.filter(([, width]) => width > 0).map(([text, width]) => clip(text, width)).join(" ".repeat(GAP));
	}

	#path({ cwd }: PeerSession): string {
		return homePath(cwd, this.#place.home);
	}

	#status(session: PeerSession): string {
		const list = this.#list ?? { sessions: [] };
		return session === list.self ? "this session" : statusOf(session, list);
	}

	/** What the columns need; where that is too much, shares of what there is, and what one leaves over for the others. */
	#columns(list: SessionList, inner: number): Columns {
		const room = inner - 2;
		const all = list.self === undefined ? list.sessions : [list.self, ...list.sessions];
		const widest = (of: (session: PeerSession) => string): number => Math.max(0, ...all.map((session) => visibleWidth(of(session))));
		const need = { name: widest(nameOf), status: widest((session) => this.#status(session)) };
		if (inner < WIDE_COLUMNS) {
			const name = Math.min(need.name, Math.max(8, room - GAP - Math.min(need.status, Math.floor(room * 0.45))));
			return { name, status: Math.max(0, room - GAP - name), place: 0, model: 0 };
		}
		const needPlace = widest((session) => this.#path(session) + (session.sameDirectory ? SAME_DIRECTORY : ""));
		const [place = 0, model = 0, name = 0, status = 0] = shared([needPlace, widest(rowModel), need.name, need.status], [0.32, 0.23, 0.23, 0.22], room - 3 * GAP);
		return { name, status, place, model };
	}

	#rowCount(): number {
		return Math.max(ROWS_LEAST, Math.min(ROWS_LIMIT, this.#place.terminalRows() - OTHER_LINES));
	}

	#found(): readonly PeerSession[] {
		const wanted = this.#search.getValue().toLocaleLowerCase().normalize("NFC").split(/\s+/).filter((word) => word !== "");
		const sessions = this.#list?.sessions ?? [];
		if (wanted.length === 0) return sessions;
		return sessions.filter((session) => {
			const text = [nameOf(session), session.name, session.cwd, this.#path(session), session.stableId, session.model].join("\n").toLocaleLowerCase().normalize("NFC");
			// Ids are full of every digit: a word of them is their beginning, or long.
			const isOfId = (word: string): boolean => session.sessionId.startsWith(word) || (word.length >= ID_PART && session.sessionId.includes(word));
			return wanted.every((word) => text.includes(word) || isOfId(word));
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

/** What a row has room for: how full the context is, then the model without its provider, which stands below the list. */
function rowModel({ model, contextPercent }: PeerSession): string {
	const used = contextPercent === undefined ? "" : `${Math.round(contextPercent)}% `;
	return used + plainLine(model.slice(model.lastIndexOf("/") + 1), 60);
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
