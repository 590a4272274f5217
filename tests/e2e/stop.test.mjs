// intercom_stop_worker on real Pi sessions: whatever the worker is doing ends, nothing starts again, and its session stays.
import assert from "node:assert/strict";
import { pidsWithArguments } from "./support/processes.mjs";
import { scenario } from "./support/rig.mjs";
import { sessionEntries } from "./support/session-file.mjs";
import { piWorker, refused, stubCoordinator, use } from "./support/team.mjs";
import { gate, never, until } from "./support/until.mjs";

const QUIET_MS = 5_000;

/** One finished turn, so that the session has a file and something to compact. */
async function firstTurn(rig, lead, pi, name) {
	await use(lead, "intercom_send", { to: name, message: "warm up" });
	await pi.waitForScreen(/ok/);
	await until(`the session file of ${name}`, () => pi.entries().length > 0);
}

const SITUATIONS = {
	async Streamer(rig, lead, pi) {
		rig.model.on("streamer", /stream for ever/, { gate: new Promise(() => undefined) });
		await use(lead, "intercom_send", { to: "Streamer", message: "stream for ever" });
		await pi.waitForScreen(/… …/);
	},
	async Fresh(rig, lead, pi) {
		rig.model.on("fresh", /say nothing/, { hang: true });
		await use(lead, "intercom_send", { to: "Fresh", message: "say nothing" });
		await pi.waitForText("say nothing");
		assert.deepEqual(sessionEntries(pi.agentDirectory, pi.sessionId), [], "the session has a file already");
	},
	async Basher(rig, lead, pi) {
		await firstTurn(rig, lead, pi, "Basher");
		rig.model.on("basher", /run for ever/, { tool: "bash", args: { command: "sleep 311.5" } }, { say: "never said" });
		await use(lead, "intercom_send", { to: "Basher", message: "run for ever" });
		await until("the program", () => pidsWithArguments("sleep 311.5").length > 0);
	},
	async Retrier(rig, lead, pi) {
		await firstTurn(rig, lead, pi, "Retrier");
		rig.model.on("retrier", /fail for ever/, () => ({ status: 529 }));
		await use(lead, "intercom_send", { to: "Retrier", message: "fail for ever" });
		await pi.waitForScreen(/retry/i);
	},
	async Compacter(rig, lead, pi) {
		await firstTurn(rig, lead, pi, "Compacter");
		await pi.prompt("/compact");
		await until("the compaction", () => rig.model.requests("compacter").some((request) => request.compaction));
	},
};

scenario("a stop ends streaming, a program, a retry, a compaction and a first answer, and nothing starts again", { timeoutMs: 240_000 }, async (rig) => {
	const lead = await stubCoordinator(rig);
	rig.model.compactionGate = gate().promise;
	const workers = new Map();
	for (const name of Object.keys(SITUATIONS)) workers.set(name, await piWorker(rig, lead, name));
	await Promise.all(
		[...workers].map(async ([name, pi]) => {
			await SITUATIONS[name](rig, lead, pi);
			const result = await use(lead, "intercom_stop_worker", { to: name });
			assert.match(result.text, /stopped|stands still/i, name);
			const requests = rig.model.requests(name.toLowerCase()).length;
			await never(`a model request of ${name} after the stop`, () => rig.model.requests(name.toLowerCase()).length > requests, QUIET_MS);
			const entry = await pi.rosterEntry();
			assert.equal(entry.sessionId, pi.sessionId, `${name} has another session now`);
			assert.equal(entry.activity.phase, "ACTIVITY_PHASE_IDLE", name);
		}),
	);
	assert.deepEqual(pidsWithArguments("sleep 311.5"), [], "the program outlived the stop");

	// Each goes on with new work, in its old session.
	for (const [name, pi] of workers) {
		rig.model.on(name.toLowerCase(), /on with it/, { say: "on with it indeed" });
		await use(lead, "intercom_send", { to: name, message: "on with it" });
		await pi.waitForScreen(/on with it indeed/);
	}
});

scenario("what the person had queued is named and still there, and mail that waited starts no turn", async (rig) => {
	const lead = await stubCoordinator(rig);
	const pi = await piWorker(rig, lead, "Busy");
	await firstTurn(rig, lead, pi, "Busy");
	rig.model.on("busy", /take your time/, { gate: new Promise(() => undefined) });
	await use(lead, "intercom_send", { to: "Busy", message: "take your time" });
	await pi.waitForScreen(/… …/);
	await pi.prompt("my own words");
	const waiting = await use(lead, "intercom_send", { to: "Busy", message: "mail that waits" });
	await until("the mail at its host", async () => (await rig.broker.call("MessageService/GetMessage", { id: waiting.details.envelopeId })).record.waitReason === "WAIT_REASON_BUSY");
	const result = await use(lead, "intercom_stop_worker", { to: "Busy" });
	assert.match(result.text, /my own words/);
	const requests = pi.requests().length;
	await never("a model request", () => pi.requests().length > requests, QUIET_MS);
	assert.match(await pi.screen(), /my own words/);
	assert.equal(pi.times("mail that waits"), 1, "the mail was put into the session");
	await use(lead, "intercom_send", { to: "Busy", message: "now go on" });
	const next = await pi.waitForText("now go on");
	assert.ok(next.users.some((text) => text.includes("mail that waits")), "and is read with the next message");
});

scenario("a stop of a worker that stands still, is away, or is unknown", async (rig) => {
	const lead = await stubCoordinator(rig);
	const pi = await piWorker(rig, lead, "Idle");
	assert.match((await use(lead, "intercom_stop_worker", { to: "idle" })).text, /stopped|stands still/i);
	assert.equal(pi.requests().length, 0);
	await refused(lead, "UNKNOWN_WORKER", "intercom_stop_worker", { to: "nobody" });
	await refused(lead, "TARGET_IS_COORDINATOR", "intercom_stop_worker", { to: "Coordinator" });
	await pi.quit();
	await until("it is away", async () => (await pi.rosterEntry()) === undefined);
	const away = await refused(lead, "WORKER_AWAY", "intercom_stop_worker", { to: "Idle" });
	assert.match(away.text, /Idle/);
});
