// The config belongs to people and to git: what the tools write is small, what others write stays.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./support/broker.mjs";
import { scenario } from "./support/rig.mjs";
import { answersHandoff, launchingCoordinator, piWorker, refused, stubCoordinator, use } from "./support/team.mjs";
import { gate, until } from "./support/until.mjs";

const pathOf = (rig) => join(rig.project, ".pi-intercom/config.json");

/** Git in the project, for nobody in particular. */
async function git(rig, ...args) {
	const identity = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.invalid", "-c", "init.defaultBranch=main"];
	const result = await run("git", [...identity, ...args], { cwd: rig.project, env: { ...rig.env, GIT_CONFIG_NOSYSTEM: "1", HOME: rig.directory } });
	assert.equal(result.code, 0, `git ${args.join(" ")}: ${result.all}`);
	return result.stdout;
}

/** The added and removed lines of the config since the last commit, and commits it. */
async function changes(rig) {
	const diff = await git(rig, "diff", "--unified=0", "--", ".pi-intercom/config.json");
	await git(rig, "commit", "--quiet", "--all", "--allow-empty", "-m", "step");
	return diff.split("\n").filter((line) => /^[+-](?![+-]{2})/.test(line)).map((line) => line.replace(/\r$/, ""));
}

// As a person of the earlier system left it: tabs, CRLF, keys of their own, a finished job.
function oldConfig(coordinator, worker) {
	return [
		"{",
		'\t"version": 1,',
		'\t"$schema": "./mine.json",',
		'\t"multiplexer": "tmux",',
		'\t"agents": [',
		`\t\t{ "sessionId": "${coordinator}", "name": "Coordinator", "coordinator": true, "description": "Leads.", "port": 45871, "projectDirectory": "." },`,
		"\t\t{",
		`\t\t\t"sessionId": "${worker}",`,
		'\t\t\t"name": "Müller 🛠",',
		'\t\t\t"coordinator": false,',
		'\t\t\t"description": "Old hand.",',
		'\t\t\t"port": 45872,',
		'\t\t\t"projectDirectory": ".",',
		'\t\t\t"handoff": { "version": 1, "jobId": "job-1", "summary": "Left it tidy.", "updatedAt": "2026-01-31T12:00:00.000Z" },',
		'\t\t\t"closeJob": { "jobId": "job-1", "state": "uncertain", "createdAt": "2026-01-31T12:00:00.000Z", "updatedAt": "2026-01-31T12:01:00.000Z", "deadlineAt": "2026-01-31T12:02:00.000Z", "reason": "close_unverified" },',
		'\t\t\t"colour": "green"',
		"\t\t}",
		"\t]",
		"}",
		"",
	].join("\r\n");
}

scenario("a config of the earlier system works as it is, and each tool changes only its lines", async (rig) => {
	const [coordinator, worker] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
	for (const folder of ["reports", "logs"]) {
		mkdirSync(join(rig.project, ".pi-intercom", folder), { recursive: true });
		writeFileSync(join(rig.project, ".pi-intercom", folder, "old.jsonl"), "{}\n");
	}
	writeFileSync(pathOf(rig), oldConfig(coordinator, worker));
	await git(rig, "init", "--quiet");
	await git(rig, "config", "core.autocrlf", "false");
	await git(rig, "add", "--all");
	await git(rig, "commit", "--quiet", "-m", "as it was");

	const lead = await stubCoordinator(rig, { sessionId: coordinator });
	const { port } = rig.broker.endpoint();
	await until("the recorded port", () => rig.config().agents[0].port === port);
	const recorded = await changes(rig);
	assert.ok(port === 45871 ? recorded.length === 0 : recorded.length === 2, recorded.join("\n"));

	await use(lead, "intercom_set_multiplexer", { multiplexer: "none" });
	assert.deepEqual(await changes(rig), ['-\t"multiplexer": "tmux",', '+\t"multiplexer": "none",']);
	await use(lead, "intercom_set_multiplexer", { multiplexer: "none" });
	assert.deepEqual(await changes(rig), [], "said already");

	// The file's own job is a record and fences nothing.
	await use(lead, "intercom_configure_worker", { sessionId: worker, name: "Müller 🛠", description: "New hand.", projectDirectory: ".", port: 45872 });
	assert.deepEqual(await changes(rig), ['-\t\t\t"description": "Old hand.",', '+\t\t\t"description": "New hand.",']);
	const [, entry] = rig.config().agents;
	assert.deepEqual([entry.handoff.summary, entry.closeJob.state, entry.colour], ["Left it tidy.", "uncertain", "green"]);

	await use(lead, "intercom_remove_worker", { to: "MÜLLER 🛠" });
	const removed = await changes(rig);
	assert.ok(removed.every((line) => !line.includes("$schema") && !line.includes("multiplexer")), removed.join("\n"));
	assert.equal(rig.config().agents.length, 1);
	assert.ok(!/[^\r]\n/.test(readFileSync(pathOf(rig), "utf8")), "a line end changed");
	for (const folder of ["reports", "logs"]) assert.equal(readFileSync(join(rig.project, ".pi-intercom", folder, "old.jsonl"), "utf8"), "{}\n");
});

scenario("a checkout in the middle of a close changes no fence, and the handoff goes into the file that is there", async (rig) => {
	const lead = await stubCoordinator(rig);
	const pi = await piWorker(rig, lead, "Worker");
	await git(rig, "init", "--quiet");
	await git(rig, "add", "--all");
	await git(rig, "commit", "--quiet", "-m", "before the close");
	const { promise, open } = gate();
	answersHandoff(rig, "worker", "Tidy.", { wait: promise });
	await use(lead, "intercom_close_worker", { to: "Worker" });
	await pi.waitForText("intercom_report_handoff");
	await until("the record", () => rig.config().agents[1].closeJob?.state === "awaiting_handoff");
	await git(rig, "checkout", "--quiet", "--", ".");
	assert.equal(rig.config().agents[1].closeJob, undefined);
	await refused(lead, "WORKER_FENCED", "intercom_configure_worker", { sessionId: pi.sessionId, name: "Worker", description: "Other." });
	open();
	await until("the end", () => rig.config().agents[1].closeJob?.state === "closed", { timeoutMs: 60_000, detail: () => readFileSync(pathOf(rig), "utf8") });
	assert.equal(rig.config().agents[1].handoff.summary, "Tidy.");
});

scenario("a merge that conflicts refuses every change, names its line, and is left alone", async (rig) => {
	const lead = await launchingCoordinator(rig);
	const pi = await piWorker(rig, lead, "Worker");
	const good = readFileSync(pathOf(rig), "utf8");
	const conflict = good.replace('"description": "Does', '\n<<<<<<< ours\n"description": "Does');
	writeFileSync(pathOf(rig), conflict);
	const calls = [
		["intercom_set_multiplexer", { multiplexer: "tmux" }],
		["intercom_remove_worker", { to: "Worker" }],
		["intercom_close_worker", { to: "Worker" }],
		["intercom_stop_worker", { to: "Worker" }],
		["intercom_create_worker", { launcher: "tmux" }],
		["intercom_resume_worker", { to: "Worker", confirmClosed: true }],
		["intercom_configure_worker", { sessionId: pi.sessionId, name: "Worker", description: "Other." }],
	];
	for (const [tool, args] of calls) {
		const result = await refused(lead, "CONFIG_INVALID", tool, args);
		assert.match(result.text, /config\.json.*line \d+/s, tool);
	}
	assert.equal(readFileSync(pathOf(rig), "utf8"), conflict);
	// What only looks serves the last good state and says so.
	assert.match((await use(lead, "intercom_list")).text, /last good/);
	writeFileSync(pathOf(rig), good);
	await use(lead, "intercom_set_multiplexer", { multiplexer: "tmux" });
});
