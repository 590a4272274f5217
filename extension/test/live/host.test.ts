import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { VERSION } from "@earendil-works/pi-coding-agent";
import { isObject } from "../../src/contract.ts";
import { until, withPi } from "../support/live-pi.ts";

const TOOL = { name: "intercom_set_multiplexer", label: "Set", description: "Sets", promptGuidelines: [], parameters: { type: "object" }, effect: "config" };

describe("the installed Pi", { concurrency: 4 }, () => {
	test("is of a version whose behaviour is known", () =>
		withPi({ mode: "rpc" }, async (pi) => {
			const [initialize] = pi.received("initialize");
			assert.deepEqual(initialize?.capabilities, ["stop", "close"], `Pi ${VERSION}: prove it with test/live, then add it to verified-hosts.json`);
		}));

	test("can be started again as it says", () =>
		withPi({ mode: "rpc" }, async (pi) => {
			const { launch } = pi.received("initialize")[0] ?? {};
			assert.ok(isObject(launch) && Array.isArray(launch.argv));
			const [program, ...args] = launch.argv.map(String);
			assert.equal(execFileSync(program ?? "", [...args, "--version"], { cwd: "/", encoding: "utf8" }).trim(), VERSION);
			assert.ok([program, ...args].every((part) => isAbsolute(part ?? "") && realpathSync(part ?? "") === part));
			assert.equal(launch.extension, realpathSync(fileURLToPath(new URL("../../src/index.ts", import.meta.url))));
			assert.equal(launch.agentDir, join(pi.folder, "pi"));
		}));

	test("shows its launch token when it is launched with a saved session, as when it is launched anew", () =>
		withPi({ mode: "tui" }, async (pi) => {
			await pi.prompt("SAY something to save");
			await until("the session's file", () => pi.entries().some((entry) => JSON.stringify(entry).includes('"assistant"')));
			assert.equal(pi.received("initialize")[0]?.launchToken, "a token");
			await pi.prompt("/quit");
			assert.equal(await pi.exitCode(), 0);
			await pi.startHost("--session");
			const [initialize] = pi.received("initialize");
			assert.equal(initialize?.sessionId, pi.sessionId);
			assert.equal(initialize?.launchToken, "a token");
		}));

	for (const order of ["before", "after"]) {
		test(`keeps its edit of the workspace's config and a call that changes it apart, the edit ${order} the call`, async () => {
			const session = { connection: "connected", role: "coordinator", tools: [TOOL], instructions: "", statusText: "", workspaceRoot: "" };
			await withPi({ mode: "rpc" }, async (pi) => {
				const path = join(pi.project, ".pi-intercom", "config.json");
				mkdirSync(join(pi.project, ".pi-intercom"));
				writeFileSync(path, '{"a": 1, "b": 1}\n');
				pi.agentSends({ method: "session", params: { ...session, workspaceRoot: pi.project } });
				await pi.control("probe");
				const edit = `edit ${JSON.stringify({ path: ".pi-intercom/config.json", edits: [{ oldText: '"a": 1', newText: '"a": 2' }] })}`;
				const call = `${TOOL.name} ${JSON.stringify({ rewrite: { path, from: '"b": 1', to: '"b": 2' } })}`;
				await pi.prompt(`TOOLS ${(order === "before" ? [edit, call] : [call, edit]).join(" && ")} ;; SAY both done`);
				await pi.untilRequest("both done");
				await until("the end", () => JSON.stringify(pi.entries()).includes("both done |"), () => pi.report());
				assert.equal(readFileSync(path, "utf8"), '{"a": 2, "b": 2}\n');
			});
		});
	}
});
