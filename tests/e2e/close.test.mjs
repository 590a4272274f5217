// intercom_close_worker on a real Pi in tmux: the handoff is saved, the host and exactly its pane are closed; and whatever comes
// between leaves the worker as it was, with a reason.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, parentOf, pidsWithArguments } from "./support/processes.mjs";
import { scenario } from "./support/rig.mjs";
import { headlessWorkers, lead as realLead } from "./support/runs.mjs";
import { answersHandoff, piWorker, refused, stubCoordinator, use } from "./support/team.mjs";
import { gate, never, until } from "./support/until.mjs";

const HANDOFF = "Done: the parser. Open: the docs.";

const entryOf = (rig, name) => rig.config().agents.find((agent) => agent.name === name);

/** Waits for the end of the job that closes `name`, and returns its public record. */
function ended(rig, name) {
	const pending = /^(requested|awaiting_handoff|awaiting_settlement|ready|closing)$/;
	return until(
		`the end of the job that closes ${name}`,
		() => {
			const { closeJob } = entryOf(rig, name);
			return closeJob !== undefined && !pending.test(closeJob.state) && closeJob;
		},
		{ timeoutMs: 60_000, detail: async () => JSON.stringify(await rig.broker.call("WorkService/ListJobs")) },
	);
}

async function team(rig) {
	const lead = await stubCoordinator(rig);
	const pi = await piWorker(rig, lead, "Worker");
	return { lead, pi };
}

scenario("a worker hands over and is closed, host and pane, and its mail waits for it", async (rig) => {
	const { lead, pi } = await team(rig);
	const other = await piWorker(rig, lead, "Other");
	const { promise, open } = gate();
	answersHandoff(rig, "worker", HANDOFF, { wait: promise });
	const first = await use(lead, "intercom_close_worker", { to: "worker" });
	await pi.waitForText("intercom_report_handoff");

	// While it is pending the worker is fenced, and the job is named; a repeat joins it.
	const again = await use(lead, "intercom_close_worker", { to: "Worker" });
	assert.equal(again.details.jobId, first.details.jobId);
	const fenced = await refused(lead, "WORKER_FENCED", "intercom_reload_worker", { to: "Worker" });
	assert.match(fenced.text, new RegExp(first.details.jobId.slice(0, 8)));
	await refused(lead, "WORKER_FENCED", "intercom_remove_worker", { to: "Worker" });
	const mail = await use(lead, "intercom_send", { to: "Worker", message: "for later" });
	const record = (await rig.broker.call("MessageService/GetMessage", { id: mail.details.envelopeId })).record;
	assert.equal(record.waitReason, "WAIT_REASON_CLOSING");

	open();
	const job = await ended(rig, "Worker");
	assert.deepEqual([job.state, job.reason], ["closed", undefined]);
	assert.equal(entryOf(rig, "Worker").handoff.summary, HANDOFF);
	assert.equal(isAlive(pi.pid), false);
	const panes = await rig.tmux.panes();
	assert.ok(!panes.some((pane) => pane.pane === pi.pane), "its pane is still there");
	assert.ok(panes.some((pane) => pane.pane === other.pane), "another pane was closed");
	assert.ok(isAlive(other.pid));
	await lead.delivered(HANDOFF.slice(0, 15));
	assert.equal(pi.times("for later"), 0);

	// Opened again under its id, it gets what waited, and its handoff is still on record.
	await pi.start();
	await pi.waitForText("for later");
	const page = JSON.parse((await use(lead, "intercom_worker_status", { name: "Worker" })).text);
	assert.equal(page.workers[0].handoff.summary, HANDOFF);
});

scenario("a headless worker hands over, ends with the process that hosts it, and is resumed without a terminal", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await realLead(rig);
	const [worker] = await headlessWorkers(rig, boss, 1);
	const says = async (prompt, ...steps) => {
		rig.model.on("lead", new RegExp(prompt), ...steps, { say: `so: ${prompt}` });
		await boss.prompt(prompt);
		await boss.waitForScreen(new RegExp(`so: ${prompt}`), { timeoutMs: 60_000 });
	};
	await says(
		"enlist it",
		{ tool: "intercom_configure_worker", args: { sessionId: worker.sessionId, name: "Desk", description: "Works.", projectDirectory: "." } },
		{ tool: "intercom_reload_worker", args: { to: "Desk" } },
		{ tool: "intercom_send", args: { to: "Desk", message: "remember the tin soldier" } },
	);
	await until("its first turn", () => rig.model.requests("lead").some(({ users }) => users.some((text) => /^> remember the tin soldier/m.test(text))));
	answersHandoff(rig, "lead", HANDOFF);
	// Between it and Pi there is the guard.
	const hosting = parentOf(parentOf(Number(worker.hostPid)));
	assert.ok(pidsWithArguments("--headless").includes(hosting));
	await says("close it", { tool: "intercom_close_worker", args: { to: "Desk" } });
	const job = await ended(rig, "Desk");
	assert.deepEqual([job.state, job.reason], ["closed", undefined]);
	assert.equal(isAlive(Number(worker.hostPid)), false);
	await until("the end of the hosting process", () => !isAlive(hosting));

	await says("open it again", { tool: "intercom_resume_worker", args: { to: "Desk", confirmClosed: true, launcher: "headless" } });
	const again = await until("its return", async () => {
		const { entries = [] } = await rig.broker.call("InspectionService/ListAttachments");
		return entries.find(({ sessionId, hostPid }) => sessionId === worker.sessionId && hostPid !== worker.hostPid);
	}, { timeoutMs: 60_000 });
	assert.equal(again.role, "ROLE_WORKER");
	await says("ask it", { tool: "intercom_send", args: { to: "Desk", message: "what was it?" } });
	const asked = await until("its history", () => rig.model.requests("lead").find(({ users }) => users.some((text) => /^> what was it/m.test(text))));
	assert.ok(asked.users.some((text) => /tin soldier/.test(text)), "its history is gone");
});

scenario("input after the handoff keeps the worker open", async (rig) => {
	const { lead, pi } = await team(rig);
	const { promise, open } = gate();
	answersHandoff(rig, "worker", HANDOFF, { wait: promise });
	await use(lead, "intercom_close_worker", { to: "Worker" });
	await pi.waitForText("intercom_report_handoff");
	await pi.prompt("wait, one more thing");
	open();
	await pi.waitForText("wait, one more thing");
	const job = await ended(rig, "Worker");
	assert.deepEqual([job.state, job.reason], ["failed", "commit_rejected"]);
	assert.ok(isAlive(pi.pid));
	await use(lead, "intercom_send", { to: "Worker", message: "you stay" });
	await pi.waitForText("you stay");
});

scenario("a broker that dies in the middle interrupts the job and repeats nothing", async (rig) => {
	const { lead, pi } = await team(rig);
	const { promise, open } = gate();
	answersHandoff(rig, "worker", HANDOFF, { wait: promise });
	const { details } = await use(lead, "intercom_close_worker", { to: "Worker" });
	await pi.waitForText("intercom_report_handoff");
	await rig.broker.kill();
	const job = await ended(rig, "Worker");
	assert.deepEqual([job.state, job.reason, job.jobId], ["interrupted", "interrupted", details.jobId]);
	open();
	const late = await pi.toolResult("intercom_report_handoff");
	assert.equal(late.isError, true);
	assert.equal(pi.times("intercom_report_handoff"), 1, "the request was repeated");
	await never("an end of the worker", () => !isAlive(pi.pid), 2_000);
	await use(lead, "intercom_send", { to: "Worker", message: "go on" });
	await pi.waitForText("go on");
});

scenario("a worker that dies in the middle interrupts the job", async (rig) => {
	const { lead, pi } = await team(rig);
	answersHandoff(rig, "worker", HANDOFF, { wait: new Promise(() => undefined) });
	await use(lead, "intercom_close_worker", { to: "Worker" });
	await pi.waitForText("intercom_report_handoff");
	await pi.kill();
	assert.deepEqual([(await ended(rig, "Worker")).state], ["interrupted"]);
	await refused(lead, "WORKER_AWAY", "intercom_close_worker", { to: "Worker" });
});

scenario("a handoff that can't be saved fails the job and the tool call", async (rig) => {
	const { lead, pi } = await team(rig);
	const { promise, open } = gate();
	answersHandoff(rig, "worker", HANDOFF, { wait: promise });
	await use(lead, "intercom_close_worker", { to: "Worker" });
	await pi.waitForText("intercom_report_handoff");
	const path = join(rig.project, ".pi-intercom/config.json");
	const good = JSON.stringify(rig.config(), null, 2);
	writeFileSync(path, `<<<<<<< HEAD\n${good}`);
	open();
	const refusal = await pi.toolResult("intercom_report_handoff");
	assert.equal(refusal.isError, true);
	writeFileSync(path, good);
	const { jobs } = await rig.broker.call("WorkService/ListJobs");
	assert.deepEqual([jobs[0].state, jobs[0].reason], ["STATE_FAILED", "save_failed"]);
	assert.ok(isAlive(pi.pid));
	await use(lead, "intercom_send", { to: "Worker", message: "still here" });
	await pi.waitForText("still here");
});
