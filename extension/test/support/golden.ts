import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { type Component, stripTerminalSequences, visibleWidth } from "@earendil-works/pi-tui";

/** The lines that `component` draws, as one reads them. Fails where one is wider than the terminal. */
export function screen(component: Component, width: number): string[] {
	return component.render(width).map((line) => {
		const text = stripTerminalSequences(line);
		assert.ok(visibleWidth(text) <= width, `wider than ${width} columns: ${text}`);
		return text.trimEnd();
	});
}

/** Compares `lines` with test/golden/<name>.txt. UPDATE_GOLDEN=1 writes them there instead. */
export function matchesGolden(name: string, lines: readonly string[]): void {
	const path = fileURLToPath(new URL(`../golden/${name}.txt`, import.meta.url));
	const text = `${lines.join("\n")}\n`;
	if (process.env.UPDATE_GOLDEN === "1") {
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, text);
	}
	assert.equal(text, readFileSync(path, "utf8"));
}
