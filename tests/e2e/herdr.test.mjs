// Workers in Herdr, by the project's own stand-in: real panes, the contract of Herdr's socket and program.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "./support/broker.mjs";
import { EXTENSION, NODE, PI, writeAgentDirectory } from "./support/pi.mjs";
import { isAlive } from "./support/processes.mjs";
import { scenario } from "./support/rig.mjs";
import { refused, stubCoordinator, use } from "./support/team.mjs";
import { until } from "./support/until.mjs";

/** Starts the stand-in; `faults` are its own words for what goes wrong. */
async function standIn(context, faults = "") {
	const directory = mkdtempSync(join(tmpdir(), "icm-herdr-"));
	const env = { ...process.env, HERDR_STANDIN_FAULTS: faults };
	const child = spawn(process.execPath, [join(ROOT, "tests/support/herdr.mjs"), "serve", directory], { env, stdio: ["pipe", "pipe", "inherit"] });
	context.after(async () => {
		const ended = new Promise((resolve) => child.on("exit", resolve));
		child.stdin.end();
		await ended;
	});
	const lines = createInterface({ input: child.stdout });
	return JSON.parse(await new Promise((resolve) => lines.once("line", resolve)));
}

/** A coordinator without Pi in a pane of the stand-in. */
function coordinator(rig, herdr) {
	const agentDir = writeAgentDirectory(rig, "launched");
	return stubCoordinator(rig, {
		env: { ...herdr.environment, PATH: `${herdr.bin}:${rig.env.PATH}`, PI_CODING_AGENT_DIR: agentDir },
		launch: { argv: [NODE, PI], extension: EXTENSION, agentDir },
	});
}

async function opened(rig, jobId) {
	const find = async () => (await rig.broker.call("InspectionService/ListAttachments")).entries?.find((entry) => entry.launchJobId === jobId);
	return until(`the session of job ${jobId}`, find, { timeoutMs: 40_000 });
}

for (const [way, faults] of [
	["its socket", ""],
	["a typed line, where there is no socket", "no_socket"],
]) {
	scenario(`a worker opens in Herdr by ${way}, bears its name, hands over and is closed with its tab`, async (rig, context) => {
		const herdr = await standIn(context, faults);
		const lead = await coordinator(rig, herdr);
		const result = await use(lead, "intercom_create_worker", {});
		assert.equal(result.details.launcher, "herdr");
		const entry = await opened(rig, result.details.jobId);
		await use(lead, "intercom_configure_worker", { sessionId: entry.sessionId, name: "Builder; #1", description: "Builds." });
		await use(lead, "intercom_reload_worker", { to: "Builder; #1" });

		const jobOf = (request) => /jobId[^A-Za-z0-9]*([A-Za-z0-9-]{8,})/.exec(request.users.findLast((text) => text.includes("intercom_report_handoff")))?.[1];
		const step = { tool: "intercom_report_handoff", args: (request) => ({ jobId: jobOf(request) ?? "", summary: "All built." }) };
		rig.model.on("launched", /intercom_report_handoff/, step, { say: "handed over" });
		await use(lead, "intercom_close_worker", { to: "Builder; #1" });
		const record = () => rig.config().agents[1].closeJob;
		await until("the closed job", () => record()?.state === "closed", { timeoutMs: 60_000, detail: () => JSON.stringify(record()) });
		assert.equal(isAlive(Number(entry.hostPid)), false);

		// Its saved session opens again, in a tab of its name.
		const again = await use(lead, "intercom_resume_worker", { to: "builder; #1", confirmClosed: true });
		const back = await opened(rig, again.details.jobId);
		assert.equal(back.sessionId, entry.sessionId);
		assert.equal(back.name, "Builder; #1");
	});
}

scenario("a Herdr that makes no tab is told, and nothing else is tried", async (rig, context) => {
	const herdr = await standIn(context, "no_socket,tab_create_failed");
	const lead = await coordinator(rig, herdr);
	const result = await refused(lead, "LAUNCH_FAILED", "intercom_create_worker", {});
	assert.match(result.text, /tab/i);
	const { jobs } = await rig.broker.call("WorkService/ListJobs");
	assert.equal(jobs[0].state, "STATE_FAILED");
});
