// Writes the README's generated blocks: the tables and, with --screens, the
// screens as well, which takes real Pi sessions in tmux. After a release build:
//   extension/node_modules/node/bin/node tests/readme/write.mjs [--screens]
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Rig, ROOT } from "../e2e/support/rig.mjs";
import { fenced, withBlock } from "./blocks.mjs";
import { makeScreens } from "./screens.mjs";
import { TABLES } from "./tables.mjs";

const path = join(ROOT, "README.md");
let readme = readFileSync(path, "utf8");
for (const [name, make] of Object.entries(TABLES)) readme = withBlock(readme, name, make());
if (process.argv.includes("--screens")) {
	const rig = await Rig.create();
	try {
		const screens = await makeScreens(rig);
		for (const [name, screen] of Object.entries(screens)) readme = withBlock(readme, `screen ${name}`, fenced(screen));
	} catch (error) {
		console.error(await rig.report());
		throw error;
	} finally {
		await rig.stop();
	}
}
writeFileSync(path, readme);
