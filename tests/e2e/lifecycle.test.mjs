// Sessions that are reloaded, replaced, forked and left.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { scenario } from "./support/rig.mjs";
import { isAlive } from "./support/processes.mjs";
import { piWorker, reached, record, stubCoordinator, stubWorker, use } from "./support/team.mjs";
import { gate, never, once, until } from "./support/until.mjs";

/** Gives the session a file, and a first message to fork at. */
async function warmUp(pi) {
	await pi.prompt("warm up");
	await pi.waitForRequest("warm up", (request) => request.users.includes("warm up") && request.answered);
	await until("a session file", () => pi.entries().some((entry) => entry.message?.role === "assistant"));
}

/** The session that a host is in now, other than `old`. */
function replaced(pi, rig, old) {
	return until("another session id of the same host", async () => {
		const { entries = [] } = await rig.broker.call("InspectionService/ListAttachments");
		return entries.find((entry) => Number(entry.hostPid) === pi.pid && entry.sessionId !== old);
	});
}

scenario("/reload keeps the role, the mail and one agent", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await piWorker(rig, lead, "Tester");
	await warmUp(worker);
	const [agent] = worker.agentPids();

	await worker.prompt("/reload");
	const id = randomUUID();
	await use(lead, "intercom_send", { to: "Tester", message: "Sent around a reload." }, id);
	await worker.waitForText("Sent around a reload.");
	await reached(rig, id, "SEEN");
	await until("another agent", () => worker.agentPids().length === 1 && worker.agentPids()[0] !== agent);

	assert.equal(isAlive(agent), false);
	assert.equal(worker.times("Sent around a reload."), 1);
	assert.equal((await worker.rosterEntry()).role, "ROLE_WORKER");
	assert.equal(lead.entries.filter((entry) => entry.topic === "REGISTRATION").length <= 1, true, "it registered again");
});

scenario("/reload in the middle of a held message loses nothing", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await piWorker(rig, lead, "Tester");
	const busy = gate();
	rig.model.on("tester", /long work/, { gate: busy.promise, say: "worked" });
	rig.model.on("tester", /Held over a reload/, { say: "read" });
	await worker.prompt("long work");
	await worker.waitForText("long work");
	const id = randomUUID();
	await use(lead, "intercom_send", { to: "Tester", message: "Held over a reload." }, id);
	await until("the hold", async () => (await record(rig, id)).waitReason === "WAIT_REASON_BUSY");

	await worker.press("Escape");
	await worker.waitForScreen(/aborted/);
	await worker.prompt("/reload");
	busy.open();
	await reached(rig, id, "SEEN", { timeoutMs: 30_000 });
	assert.equal(worker.times("Held over a reload."), 1);
});

scenario("/new is another session: mail stays with the old one", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await piWorker(rig, lead, "Tester");
	await warmUp(worker);

	await worker.prompt("/new");
	const now = await replaced(worker, rig, worker.sessionId);
	assert.equal(now.role, "ROLE_ANONYMOUS");
	await lead.delivered(now.sessionId);
	const id = randomUUID();
	await use(lead, "intercom_send", { to: "Tester", message: "For the old session." }, id);
	assert.equal((await record(rig, id)).state, "DELIVERY_STATE_ACCEPTED");
	await never("mail of the old session in the new one", () => worker.times("For the old session.", now.sessionId) > 0);
	assert.equal(worker.agentPids().length, 1);

	// The old session, opened again, gets it.
	await worker.quit();
	await worker.start();
	await worker.waitForText("For the old session.");
	await once("copy", () => worker.times("For the old session."));
});

scenario("/fork is another session, anonymous, with no mail of the first", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await piWorker(rig, lead, "Tester");
	await warmUp(worker);

	await worker.prompt("/fork");
	await worker.waitForScreen(/warm up[\s\S]*(fork|message|esc)/i);
	await worker.press("Enter");
	const now = await replaced(worker, rig, worker.sessionId);
	assert.equal(now.role, "ROLE_ANONYMOUS");
	const listed = await use(lead, "intercom_list", {});
	assert.match(listed.text, /Tester/);
	assert.equal(worker.agentPids().length, 1);
});

scenario("leaving ends the agent and is told to the broker", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await piWorker(rig, lead, "Tester");
	const agents = worker.agentPids();
	assert.equal(agents.length, 1);

	assert.equal(await worker.quit(), 0);
	await until("the agent's end", () => !isAlive(agents[0]));
	assert.equal(await worker.rosterEntry(), undefined);
	assert.ok(rig.broker.pids().length === 1, "the broker stays for the others");
});

scenario("a coordinator that leaves and returns finds its role and its mail", async (rig) => {
	const lead = await rig.startPi({ name: "lead" });
	await lead.ready(/coordinator/i);
	const worker = rig.startHost({ name: "Tester" });
	await worker.attached();
	rig.model.on(
		"lead",
		/enlist/,
		{ tool: "intercom_configure_worker", args: { sessionId: worker.sessionId, name: "Tester", description: "Tests." } },
		{ tool: "intercom_reload_worker", args: { to: "Tester" } },
		{ say: "enlisted" },
	);
	await lead.prompt("enlist");
	await lead.waitForScreen(/enlisted/);
	await lead.quit();

	await use(worker, "intercom_send", { to: "Coordinator", message: "While you were away." });
	await lead.start();
	await lead.ready(/coordinator/i);
	await lead.waitForText("While you were away.");
	await once("copy", () => lead.times("While you were away."));
	assert.equal(worker.session.role, "worker");
});

scenario("a coordinator that is lost leaves its workers open: they go on, talk to each other, and nothing is asked or sent again", async (rig) => {
	const asked = [];
	const controls = { reloadResponsibility: () => void asked.push("reload"), stop: () => void asked.push("stop"), prepareClose: () => void asked.push("close") };
	const lead = await stubCoordinator(rig);
	const [first, second] = [await stubWorker(rig, lead, "First", { controls }), await stubWorker(rig, lead, "Second", { controls })];
	await use(lead, "intercom_send", { to: "First", message: "before the loss" });
	await first.delivered("before the loss");
	const before = asked.length;
	lead.stop();
	await until("the coordinator away", async () => (await rig.broker.cli(["list"], { cwd: rig.project })).stdout.match(/Coordinator +coordinator +away/));
	await use(first, "intercom_send", { to: "Second", message: "are you there?" });
	await second.delivered("are you there?");
	assert.equal((await use(second, "intercom_send", { to: "Coordinator", message: "for later" })).isError, false);
	await never("anything asked or sent again", () => asked.length > before || first.entries.filter((entry) => entry.content.includes("before the loss")).length > 1, 1_000);
	assert.equal(first.session.connection, "connected");
	assert.equal(second.session.connection, "connected");
});
