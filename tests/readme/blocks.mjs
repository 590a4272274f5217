// Blocks of the README that are written by a program: what stands between
// `<!-- NAME -->` and `<!-- /NAME -->`, each marker a line of its own.

const markers = (name) => [`<!-- ${name} -->\n`, `\n<!-- /${name} -->`];

/** What stands in a block; throws where the README lacks it. */
export function blockOf(readme, name) {
	const [start, end] = markers(name);
	const from = readme.indexOf(start);
	const to = readme.indexOf(end, from);
	if (from < 0 || to < 0) throw new Error(`the README has no block ${name}`);
	return readme.slice(from + start.length, to);
}

export function withBlock(readme, name, text) {
	const before = blockOf(readme, name);
	const [start, end] = markers(name);
	return readme.replace(`${start}${before}${end}`, () => `${start}${text}${end}`);
}

/** Text as it stands in a code block. */
export const fenced = (text) => `\`\`\`text\n${text}\n\`\`\``;
