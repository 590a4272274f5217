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
	return positionAt(text, scan(text, () => undefined));
}

/** Where the object that is all of `text` has `key`: the last place if it has it twice, as that is what JSON.parse takes. */
export function keyPosition(text: string, key: string): Position {
	let foundAt = 0;
	scan(text, (literal, at, depth) => {
		if (depth === 1 && JSON.parse(literal) === key) foundAt = at;
	});
	return positionAt(text, foundAt);
}

/** Reads one JSON value, tells each key of its objects, and returns where it stopped being one. */
function scan(text: string, onKey: (literal: string, at: number, depth: number) => void): number {
	let at = 0;
	let depth = 0;
	const skip = (pattern: RegExp): string | undefined => {
		pattern.lastIndex = at;
		const matched = pattern.exec(text);
		if (matched !== null) at += matched[0].length;
		return matched?.[0];
	};
	const take = (character: string): boolean => {
		skip(SPACE);
		if (text[at] !== character) return false;
		at++;
		return true;
	};
	const members = (close: string, member: () => boolean): boolean => {
		if (take(close)) return true;
		depth++;
		do {
			if (!member()) return false;
		} while (take(","));
		depth--;
		return take(close);
	};
	const key = (): boolean => {
		skip(SPACE);
		const from = at;
		const literal = skip(KEY);
		if (literal !== undefined) onKey(literal, from, depth);
		return literal !== undefined;
	};
	const value = (): boolean => {
		skip(SPACE);
		if (take("{")) return members("}", () => key() && take(":") && value());
		if (take("[")) return members("]", value);
		return skip(SCALAR) !== undefined;
	};
	value();
	skip(SPACE);
	return at;
}

function positionAt(text: string, at: number): Position {
	const before = text.slice(0, at).split("\n");
	return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}
