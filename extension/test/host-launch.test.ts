import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { type HostLaunch, hostLaunch } from "../src/host-launch.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "pi-intercom-test-")));
after(() => rmSync(folder, { recursive: true, force: true }));

function file(...names: string[]): string {
	const path = join(folder, ...names);
	mkdirSync(join(path, ".."), { recursive: true });
	writeFileSync(path, "");
	return path;
}

const node = file("runtime", "node");
const script = file("lib", "pi", "cli.js");
const extension = file("extension", "index.ts");
const links = join(folder, "bin");
mkdirSync(links);
for (const [name, target] of [["pi", script], ["node", node], ["extension.ts", extension]] as const) symlinkSync(target, join(links, name));

function launch(execPath: string, argv: readonly string[], execArgv: readonly string[] = []): HostLaunch | undefined {
	return hostLaunch({ execPath, argv, execArgv }, join(links, "extension.ts"), join(folder, "agent"));
}

describe("how the host is started again", () => {
	test("is told by the real paths of its runtime and script, whatever links led to them", () => {
		assert.deepEqual(launch(join(links, "node"), ["node", join(links, "pi"), "--session", "s"]), { argv: [node, script], extension, agentDir: join(folder, "agent") });
	});

	test("is a single binary itself, whose script is a name within it", () => {
		const binary = file("single", "pi");
		assert.deepEqual(launch(binary, ["bun", "/$bunfs/root/pi", "-e", "x"])?.argv, [binary]);
		assert.deepEqual(launch(binary, [binary, binary])?.argv, [binary]);
		assert.deepEqual(launch(binary, [binary])?.argv, [binary]);
	});

	test("is not guessed where only a runtime is known", () => {
		assert.equal(launch(node, [node, join(folder, "no-such-script")]), undefined);
		assert.equal(launch(node, [node]), undefined);
		assert.equal(launch(join(folder, "gone"), ["node", script]), undefined);
	});

	test("takes the runtime's flags along, but for those of this one process, and relative paths made absolute", () => {
		const flags = ["--max-old-space-size=4096", "--inspect=9229", "--import", "./hook.mjs", "--env-file=../vars", "--watch", "--cpu-prof", "--conditions=dev"];
		assert.deepEqual(launch(node, [node, script], flags)?.argv.slice(1, -1), [
			...["--max-old-space-size=4096", "--import", join(process.cwd(), "hook.mjs")],
			...[`--env-file=${join(process.cwd(), "..", "vars")}`, "--conditions=dev"],
		]);
	});
});
