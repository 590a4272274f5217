// Translates a documented `grpcurl` command into its `buf curl` equivalent:
// grpcurl is in no registry, so the tests run buf instead.

/** Every grpcurl command in a Markdown text's code blocks, lines joined at a trailing backslash. */
export function grpcurlCommands(markdown) {
	const blocks = [...markdown.matchAll(/^ *```\w*\n([\s\S]*?)^ *```/gm)].map((match) => match[1]);
	return blocks
		.join("\n")
		.replaceAll(/\\\n\s*/g, " ")
		.split("\n")
		.map((line) => line.trim().replace(/^\$ /, ""))
		.filter((line) => line.startsWith("grpcurl "));
}

/** Splits a command as a shell does, for quotes and backslashes. */
function words(command) {
	const found = [];
	for (const match of command.matchAll(/(?:"((?:\\.|[^"])*)"|'([^']*)'|(\S+))/g)) {
		found.push(match[1] !== undefined ? match[1].replaceAll('\\"', '"') : (match[2] ?? match[3]));
	}
	return found;
}

/**
 * The arguments of `buf curl` that do the same. `port`, `socket` and `token`
 * take the places of PORT, of the socket's path and of `$(cat …/token)`.
 */
export function toBufCurl(command, { port, socket, token }) {
	const flags = ["--protocol", "grpc", "--http2-prior-knowledge"];
	const rest = [];
	let data;
	let unix = false;
	const list = words(command).slice(1);
	for (let word = list.shift(); word !== undefined; word = list.shift()) {
		if (word === "-plaintext") continue;
		if (word === "-unix") unix = true;
		else if (word === "-H") flags.push("-H", list.shift().replace(/\$\(cat [^)]*token"?\)/, token));
		else if (word === "-d") data = list.shift();
		else if (word.startsWith("-")) throw new Error(`a flag that this translation does not know: ${word} in ${command}`);
		else rest.push(word);
	}
	const address = rest.shift();
	if (unix) flags.push("--unix-socket", socket);
	else if (!/^(127\.0\.0\.1|localhost):/.test(address)) throw new Error(`no loopback address in ${command}`);
	const url = `http://127.0.0.1:${port}`;
	const [verb, symbol] = rest;
	if (verb === "list") return ["curl", ...flags, symbol ? "--list-methods" : "--list-services", symbol ? `${url}/${symbol}` : url];
	// buf has no describe; that the symbol resolves is shown by its methods.
	if (verb === "describe") return ["curl", ...flags, "--list-methods", url];
	return ["curl", ...flags, "--data", data ?? "{}", `${url}/${verb}`];
}
