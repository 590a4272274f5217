// Work handed out as runs on real Pi: followed, steered, stopped, joined and
// read, whoever dies meanwhile.
import assert from "node:assert/strict";
import { intercom, intercomResult } from "./support/peers.mjs";
import { pidsWithArguments } from "./support/processes.mjs";
import { scenario } from "./support/rig.mjs";
import { allIdle, announcements, brokerIsBack, bulletins, collected, goneWithArguments, handOut, headlessWorkers, lead, processOf, runCalled, runOf, supervise, terminalWorker, theRun } from "./support/runs.mjs";
import { gate, never, once, until } from "./support/until.mjs";

const QUIET_MS = 5_000;

/** What the nth run's worker is asked; its model answers by that. */
const order = (n) => `WORK-${n}: look into part ${n}`;

scenario("six headless workers: peeked at, steered, stopped in a program, asked back, joined and read, over two deaths of the broker", { timeoutMs: 400_000 }, async (rig) => {
	const boss = await lead(rig);
	const workers = await headlessWorkers(rig, boss, 6);
	const [mayPeek, mayGoOn, mayFinish] = [gate(), gate(), gate()];
	const PROGRAM = "sleep 733.25";
	rig.model.on("lead", /WORK-1:/, { say: "result of part 1", gate: mayGoOn.promise });
	rig.model.on("lead", /WORK-2:/, { tool: "contact_supervisor", args: { reason: "need_decision", message: "Left or right?" }, gate: mayGoOn.promise }, (request) => ({ say: `result of part 2: ${/go right/i.test(request.lastText) ? "went right" : "lost"}` }));
	rig.model.on("lead", /WORK-3:/, { tool: "bash", args: { command: "echo first" }, gate: mayGoOn.promise }, { say: "result of part 3, never steered" });
	rig.model.on("lead", /STEER-3/, { say: "result of part 3, steered" });
	rig.model.on("lead", /WORK-4:/, { tool: "bash", args: { command: PROGRAM } }, { say: "never said" });
	for (const n of [5, 6]) rig.model.on("lead", new RegExp(`WORK-${n}:`), { say: `result of part ${n}`, gate: mayFinish.promise });
	rig.model.on(
		"lead",
		/hand it out/,
		{ tools: workers.map(({ sessionId }, index) => handOut(sessionId, order(index + 1), `part ${index + 1}`)) },
		supervise("peek", {}, { gate: mayPeek.promise }),
		supervise("steer", theRun("part 3", { message: "STEER-3: use the index" })),
		supervise("stop", theRun("part 4")),
		supervise("wait"),
		supervise("reply", { message: "Go right." }),
		supervise("wait"),
		...[1, 2, 3, 4, 5, 6].map((n) => supervise("result", theRun(`part ${n}`))),
		{ say: "all six are read" },
	);

	await boss.prompt("hand it out");
	const program = await processOf(PROGRAM);
	const isRead = (n) => rig.model.requests("lead").some(({ users }) => users.some((text) => text.includes(order(n))));
	await until("all six at work", () => [1, 2, 3, 4, 5, 6].every(isRead), { timeoutMs: 60_000 });
	await rig.broker.kill();
	await brokerIsBack(rig, boss);
	mayPeek.open();
	await intercomResult(boss, 8, { timeoutMs: 60_000 }); // six were sent, one peeked, one steered, one stopped
	await goneWithArguments(PROGRAM);
	mayGoOn.open();
	await until("the question", () => boss.toolResults().some(({ text }) => /Left or right\?/.test(text)), { timeoutMs: 60_000, detail: () => boss.screen() });
	await rig.broker.kill();
	mayFinish.open();
	await boss.waitForScreen(/all six are read/, { timeoutMs: 120_000 });

	const results = boss.toolResults().filter(({ tool }) => tool === "intercom");
	assert.deepEqual(results.slice(0, 9).filter(({ isError }) => isError), []);
	const peek = results[6].text;
	const ids = [1, 2, 3, 4, 5, 6].map((n) => runCalled(`part ${n}`, peek));
	assert.equal(new Set(ids).size, 6, peek);
	assert.doesNotMatch(peek, /result of|WORK-/, "a peek shows no text of a worker, nor what it was asked");
	assert.ok(!pidsWithArguments(PROGRAM).includes(program));

	const read = results.slice(-6).map(({ text }) => text);
	for (const [index, said] of ["part 1", "part 2: went right", "part 3, steered", undefined, "part 5", "part 6"].entries()) {
		assert.ok(read[index].includes(ids[index]), read[index]);
		if (said === undefined) assert.match(read[index], /stopped/i);
		else assert.match(read[index], new RegExp(`^> .*result of ${said}$`, "m"));
	}
	// All were collected in the turn that handed them out: nothing is announced afterwards, and none is lost.
	await never("a bulletin about them", () => ids.some((id) => announcements(boss, id) > 0), QUIET_MS);
	for (const id of ids) assert.ok(collected(boss).includes(id), `${id} was never collected: ${collected(boss)}`);
	// Each order came once, whatever died meanwhile.
	for (const { sessionId } of workers) assert.equal(boss.injected(sessionId).filter(({ content }) => /WORK-\d:/.test(content)).length, 1);
});

scenario("a run on a worker in a terminal settles with its last text and wakes the idle coordinator once", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const worker = await terminalWorker(rig, boss, "Worker");
	const mayFinish = gate();
	rig.model.on("worker", /WORK-1:/, { say: "I look", tool: "bash", args: { command: "echo looked" } }, { say: "the answer is 42", gate: mayFinish.promise });
	rig.model.on("lead", /hand it out/, { tool: "intercom_send", args: { to: "Worker", message: order(1), run: true, label: "the question" } }, { say: "handed out" });
	await boss.prompt("hand it out");
	await boss.waitForScreen(/handed out/);
	const id = await runOf(boss);
	await worker.waitForText(order(1));
	mayFinish.open();
	await until("the announcement", () => announcements(boss, id) === 1, { timeoutMs: 30_000, detail: () => boss.screen() });
	const woken = await boss.waitForText("the answer is 42");
	assert.match(woken.users.at(-1), /^> .*the answer is 42$/m, "the result is fenced");
	assert.match(woken.users.at(-1), /the question/);
	await once("announcement", () => announcements(boss, id));
	await never("another turn about it", () => boss.requests().filter(({ lastText }) => lastText.includes("the answer is 42")).length > 1, QUIET_MS);
	assert.equal(worker.times(order(1)), 1);
});

scenario("a burst of completions is one digest, and what was collected is not in it", { timeoutMs: 300_000 }, async (rig) => {
	const boss = await lead(rig);
	const workers = await headlessWorkers(rig, boss, 4);
	const [mayFinish, mayEnd] = [gate(), gate()];
	for (const n of [1, 2, 3, 4]) rig.model.on("lead", new RegExp(`WORK-${n}:`), { say: `result of part ${n}`, ...(n === 1 ? {} : { gate: mayFinish.promise }) });
	rig.model.on(
		"lead",
		/hand it out/,
		{ tools: workers.map(({ sessionId }, index) => handOut(sessionId, order(index + 1), `part ${index + 1}`)) },
		supervise("peek"),
		supervise("wait", theRun("part 1")),
		{ say: "one is read", gate: mayEnd.promise },
	);
	await boss.prompt("hand it out");
	const peek = (await intercomResult(boss, 4, { timeoutMs: 60_000 })).text;
	assert.match((await intercomResult(boss, 5, { timeoutMs: 60_000 })).text, /result of part 1/);
	const ids = [1, 2, 3, 4].map((n) => runCalled(`part ${n}`, peek));
	mayFinish.open();
	await allIdle(rig, workers);
	await never("a bulletin into the turn", () => bulletins(boss, "runs").length > 0, 1_000);
	mayEnd.open();
	await until("the digest", () => ids.slice(1).every((id) => announcements(boss, id) === 1), { timeoutMs: 30_000, detail: () => boss.screen() });
	await never("another bulletin", () => bulletins(boss, "runs").length !== 1 || announcements(boss, ids[0]) !== 0, QUIET_MS);
	const [digest] = bulletins(boss, "runs");
	for (const n of [2, 3, 4]) assert.match(digest.content, new RegExp(`^> .*result of part ${n}$`, "m"));
	assert.match(digest.content.split("\n")[0], /3/, "the first line counts");
});

scenario("/intercom runs off refuses runs and nothing else", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const worker = await terminalWorker(rig, boss, "Worker");
	await worker.prompt("/intercom runs off");
	await worker.waitForScreen(/runs/i);
	rig.model.on(
		"lead",
		/hand it out/,
		{ tool: "intercom_send", args: { to: "Worker", message: order(1), run: true, label: "part 1" } },
		{ tool: "intercom_send", args: { to: "Worker", message: "A plain message." } },
		{ say: "tried" },
	);
	await boss.prompt("hand it out");
	const refused = await boss.toolResult("intercom_send", 0);
	assert.equal(refused.isError, true);
	assert.match(refused.text, /run/i);
	assert.equal((await boss.toolResult("intercom_send", 1)).isError, false);
	await once("plain message", () => worker.times("A plain message."));
	assert.equal(worker.times(order(1)), 0, "the refused work came all the same");
});

scenario("a worker that asks in the middle is answered by an idle coordinator, and the run goes on", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const worker = await terminalWorker(rig, boss, "Worker");
	rig.model.on("worker", /WORK-1:/, { tool: "contact_supervisor", args: { reason: "progress_update", message: "Half way." } }, { tool: "contact_supervisor", args: { reason: "need_decision", message: "Left or right?" } }, (request) => ({ say: /go right/i.test(request.lastText) ? "went right" : "lost" }));
	rig.model.on("lead", /hand it out/, { tool: "intercom_send", args: { to: "Worker", message: order(1), run: true, label: "part 1" } }, { say: "handed out" });
	rig.model.on("lead", /Left or right\?/, intercom({ action: "reply", message: "Go right." }), { say: "decided" });
	rig.model.on("lead", /read the inbox/, supervise("inbox"), { say: "read it" });
	await boss.prompt("hand it out");
	await boss.waitForScreen(/decided/, { timeoutMs: 60_000 });
	const id = await runOf(boss);
	await until("the announcement", () => announcements(boss, id) === 1, { timeoutMs: 30_000, detail: () => boss.screen() });
	assert.match(bulletins(boss, "runs").at(-1).content, /^> went right$/m);
	assert.equal(boss.times("Half way."), 0, "a note wakes nobody");
	await boss.prompt("read the inbox");
	await boss.waitForScreen(/read it/);
	assert.match(boss.toolResults().findLast(({ tool }) => tool === "intercom").text, /^> Half way\.$/m);
	assert.equal((await worker.toolResult("contact_supervisor", 1)).isError, false);
});
