/** A place in a text, both counted from one. */
export interface Position {
	readonly line: number;
	readonly column: number;
}

const SPACE = /[ \t\r\n]*/y;
const SCALAR = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const KEY = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/**
 * Where `text`, which JSON.parse refused, stops being JSON. JSON.parse itself names the place in some of its messages
 * only.
 */
export function jsonErrorPosition(text: string): Position {
	let at = 0;
	const skip = (pattern: RegExp): boolean => {
		pattern.lastIndex = at;
		const matched = pattern.exec(text);
		if (matched === null) return false;
		at += matched[0].length;
		return true;
	};
	const take = (character: string): boolean => {
		skip(SPACE);
		if (text[at] !== character) return false;
		at++;
		return true;
	};
	const members = (close: string, member: () => boolean): boolean => {
		if (take(close)) return true;
		do {
			if (!member()) return false;
		} while (take(","));
		return take(close);
	};
	const value = (): boolean => {
		skip(SPACE);
		if (take("{")) return members("}", () => (skip(SPACE), skip(KEY)) && take(":") && value());
		if (take("[")) return members("]", value);
		return skip(SCALAR);
	};
	value();
	skip(SPACE);
	const before = text.slice(0, at).split("\n");
	return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}
