// The main job on real Pi sessions: one coordinator leads one worker.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { scenario } from "./support/rig.mjs";
import { assertMarks, reached } from "./support/team.mjs";
import { never, once } from "./support/until.mjs";

const RESPONSIBILITY = "Runs the test suite and reports what fails.";

async function openCoordinator(rig) {
	const lead = await rig.startPi({ name: "lead" });
	await lead.ready(/coordinator/i);
	return lead;
}

scenario("the first session of a directory becomes its coordinator and starts no turn", async (rig) => {
	const lead = await openCoordinator(rig);

	const { version, agents } = rig.config();
	assert.equal(version, 1);
	assert.equal(agents.length, 1);
	const [agent] = agents;
	assert.equal(agent.sessionId, lead.sessionId);
	assert.equal(agent.name, "Coordinator");
	assert.equal(agent.coordinator, true);
	assert.equal(agent.projectDirectory, ".");
	assert.equal(agent.port, rig.broker.endpoint().port);
	assert.equal(lead.agentPids().length, 1);
	await never("a model turn of its own", () => lead.requests().length > 0, 1_500);
	assert.equal(await lead.quit(), 0);
	assert.ok(existsSync(join(rig.project, ".pi-intercom/config.json")));
});

scenario("a coordinator configures, reloads and assigns; the worker works and answers", async (rig) => {
	const lead = await openCoordinator(rig);
	const worker = await rig.startPi({ name: "worker", dir: rig.makeDirectory("A project 🛰", "service") });
	await worker.ready(/anonymous/i);

	// The registration reaches the coordinator's agent in a turn of its own.
	const told = await lead.waitForText(worker.sessionId);
	assert.equal(told.lastRole, "user");
	assert.match(told.lastText, /service/);
	await never("a turn of the anonymous worker", () => worker.requests().length > 0, 500);
	assert.equal(rig.config().agents.length, 1, "an anonymous session is no config entry");

	rig.model.on(
		"lead",
		/set up the worker/,
		{
			tool: "intercom_configure_worker",
			args: { sessionId: worker.sessionId, name: "Tester", description: RESPONSIBILITY, projectDirectory: "service" },
		},
		{ tool: "intercom_reload_worker", args: { to: "Tester" } },
		{ tool: "intercom_send", args: { to: "tester", message: "Please run the tests." } },
		{ say: "assigned" },
	);
	rig.model.on(
		"worker",
		/run the tests/,
		{ tool: "bash", args: { command: "echo suite-ran" } },
		{ tool: "intercom_send", args: { to: "Coordinator", message: "All 12 tests pass." } },
		{ say: "reported" },
	);
	await lead.prompt("set up the worker");
	await lead.waitForScreen(/assigned/);
	for (const tool of ["intercom_configure_worker", "intercom_reload_worker", "intercom_send"]) {
		const result = await lead.toolResult(tool);
		assert.equal(result.isError, false, `${tool}: ${result.text}`);
	}
	const entry = rig.config().agents.find((agent) => agent.sessionId === worker.sessionId);
	assert.deepEqual([entry.name, entry.coordinator, entry.description, entry.projectDirectory], ["Tester", false, RESPONSIBILITY, "service"]);

	// The worker's model sees who asks and, in its system prompt, who it is.
	const assigned = await worker.waitForText("Please run the tests.");
	assert.match(assigned.lastText, /Coordinator/);
	assert.match(assigned.system, new RegExp(RESPONSIBILITY));
	assert.ok(assigned.toolNames.includes("intercom_send"));
	assert.ok(!assigned.toolNames.includes("intercom_configure_worker"), "a coordinator's tool at a worker");

	// The answer wakes the coordinator.
	const answered = await lead.waitForText("All 12 tests pass.");
	assert.match(answered.lastText, /Tester/);
	assert.equal(lead.times("All 12 tests pass."), 1);
	assert.equal(worker.times("Please run the tests."), 1);
	const ran = worker.toolResults().find((result) => result.tool === "bash");
	assert.match(ran.text, /suite-ran/);

	// Every state of the first message is known, in order.
	const [message] = (await rig.broker.records()).filter((found) => found.envelope.text === "Please run the tests.");
	const seen = await reached(rig, message.deliveryId, "SEEN");
	assertMarks(seen);
	assert.equal(seen.sender.sessionId, lead.sessionId);
	assert.equal(seen.recipientSessionId, worker.sessionId);

	await statusTools(rig, lead, worker);
	await shell(rig, lead, worker, message);
});

async function statusTools(rig, lead, worker) {
	rig.model.on(
		"lead",
		/who is there/,
		{ tools: [["intercom_list", {}], ["intercom_request_status", { to: "Tester" }]] },
		{ say: "looked around" },
	);
	await lead.prompt("who is there");
	await lead.waitForScreen(/looked around/);
	const list = await lead.toolResult("intercom_list");
	assert.match(list.text, /Coordinator/);
	assert.match(list.text, /Tester/);
	assert.match((await lead.toolResult("intercom_request_status")).text, /Tester/);

	rig.model.on("worker", /tell them/, { tool: "intercom_report_status", args: {} }, { say: "told" });
	const before = lead.requests().length;
	await worker.prompt("tell them");
	await worker.waitForScreen(/told/);
	assert.equal((await worker.toolResult("intercom_report_status")).isError, false);
	await never("a coordinator woken by a status", () => lead.requests().length > before, 1_000);
}

async function shell(rig, lead, worker, message) {
	const list = await rig.broker.cli(["list"], { cwd: rig.project });
	assert.equal(list.code, 0, list.all);
	for (const word of ["Coordinator", "Tester"]) assert.match(list.stdout, new RegExp(word));
	const status = await rig.broker.cli(["status", message.envelope.envelopeId], { cwd: rig.project });
	assert.equal(status.code, 0, status.all);
	for (const state of ["accepted", "delivered", "injected", "seen"]) assert.match(status.stdout, new RegExp(state, "i"));
	const short = await rig.broker.cli(["status"], { cwd: rig.project });
	assert.equal(short.code, 0, short.all);
	const history = await rig.broker.cli(["history"], { cwd: rig.project });
	assert.equal(history.code, 0, history.all);
	assert.match(history.stdout, /Please run the tests/);

	const sent = await rig.broker.cli(["send", "Tester", "A word from a person."], { cwd: rig.project });
	assert.equal(sent.code, 0, sent.all);
	const request = await worker.waitForText("A word from a person.");
	assert.match(request.lastText, /person/);
	await once("copy in the session", () => worker.times("A word from a person."));
	assert.equal(lead.times("A word from a person."), 0);
}

scenario("an anonymous session has the words and the tools of one", async (rig) => {
	await openCoordinator(rig);
	const worker = await rig.startPi({ name: "worker" });
	await worker.ready(/anonymous/i);
	await worker.prompt("hello");
	const request = await worker.waitForRequest("hello", (found) => found.users.includes("hello"));
	assert.ok(request.toolNames.includes("intercom_report_status"));
	for (const tool of ["intercom_send", "intercom_list", "intercom_configure_worker", "intercom_reload_worker"]) {
		assert.ok(!request.toolNames.includes(tool), tool);
	}
	assert.match(request.system, /anonymous|not configured/i);
});

scenario("without a workspace wanted nothing is written", async (rig) => {
	const host = rig.startHost({ name: "loner", workspaceMode: "never" });
	const session = await host.attached();
	assert.equal(session.role, "peer");
	assert.equal(existsSync(join(rig.project, ".pi-intercom")), false);
	await host.leave();
});
