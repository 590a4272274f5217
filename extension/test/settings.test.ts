import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { findAgent } from "../src/find-agent.ts";
import { takeLaunchFacts } from "../src/launch.ts";
import { DEFAULT_SETTINGS, parseSettings, readSettings, SettingsError, settingsPath } from "../src/settings.ts";

function refusal(text: string): string {
	try {
		parseSettings(text, "config.json");
	} catch (error) {
		assert.ok(error instanceof SettingsError);
		return error.message;
	}
	assert.fail("it was accepted");
}

describe("settings", () => {
	test("have defaults where there is no file", (t) => {
		const folder = mkdtempSync(join(tmpdir(), "pi-intercom-test-"));
		t.after(() => rmSync(folder, { recursive: true }));
		assert.deepEqual(readSettings(settingsPath(folder)), DEFAULT_SETTINGS);
		mkdirSync(join(folder, "intercom"));
		writeFileSync(settingsPath(folder), '{"workspace":"never"}');
		assert.deepEqual(readSettings(settingsPath(folder)), { enabled: true, workspace: "never", rpc: false });
	});

	test("that are wrong are refused by the name of the key", () => {
		assert.match(refusal('{"enabled":"yes"}'), /"enabled"/);
		assert.match(refusal('{"workspace":"always"}'), /"workspace"/);
		assert.match(refusal('{"rpc":1}'), /"rpc"/);
		assert.match(refusal('{"workspce":"auto"}'), /"workspce"/);
		assert.match(refusal("[]"), /one JSON object/);
	});

	test("that are not JSON are refused with line and column", () => {
		assert.match(refusal('{\n\t"enabled": true\n\t"rpc": false\n}'), /line 3, column 2/);
		assert.match(refusal('{\n"enabled": yes}'), /line 2, column 12/);
		assert.match(refusal('{"a": [1, 2,]}'), /line 1, column 13/);
		assert.match(refusal('{"a": {}} x'), /line 1, column 11/);
		assert.match(refusal(""), /line 1, column 1/);
	});
});

describe("what a launcher says", () => {
	test("is read once, leaves the environment, and stays with its session over a reload", () => {
		const env = { PI_INTERCOM_LAUNCH_TOKEN: "t", PI_INTERCOM_JOB_ID: "j", PI_INTERCOM_WORKSPACE: "/w", PI_INTERCOM_SCOPE_ID: "s" };
		const scope = {};
		const facts = { workspaceRoot: "/w", scope: "s", launchToken: "t", jobId: "j", wasLaunched: true };
		assert.deepEqual(takeLaunchFacts(env, "one", scope), facts);
		assert.deepEqual(Object.keys(env), ["PI_INTERCOM_WORKSPACE", "PI_INTERCOM_SCOPE_ID"]);
		assert.deepEqual(takeLaunchFacts(env, "one", scope), facts);
	});

	test("is not shown by a later session of the process, which still counts as launched", () => {
		const scope = {};
		takeLaunchFacts({ PI_INTERCOM_LAUNCH_TOKEN: "t" }, "one", scope);
		const later = takeLaunchFacts({}, "two", scope);
		assert.equal(later.launchToken, undefined);
		assert.equal(later.wasLaunched, true);
	});

	test("must name the workspace by an absolute path", () => {
		assert.throws(() => takeLaunchFacts({ PI_INTERCOM_WORKSPACE: "w" }, "one", {}), SettingsError);
	});
});

describe("the agent binary", () => {
	const at = (...paths: string[]) => (path: string): boolean => paths.includes(path);

	test("is the one that PI_INTERCOM_AGENT names, or none", () => {
		assert.deepEqual(findAgent({ PI_INTERCOM_AGENT: "/a" }, "/r/extension", at("/a", "/r/bin/intercom-agent")), { path: "/a" });
		assert.match(JSON.stringify(findAgent({ PI_INTERCOM_AGENT: "/b" }, "/r/extension", at("/r/bin/intercom-agent"))), /PI_INTERCOM_AGENT names/);
	});

	test("is looked for beside the extension, in the build tree, then on PATH", () => {
		const all = ["/r/extension/bin/intercom-agent", "/r/bin/intercom-agent", "/r/build/release/bin/intercom-agent", "/r/build/debug/bin/intercom-agent", "/p/intercom-agent"];
		for (const [index, path] of all.entries()) assert.deepEqual(findAgent({ PATH: "rel:/p" }, "/r/extension", at(...all.slice(index))), { path });
		assert.match(JSON.stringify(findAgent({ PATH: "" }, "/r/extension", at())), /was not found/);
	});
});
