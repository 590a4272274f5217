// Control, format and direction characters, which text from another session must not bring onto a person's screen. A
// zero-width joiner stays where it makes one picture of several.
const UNSAFE =
	/(?:[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|(?<!\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)\u200d|\u200d(?!\p{Extended_Pictographic}))+/gu;
// Half of a character, which text cut by its length can end with.
const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
// More marks on one letter than any language has.
const MARKS = /(\p{M}{6})\p{M}+/gu;

function safe(text: string, instead: string): string {
	return text.replace(HALF, "\ufffd").replace(UNSAFE, instead).replace(MARKS, "$1");
}

/** `text` as one line that is safe to show, cut to `limit` characters. */
export function plainLine(text: string, limit = 300): string {
	const cut = text.length > limit * 4 ? text.slice(0, limit * 4) : text;
	const characters = [...safe(cut, " ").trim()];
	return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : characters.join("");
}

/** `text` with its lines kept and everything else unsafe gone. */
export function plainLines(text: string): string[] {
	return text.split(/\r\n|\r|\n/).map((line) => safe(line.replace(/\t/g, "    "), ""));
}
