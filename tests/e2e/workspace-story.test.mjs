// A coordinator's whole day on real Pi sessions in tmux, by its tools alone: it opens two workers, gives them names and work,
// they talk to each other and report, one is stopped in its work, one closed with a handoff, resumed with its history, removed.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PiSession } from "./support/pi.mjs";
import { isAlive, pidsWithArguments } from "./support/processes.mjs";
import { scenario } from "./support/rig.mjs";
import { answersHandoff } from "./support/team.mjs";
import { never, until } from "./support/until.mjs";

/** Lets the coordinator's model call tools, and returns the last result. */
async function lead(rig, pi, calls) {
	const [before, mark] = [pi.toolResults().length, `step ${pi.toolResults().length}`];
	rig.model.on("lead", new RegExp(`^${mark} please$`), ...calls.map(([tool, args]) => ({ tool, args })), { say: `${mark} done` });
	await pi.prompt(`${mark} please`);
	const results = await until(`${calls.length} results of ${mark}`, () => pi.toolResults().slice(before).length >= calls.length && pi.toolResults().slice(before), {
		timeoutMs: 60_000,
		detail: () => pi.screen(),
	});
	for (const [index, [tool]] of calls.entries()) assert.equal(results[index].isError, false, `${tool}: ${results[index].text}`);
	await pi.waitForScreen(new RegExp(`${mark} done`));
	return results.at(-1);
}

/** Opens a worker by tool, and returns its session id once it has registered. */
async function create(rig, pi, args) {
	const known = new Set((await roster(rig)).map((entry) => entry.sessionId));
	const result = await lead(rig, pi, [["intercom_create_worker", args]]);
	assert.match(result.text, /registrationAwaited: false/);
	const entry = await until("a new session", async () => (await roster(rig)).find((found) => !known.has(found.sessionId)), { timeoutMs: 40_000 });
	assert.equal(entry.role, "ROLE_ANONYMOUS");
	assert.ok(entry.launchJobId, "the roster names the launch");
	await pi.waitForText(entry.sessionId);
	return entry;
}

async function roster(rig) {
	return (await rig.broker.call("InspectionService/ListAttachments")).entries ?? [];
}

scenario("a coordinator's day: create, lead, stop, close, resume, remove", { timeoutMs: 300_000 }, async (rig) => {
	const service = rig.makeDirectory("A project 🛰", "ser'vice; $(touch x) #1");
	const pi = await rig.startPi({ name: "lead" });
	await pi.ready(/coordinator/i);
	await lead(rig, pi, [["intercom_set_multiplexer", { multiplexer: "tmux" }]]);
	assert.equal(rig.config().multiplexer, "tmux");

	// Two workers, each in its directory, named and loaded.
	const first = await create(rig, pi, { projectDirectory: "ser'vice; $(touch x) #1" });
	assert.equal(first.projectDirectory, "ser'vice; $(touch x) #1");
	const second = await create(rig, pi, {});
	for (const [entry, name] of [[first, "Builder"], [second, "Tester"]]) {
		const configure = { sessionId: entry.sessionId, name, description: `Does the work of ${name}.`, projectDirectory: entry.projectDirectory };
		await lead(rig, pi, [["intercom_configure_worker", configure], ["intercom_reload_worker", { to: name }]]);
	}
	const builder = await PiSession.launched(rig, pi, { sessionId: first.sessionId, name: "Builder" });
	const tester = await PiSession.launched(rig, pi, { sessionId: second.sessionId, name: "Tester" });
	await until("the window's name", async () => (await rig.tmux.panes()).some((pane) => pane.pane === builder.pane && pane.name === "Builder"));
	assert.equal((await rig.tmux.panes()).find((pane) => pane.pane === builder.pane).directory, service);
	assert.equal(existsSync(join(service, "x")), false, "a name was run by a shell");

	// Work goes out, the workers talk to each other and report.
	rig.model.on("lead", /Build it and have Tester test/, { tool: "intercom_send", args: { to: "Tester", message: "It is built, please test." } }, { say: "built" });
	rig.model.on(
		"lead",
		/It is built, please test/,
		{ tool: "intercom_report_work", args: { status: "ready_for_review", summary: "All 12 tests pass." } },
		{ tool: "intercom_send", args: { to: "Coordinator", message: "Tested: all is well." } },
		{ say: "tested" },
	);
	await lead(rig, pi, [["intercom_send", { to: "Builder", message: "Build it and have Tester test." }]]);
	await pi.waitForText("Tested: all is well.");
	await pi.waitForText("All 12 tests pass.");
	const status = JSON.parse((await lead(rig, pi, [["intercom_worker_status", { probe: true }]])).text);
	const tested = status.workers.find((worker) => worker.name === "Tester");
	assert.equal(tested.report.status, "ready_for_review");
	assert.deepEqual([tested.connection.state, tested.connection.reason], ["connected", "answered"]);

	await stopInTheMiddle(rig, pi, builder);
	await closeWithHandoff(rig, pi, tester);
	await resumeWithHistory(rig, pi, tester);
	await remove(rig, pi, tester);
});

/** Stopped in a bash tool: its child is gone, nothing runs on, the session stays and takes new work. */
async function stopInTheMiddle(rig, pi, builder) {
	const marker = `sleep 300.${process.pid}`;
	rig.model.on("lead", /work without end/, { tool: "bash", args: { command: marker } }, { say: "should not be said" });
	await lead(rig, pi, [["intercom_send", { to: "Builder", message: "work without end" }]]);
	await until("the endless program", () => pidsWithArguments(marker).length > 0);
	const result = await lead(rig, pi, [["intercom_stop_worker", { to: "Builder" }]]);
	assert.match(result.text, /stopped|stands still/i);
	await until("the end of its child", () => pidsWithArguments(marker).length === 0, { timeoutMs: 5_000 });
	const requests = builder.requests().length;
	await never("a model request after the stop", () => builder.requests().length > requests, 5_000);
	rig.model.on("lead", /a little more/, { say: "a little more is done" });
	await lead(rig, pi, [["intercom_send", { to: "Builder", message: "a little more" }]]);
	await builder.waitForScreen(/a little more is done/);
	assert.equal((await builder.rosterEntry()).sessionId, builder.sessionId);
}

async function closeWithHandoff(rig, pi, tester) {
	answersHandoff(rig, "lead", "Tests are done; nothing is open.");
	await lead(rig, pi, [["intercom_close_worker", { to: "Tester" }]]);
	await until("the closed job in the config", () => rig.config().agents.find((agent) => agent.name === "Tester").closeJob?.state === "closed", {
		timeoutMs: 60_000,
		detail: () => JSON.stringify(rig.config().agents),
	});
	const entry = rig.config().agents.find((agent) => agent.name === "Tester");
	assert.equal(entry.handoff.summary, "Tests are done; nothing is open.");
	assert.equal(isAlive(tester.pid), false);
	await until("the end of its pane", async () => !(await rig.tmux.panes()).some((pane) => pane.pane === tester.pane));
	await pi.waitForText("Tests are done; nothing is open.");
}

async function resumeWithHistory(rig, pi, tester) {
	await lead(rig, pi, [["intercom_resume_worker", { to: "Tester", confirmClosed: true }]]);
	const again = await PiSession.launched(rig, pi, { sessionId: tester.sessionId, name: "Tester" });
	assert.notEqual(again.pid, tester.pid);
	rig.model.on("lead", /what did you do/, { say: "I tested" });
	await lead(rig, pi, [["intercom_send", { to: "Tester", message: "what did you do" }]]);
	const request = await again.waitForText("what did you do");
	assert.ok(request.users.some((text) => text.includes("It is built, please test.")), "its history came back");
}

async function remove(rig, pi, tester) {
	const entry = await until("Tester attached", () => tester.rosterEntry());
	process.kill(Number(entry.hostPid), "SIGTERM");
	await until("Tester away", async () => (await tester.rosterEntry()) === undefined);
	await lead(rig, pi, [["intercom_remove_worker", { to: "Tester" }]]);
	assert.equal(rig.config().agents.some((agent) => agent.name === "Tester"), false);
	assert.equal(rig.config().agents.length, 2);
}
