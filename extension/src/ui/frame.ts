import { type Component, sliceByColumn, truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import type { Colours } from "./folded.ts";

/** `text`, which may be styled, cut or filled to exactly `width` columns. Where it is cut, styles around it end. */
export function cell(text: string, width: number): string {
	return width <= 0 ? "" : truncateToWidth(text, width, "…", true);
}

/** `text`, which has no styles, cut or filled to exactly `width` columns. */
export function clip(text: string, width: number): string {
	if (width <= 0) return "";
	const shown = visibleWidth(text) <= width ? text : `${sliceByColumn(text, 0, width - 1, true)}…`;
	return shown + " ".repeat(Math.max(0, width - visibleWidth(shown)));
}

/** Columns that are left for content inside a frame of `width` columns. */
export function innerWidth(width: number): number {
	return Math.max(1, width - 4);
}

/** `lines` in a box of exactly `width` columns, a title and a remark in its upper border. */
export function frame(width: number, title: string, remark: string, lines: readonly string[], colours: Colours): string[] {
	if (width < 8) return lines.map((line) => cell(line, width));
	const border = (text: string): string => colours.fg("borderMuted", text);
	const inner = innerWidth(width);
	const shownTitle = truncateToWidth(title, inner - 2, "…");
	const room = width - 6 - visibleWidth(shownTitle);
	const shownRemark = room >= visibleWidth(remark) + 4 && remark !== "" ? ` ${remark} ─` : "";
	const rule = "─".repeat(Math.max(0, width - 5 - visibleWidth(shownTitle) - visibleWidth(shownRemark)));
	return [
		`${border("╭─ ")}${colours.fg("accent", colours.bold(shownTitle))}${border(` ${rule}${shownRemark}╮`)}`,
		...lines.map((line) => `${border("│ ")}${cell(line, inner)}${border(" │")}`),
		border(`╰${"─".repeat(width - 2)}╯`),
	];
}

/**
 * `component` with every call from the host guarded: what a component throws while it draws or is typed to would end
 * the host. A failure goes to `report` once, and a line in its place says so.
 */
export function safely(component: Component & { dispose?(): void; focused?: boolean }, report: (error: unknown) => void = () => undefined): Component & { dispose(): void; focused: boolean } {
	let hasFailed = false;
	const attempt = <T>(run: () => T, otherwise: T): T => {
		try {
			return run();
		} catch (error) {
			if (!hasFailed) report(error);
			hasFailed = true;
			return otherwise;
		}
	};
	return {
		get focused() {
			return component.focused ?? false;
		},
		set focused(isFocused: boolean) {
			component.focused = isFocused;
		},
		render: (width) => attempt(() => component.render(width), [truncateToWidth("Intercom could not show this.", Math.max(1, width))]),
		handleInput: (data) => attempt(() => component.handleInput?.(data), undefined),
		invalidate: () => attempt(() => component.invalidate(), undefined),
		dispose: () => attempt(() => component.dispose?.(), undefined),
	};
}
