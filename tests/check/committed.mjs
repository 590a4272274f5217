// Fails if the repository holds what only a machine should: generated files,
// a machine's paths, a package registry's address, a large or binary file, or
// a top-level name beyond the fixed ones. Usage:
//   node tests/check/committed.mjs [ROOT]
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = process.argv[2] ?? fileURLToPath(new URL("../..", import.meta.url));

const TOP_LEVEL = new Set([
	...["CMakeLists.txt", "CMakePresets.json", "protos", "broker", "worker-agent", "extension", "migrations"],
	...["tests", "README.md", "CHANGELOG.md", "LICENSE"],
]);
const GENERATED = /(^|\/)(build|node_modules|CMakeFiles)\/|\.pb\.(cc|h)$|\.(o|a|so|log|tsbuildinfo|pyc)$|~$/;
const LARGEST_BYTES = 512 * 1024;

// Written so that no pattern finds itself in this file.
const FORBIDDEN = [
	[/(?:^|[\s"'`=(:])\/(?:root|work\/(?:main|shared))\/[\w.]/, "a path of one machine"],
	[/(?:^|[\s"'`=(:])\/home\/(?!me\/|user\/|you\/|ada\/|USER)\w+\//, "a path of one machine"],
	[/\bregistry\.[a-z]+\.[a-z]/i, "a registry's address"],
	[/\b(?:deb|ftp|security)\.debian\.[a-z]/i, "a registry's address"],
	[/\b_?authToken\s*=/i, "a registry's credential"],
];

const paths = execFileSync("git", ["-C", root, "ls-files", "-z"], { encoding: "utf8" }).split("\0").filter(Boolean);
const faults = [];
let read = 0;
for (const path of paths) {
	const top = path.split("/")[0];
	if (!TOP_LEVEL.has(top) && !top.startsWith(".")) faults.push(`${path}: ${top} is no fixed top-level name`);
	if (GENERATED.test(path)) faults.push(`${path}: generated`);
	let size;
	try {
		size = statSync(join(root, path)).size;
	} catch {
		continue; // deleted in the work tree
	}
	if (size > LARGEST_BYTES) faults.push(`${path}: ${size} bytes, more than ${LARGEST_BYTES}`);
	const text = readFileSync(join(root, path), "utf8");
	read++;
	if (text.includes("\0") && !/\.(png|db|bin)$/.test(path)) faults.push(`${path}: binary`);
	for (const [index, line] of text.split("\n").entries()) {
		for (const [pattern, what] of FORBIDDEN) {
			const found = pattern.exec(line);
			if (found) faults.push(`${path}:${index + 1}: ${what}: ${found[0].trim().slice(0, 60)}`);
		}
	}
}
for (const fault of faults) console.log(fault);
console.log(`${read} files read, ${faults.length} wrong`);
process.exitCode = faults.length > 0 || read === 0 ? 1 : 0;
