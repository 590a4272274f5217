// Workers in Herdr, by the project's own stand-in: real panes, the contract of Herdr's socket and program.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { ROOT } from "./support/broker.mjs";
import { isAlive } from "./support/processes.mjs";
import { scenario } from "./support/rig.mjs";
import { answersHandoff, launchingCoordinator, opened, refused, use } from "./support/team.mjs";
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
		rmSync(directory, { recursive: true, force: true });
	});
	const lines = createInterface({ input: child.stdout });
	return JSON.parse(await new Promise((resolve) => lines.once("line", resolve)));
}

const run = promisify(execFile);

/** A coordinator without Pi, as if in a pane of the stand-in. */
const coordinator = (rig, herdr, env = {}) => launchingCoordinator(rig, { ...herdr.environment, PATH: `${herdr.bin}:${rig.env.PATH}`, ...env });

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

		answersHandoff(rig, "launched", "All built.");
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

scenario("a message to a directory in which nobody is opens a session in Herdr first, without its focus where that is wished", async (rig, context) => {
	const herdr = await standIn(context);
	const lead = await coordinator(rig, herdr);
	const args = { action: "send", cwd: rig.makeDirectory("billing"), message: "Let us talk.", openProjectPaneIfMissing: true, focus: false };
	const result = await use(lead, "intercom", args);
	assert.match(result.text, /project pane was submitted to herdr/);
	assert.match(result.text, /is attached/);
	const { entries } = await rig.broker.call("InspectionService/ListAttachments");
	assert.ok(entries.some((entry) => entry.sessionId === result.details.to.sessionId && entry.launchJobId !== ""));
});

scenario("the monitor opens above a coordinator's Pi in Herdr with the first worker, once, and runs", async (rig, context) => {
	const herdr = await standIn(context);
	const lead = await coordinator(rig, herdr, { PI_INTERCOM_MONITOR: "true" });
	const panes = async () => JSON.parse((await run(join(herdr.bin, "herdr"), ["pane", "list"])).stdout).result.panes;
	const monitors = async () => (await panes()).filter(({ label }) => label === "intercom monitor");
	const screen = async () => {
		const tmux = async (...words) => (await run("tmux", ["-S", herdr.tmux, ...words])).stdout;
		const top = await tmux("list-panes", "-a", "-f", "#{==:#{pane_top},0}", "-F", "#{pane_id}");
		return (await Promise.all(top.trim().split("\n").map((id) => tmux("capture-pane", "-p", "-t", id)))).join("\n");
	};

	// A Pi in a real pane, which coordinates another directory.
	const cwd = rig.makeDirectory("it's a \"project\"; 🛰");
	const { details } = await use(lead, "intercom", { action: "send", cwd, message: "Let us talk.", openProjectPaneIfMissing: true, focus: false });
	const configured = async (name) => {
		const worker = rig.startHost({ name, cwd });
		await worker.attached();
		const marker = `configure-${name}`;
		rig.model.on("launched", new RegExp(marker), { tool: "intercom_configure_worker", args: { sessionId: worker.sessionId, name, description: "Works." } }, { say: "done" });
		await use(lead, "intercom", { action: "send", to: details.to.sessionId, message: `please ${marker}` });
	};
	assert.deepEqual(await monitors(), [], "a pane without a worker");
	await configured("Builder");
	const [pane] = await until("the monitor's pane", async () => {
		const found = await monitors();
		return found.length > 0 && found;
	});
	assert.equal(pane.focused, false);
	await until("the table above", async () => /^Builder/m.test(await screen()), { detail: screen });
	await configured("Tester");
	await until("the second worker", async () => /^Tester/m.test(await screen()), { detail: screen });
	assert.equal((await monitors()).length, 1);
});

scenario("a Herdr that makes no tab is told, and nothing else is tried", async (rig, context) => {
	const herdr = await standIn(context, "no_socket,tab_create_failed");
	const lead = await coordinator(rig, herdr);
	const result = await refused(lead, "LAUNCH_FAILED", "intercom_create_worker", {});
	assert.match(result.text, /tab/i);
	const { jobs } = await rig.broker.call("WorkService/ListJobs");
	assert.equal(jobs[0].state, "STATE_FAILED");
});
