import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, describe, test } from "node:test";
import { findAgent } from "../src/find-agent.ts";
import { takeLaunchFacts } from "../src/launch.ts";
import { DEFAULT_SETTINGS, readSettings, type Settings, SettingsError } from "../src/settings.ts";
import { givenName, supervisorOf } from "../src/supervisor.ts";

const root = mkdtempSync(join(tmpdir(), "pi-intercom-test-"));
after(() => rmSync(root, { recursive: true, force: true }));

let agentDir = "";
let project = "";
let cases = 0;

beforeEach(() => {
	const folder = join(root, `case-${++cases}`);
	agentDir = join(folder, "pi");
	project = join(folder, "project");
	mkdirSync(join(agentDir, "intercom"), { recursive: true });
	mkdirSync(join(project, "deep", "below"), { recursive: true });
});

function userFile(text: string): string {
	const path = join(agentDir, "intercom", "config.json");
	writeFileSync(path, text);
	return path;
}

/** Makes a workspace of `folder`, with these settings. */
function workspaceFile(text: string, folder = project): string {
	mkdirSync(join(folder, ".pi-intercom"), { recursive: true });
	writeFileSync(join(folder, ".pi-intercom", "config.json"), "{}");
	writeFileSync(join(folder, ".pi-intercom", "settings.json"), text);
	return join(folder, ".pi-intercom", "settings.json");
}

function read(env: NodeJS.ProcessEnv = {}, more: { cwd?: string; workspaceRoot?: string } = {}): Settings {
	return readSettings({ env, agentDir, cwd: project, ...more });
}

function refusal(run: () => unknown): string {
	try {
		run();
	} catch (error) {
		assert.ok(error instanceof SettingsError, String(error));
		return error.message;
	}
	assert.fail("it was accepted");
}

describe("settings", () => {
	test("have defaults where there is no file", () => {
		assert.deepEqual(read(), DEFAULT_SETTINGS);
		userFile('{"workspace":"never"}');
		assert.deepEqual(read(), { ...DEFAULT_SETTINGS, workspace: "never" });
	});

	test("are all read from the user's file", () => {
		const brokerPath = join(agentDir, "broker");
		writeFileSync(brokerPath, "");
		chmodSync(brokerPath, 0o755);
		const all = {
			...{ enabled: false, workspace: "existing", rpc: true, confirmSend: true, inboundTrigger: "replies", toolVisibility: "after-first-use" },
			...{ replyHint: false, status: "researching", stableId: "planner.1", brokerPath, askTimeoutMs: 60_000 },
			...{ runsKept: 1_000, mostHeadless: 64, monitor: false },
		};
		userFile(JSON.stringify(all));
		assert.deepEqual(read(), all);
	});

	test("come from the environment before the workspace, and from there before the user", () => {
		userFile('{"status": "user", "replyHint": false, "confirmSend": true, "askTimeoutMs": 1000}');
		workspaceFile('{"status": "workspace", "replyHint": true, "confirmSend": false}');
		const { status, replyHint, confirmSend, askTimeoutMs } = read({ PI_INTERCOM_STATUS: "environment", PI_INTERCOM_CONFIRM_SEND: "1" });
		assert.deepEqual({ status, replyHint, confirmSend, askTimeoutMs }, { status: "environment", replyHint: true, confirmSend: true, askTimeoutMs: 1000 });
	});

	for (const [variable, text, key, value] of [
		["PI_INTERCOM_ENABLED", "false", "enabled", false],
		["PI_INTERCOM_CONFIRM_SEND", "true", "confirmSend", true],
		["PI_INTERCOM_INBOUND_TRIGGER", "never", "inboundTrigger", "never"],
		["PI_INTERCOM_TOOL_VISIBILITY", "after-first-use", "toolVisibility", "after-first-use"],
		["PI_INTERCOM_REPLY_HINT", "0", "replyHint", false],
		["PI_INTERCOM_STATUS", "reviewing 日本", "status", "reviewing 日本"],
		["PI_INTERCOM_STABLE_ID", "a_b-c.d", "stableId", "a_b-c.d"],
		["PI_INTERCOM_ASK_TIMEOUT_MS", "90000", "askTimeoutMs", 90_000],
		["PI_INTERCOM_WORKSPACE_MODE", "existing", "workspace", "existing"],
		["PI_INTERCOM_RPC", "true", "rpc", true],
		["PI_INTERCOM_RUNS_KEPT", "1", "runsKept", 1],
		["PI_INTERCOM_MOST_HEADLESS", "1", "mostHeadless", 1],
		["PI_INTERCOM_MONITOR", "false", "monitor", false],
	] as const) {
		test(`take ${key} from ${variable}, an empty one as none`, () => {
			assert.deepEqual(read({ [variable]: text }), { ...DEFAULT_SETTINGS, [key]: value });
			assert.deepEqual(read({ [variable]: "" }), DEFAULT_SETTINGS);
		});
	}

	for (const [variable, text, must] of [
		["PI_INTERCOM_ENABLED", "maybe", /must be true or false/],
		["PI_INTERCOM_INBOUND_TRIGGER", "sometimes", /must be one of "always", "replies", "never"/],
		["PI_INTERCOM_STABLE_ID", "a b", /must be 1 to 64 letters/],
		["PI_INTERCOM_ASK_TIMEOUT_MS", "10min", /must be a whole number of milliseconds from 1000/],
		["PI_INTERCOM_ASK_TIMEOUT_MS", "999", /must be a whole number of milliseconds from 1000/],
		["PI_INTERCOM_RUNS_KEPT", "0", /must be a whole number from 1 to 1000/],
		["PI_INTERCOM_RUNS_KEPT", "1e3", /must be a whole number from 1 to 1000/],
		["PI_INTERCOM_MOST_HEADLESS", "65", /must be a whole number from 1 to 64/],
	] as const) {
		test(`refuse ${variable}=${text} by its name`, () => {
			const message = refusal(() => read({ [variable]: text }));
			assert.match(message, must);
			assert.ok(message.includes(`${variable} is "${text}"`), message);
		});
	}

	test("clamp the liveness timeout to the interval", () => {
		const liveness = (env: NodeJS.ProcessEnv): (number | undefined)[] => {
			const { livenessIntervalMs, livenessTimeoutMs } = read(env);
			return [livenessIntervalMs, livenessTimeoutMs];
		};
		assert.deepEqual(liveness({}), [undefined, undefined]);
		assert.deepEqual(liveness({ PI_INTERCOM_LIVENESS_INTERVAL_MS: "2000" }), [2_000, 2_000]);
		assert.deepEqual(liveness({ PI_INTERCOM_LIVENESS_INTERVAL_MS: "30000", PI_INTERCOM_LIVENESS_TIMEOUT_MS: "60000" }), [30_000, 30_000]);
		assert.deepEqual(liveness({ PI_INTERCOM_LIVENESS_TIMEOUT_MS: "1000" }), [5_000, 1_000]);
	});

	test("accept the polling interval of names, which nothing needs", () => {
		assert.deepEqual(read({ PI_INTERCOM_NAME_POLL_MS: "1000" }), DEFAULT_SETTINGS);
	});
});

describe("a bad config silently defaulted (4.49): a wrong file", () => {
	for (const [text, line, what] of [
		['{\n"enabled": "yes"}', 2, /"enabled" must be true or false/],
		['{"workspace":"always"}', 1, /"workspace" must be one of "auto", "existing", "never"/],
		['{\n\n\t"rpc": 1}', 3, /"rpc" must be/],
		['{"rpc": false,\n"workspce": "auto"}', 2, /"workspce" is no setting; there are enabled, .*stableId/],
		['{"status": "a\\nb"}', 1, /"status" must be one line of at most 80/],
		[`{"status": "${"x".repeat(81)}"}`, 1, /"status" must be/],
		['{"stableId": ""}', 1, /"stableId" must be/],
		['{"brokerPath": "bin/intercom-broker"}', 1, /"brokerPath" must be the absolute path of an executable file/],
		['{"brokerPath": "/nowhere/intercom-broker"}', 1, /"brokerPath" must be/],
		['{"askTimeoutMs": 1.5}', 1, /"askTimeoutMs" must be/],
		['{"runsKept": "many"}', 1, /"runsKept" must be a whole number from 1 to 1000/],
		['{"runsKept": 1001}', 1, /"runsKept" must be/],
		['{\n"mostHeadless": 0}', 2, /"mostHeadless" must be a whole number from 1 to 64/],
		['{\n\t"brokerCommand": "npx"}', 2, /"brokerCommand" is replaced: set "brokerPath" to the absolute path of the intercom-broker binary/],
		['{\n\t"brokerArgs": []}', 2, /"brokerArgs" is replaced: set "brokerPath"/],
		['{"livenessIntervalMs": 1000}', 1, /"livenessIntervalMs" is no setting/],
		['{"x": {"enabled": 1},\n"enabled": 1}', 1, /"x" is no setting/],
		['{"status": "enabled",\n\n"\\u0065nabled": 1}', 3, /"enabled" must be/],
		["[]", 1, /must hold one JSON object/],
	] as const) {
		test(`as ${text.slice(0, 40).replace(/\s+/g, " ")} is named with its key and line ${line}`, () => {
			const path = userFile(text);
			const message = refusal(() => read());
			assert.match(message, what);
			assert.ok(message.startsWith(`${path}, line ${line}:`), message);
		});
	}

	test("that is not JSON is named with line and column", () => {
		for (const [text, at] of [
			['{\n\t"enabled": true\n\t"rpc": false\n}', /line 3, column 2/],
			['{\n"enabled": yes}', /line 2, column 12/],
			['{"a": [1, 2,]}', /line 1, column 13/],
			['{"a": {}} x', /line 1, column 11/],
			["", /line 1, column 1/],
		] as const) {
			userFile(text);
			assert.match(refusal(() => read()), at);
		}
	});

	test("that is no file, or endless, is refused", () => {
		symlinkSync("/dev/zero", join(agentDir, "intercom", "config.json"));
		assert.match(refusal(() => read()), /config\.json can't be read: it is no file of at most 64 KiB/);
	});
});

describe("the settings of a workspace", () => {
	test("stand beside the nearest config at or above the session's directory, through links", () => {
		workspaceFile('{"status": "outer"}');
		workspaceFile('{"status": "inner"}', join(project, "deep"));
		symlinkSync(join(project, "deep", "below"), join(agentDir, "link"));
		assert.equal(read({}, { cwd: join(project, "deep", "below") }).status, "inner");
		assert.equal(read({}, { cwd: join(agentDir, "link") }).status, "inner");
		assert.equal(read().status, "outer");
	});

	test("are none where there is no config beside them", () => {
		mkdirSync(join(project, ".pi-intercom"));
		writeFileSync(join(project, ".pi-intercom", "settings.json"), '{"status": "nobody reads this"}');
		assert.equal(read().status, "");
	});

	test("are those of the workspace that a launcher named", () => {
		workspaceFile('{"status": "outer"}');
		workspaceFile('{"status": "inner"}', join(project, "deep"));
		assert.equal(read({}, { cwd: join(project, "deep"), workspaceRoot: project }).status, "outer");
	});

	test("are not read for a session that has no workspace", () => {
		workspaceFile("not JSON");
		assert.equal(read({ PI_INTERCOM_WORKSPACE_MODE: "never" }).status, "");
		assert.equal(read({ PI_INTERCOM_ENABLED: "false" }).enabled, false);
	});

	test("may be seven keys, and no others of the user's", () => {
		const seven = { confirmSend: true, inboundTrigger: "never", toolVisibility: "after-first-use", replyHint: false, status: "s", askTimeoutMs: 5_000, runsKept: 7 };
		workspaceFile(JSON.stringify(seven));
		assert.deepEqual(read(), { ...DEFAULT_SETTINGS, ...seven });
		for (const key of ["enabled", "workspace", "rpc", "stableId", "brokerPath", "mostHeadless", "monitor", "brokerCommand", "brokerArgs"]) {
			const path = workspaceFile(`{"status": "s",\n"${key}": "x"}`);
			const message = refusal(() => read());
			assert.ok(message.startsWith(`${path}, line 2: "${key}" belongs to the user, in ${join(agentDir, "intercom", "config.json")}`), message);
		}
		workspaceFile('{"unheardOf": 1}');
		assert.match(refusal(() => read()), /"unheardOf" is no setting; a workspace may set confirmSend, /);
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

describe("a program that started the session as its child", () => {
	const BRIDGE = { ORCHESTRATOR_TARGET: "planner", ORCHESTRATOR_SESSION_ID: "s-1", RUN_ID: "78f659a3", CHILD_AGENT: "worker", CHILD_INDEX: "0", INTERCOM_SESSION_NAME: "subagent-worker" };
	const env = (prefix: string, without?: string): NodeJS.ProcessEnv =>
		Object.fromEntries(Object.entries(BRIDGE).flatMap(([name, value]) => (name === without ? [] : [[prefix + name, value]])));

	for (const prefix of ["PI_SUBAGENT_", "SELESAI_SUBAGENT_"]) {
		test(`is known by the variables of ${prefix}`, () => {
			assert.deepEqual(supervisorOf(env(prefix)), { target: "planner", sessionId: "s-1", runId: "78f659a3", agent: "worker", index: "0" });
			assert.equal(givenName(env(prefix)), "subagent-worker");
			assert.equal(supervisorOf(env(prefix, "ORCHESTRATOR_SESSION_ID"))?.sessionId, undefined);
		});

		for (const without of ["ORCHESTRATOR_TARGET", "RUN_ID", "CHILD_AGENT", "CHILD_INDEX"]) {
			test(`is none without ${prefix}${without}`, () => assert.equal(supervisorOf(env(prefix, without)), undefined));
		}
	}

	test("is none in an ordinary session", () => {
		assert.equal(supervisorOf({}), undefined);
		assert.equal(givenName({}), undefined);
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
