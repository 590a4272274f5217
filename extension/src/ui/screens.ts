import { homedir } from "node:os";
import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import type { Component, TUI } from "@earendil-works/pi-tui";
import type { ToolAnswer } from "../contract.ts";
import type { PeerSession, SessionList } from "../peers.ts";
import type { Timers } from "../timers.ts";
import { COMPOSE_COLUMNS, ComposeView } from "./compose.ts";
import type { Colours } from "./folded.ts";
import { safely } from "./frame.ts";
import type { Keys } from "./keys.ts";
import { plainLine } from "./plain.ts";
import { LIST_COLUMNS, SessionListView } from "./session-list.ts";
import { nameOf } from "./words.ts";

const REFRESH_MS = 2_000;
const LIST_LIMIT_MS = 10_000;

/** The attached session, as far as the screens need it. */
export interface PeerLink {
	/** Rejects where there is no list. */
	sessions(): Promise<SessionList>;
	/** Never rejects. */
	sendTo(to: string, text: string): Promise<ToolAnswer>;
	/** Why the session is not connected, and what to do; undefined where it is. */
	whyOffline(): string | undefined;
}

export type ScreenUi = Pick<ExtensionUIContext, "custom" | "notify">;

/** Where the screens open: the list, the list with a search, or a message to a session. */
export interface Opening {
	readonly search?: string;
	readonly to?: PeerSession;
}

/** The list of sessions and the message to one of them, each a box over the host's own screen. One is open at most. */
export class Screens {
	readonly #timers: Timers;
	readonly #report: (error: unknown) => void;
	/** Messages that could not be sent and whose box was closed by then. */
	readonly #drafts = new Map<string, string>();
	#open: Component | undefined;

	constructor(timers: Timers, report: (error: unknown) => void) {
		this.#timers = timers;
		this.#report = report;
	}

	/** Resolves when the person has closed them; never where the host ends them itself. */
	async open(ui: ScreenUi, link: PeerLink, { search = "", to }: Opening = {}): Promise<void> {
		if (this.#open !== undefined) return;
		let target = to;
		let selectedId = to?.sessionId;
		for (;;) {
			target ??= await this.#list(ui, link, search, selectedId);
			if (target === undefined) return;
			await this.#compose(ui, link, target);
			selectedId = target.sessionId;
			target = undefined;
			search = "";
		}
	}

	/** The list within 10 s. Rejects with what a person is to know and do. */
	async sessions(link: PeerLink): Promise<SessionList> {
		let cancel = (): void => undefined;
		const tooLate = new Promise<never>((_resolve, reject) => {
			cancel = this.#timers.after(LIST_LIMIT_MS, () => reject(new Error("the intercom agent gave no answer within 10 s.")));
		});
		try {
			return await Promise.race([link.sessions(), tooLate]);
		} catch (error) {
			throw new Error(link.whyOffline() ?? (error instanceof Error ? error.message : String(error)));
		} finally {
			cancel();
		}
	}

	#list(ui: ScreenUi, link: PeerLink, search: string, selectedId: string | undefined): Promise<PeerSession | undefined> {
		return this.#box<PeerSession | undefined>(ui, LIST_COLUMNS, ({ tui, colours, keys, done }) => {
			const events = { chosen: done, closed: () => done(undefined), changed: () => tui.requestRender() };
			const view = new SessionListView({ colours, keys, home: homedir(), terminalRows: () => tui.terminal.rows }, events, search, selectedId);
			let isOver = false;
			let cancel = (): void => undefined;
			const refresh = async (): Promise<void> => {
				try {
					const list = await this.sessions(link);
					if (!isOver) view.show(list);
				} catch (error) {
					if (!isOver) view.showProblem(error instanceof Error ? error.message : String(error));
				}
				if (isOver) return;
				tui.requestRender();
				cancel = this.#timers.after(REFRESH_MS, () => void refresh().catch(this.#report));
			};
			void refresh().catch(this.#report);
			const dispose = (): void => {
				isOver = true;
				cancel();
			};
			return { view, dispose };
		});
	}

	#compose(ui: ScreenUi, link: PeerLink, to: PeerSession): Promise<undefined> {
		return this.#box<undefined>(ui, COMPOSE_COLUMNS, ({ tui, colours, keys, done }) => {
			let isOver = false;
			const send = async (text: string): Promise<ToolAnswer> => {
				const answer = await link.sendTo(to.sessionId, text);
				if (isOver) this.#sentLater(ui, to, text, answer);
				return answer;
			};
			const events = { send, closed: () => done(undefined), changed: () => tui.requestRender() };
			const view = new ComposeView(to, { tui, colours, keys, home: homedir() }, events, this.#drafts.get(to.sessionId));
			this.#drafts.delete(to.sessionId);
			return { view, dispose: () => void (isOver = true) };
		});
	}

	/** The box was closed while its message was on its way: its outcome is told all the same. */
	#sentLater(ui: ScreenUi, to: PeerSession, text: string, answer: ToolAnswer): void {
		if (answer.isError) this.#drafts.set(to.sessionId, text);
		const said = plainLine(answer.isError ? answer.text : answer.summary || answer.text, 400);
		try {
			if (answer.isError) ui.notify(`Intercom: to ${nameOf(to)}: ${said} The text stands in the message to it.`, "error");
			else ui.notify(`Intercom: ${said}`, "info");
		} catch (error) {
			this.#report(error);
		}
	}

	#box<T>(ui: ScreenUi, width: number, make: (place: { tui: TUI; colours: Colours; keys: Keys; done(result: T): void }) => { view: Component; dispose(): void }): Promise<T> {
		return ui.custom<T>(
			(tui, theme, keybindings, done) => {
				const { view, dispose } = make({ tui, colours: theme, keys: keybindings, done });
				const guarded = safely(view, this.#report);
				this.#open = guarded;
				return Object.assign(guarded, {
					dispose: () => {
						if (this.#open === guarded) this.#open = undefined;
						dispose();
					},
				});
			},
			{ overlay: true, overlayOptions: { width, maxHeight: "100%", anchor: "center" } },
		);
	}
}
