// Stopping work that was handed out as a run, on real Pi: also where the worker does not answer, is away, or is stopped or
// closed as a session.
import assert from "node:assert/strict";
import { isAlive, kill } from "./support/processes.mjs";
import { scenario } from "./support/rig.mjs";
import { announcements, brokerIsBack, bulletins, goneWithArguments, handOut, headlessWorkers, lead, processOf, runOf, supervise, terminalWorker, turn } from "./support/runs.mjs";
import { answersHandoff } from "./support/team.mjs";
import { gate, never, once, until } from "./support/until.mjs";

const QUIET_MS = 3_000;
const order = (n) => `WORK-${n}: look into part ${n}`;

/** Work on a headless worker that runs `program` and never ends by itself. */
async function headlessAtWork(rig, program) {
	const boss = await lead(rig);
	const [worker] = await headlessWorkers(rig, boss, 1);
	rig.model.on("lead", /WORK-1:/, { tool: "bash", args: { command: program } }, { say: "never said" });
	await turn(rig, boss, "hand it out", { tools: [handOut(worker.sessionId, order(1), "part 1")] });
	const runId = await runOf(boss);
	await processOf(program);
	return { boss, worker, runId };
}

/** Work on a worker in a terminal, whose model's answer waits for `mayFinish`. */
async function terminalAtWork(rig) {
	const boss = await lead(rig);
	const worker = await terminalWorker(rig, boss, "Worker");
	const mayFinish = gate();
	rig.model.on("worker", /WORK-1:/, { say: "half of it", tool: "bash", args: { command: "echo half" } }, { say: "all of it", gate: mayFinish.promise });
	await turn(rig, boss, "hand it out", { tool: "intercom_send", args: { to: "Worker", message: order(1), run: true, label: "part 1" } });
	const runId = await runOf(boss);
	await until("the first half", () => worker.toolResults().some(({ tool }) => tool === "bash"), { timeoutMs: 30_000, detail: () => worker.screen() });
	await worker.waitForScreen(/… …/);
	return { boss, worker, runId, mayFinish };
}

const isAway = (rig, sessionId) =>
	until("its worker away", async () => {
		const { entries = [] } = await rig.broker.call("InspectionService/ListAttachments");
		return entries.find((entry) => entry.sessionId === sessionId)?.presence !== "PRESENCE_ATTACHED";
	}, { timeoutMs: 40_000 });

scenario("a second stop settles a run whose worker's Pi hangs, and what that says later changes nothing", { timeoutMs: 240_000 }, async (rig) => {
	const PROGRAM = "sleep 755.25";
	const { boss, worker, runId } = await headlessAtWork(rig, PROGRAM);
	const pi = Number(worker.hostPid);
	kill(pi, "SIGSTOP");
	const [first] = await turn(rig, boss, "stop it", supervise("stop", { runId }));
	assert.equal(first.isError, false, first.text);
	assert.match(first.text, /marked to be stopped, but not stopped yet/);
	assert.match(first.text, /stop it once more/);
	const [second, result] = await turn(rig, boss, "stop it again", supervise("stop", { runId }), supervise("result", { runId }));
	assert.match(second.text, /settled as stopped without the word of/);
	assert.match(result.text, /Stopped \(forced\)/);
	const [third] = await turn(rig, boss, "and again", supervise("stop", { runId }));
	assert.equal(third.isError, true);
	assert.match(third.text, /settled already/);

	// The control that waited for it cancels the work after all.
	kill(pi, "SIGCONT");
	await goneWithArguments(PROGRAM);
	await never("news of what is settled and was read", () => announcements(boss, runId) > 0, QUIET_MS);
	const [after] = await turn(rig, boss, "read it again", supervise("result", { runId }));
	assert.match(after.text, /Stopped \(forced\)/);
	// And it is a worker as before.
	rig.model.on("lead", /WORK-2:/, { say: "result of part 2" });
	const [, , waited] = await turn(rig, boss, "another", { tools: [handOut(worker.sessionId, order(2), "part 2")] }, supervise("peek"), supervise("wait"));
	assert.match(waited.text, /^> result of part 2$/m);
});

for (const [whose, says, isThere] of [
	["worker is away says so", /its worker is away, so nothing was cancelled/, false],
	["worker's agent hangs says that nothing is known yet", /has not said yet whether it cancels it|did not answer/, true],
]) {
	scenario(`a stop of a run whose ${whose}, and the second settles it`, { timeoutMs: 240_000 }, async (rig) => {
		const { boss, worker, runId, mayFinish } = await terminalAtWork(rig);
		const [agent] = worker.agentPids();
		kill(agent, "SIGSTOP");
		if (!isThere) await isAway(rig, worker.sessionId);
		const [first, peek] = await turn(rig, boss, "stop it", supervise("stop", { runId }), supervise("peek", { runId }));
		assert.match(first.text, /not stopped yet/);
		assert.match(first.text, says);
		assert.match(peek.text, /running .*stop asked for/);
		const [second] = await turn(rig, boss, "stop it again", supervise("stop", { runId }));
		assert.match(second.text, /settled as stopped without the word of/);
		await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 30_000, detail: () => boss.screen() });
		assert.match(bulletins(boss, "runs").at(-1).content, /^> half of it$/m, "what it had written is gone");

		kill(agent, "SIGCONT");
		mayFinish.open();
		await worker.waitForScreen(/all of it|aborted/);
		await never("a second announcement", () => announcements(boss, runId) !== 1, QUIET_MS);
		const [result] = await turn(rig, boss, "read it", supervise("result", { runId }));
		assert.match(result.text, /Stopped \(forced\)/);
		assert.doesNotMatch(result.text, /all of it/, "it was settled without that");
	});
}

scenario("a worker that was away when its run was stopped is told when it is back, and the run is stopped once", { timeoutMs: 240_000 }, async (rig) => {
	const { boss, worker, runId } = await terminalAtWork(rig);
	const [agent] = worker.agentPids();
	kill(agent, "SIGSTOP");
	await isAway(rig, worker.sessionId);
	const [first] = await turn(rig, boss, "stop it", supervise("stop", { runId }));
	assert.match(first.text, /its worker is away/);
	kill(agent, "SIGCONT");
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 40_000, detail: () => boss.screen() });
	const { content } = bulletins(boss, "runs").at(-1);
	assert.match(content, /Stopped \(cancelled\)/);
	assert.doesNotMatch(content, /once/, "a stop is no failure to be tried again");
	await once("announcement", () => announcements(boss, runId));
	const requests = worker.requests().length;
	await never("a turn of the stopped worker", () => worker.requests().length > requests, QUIET_MS);
});

scenario("a first stop is remembered over the death of the broker, so that the next one settles", { timeoutMs: 240_000 }, async (rig) => {
	const PROGRAM = "sleep 755.75";
	const { boss, worker, runId } = await headlessAtWork(rig, PROGRAM);
	kill(Number(worker.hostPid), "SIGSTOP");
	const [first] = await turn(rig, boss, "stop it", supervise("stop", { runId }));
	assert.match(first.text, /not stopped yet/);
	await rig.broker.kill();
	await brokerIsBack(rig, boss);
	const [second, result] = await turn(rig, boss, "stop it again", supervise("stop", { runId }), supervise("result", { runId }));
	assert.match(second.text, /settled as stopped without the word of/);
	assert.match(result.text, /Stopped \(forced\)/);
	kill(Number(worker.hostPid), "SIGCONT");
	await never("an announcement of what was read", () => announcements(boss, runId) > 0, QUIET_MS);
});

scenario("a stop ends all runs that its worker works on in that turn, each once", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const [worker] = await headlessWorkers(rig, boss, 1);
	const PROGRAM = "sleep 755.5";
	const mayGoOn = gate();
	rig.model.on("lead", /WORK-1:/, { tool: "bash", args: { command: "echo first" }, gate: mayGoOn.promise }, { say: "never said" });
	rig.model.on("lead", /WORK-2:/, { tool: "bash", args: { command: PROGRAM } }, { say: "never said" });
	await turn(rig, boss, "hand it out", { tools: [handOut(worker.sessionId, order(1), "part 1")] });
	await turn(rig, boss, "hand more out", { tools: [handOut(worker.sessionId, order(2), "part 2")] });
	const [first, second] = [await runOf(boss, 0), await runOf(boss, 1)];
	mayGoOn.open();
	await processOf(PROGRAM); // the second was steered into the first
	const [stopped] = await turn(rig, boss, "stop the first", supervise("stop", { runId: first }));
	assert.match(stopped.text, /Cancellation of run-\d+ was asked of|is stopped/);
	await goneWithArguments(PROGRAM);
	await until("both announcements", () => [first, second].every((id) => announcements(boss, id) === 1), { timeoutMs: 40_000, detail: () => boss.screen() });
	await never("another", () => [first, second].some((id) => announcements(boss, id) !== 1), QUIET_MS);
	const results = await turn(rig, boss, "read both", ...[first, second].map((runId) => supervise("result", { runId })));
	assert.match(results[0].text, /Stopped \(cancelled\): the worker's host has cancelled it/);
	assert.match(results[1].text, /Stopped \(cancelled\): it was cancelled at the worker/);
});

scenario("a stop of a run that still waits for its busy worker takes it back, and leaves the one at work alone", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const [worker] = await headlessWorkers(rig, boss, 1);
	const mayFinish = gate();
	rig.model.on("lead", /WORK-1:/, { say: "result of part 1", gate: mayFinish.promise });
	rig.model.on("lead", /WORK-2:/, { say: "never said" });
	await turn(rig, boss, "hand it out", { tools: [handOut(worker.sessionId, order(1), "part 1")] });
	const first = await runOf(boss);
	await until("the work", () => rig.model.requests("lead").some(({ users }) => users.some((text) => text.includes(order(1)))), { timeoutMs: 30_000 });
	const [, stopped, result] = await turn(rig, boss, "hand out and stop", { tools: [handOut(worker.sessionId, order(2), "part 2")] }, supervise("stop", (request) => ({ runId: /\brun-\d+\b/.exec(request.lastText)[0] })), supervise("result", (request) => ({ runId: /\brun-\d+\b/.exec(request.lastText)[0] })));
	const second = await runOf(boss, 1);
	assert.notEqual(second, first);
	assert.match(stopped.text, new RegExp(`^${second} is stopped\\.`));
	assert.match(result.text, /Stopped \(cancelled\): its message was withdrawn/);
	mayFinish.open();
	await until("the announcement", () => announcements(boss, first) === 1, { timeoutMs: 30_000, detail: () => boss.screen() });
	assert.match(bulletins(boss, "runs").at(-1).content, /^> (… )*result of part 1$/m);
	await never("the work that was taken back", () => announcements(boss, second) > 0 || boss.injected(worker.sessionId).some(({ content }) => content.includes("WORK-2")), QUIET_MS);
});

scenario("intercom_stop_worker settles an open run of that worker as stopped, once", { timeoutMs: 240_000 }, async (rig) => {
	const { boss, worker, runId } = await terminalAtWork(rig);
	const [stopped] = await turn(rig, boss, "stop the worker", { tool: "intercom_stop_worker", args: { to: "Worker" } });
	assert.equal(stopped.isError, false, stopped.text);
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 40_000, detail: () => boss.screen() });
	const { content } = bulletins(boss, "runs").at(-1);
	assert.match(content, /Stopped \(cancelled\): it was cancelled at the worker/);
	assert.match(content, /^> … … /m, "what it was writing is quoted");
	await once("announcement", () => announcements(boss, runId));
	const requests = worker.requests().length;
	await never("a turn of the stopped worker", () => worker.requests().length > requests, QUIET_MS);
});

scenario("intercom_close_worker lets an open run end, which is done once, and its worker is closed", { timeoutMs: 240_000 }, async (rig) => {
	const { boss, worker, runId, mayFinish } = await terminalAtWork(rig);
	answersHandoff(rig, "worker", "Done: part 1.");
	const [closing] = await turn(rig, boss, "close the worker", { tool: "intercom_close_worker", args: { to: "Worker" } });
	assert.equal(closing.isError, false, closing.text);
	const state = () => rig.config().agents.find(({ name }) => name === "Worker").closeJob?.state;
	mayFinish.open();
	await until("the end of the job", () => ["closed", "failed", "interrupted"].includes(state()), { timeoutMs: 60_000, detail: () => worker.screen() });
	assert.equal(state(), "closed");
	await until("the end of its Pi", () => !isAlive(worker.pid));
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 40_000, detail: () => boss.screen() });
	await once("announcement", () => announcements(boss, runId));
	const [result] = await turn(rig, boss, "read it", supervise("result", { runId }));
	assert.match(result.text, /^> (… )*all of it$/m, "what it wrote for the close is not its result");
	assert.doesNotMatch(result.text, /Failed|Stopped/);
});

scenario("a run that a close cuts short is interrupted, with what it had written, and not called done", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const worker = await terminalWorker(rig, boss, "Worker");
	const mayGoOn = gate();
	rig.model.on("worker", /WORK-1:/, { say: "half of it", tool: "bash", args: { command: "echo half" }, gate: mayGoOn.promise }, { say: "all of it" });
	await turn(rig, boss, "hand it out", { tool: "intercom_send", args: { to: "Worker", message: order(1), run: true, label: "part 1" } });
	const runId = await runOf(boss);
	await worker.waitForScreen(/… …/);
	answersHandoff(rig, "worker", "Done: nothing. Open: part 1.");
	await turn(rig, boss, "close the worker", { tool: "intercom_close_worker", args: { to: "Worker" } });
	mayGoOn.open();
	const state = () => rig.config().agents.find(({ name }) => name === "Worker").closeJob?.state;
	await until("the end of the job", () => state() === "closed", { timeoutMs: 60_000, detail: () => worker.screen() });
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 40_000, detail: () => boss.screen() });
	const [result] = await turn(rig, boss, "read it", supervise("result", { runId }));
	assert.match(result.text, /Failed \(interrupted\)/);
	assert.match(result.text, /^> .*handed over to be closed/m);
	assert.match(result.text, /^> (… )*half of it$/m);
	await once("announcement", () => announcements(boss, runId));
});
