// When and how often a message reaches a session.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { scenario } from "./support/rig.mjs";
import { piWorker, reached, record, stubCoordinator, stubWorker, use } from "./support/team.mjs";
import { gate, never, once, sleep, until } from "./support/until.mjs";

async function two(rig) {
	const lead = await stubCoordinator(rig);
	const other = await stubWorker(rig, lead, "Other");
	const worker = await piWorker(rig, lead, "Tester");
	return { lead, other, worker };
}

function sendBoth(lead, other, text) {
	return Promise.all([
		use(lead, "intercom_send", { to: "Tester", message: `${text} from the lead` }),
		use(other, "intercom_send", { to: "Tester", message: `${text} from the other` }),
	]);
}

async function bothOnce(rig, worker, text) {
	for (const sender of ["lead", "other"]) {
		await worker.waitForText(`${text} from the ${sender}`);
		await once(`copy from the ${sender}`, () => worker.times(`${text} from the ${sender}`));
	}
	for (const found of (await rig.broker.records()).filter((entry) => entry.envelope.text.startsWith(text))) {
		await reached(rig, found.deliveryId, "SEEN");
	}
}

scenario("two messages at the same instant reach an idle worker, each once", async (rig) => {
	const { lead, other, worker } = await two(rig);
	await sendBoth(lead, other, "At once");
	await bothOnce(rig, worker, "At once");
});

scenario("two messages at the same instant reach a busy worker at its next boundary", async (rig) => {
	const { lead, other, worker } = await two(rig);
	const busy = gate();
	rig.model.on("tester", /long work/, { gate: busy.promise, tool: "bash", args: { command: "true" } }, { say: "worked" });
	await worker.prompt("long work");
	await worker.waitForText("long work");

	await sendBoth(lead, other, "Meanwhile");
	await never("a message in the middle of a turn", () => worker.times("Meanwhile") > 0, 800);
	busy.open();
	await bothOnce(rig, worker, "Meanwhile");
	const text = worker.entries().map((entry) => JSON.stringify(entry)).join("\n");
	assert.ok(text.indexOf("long work") < text.indexOf("Meanwhile"));
});

scenario("a burst of twenty arrives in the order sent", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await piWorker(rig, lead, "Tester");
	const names = Array.from({ length: 20 }, (_, index) => `Burst number ${index};`);
	await Promise.all(names.map((message) => use(lead, "intercom_send", { to: "Tester", message })));
	await until("all twenty", () => names.every((name) => worker.times(name) === 1), {
		timeoutMs: 60_000,
		detail: () => names.filter((name) => worker.times(name) !== 1).join(" "),
	});
	const order = worker.injected().map((message) => /Burst number (\d+);/.exec(message.content)?.[1]).filter(Boolean).map(Number);
	assert.deepEqual(order, names.map((_, index) => index));
});

scenario("Escape while a message is held does not lose it", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await piWorker(rig, lead, "Tester");
	rig.model.on("tester", /long work/, { hang: true });
	rig.model.on("tester", /Held while busy/, { say: "read" });
	await worker.prompt("long work");
	await worker.waitForText("long work");
	const id = randomUUID();
	await use(lead, "intercom_send", { to: "Tester", message: "Held while busy." }, id);
	await until("the hold", async () => (await record(rig, id)).waitReason === "WAIT_REASON_BUSY");

	await worker.press("Escape");
	await worker.waitForText("Held while busy.");
	await reached(rig, id, "SEEN");
	assert.equal(worker.times("Held while busy."), 1);
});

scenario("Escape at any moment around a hand-over loses and doubles nothing", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await piWorker(rig, lead, "Tester");
	const steps = (length) => Array.from({ length }, () => ({ tool: "bash", args: { command: "sleep 0.05" } }));
	rig.model.on("tester", /busy round/, ...steps(20), { say: "round over" });
	rig.model.on("tester", /Escape case/, ...steps(5), { say: "read" });
	const ids = [];
	for (let round = 0; round < 8; round++) {
		const before = worker.requests().length;
		await worker.prompt(`busy round ${round}`);
		await until("the round", () => worker.requests().length > before);
		const id = randomUUID();
		ids.push(id);
		await use(lead, "intercom_send", { to: "Tester", message: `Escape case ${round};` }, id);
		await sleep(round * 17);
		await worker.press("Escape");
		await reached(rig, id, "INJECTED", { timeoutMs: 30_000 });
		await until("an idle editor", async () => (await worker.rosterEntry()).activity?.phase === "ACTIVITY_PHASE_IDLE");
	}
	ids.forEach((_, round) => assert.equal(worker.times(`Escape case ${round};`), 1, `round ${round}`));
});

scenario("a message during a manual compaction arrives after it", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await piWorker(rig, lead, "Tester");
	await worker.prompt("something to compact");
	await until("an answer", () => worker.entries().some((entry) => entry.message?.role === "assistant"));
	const compaction = gate();
	rig.model.compactionGate = compaction.promise;
	await worker.prompt("/compact");
	await until("the compaction", () => worker.requests().some((request) => request.compaction));

	const id = randomUUID();
	await use(lead, "intercom_send", { to: "Tester", message: "During the compaction." }, id);
	await until("the hold", async () => (await record(rig, id)).waitReason === "WAIT_REASON_COMPACTION");
	await never("a message beside the compaction", () => worker.times("During the compaction.") > 0, 1_000);
	compaction.open();
	const request = await worker.waitForText("During the compaction.");
	await reached(rig, id, "SEEN");

	assert.equal(worker.times("During the compaction."), 1);
	const types = worker.entries().map((entry) => entry.type);
	assert.ok(types.lastIndexOf("compaction") < types.lastIndexOf("custom_message"), types.join(" "));
	assert.match(request.system, /Does the work of Tester/, "the role is gone after the compaction");
});

scenario("a worker that is away gets its mail on return, once", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await piWorker(rig, lead, "Tester");
	await worker.prompt("a first turn");
	await until("a session file", () => worker.entries().some((entry) => entry.message?.role === "assistant"));
	await worker.quit();

	const id = randomUUID();
	const sent = await use(lead, "intercom_send", { to: "Tester", message: "Kept for you." }, id);
	assert.match(sent.text, /queued|away|wait/i);
	assert.equal((await record(rig, id)).waitReason, "WAIT_REASON_AWAY");
	const status = await rig.broker.cli(["status", id], { cwd: rig.project });
	assert.match(status.stdout, /away/i);

	await worker.start();
	await worker.waitForText("Kept for you.");
	await reached(rig, id, "SEEN");
	await worker.quit();
	await worker.start();
	await worker.ready(/Tester|worker/i);
	await never("the same mail again", () => worker.times("Kept for you.") !== 1, 1_500);
});

scenario("kill -9 of a fresh worker in its first turn: the message comes again, once", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await piWorker(rig, lead, "Tester");
	rig.model.on("tester", /first assignment/i, { hang: true });
	const id = randomUUID();
	await use(lead, "intercom_send", { to: "Tester", message: "Your first assignment." }, id);
	await worker.waitForText("Your first assignment.");
	assert.deepEqual(worker.entries(), [], "the host wrote a file before an answer");
	assert.equal((await record(rig, id)).state, "DELIVERY_STATE_DELIVERED", "nothing proves an injection yet");
	await worker.kill();

	rig.model.on("tester", /first assignment/i, { say: "understood" });
	await worker.start();
	await reached(rig, id, "SEEN", { timeoutMs: 40_000 });
	await once("copy", () => worker.times("Your first assignment."));
});
