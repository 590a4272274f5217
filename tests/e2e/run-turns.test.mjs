// Runs whose sessions do something else in the middle: a compaction, a reload, the death of an agent, the person's Escape.
import assert from "node:assert/strict";
import { end } from "./support/processes.mjs";
import { scenario } from "./support/rig.mjs";
import { allIdle, announcements, bulletins, collected, handOut, headlessWorkers, lead, runOf, supervise, terminalWorker, turn } from "./support/runs.mjs";
import { gate, never, once, until } from "./support/until.mjs";

const QUIET_MS = 3_000;
const order = (n) => `WORK-${n}: look into part ${n}`;
const HANDED_OUT = { tool: "intercom_send", args: { to: "Worker", message: order(1), run: true, label: "part 1" } };

scenario("a run whose worker compacts its session between two turns goes on, and is done once with its own text", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const worker = await terminalWorker(rig, boss, "Worker");
	// A context that is all but full is compacted by Pi itself, before the next request.
	rig.model.on("worker", /WORK-1:/, { say: "half of it", tool: "bash", args: { command: "echo half" }, usage: { prompt_tokens: 126_000, completion_tokens: 5, total_tokens: 126_005 } }, { say: "all of it" });
	rig.model.on("worker", /SUMMARY OF EVERYTHING/, () => ({ say: "all of it" }));
	await turn(rig, boss, "hand it out", HANDED_OUT);
	const runId = await runOf(boss);
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 60_000, detail: () => worker.screen() });
	assert.ok(worker.requests().some(({ compaction }) => compaction), "it was not compacted");
	const { content } = bulletins(boss, "runs").at(-1);
	assert.doesNotMatch(content, /failed|stopped|SUMMARY/i);
	assert.match(content, /^> all of it$/m);
	await once("announcement", () => announcements(boss, runId));
});

scenario("a person's /compact in the middle of a run ends it truthfully, once, and the worker takes the next", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const worker = await terminalWorker(rig, boss, "Worker");
	const mayCompact = gate();
	rig.model.compactionGate = mayCompact.promise;
	rig.model.on("worker", /WORK-1:/, { say: "half of it", tool: "bash", args: { command: "echo half" } }, { say: "never said", gate: new Promise(() => undefined) });
	await turn(rig, boss, "hand it out", HANDED_OUT);
	const runId = await runOf(boss);
	await until("the first half", () => worker.toolResults().some(({ tool }) => tool === "bash"), { timeoutMs: 30_000, detail: () => worker.screen() });
	await worker.waitForScreen(/… …/);
	await worker.prompt("/compact");
	await until("the compaction", () => worker.requests().some(({ compaction }) => compaction), { timeoutMs: 30_000, detail: () => worker.screen() });
	// Pi aborts the work for it and does not take it up again.
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 30_000, detail: () => worker.screen() });
	assert.match(bulletins(boss, "runs").at(-1).content, /Stopped \(cancelled\): it was cancelled at the worker/);
	rig.model.on("worker", /WORK-2:/, { say: "result of part 2" });
	await turn(rig, boss, "hand more out", { tool: "intercom_send", args: { to: "Worker", message: order(2), run: true, label: "part 2" } });
	const next = await runOf(boss, 1);
	mayCompact.open();
	await until("the next announcement", () => announcements(boss, next) === 1, { timeoutMs: 60_000, detail: () => worker.screen() });
	assert.match(bulletins(boss, "runs").at(-1).content, /^> result of part 2$/m);
	await never("a second settlement", () => announcements(boss, runId) !== 1 || announcements(boss, next) !== 1, QUIET_MS);
});

for (const [what, does, says] of [
	["Escape stops", (worker) => worker.press("Escape"), /Stopped \(cancelled\): it was cancelled at the worker/],
	["/new interrupts", (worker) => worker.prompt("/new"), /Failed \(interrupted\): the worker's host ended while it worked on it/],
]) {
	scenario(`a person's ${what} a run, once`, { timeoutMs: 240_000 }, async (rig) => {
		const boss = await lead(rig);
		const worker = await terminalWorker(rig, boss, "Worker");
		rig.model.on("worker", /WORK-1:/, { say: "half of it", tool: "bash", args: { command: "echo half" } }, { say: "never said", gate: new Promise(() => undefined) });
		await turn(rig, boss, "hand it out", HANDED_OUT);
		const runId = await runOf(boss);
		await worker.waitForScreen(/half[\s\S]*… …/, { timeoutMs: 30_000 });
		await does(worker);
		await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 40_000, detail: () => worker.screen() });
		assert.match(bulletins(boss, "runs").at(-1).content, says);
		await once("announcement", () => announcements(boss, runId));
		await never("another", () => announcements(boss, runId) !== 1, QUIET_MS);
	});
}

scenario("runs that end while their supervisor is dead are announced once when it is back", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const workers = await headlessWorkers(rig, boss, 2);
	const mayFinish = gate();
	for (const n of [1, 2]) rig.model.on("lead", new RegExp(`WORK-${n}:`), { say: `result of part ${n}`, gate: mayFinish.promise });
	await turn(rig, boss, "hand it out", { tools: workers.map(({ sessionId }, index) => handOut(sessionId, order(index + 1), `part ${index + 1}`)) });
	const ids = [await runOf(boss, 0), await runOf(boss, 1)];
	await until("both at work", () => [1, 2].every((n) => rig.model.requests("lead").some(({ users }) => users.some((text) => text.includes(order(n))))), { timeoutMs: 30_000 });
	await boss.kill();
	mayFinish.open();
	await allIdle(rig, workers);
	await boss.start();
	await boss.ready(/coordinator/i);
	await until("the announcements", () => ids.every((id) => announcements(boss, id) === 1), { timeoutMs: 40_000, detail: () => boss.screen() });
	assert.equal(bulletins(boss, "runs").length, 1, "a burst is one digest");
	for (const n of [1, 2]) assert.match(bulletins(boss, "runs")[0].content, new RegExp(`^> (… )*result of part ${n}$`, "m"));
	await boss.prompt("/reload");
	await boss.ready(/coordinator/i);
	await never("another", () => ids.some((id) => announcements(boss, id) !== 1), QUIET_MS);
	const charges = (await turn(rig, boss, "read them", ...ids.map((runId) => supervise("result", { runId })))).map(({ usage }) => usage?.output);
	assert.deepEqual(charges, [5, 5]);
});

/** A coordinator whose call `wait` waits for a run that ends when the test says so. */
async function inWait(rig, count = 1) {
	const boss = await lead(rig);
	const workers = await headlessWorkers(rig, boss, count);
	const gates = workers.map(() => gate());
	for (const [index, { promise }] of gates.entries()) rig.model.on("lead", new RegExp(`WORK-${index + 1}:`), { say: `result of part ${index + 1}`, gate: promise });
	rig.model.on("lead", /^hand it out$/, { tools: workers.map(({ sessionId }, index) => handOut(sessionId, order(index + 1), `part ${index + 1}`)) }, supervise("wait"), { say: "all is read" });
	await boss.prompt("hand it out");
	const ids = [];
	for (const index of workers.keys()) ids.push(await runOf(boss, index));
	await boss.waitForScreen(/waiting for \d of/, { timeoutMs: 30_000 });
	return { boss, ids, gates };
}

scenario("a wait goes on over the death of its agent, and what it brings is not announced", { timeoutMs: 240_000 }, async (rig) => {
	const { boss, ids, gates } = await inWait(rig);
	const [agent] = boss.agentPids();
	await end(agent);
	await until("the next agent", () => boss.agentPids().some((pid) => pid !== agent), { timeoutMs: 30_000 });
	gates[0].open();
	await boss.waitForScreen(/all is read/, { timeoutMs: 60_000 });
	const waits = boss.toolResults().filter(({ tool, text }) => tool === "intercom" && /ended|wait/i.test(text)).slice(-1);
	assert.match(waits[0].text, /result of part 1$/m);
	assert.deepEqual(collected(boss), ids);
	await never("an announcement", () => announcements(boss, ids[0]) > 0, QUIET_MS);
});

scenario("a /reload in the middle of a wait leaves the runs to be announced, once each", { timeoutMs: 240_000 }, async (rig) => {
	const { boss, ids, gates } = await inWait(rig, 2);
	await boss.prompt("/reload");
	// Pi does not reload while it works; Escape gives the wait up first.
	await boss.press("Escape");
	const given = await until("the end of the wait", () => boss.toolResults().find(({ text }) => /given up/.test(text)), { timeoutMs: 30_000, detail: () => boss.screen() });
	assert.equal(given.isError, true);
	assert.match(given.text, /nothing was collected by it/);
	for (const id of ids) assert.ok(given.text.includes(id), given.text);
	const [agent] = boss.agentPids();
	await boss.waitForScreen(/aborted|\/reload/i);
	await boss.press("C-c"); // what Pi put back into its editor
	await boss.prompt("/reload");
	await until("the next agent", () => boss.agentPids().some((pid) => pid !== agent), { timeoutMs: 30_000, detail: () => boss.screen() });
	for (const { open } of gates) open();
	await until("the announcements", () => ids.every((id) => announcements(boss, id) === 1), { timeoutMs: 60_000, detail: () => boss.screen() });
	await never("another", () => ids.some((id) => announcements(boss, id) !== 1), QUIET_MS);
	assert.deepEqual(collected(boss), []);
	const [first, second] = await turn(rig, boss, "read them", ...ids.map((runId) => supervise("result", { runId })));
	assert.match(first.text, /result of part 1$/m);
	assert.match(second.text, /result of part 2$/m);
});
