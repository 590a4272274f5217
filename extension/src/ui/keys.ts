import type { Keybinding, KeybindingsManager } from "@earendil-works/pi-tui";

/** The keys of the person's own bindings. */
export type Keys = Pick<KeybindingsManager, "matches" | "getKeys">;

const NAMES: { readonly [key: string]: string } = { enter: "Enter", escape: "Esc", up: "↑", down: "↓", pageup: "PgUp", pagedown: "PgDn" };

/** How a key is written in a hint: `shift+enter` as Shift+Enter. */
export function keyName(keys: Keys, binding: Keybinding, limit = 1): string {
	const written = keys.getKeys(binding).slice(0, limit).map((key) => {
		const parts = String(key).split("+");
		return parts.map((part) => NAMES[part.toLowerCase()] ?? part.charAt(0).toUpperCase() + part.slice(1)).join("+");
	});
	return written.join(", ");
}
