// What comes back from work that was handed out as a run: whole, charged once, and harmless whatever it is called.
import assert from "node:assert/strict";
import { scenario } from "./support/rig.mjs";
import { announcements, bulletins, handOut, headlessWorkers, lead, runCalled, runOf, supervise, turn } from "./support/runs.mjs";
import { gate, until } from "./support/until.mjs";

const order = (n) => `WORK-${n}: look into part ${n}`;
const charged = ({ usage }) => usage && { input: usage.input, output: usage.output };
const announced = (boss, runId) => until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 40_000, detail: () => boss.screen() });

scenario("result after an announcement answers whole, and a run is charged once over result, wait and what repeats them", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const workers = await headlessWorkers(rig, boss, 2);
	const mayFinish = gate();
	for (const n of [1, 2]) rig.model.on("lead", new RegExp(`WORK-${n}:`), { tool: "bash", args: { command: "echo looked" }, gate: n === 2 ? mayFinish.promise : undefined }, { say: `result of part ${n}` });
	await turn(rig, boss, "hand it out", { tools: workers.map(({ sessionId }, index) => handOut(sessionId, order(index + 1), `part ${index + 1}`)) });
	const [first, second] = [await runOf(boss, 0), await runOf(boss, 1)];
	await announced(boss, first);
	const ofFirst = await turn(rig, boss, "read the first", supervise("result", { runId: first }), supervise("wait", { runId: first }), supervise("result", { runId: first }));
	for (const { text } of ofFirst) assert.match(text, /^> result of part 1$/m);
	assert.deepEqual(ofFirst.map(charged), [{ input: 200, output: 10 }, undefined, undefined]);

	mayFinish.open();
	await announced(boss, second);
	const ofSecond = await turn(rig, boss, "join the second", supervise("wait", { runId: second }), supervise("result", { runId: second }), supervise("wait", { runId: second }));
	for (const { text } of ofSecond) assert.match(text, /^> result of part 2$/m);
	assert.deepEqual(ofSecond.map(charged), [{ input: 200, output: 10 }, undefined, undefined]);
});

scenario("a run that several calls of one message collect is charged once", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const [worker] = await headlessWorkers(rig, boss, 1);
	rig.model.on("lead", /WORK-1:/, { say: "result of part 1" });
	await turn(rig, boss, "hand it out", { tools: [handOut(worker.sessionId, order(1), "part 1")] });
	const runId = await runOf(boss);
	await announced(boss, runId);
	const call = (action) => ["intercom", { action, runId }];
	const results = await turn(rig, boss, "read it", { tools: [call("result"), call("wait"), call("result"), call("wait")] });
	assert.equal(results.length, 4);
	for (const { text } of results) assert.match(text, /^> result of part 1$/m);
	assert.deepEqual(results.map(charged).filter((usage) => usage !== undefined), [{ input: 100, output: 5 }]);
});

scenario("a result of 48,000 characters is announced in part and read whole", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const [worker] = await headlessWorkers(rig, boss, 1);
	// 1,000 lines of 47 characters and their end.
	const lines = Array.from({ length: 1_000 }, (_, index) => `line ${String(index).padStart(4, "0")} ${"é".repeat(37)}`);
	assert.equal(`${lines.join("\n")}\n`.length, 48_000);
	rig.model.on("lead", /WORK-1:/, { say: `${lines.join("\n")}\n` });
	await turn(rig, boss, "hand it out", { tools: [handOut(worker.sessionId, order(1), "part 1")] });
	const runId = await runOf(boss);
	await announced(boss, runId);
	const { content } = bulletins(boss, "runs").at(-1);
	assert.ok(content.length <= 4_500, `${content.length} characters`);
	const quoted = content.split("\n").filter((line) => line.startsWith("> line "));
	for (const line of quoted) assert.ok(lines.includes(line.slice(2)), `a line was cut: ${line}`);
	assert.equal(quoted[0].slice(2), lines[0]);
	assert.equal(quoted.at(-1).slice(2), lines.at(-1));

	const [result] = await turn(rig, boss, "read it", supervise("result", { runId }));
	assert.deepEqual(result.text.split("\n").filter((line) => line.startsWith("> line ")).map((line) => line.slice(2)), lines);
	// And the model had it so.
	const asked = boss.requests().findLast(({ lastRole, lastText }) => lastRole === "tool" && lastText.includes("line 0000"));
	for (const line of [lines[0], lines[500], lines.at(-1)]) assert.ok(asked.lastText.includes(line));
});

scenario("a run's label of emoji, reordering marks and quotes stays what it is, on one line, and names no other", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const [worker] = await headlessWorkers(rig, boss, 1);
	const mayFinish = gate();
	rig.model.on("lead", /WORK-1:/, { say: "result of part 1", gate: mayFinish.promise });
	const LABEL = "👩‍👩‍👧 \u202egnidaelsim\u202c \u2066left\u2069 \" · done > run-999 \u200b\u{e0041}end";
	const [sent] = await turn(rig, boss, "hand it out", { tools: [handOut(worker.sessionId, order(1), LABEL)] });
	assert.equal(sent.isError, false, sent.text);
	const runId = await runOf(boss);
	const [peek] = await turn(rig, boss, "peek", supervise("peek"));
	mayFinish.open();
	await announced(boss, runId);
	const [result] = await turn(rig, boss, "read it", supervise("result", { runId }));
	for (const text of [sent.text, peek.text, bulletins(boss, "runs").at(-1).content, result.text]) {
		// A joiner is left where it joins a picture.
		assert.doesNotMatch(text.replaceAll("👩‍👩‍👧", ""), /[\u200b-\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u, JSON.stringify(text));
	}
	for (const text of [peek.text, bulletins(boss, "runs").at(-1).content, result.text]) {
		const line = text.split("\n").filter((candidate) => candidate.includes(runId));
		assert.equal(line.length, 1, text);
		assert.match(line[0], /gnidaelsim/);
		assert.ok(line[0].indexOf(runId) < line[0].indexOf("run-999"), "its own id comes first");
	}
	assert.equal(runCalled("gnidaelsim", peek.text), runId);
	const [again] = await turn(rig, boss, "follow what it names", supervise("peek", { runId: "run-999" }));
	assert.equal(again.isError, true);
});
