import { KeybindingsManager, type TUI, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import type { PeerSession } from "../../src/peers.ts";
import type { Colours } from "../../src/ui/folded.ts";

/** Colours that leave the text as it is. */
export const plainColours: Colours = { fg: (_colour, text) => text, bold: (text) => text };

/** The keys of an unconfigured terminal. */
export const keys = new KeybindingsManager(TUI_KEYBINDINGS);

export const KEY = { up: "\u001b[A", down: "\u001b[B", right: "\u001b[C", left: "\u001b[D", pageUp: "\u001b[5~", pageDown: "\u001b[6~", enter: "\r", escape: "\u001b", backspace: "\u007f", ctrlJ: "\n", shiftEnter: "\u001b[13;2u" };

/** As much of a terminal as a component needs. */
export function fakeTui(rows = 24): TUI & { renders: number } {
	const tui = { renders: 0, terminal: { rows, columns: 80 }, requestRender: () => void tui.renders++ };
	return tui as unknown as TUI & { renders: number };
}

/** What a terminal sends for pasted text. */
export function pasted(text: string): string {
	return `\u001b[200~${text}\u001b[201~`;
}

export function peer(sessionId: string, overrides: Partial<PeerSession> = {}): PeerSession {
	return {
		sessionId,
		shortId: sessionId.slice(0, 8),
		name: "",
		role: "peer",
		stableId: "",
		cwd: "/home/ada/projects/api",
		sameDirectory: false,
		model: "anthropic/claude-sonnet-4",
		status: "idle",
		waitsFor: [],
		...overrides,
	};
}
