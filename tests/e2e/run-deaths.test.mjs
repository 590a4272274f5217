// Runs whose worker dies, reloads or comes back, and the processes that must
// not outlive their session.
import assert from "node:assert/strict";
import { end, isAlive, pidsWithEnvironment, programOf } from "./support/processes.mjs";
import { scenario } from "./support/rig.mjs";
import { announcements, bulletins, goneWithArguments, handOut, headlessWorkers, hostingProcess, lead, processOf, runOf, terminalWorker } from "./support/runs.mjs";
import { gate, never, once, until } from "./support/until.mjs";

const QUIET_MS = 3_000;
const ORDER = "WORK-1: look into it";
const HANDED_OUT = { tool: "intercom_send", args: { to: "Worker", message: ORDER, run: true, label: "part 1" } };

/** A coordinator whose worker is at work on a run, has said "half of it" in a turn and never ends by itself. */
async function atWork(rig) {
	const boss = await lead(rig);
	const worker = await terminalWorker(rig, boss, "Worker");
	const mayFinish = gate();
	rig.model.on("worker", /WORK-1:/, { say: "half of it", tool: "bash", args: { command: "echo half" } }, { say: "all of it", gate: mayFinish.promise });
	rig.model.on("lead", /hand it out/, HANDED_OUT, { say: "handed out" });
	await boss.prompt("hand it out");
	await boss.waitForScreen(/handed out/);
	const runId = await runOf(boss);
	await until("the first half", () => worker.toolResults().some(({ tool }) => tool === "bash"), { timeoutMs: 30_000, detail: () => worker.screen() });
	await worker.waitForScreen(/… …/); // its second turn
	return { boss, worker, runId, mayFinish };
}

scenario("a worker that is killed settles its run as failed, with what it had said", { timeoutMs: 240_000 }, async (rig) => {
	const { boss, worker, runId } = await atWork(rig);
	await worker.kill();
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 40_000, detail: () => boss.screen() });
	const [{ content }] = bulletins(boss, "runs");
	assert.match(content, /failed/i);
	assert.match(content, /^> .*half of it$/m);
	await once("announcement", () => announcements(boss, runId));
});

scenario("a killed worker that is started again settles its run once, as failed, and does not work on", { timeoutMs: 240_000 }, async (rig) => {
	const { boss, worker, runId } = await atWork(rig);
	await worker.kill();
	const requests = worker.requests().length;
	await worker.start();
	await worker.ready(/worker/i);
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 40_000, detail: () => boss.screen() });
	assert.match(bulletins(boss, "runs")[0].content, /failed/i);
	await never("a second settlement, or a turn of the worker by itself", () => announcements(boss, runId) !== 1 || worker.requests().length > requests, QUIET_MS);
	assert.equal(worker.times(ORDER), 1, "the order came again");
});

scenario("a run that ended while the broker was dead and its worker was reloaded is done, once", { timeoutMs: 240_000 }, async (rig) => {
	const { boss, worker, runId, mayFinish } = await atWork(rig);
	await rig.broker.kill();
	mayFinish.open();
	await worker.waitForScreen(/all of it/);
	await worker.prompt("/reload");
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 60_000, detail: () => boss.screen() });
	const [{ content }] = bulletins(boss, "runs");
	assert.match(content, /^> .*all of it$/m);
	assert.doesNotMatch(content, /failed/i);
	await once("announcement", () => announcements(boss, runId));
});

scenario("kill -9 of the process that hosts a headless worker ends all that ran below it, and its run fails", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const [worker] = await headlessWorkers(rig, boss, 1);
	const PROGRAM = "sleep 733.75";
	rig.model.on("lead", /WORK-1:/, { tool: "bash", args: { command: PROGRAM } }, { say: "never said" });
	rig.model.on("lead", /hand it out/, { tools: [handOut(worker.sessionId, ORDER, "part 1")] }, { say: "handed out" });
	await boss.prompt("hand it out");
	const runId = await runOf(boss);
	const program = await processOf(PROGRAM);
	const host = hostingProcess(program);
	assert.ok(host !== undefined, "no process hosts it");
	await end(host);
	await goneWithArguments(PROGRAM);
	await until("the end of its Pi", () => !isAlive(Number(worker.hostPid)));
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 40_000, detail: () => boss.screen() });
	assert.match(bulletins(boss, "runs").at(-1).content, /failed/i);
});

scenario("a headless worker outlives its coordinator's reload, and is followed read-only by intercom view", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const [worker] = await headlessWorkers(rig, boss, 1);
	rig.model.on("lead", /WORK-1:/, { say: "result of part 1" });
	rig.model.on("lead", /hand it out/, { tools: [handOut(worker.sessionId, ORDER, "part 1")] }, { say: "handed out" });
	await boss.prompt("/reload");
	await boss.ready(/coordinator/i);
	assert.ok(isAlive(Number(worker.hostPid)), "the reload took it along");
	await boss.prompt("hand it out");
	const runId = await runOf(boss);
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 40_000, detail: () => boss.screen() });
	// A viewer that comes late gets what was said; it follows until it is ended, so it is given a time.
	const view = await rig.broker.cli(["view", worker.sessionId], { input: "/quit\n\u0003", timeoutMs: 3_000 });
	assert.match(view.stdout, /result of part 1/);
	assert.ok(isAlive(Number(worker.hostPid)), "a viewer ended it");
});

/** Has a session arm a watch of `script`, a shell's. */
async function arm(rig, pi, script) {
	rig.model.on(pi.name, /arm it/, { tool: "intercom_watch", args: { action: "arm", command: "sh", args: ["-c", script], label: "the log", mode: "output", maxEvents: 5 } }, { say: "armed it" });
	await pi.prompt("arm it");
	await pi.waitForScreen(/armed it/);
}

scenario("a watched job's line wakes the idle session once, and the job is gone after kill -9 of the agent", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const PROGRAM = "sleep 744.25";
	await arm(rig, boss, `echo 'build is red'; exec ${PROGRAM}`);
	const woken = await boss.waitForText("build is red");
	assert.match(woken.users.at(-1), /^> .*build is red$/m);
	assert.equal(bulletins(boss, "watch").length, 1);
	await processOf(PROGRAM);
	const [agent] = boss.agentPids();
	await end(agent);
	await goneWithArguments(PROGRAM);
	await never("another turn about it", () => boss.requests().filter(({ lastText }) => lastText.includes("build is red")).length > 1, QUIET_MS);
});

scenario("nothing that was started for a session is left once all sessions have ended", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const PROGRAM = "sleep 744.75";
	await arm(rig, boss, `echo started; ${PROGRAM} & ${PROGRAM}`);
	await processOf(PROGRAM);
	await boss.quit();
	await goneWithArguments(PROGRAM);
	await until("the end of every agent", () => pidsWithEnvironment(`PI_INTERCOM_HOME=${rig.home}`).every((pid) => programOf(pid) !== "intercom-agent"));
});
