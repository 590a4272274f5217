// Control, format and direction characters, which text from another session must not bring onto a person's screen.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g;

/** `text` as one line that is safe to show, cut to `limit` characters. */
export function plainLine(text: string, limit = 300): string {
	const line = text.replace(UNSAFE, " ").trim();
	const characters = [...line.slice(0, limit * 2)];
	return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : line;
}

/** `text` with its lines kept and everything else unsafe gone. */
export function plainLines(text: string): string[] {
	return text.split(/\r\n|\r|\n/).map((line) => line.replace(/\t/g, "    ").replace(UNSAFE, ""));
}
