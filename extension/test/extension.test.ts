import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { isObject, type JsonObject } from "../src/contract.ts";
import extension from "../src/index.ts";
import { FakePi } from "./support/fake-pi.ts";

const root = mkdtempSync(join(tmpdir(), "pi-intercom-test-"));
after(() => rmSync(root, { recursive: true, force: true }));

const TOOL = { name: "intercom_send", label: "Send", description: "Sends", promptGuidelines: [], parameters: { type: "object" } };
const ENTRY = { name: "Builder", description: "builds", projectDirectory: ".", coordinator: false, hash: "h1" };
const WORKER = { connection: "connected", role: "worker", loaded: false, entry: ENTRY, tools: [TOOL], instructions: "You are Builder.", statusText: "worker Builder" };

let folder = "";
let started: FakePi[] = [];

beforeEach(() => {
	folder = mkdtempSync(join(root, "case-"));
	mkdirSync(join(folder, "send"));
	process.env.PI_INTERCOM_AGENT = fileURLToPath(new URL("support/fake-agent.mjs", import.meta.url));
	process.env.PI_CODING_AGENT_DIR = join(folder, "pi");
	process.env.FAKE_AGENT_DIR = folder;
	process.env.FAKE_AGENT_SESSION = JSON.stringify(WORKER);
	started = [];
});

afterEach(async () => {
	for (const pi of started) await pi.emit("session_shutdown", { reason: "quit" });
});

async function start(reason = "startup", pi = new FakePi("s1", folder)): Promise<FakePi> {
	extension(pi.api);
	started.push(pi);
	await pi.emit("session_start", { reason });
	return pi;
}

function agentSends(...messages: JsonObject[]): void {
	const name = `${process.hrtime.bigint()}`;
	writeFileSync(join(folder, `.${name}`), messages.map((message) => JSON.stringify({ jsonrpc: "2.0", ...message })).join("\n"));
	renameSync(join(folder, `.${name}`), join(folder, "send", name));
}

function received(method: string): JsonObject[] {
	const lines = readFileSync(join(folder, "received.jsonl"), "utf8").trim().split("\n");
	return lines.flatMap((line) => {
		const { message } = JSON.parse(line);
		return isObject(message) && message.method === method && isObject(message.params) ? [message.params] : [];
	});
}

/** What the agent has received once everything sent before is there: a tool call's answer comes after it. */
async function receivedByNow(pi: FakePi, method: string): Promise<JsonObject[]> {
	await pi.tools.get("intercom_send")?.execute("t", {}, undefined);
	return received(method);
}

function deliver(id: string): JsonObject {
	const from = { sessionId: "alice", name: "Alice", role: "worker", origin: "session" };
	return { method: "deliver", params: { deliveryId: `alice/${id}`, envelopeId: id, sequence: 1, kind: "message", quiet: false, redelivered: false, from, content: "Alice:\n> hi", summary: "hi" } };
}

describe("a terminal session", () => {
	test("attaches, takes up its name, tools and instructions", async () => {
		const pi = await start();
		await pi.until(/status worker Builder/);
		await pi.until(/tool direct intercom_send/);
		assert.equal(pi.sessionName, "Builder");
		assert.deepEqual(await receivedByNow(pi, "responsibility/loaded"), [{ entryHash: "h1" }]);
		const [initialize] = received("initialize");
		assert.equal(initialize?.sessionId, "s1");
		assert.equal(initialize?.startReason, "startup");
		assert.deepEqual(initialize?.host, { kind: "pi", version: "1.6.0", pid: process.pid, mode: "tui" });
		const sections: Record<string, string> = {};
		await pi.emit("before_agent_start", { systemPrompt: "", systemPromptOptions: { sections } });
		assert.deepEqual(sections, { intercom: "You are Builder." });
	});

	test("waits for the role before its first prompt", async () => {
		const pi = await start();
		const sections: Record<string, string> = {};
		await pi.emit("before_agent_start", { systemPrompt: "", systemPromptOptions: { sections } });
		assert.deepEqual(sections, { intercom: "You are Builder." });
	});

	test("is given a message, and says injected and seen", async () => {
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		agentSends(deliver("m1"));
		await pi.until(/sent m1/);
		assert.deepEqual(pi.sent[0]?.details, { intercom: { deliveryId: "alice/m1", envelopeId: "m1", from: { sessionId: "alice", name: "Alice", role: "worker", origin: "session" }, summary: "hi" } });
		await pi.runsWithLastMessage();
		await pi.emit("message_end", { message: { role: "assistant", stopReason: "stop" } });
		await pi.emit("turn_end", { outcome: "completed" });
		assert.deepEqual((await receivedByNow(pi, "receipt")).map(({ event }) => event), ["injected", "seen"]);
	});

	test("fails a delivery that can't be read", async () => {
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		agentSends({ method: "deliver", params: { deliveryId: "alice/bad" } }, { method: "notice", params: { level: "info", text: "after" } });
		await pi.until(/info after/);
		assert.equal((await receivedByNow(pi, "receipt"))[0]?.event, "failed");
	});

	test("hides its tools when its role has none", async () => {
		const pi = await start();
		await pi.until(/tool direct intercom_send/);
		agentSends({ method: "session", params: { connection: "connected", role: "anonymous", tools: [], instructions: "", statusText: "anonymous" } });
		await pi.until(/tool hidden intercom_send/);
		assert.equal(pi.tools.get("intercom_send")?.exposure, "hidden");
	});

	test("waits to be told where it became a worker while attached", async () => {
		process.env.FAKE_AGENT_SESSION = JSON.stringify({ ...WORKER, awaitReload: true });
		const pi = await start();
		await pi.until(/status worker Builder/);
		assert.equal(pi.sessionName, undefined);
		agentSends({ id: 1, method: "control", params: { controlId: "c", kind: "reloadResponsibility", entry: ENTRY, instructions: "You are Builder now." } });
		await pi.until(/named Builder/);
		assert.deepEqual(await receivedByNow(pi, "responsibility/loaded"), []);
		const sections: Record<string, string> = {};
		await pi.emit("before_agent_start", { systemPrompt: "", systemPromptOptions: { sections } });
		assert.deepEqual(sections, { intercom: "You are Builder now." });
	});

	test("that is refused for the present is attached once it may", async () => {
		process.env.FAKE_AGENT_SESSION = JSON.stringify({ connection: "refused", tools: [], instructions: "", statusText: "", error: { code: "FAILED_PRECONDITION", reason: "CONFIG_INVALID", message: "line 3" } });
		const pi = await start();
		await pi.until(/CONFIG_INVALID/);
		agentSends({ method: "session", params: WORKER });
		await pi.until(/status worker Builder/);
		await pi.until(/named Builder/);
		assert.deepEqual(await receivedByNow(pi, "responsibility/loaded"), [{ entryHash: "h1" }]);
		assert.equal(process.env.PI_INTERCOM_SESSION, "s1");
	});

	test("of a coordinator keeps its own name", async () => {
		process.env.FAKE_AGENT_SESSION = JSON.stringify({ ...WORKER, role: "coordinator", entry: { ...ENTRY, name: "Coordinator", coordinator: true } });
		const pi = await start();
		await pi.until(/status worker Builder/);
		await pi.until(/tool direct/);
		assert.deepEqual(await receivedByNow(pi, "responsibility/loaded"), [{ entryHash: "h1" }]);
		assert.equal(pi.sessionName, undefined);
	});

	test("that is refused says why and is not started again", async () => {
		process.env.FAKE_AGENT_SESSION = JSON.stringify({ connection: "refused", final: true, tools: [], instructions: "", statusText: "", error: { code: "ALREADY_EXISTS", reason: "SESSION_ALREADY_ATTACHED", message: "another host has it" } });
		const pi = await start();
		await pi.until(/error Intercom: another host has it \(SESSION_ALREADY_ATTACHED\)/);
		await pi.until(/status intercom: refused \(SESSION_ALREADY_ATTACHED\)/);
		// Its shells are no persons all the same.
		assert.equal(process.env.PI_INTERCOM_SESSION, "s1");
	});

	test("marks its shells from start to shutdown", async () => {
		const pi = await start();
		await pi.until(/status worker Builder/);
		await pi.until(/named Builder/);
		assert.equal(process.env.PI_INTERCOM_SESSION, "s1");
		await pi.emit("session_shutdown", { reason: "quit" });
		assert.equal(process.env.PI_INTERCOM_SESSION, undefined);
	});

	test("says goodbye with the reason, once, and is attached anew after a reload", async () => {
		const pi = await start();
		await pi.until(/status worker Builder/);
		await pi.emit("session_shutdown", { reason: "reload" });
		await pi.emit("session_shutdown", { reason: "quit" });
		assert.deepEqual(received("goodbye"), [{ reason: "reload" }]);
		const next = await start("reload");
		await next.until(/status worker Builder/);
		assert.deepEqual(received("initialize").map(({ startReason }) => startReason), ["startup", "reload"]);
	});
});

describe("nothing starts", () => {
	for (const [why, change] of [
		["in print mode", (pi: FakePi) => void (pi.mode = "print")],
		["in JSON mode", (pi: FakePi) => void (pi.mode = "json")],
		["in an RPC session that nobody launched", (pi: FakePi) => void (pi.mode = "rpc")],
		["in an untrusted project", (pi: FakePi) => void (pi.trusted = false)],
	] as const) {
		test(why, async () => {
			const pi = new FakePi("s1", folder);
			change(pi);
			await start("startup", pi);
			assert.deepEqual(pi.happened, []);
		});
	}

	test("where the binary is missing, which is said", async () => {
		process.env.PI_INTERCOM_AGENT = join(folder, "none");
		const pi = await start();
		assert.match(pi.happened.join(), /warning Intercom is off: PI_INTERCOM_AGENT names/);
	});

	test("where the settings are wrong, which is said", async () => {
		mkdirSync(join(folder, "pi", "intercom"), { recursive: true });
		writeFileSync(join(folder, "pi", "intercom", "config.json"), '{"enabled": 1}');
		const pi = await start();
		assert.match(pi.happened.join(), /error Intercom is off: .*"enabled"/);
	});

	test("in a second copy, until the first has gone", async () => {
		const first = await start();
		const second = await start("startup", new FakePi("s1", folder));
		assert.match(second.happened.join(), /warning Intercom is installed twice/);
		await second.emit("session_shutdown", { reason: "new" });
		const third = await start("new", new FakePi("s2", folder));
		assert.match(third.happened.join(), /installed twice/);
		await first.emit("session_shutdown", { reason: "new" });
		const fourth = await start("new", new FakePi("s2", folder));
		await fourth.until(/status worker Builder/);
	});
});

test("an RPC session that was launched attaches, and its token leaves the environment", async () => {
	process.env.PI_INTERCOM_LAUNCH_TOKEN = "token";
	const pi = new FakePi("s3", folder);
	pi.mode = "rpc";
	await start("startup", pi);
	await pi.until(/status worker Builder/);
	assert.equal(received("initialize")[0]?.launchToken, "token");
	assert.equal(process.env.PI_INTERCOM_LAUNCH_TOKEN, undefined);
});

test("no callback throws into a host whose session is stale", async () => {
	const pi = await start("resume");
	await pi.until(/status worker Builder/);
	pi.stale = true;
	agentSends(deliver("m1"), { method: "notice", params: { level: "info", text: "after" } });
	await pi.until(/info after/);
	for (const event of pi.callbacks.keys()) {
		if (event !== "session_start" && event !== "session_shutdown") await pi.emit(event, { assistantMessageEvent: null, message: null, messages: null });
	}
	await pi.emit("session_shutdown", { reason: "quit" });
});
