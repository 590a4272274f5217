// Control, format and direction characters, which text from another session must not bring onto a person's screen. A
// zero-width joiner stays where it makes one picture of several.
const UNSAFE =
	/(?:[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufff9-\ufffb\ufeff\u{e0000}-\u{e007f}]|(?<!\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)\u200d|\u200d(?!\p{Extended_Pictographic}))+/gu;
// An escape sequence with all that belongs to it. One that is not finished loses its introducer, and what follows is
// text. No part of it goes beyond a control character, so the whole takes time in proportion to the text.
const ESCAPES = /\u001b(?:\[[\u0020-\u003f]{0,4096}[\u0040-\u007e]|[\]PX^_][^\u0000-\u001f\u009c]{0,4096}(?:\u0007|\u001b\\|\u009c)|[\u0020-\u002f][\u0030-\u007e]|[\u0020-\u007e])?/g;
// Half of a character, which text cut by its length can end with.
const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
// More marks on one letter than any language has.
const MARKS = /(\p{M}{6})\p{M}+/gu;

// What a name may consist of, as the agent has it; for a person also the pictures in it, each with all its parts.
const NAME = "(?:[\\p{L}\\p{Nd}\\p{Nl}](?:(?!\\ufe0f)[\\p{Mn}\\p{Mc}])*|[._@+#-])+";
const PICTURE = "(?:\\p{Emoji_Presentation}|\\p{Extended_Pictographic}\\ufe0f)";
const PICTURES = `${PICTURE}(?:\\p{Emoji_Modifier}|\\u200d(?:${PICTURE}|\\p{Extended_Pictographic})|\\ufe0f)*`;
const IN_NAMES = new RegExp(`(${NAME})|[^]`, "gu");
const IN_SHOWN_NAMES = new RegExp(`(${PICTURES}|${NAME})|[^]`, "gu");
// Letters that are drawn like the marks between the facts of a line.
const LIKE_MARKS = /[\u01c0-\u01c3\u02b0-\u02ff\u119e\u1427\u1433\u1438\ua78f\ua4f8-\ua4fd]+/gu;

function safe(text: string, instead: string): string {
	return text.replace(ESCAPES, "").replace(HALF, "\ufffd").replace(UNSAFE, instead).replace(MARKS, "$1");
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

/** A name where it says who somebody is to a model: letters, digits and "._@+#-", one space between words. Empty where nothing of it is left. */
export function nameLabel(name: string, limit = 80): string {
	return label(name.slice(0, limit * 8 + 256).replace(/\p{Default_Ignorable_Code_Point}+/gu, ""), limit, IN_NAMES);
}

/** The same for a person, with the pictures that a name may have. It can't look like a mark between the facts of a line. */
export function shownName(name: string, limit = 80): string {
	return label(name.slice(0, limit * 8 + 256).replace(/(?:(?![\u200d\ufe0f])\p{Default_Ignorable_Code_Point})+/gu, ""), limit, IN_SHOWN_NAMES);
}

function label(name: string, limit: number, wanted: RegExp): string {
	const words = safe(name, " ")
		.normalize("NFKC")
		.replace(LIKE_MARKS, " ")
		.replace(wanted, (_one, kept: string | undefined) => kept ?? " ")
		.replace(/ +/g, " ")
		.trim();
	const cut = [...words].slice(0, limit).join("").trim();
	return /[\p{L}\p{Nd}\p{Nl}\p{Emoji_Presentation}\ufe0f]/u.test(cut) ? cut : "";
}
