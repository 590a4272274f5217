// intercom_create_worker in real panes: what is started, where, and how it is refused.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scenario } from "./support/rig.mjs";
import { launchingCoordinator, opened, refused, use } from "./support/team.mjs";
import { never, until } from "./support/until.mjs";

const HOSTILE = ["with blank", "it's \"quoted\"", "semi;colon;", "$(touch hit) `touch hit`", "#{pane_id} #(touch hit)", "-n dash", "new\nline", "été 🛰 * ? [x]", "back\\slash", "%1 & | > hit"];

scenario("workers open in hostile directories, and nothing of a name is run", { timeoutMs: 300_000 }, async (rig) => {
	const lead = await launchingCoordinator(rig);
	for (const name of HOSTILE) rig.makeDirectory("A project 🛰", name);
	for (const name of HOSTILE) {
		const result = await use(lead, "intercom_create_worker", { projectDirectory: name, launcher: "tmux" });
		const entry = await opened(rig, result.details.jobId);
		assert.equal(entry.projectDirectory, name);
		const argv = readFileSync(`/proc/${entry.hostPid}/cmdline`, "utf8").split("\0");
		assert.ok(argv.includes("-e") || /^pi/.test(argv[0]), argv.join(" "));
		process.kill(Number(entry.hostPid), "SIGTERM");
	}
	for (const directory of [rig.project, ...HOSTILE.map((name) => join(rig.project, name))]) {
		assert.equal(existsSync(join(directory, "hit")), false, `a name was run in ${directory}`);
	}
	assert.deepEqual(readdirSync(join(rig.home, "launch")), [], "launch files are left");
});

scenario("outside tmux a detached session is made, and its name is said", async (rig) => {
	const lead = await launchingCoordinator(rig);
	const result = await use(lead, "intercom_create_worker", { launcher: "tmux" });
	assert.match(result.text, /tmux attach/);
	assert.match(result.text, /registrationAwaited: false/);
	assert.equal(result.details.registrationAwaited, false);
	const entry = await opened(rig, result.details.jobId);
	assert.equal(entry.role, "ROLE_ANONYMOUS");
	const told = await lead.delivered(entry.sessionId);
	assert.match(told.content, new RegExp(result.details.jobId.slice(0, 8)), "the registration names the launch");
	const environment = readFileSync(`/proc/${entry.hostPid}/environ`, "utf8").split("\0");
	assert.ok(environment.includes(`PI_INTERCOM_HOME=${rig.home}`));
	assert.ok(environment.includes(`PI_INTERCOM_WORKSPACE=${rig.project}`));
});

scenario("what can't be launched is refused before anything happens, and no other launcher is tried", async (rig) => {
	const lead = await launchingCoordinator(rig);
	await refused(lead, "LAUNCHER_UNAVAILABLE", "intercom_create_worker", {});
	await refused(lead, "DIRECTORY_OUTSIDE", "intercom_create_worker", { launcher: "tmux", projectDirectory: ".." });
	assert.equal((await lead.callTool("intercom_create_worker", { launcher: "tmux", projectDirectory: "not there" })).isError, true);
	await use(lead, "intercom_set_multiplexer", { multiplexer: "none" });
	await refused(lead, "LAUNCHER_NONE", "intercom_create_worker", {});
	await never("a pane", async () => existsSync(join(rig.directory, `tmux-${process.getuid()}`, "default")), 500);
	const { jobs = [] } = await rig.broker.call("WorkService/ListJobs");
	assert.ok(jobs.every((job) => job.state === "STATE_FAILED"), JSON.stringify(jobs));
});

scenario("the config's launcher may be headless, and what it opens is followed by intercom view", async (rig) => {
	const lead = await launchingCoordinator(rig);
	await use(lead, "intercom_set_multiplexer", { multiplexer: "headless" });
	const result = await use(lead, "intercom_create_worker", {});
	const entry = await opened(rig, result.details.jobId);
	assert.equal(entry.role, "ROLE_ANONYMOUS");
	assert.match(result.text, new RegExp(`intercom view ${result.details.jobId}`));
});

scenario("a session is resumed only when it is closed, by everybody's word", async (rig) => {
	const lead = await launchingCoordinator(rig);
	const created = await use(lead, "intercom_create_worker", { launcher: "tmux" });
	const entry = await opened(rig, created.details.jobId);
	await use(lead, "intercom_configure_worker", { sessionId: entry.sessionId, name: "Worker", description: "Works." });
	await use(lead, "intercom_reload_worker", { to: "Worker" });
	const unconfirmed = await lead.callTool("intercom_resume_worker", { to: "Worker" });
	assert.equal(unconfirmed.isError, true);
	await use(lead, "intercom_set_multiplexer", { multiplexer: "tmux" });
	await refused(lead, "WORKER_ATTACHED", "intercom_resume_worker", { to: "Worker", confirmClosed: true });

	process.kill(Number(entry.hostPid), "SIGTERM");
	await until("its end", () => !existsSync(`/proc/${entry.hostPid}`));
	await until("its absence", async () => !(await rig.broker.call("InspectionService/ListAttachments")).entries.some((found) => found.sessionId === entry.sessionId));
	// It never had a turn, so it was never saved.
	await refused(lead, "SESSION_FILE_MISSING", "intercom_resume_worker", { to: "Worker", confirmClosed: true });
});
