import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { isObject, type JsonObject } from "../src/contract.ts";
import extension from "../src/index.ts";
import { FakePi } from "./support/fake-pi.ts";
import { jsonLines } from "./support/json-lines.ts";

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

function lines(): JsonObject[] {
	return jsonLines(join(folder, "received.jsonl")).map(({ message }) => message).filter(isObject);
}

function received(method: string): JsonObject[] {
	return lines().flatMap((message) => (message.method === method && isObject(message.params) ? [message.params] : []));
}

/** What is known of each start of an agent. */
function starts(): JsonObject[] {
	return jsonLines(join(folder, "received.jsonl")).filter(({ event }) => event === "start");
}

/** What the agent has received once everything sent before is there: a tool call's answer comes after it. */
async function receivedByNow(pi: FakePi, method: string): Promise<JsonObject[]> {
	await pi.tools.get("intercom_send")?.execute("t", {}, undefined);
	return received(method);
}

/** What the host answers to the agent's request `id`: each tool call shows what has arrived before it. */
async function answerTo(pi: FakePi, id: string | number): Promise<JsonObject> {
	for (;;) {
		await receivedByNow(pi, "");
		const answer = lines().find((message) => message.id === id && message.method === undefined);
		if (isObject(answer?.result)) return answer.result;
		if (isObject(answer?.error)) return answer.error;
	}
}

/** The processes that this one has started and that have not ended. */
function runningChildren(): string[] {
	const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
	return children.filter((pid) => pid !== "");
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
		const from = { sessionId: "alice", name: "Alice", role: "worker", origin: "session" };
		assert.deepEqual(JSON.parse(JSON.stringify(pi.sent[0]?.details)), { intercom: { deliveryId: "alice/m1", envelopeId: "m1", from, summary: "hi", kind: "message", attachments: [] } });
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

	test("that reloads its responsibility is given no message and no turn", async () => {
		const pi = await start();
		await pi.until(/named Builder/);
		agentSends({ id: 1, method: "control", params: { controlId: "c", kind: "reloadResponsibility", entry: { ...ENTRY, name: "Tester", hash: "h2" }, instructions: "You are Tester." } });
		await pi.until(/named Tester/);
		assert.deepEqual(await answerTo(pi, 1), { ok: true });
		assert.deepEqual(pi.sent, []);
		assert.doesNotMatch(pi.happened.join(), /typed|aborted/);
		assert.equal(pi.idle, true);
	});

	test("whose name can't be set stays reachable, and that is told", async () => {
		const pi = new FakePi("s1", folder);
		pi.nameProblem = "the session file is read-only";
		await start("resume", pi);
		await pi.until(/warning Intercom: the session could not be named Builder: the session file is read-only/);
		assert.deepEqual(await receivedByNow(pi, "responsibility/loaded"), [{ entryHash: "h1" }]);
		agentSends({ id: 1, method: "control", params: { controlId: "c", kind: "reloadResponsibility", entry: ENTRY, instructions: "You are Builder now." } }, deliver("m1"));
		await pi.until(/sent m1/);
		assert.deepEqual(await answerTo(pi, 1), { ok: true, warning: "the session could not be named Builder: the session file is read-only" });
		const sections: Record<string, string> = {};
		await pi.emit("before_agent_start", { systemPrompt: "", systemPromptOptions: { sections } });
		assert.deepEqual(sections, { intercom: "You are Builder now." });
	});

	for (const mode of ["", "mute"]) {
		test(`that is shut down while its ${mode === "" ? "" : `${mode} `}agent starts leaves no agent and no mark`, async () => {
			process.env.FAKE_AGENT_MODE = mode;
			try {
				const children = runningChildren();
				const pi = await start();
				assert.equal(runningChildren().length, children.length + 1);
				await pi.emit("session_shutdown", { reason: "quit" });
				assert.deepEqual(runningChildren(), children);
				assert.equal(process.env.PI_INTERCOM_SESSION, undefined);
				assert.doesNotMatch(pi.happened.join(), /error|warning/);
			} finally {
				delete process.env.FAKE_AGENT_MODE;
			}
		});
	}

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

describe("the tool intercom", () => {
	const PEER = { connection: "connected", role: "peer", tools: [{ ...TOOL, name: "intercom" }, TOOL, { ...TOOL, name: "contact_supervisor" }], instructions: "", statusText: "peer" };
	let before: NodeJS.ProcessEnv = {};

	beforeEach(() => {
		before = { ...process.env };
		process.env.FAKE_AGENT_SESSION = JSON.stringify(PEER);
	});

	afterEach(() => {
		for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
		Object.assign(process.env, before);
	});

	/** Starts a peer, and resolves once its tools are there. */
	async function peer(env: NodeJS.ProcessEnv = {}, pi = new FakePi("s1", folder)): Promise<FakePi> {
		Object.assign(process.env, env);
		await start("resume", pi);
		await pi.until(/tool direct contact_supervisor/);
		return pi;
	}

	test("keeps in its result the delivery that the result is, and the broker hears when that is saved and seen", async () => {
		const pi = await peer();
		await pi.emit("agent_start");
		const result = await pi.tools.get("intercom")?.execute("c1", { action: "ask", answer: { deliveryId: "alice/r" } }, undefined);
		const message = { role: "toolResult", toolCallId: "c1", toolName: "intercom", ...result };
		assert.deepEqual((message.details as JsonObject).intercom, { deliveryId: "alice/r" });
		await pi.emit("message_end", { message });
		pi.saved.push({ type: "message", id: "e1", message });
		await pi.emit("turn_end", { outcome: "completed" });
		await pi.emit("context", { messages: [message] });
		await pi.emit("message_end", { message: { role: "assistant", stopReason: "stop" } });
		await pi.emit("agent_settled");
		assert.deepEqual((await receivedByNow(pi, "receipt")).map(({ deliveryId, event, evidence }) => [deliveryId, event, evidence]), [
			["alice/r", "injected", "entry e1, session kept in memory"],
			["alice/r", "seen", "in an answered model request"],
		]);
		agentSends({ id: 1, method: "reconcile", params: { deliveryIds: ["alice/r", "alice/x"] } });
		assert.deepEqual(await answerTo(pi, 1), { present: ["alice/r"] });
	});

	test("says with each call which delivery started the run, and none in a person's", async () => {
		const pi = await peer();
		agentSends(deliver("m1"));
		await pi.until(/sent m1/);
		await pi.runsWithLastMessage();
		await pi.tools.get("intercom")?.execute("c1", { action: "reply" }, undefined);
		await pi.emit("agent_settled");
		await pi.emit("agent_start");
		await pi.emit("message_end", { message: { role: "user", content: "hi" } });
		await pi.tools.get("intercom")?.execute("c2", { action: "reply" }, undefined);
		assert.deepEqual(received("tools/call").map(({ trigger }) => trigger), ["alice/m1", undefined]);
	});

	test("shows its progress as long as it runs", async () => {
		const pi = await peer();
		const shown: string[] = [];
		await pi.tools.get("intercom")?.execute("c1", { progress: "waiting for planner" }, undefined, ({ content }) => void shown.push(content[0]?.text ?? ""));
		assert.deepEqual(shown, ["waiting for planner"]);
	});

	test("is hidden until a delivery is shown where it is to be, and the other tools are not", async () => {
		const pi = await peer({ PI_INTERCOM_TOOL_VISIBILITY: "after-first-use" });
		assert.equal(pi.tools.has("intercom"), false);
		assert.equal(pi.tools.get("intercom_send")?.exposure, "direct");
		agentSends(deliver("m1"));
		await pi.until(/sent m1/);
		const [shown, sent] = [/tool direct intercom$/, /sent m1/].map((pattern) => pi.happened.findIndex((text) => pattern.test(text)));
		assert.ok(shown !== undefined && sent !== undefined && shown >= 0 && shown < sent, pi.happened.join("\n"));
	});

	for (const [what, entry] of [
		["was shown a delivery", { type: "custom_message", customType: "intercom", details: { intercom: { deliveryId: "alice/m0" } } }],
		["called it", { type: "message", message: { role: "toolResult", toolName: "intercom" } }],
	] as const) {
		test(`is there from the start in a session that ${what} before`, async () => {
			const pi = new FakePi("s1", folder);
			pi.saved.push(entry);
			await peer({ PI_INTERCOM_TOOL_VISIBILITY: "after-first-use" }, pi);
			assert.equal(pi.tools.get("intercom")?.exposure, "direct");
		});
	}

	test("sends nothing that the person declined", async () => {
		const pi = await peer({ PI_INTERCOM_CONFIRM_SEND: "true" });
		pi.person = "no";
		const result = await pi.tools.get("intercom")?.execute("c1", { action: "send", to: "planner", message: "hi" }, undefined);
		assert.equal(result?.isError, true);
		assert.match(result?.content[0]?.text ?? "", /declined this message to planner: nothing was sent/);
		assert.match(pi.happened.join("\n"), /asked Send a message to planner\?\nhi/);
		for (const args of [{ action: "send", replyTo: "m-1" }, { action: "ask" }, { action: "reply" }]) await pi.tools.get("intercom")?.execute("c2", args, undefined);
		assert.deepEqual(received("tools/call").map(({ arguments: args }) => (args as JsonObject).action), ["send", "ask", "reply"]);
	});

	for (const [where, person, env] of [
		["where there is no UI", undefined, {}],
		["in a headless worker, whose UI is a program that says no", "no", { PI_INTERCOM_HEADLESS_SOCKET: "/somewhere/job.sock" }],
	] as const) {
		test(`asks nobody ${where}`, async () => {
			const pi = new FakePi("s1", folder);
			pi.person = person;
			await peer({ PI_INTERCOM_CONFIRM_SEND: "true", ...env }, pi);
			const result = await pi.tools.get("intercom")?.execute("c1", { action: "send", to: "planner", message: "hi" }, undefined);
			assert.equal(result?.isError, false);
			assert.doesNotMatch(pi.happened.join("\n"), /asked/);
		});
	}

	test("that failed is no success: failed tools shown as success (4.36)", async () => {
		const pi = await peer();
		const result = await pi.tools.get("intercom")?.execute("c1", { action: "send", fail: true }, undefined);
		assert.equal(result?.isError, true);
	});
});

describe("what the person set", () => {
	/** What the agent is told by a session that starts in this environment. */
	async function initialized(env: NodeJS.ProcessEnv, pi = new FakePi("s1", folder)): Promise<JsonObject> {
		const before = { ...process.env };
		Object.assign(process.env, env);
		try {
			await start("resume", pi);
			await pi.until(/status worker Builder/);
			return received("initialize")[0] ?? {};
		} finally {
			for (const name of Object.keys(env)) delete process.env[name];
			Object.assign(process.env, before);
		}
	}

	test("is told to the agent where the agent needs it", async () => {
		const initialize = await initialized({
			...{ PI_INTERCOM_STABLE_ID: "planner.1", PI_INTERCOM_REPLY_HINT: "false", PI_INTERCOM_ASK_TIMEOUT_MS: "60000" },
			...{ PI_INTERCOM_LIVENESS_INTERVAL_MS: "2000", PI_INTERCOM_LIVENESS_TIMEOUT_MS: "3000" },
		});
		const { stableId, replyHint, askTimeoutMs, livenessIntervalMs, livenessTimeoutMs } = initialize;
		assert.deepEqual({ stableId, replyHint, askTimeoutMs, livenessIntervalMs, livenessTimeoutMs }, {
			...{ stableId: "planner.1", replyHint: false, askTimeoutMs: 60_000, livenessIntervalMs: 2_000, livenessTimeoutMs: 2_000 },
		});
		assert.equal("supervisor" in initialize, false);
	});

	test("of runs and workers is told to the agent", async () => {
		const { runsKept, mostHeadless, monitor } = await initialized({ PI_INTERCOM_RUNS_KEPT: "7", PI_INTERCOM_MOST_HEADLESS: "2", PI_INTERCOM_MONITOR: "false" });
		assert.deepEqual({ runsKept, mostHeadless, monitor }, { runsKept: 7, mostHeadless: 2, monitor: false });
	});

	test("of a bad file is shown, and nothing starts", async () => {
		mkdirSync(join(folder, ".pi-intercom"));
		writeFileSync(join(folder, ".pi-intercom", "config.json"), "{}");
		writeFileSync(join(folder, ".pi-intercom", "settings.json"), '{\n"brokerPath": "/bin/true"}');
		const pi = await start();
		assert.match(pi.happened.join(), /error Intercom is off: .*settings\.json, line 2: "brokerPath" belongs to the user/);
		assert.equal(pi.tools.size, 0);
	});

	test("stands behind what the session does, and its model is told as it changes", async () => {
		const pi = new FakePi("s1", folder);
		await initialized({ PI_INTERCOM_STATUS: "researching" }, pi);
		pi.model = "m2";
		await pi.emit("model_select");
		await pi.emit("tool_execution_start", { toolCallId: "t", toolName: "grep" });
		const activities = await receivedByNow(pi, "activity");
		assert.deepEqual(activities.map(({ phase, tool, note, model }) => [phase, tool, note, model]), [
			["idle", undefined, "researching", "m"],
			["idle", undefined, "researching", "m2"],
			["tool", "grep", "researching", "m2"],
		]);
	});

	test("as the broker's path reaches the agent, and the environment goes before it", async () => {
		mkdirSync(join(folder, "pi", "intercom"), { recursive: true });
		writeFileSync(join(folder, "pi", "intercom", "config.json"), '{"brokerPath": "/bin/true"}');
		await initialized({});
		for (const pi of started.splice(0)) await pi.emit("session_shutdown", { reason: "reload" });
		await initialized({ PI_INTERCOM_BROKER: "/bin/false" });
		assert.deepEqual(starts().map(({ broker }) => broker), ["/bin/true", "/bin/false"]);
	});

	test("names its unnamed session as the program does that started it, and the child's supervisor is told", async () => {
		const bridge = { PI_SUBAGENT_ORCHESTRATOR_TARGET: "planner", PI_SUBAGENT_RUN_ID: "r", PI_SUBAGENT_CHILD_AGENT: "worker", PI_SUBAGENT_CHILD_INDEX: "2" };
		process.env.FAKE_AGENT_SESSION = JSON.stringify({ ...WORKER, entry: undefined });
		const pi = new FakePi("s1", folder);
		const initialize = await initialized({ ...bridge, SELESAI_SUBAGENT_INTERCOM_SESSION_NAME: "subagent-worker" }, pi);
		assert.equal(initialize.sessionName, "subagent-worker");
		assert.deepEqual(initialize.supervisor, { target: "planner", runId: "r", agent: "worker", index: "2" });
		assert.equal(pi.sessionName, undefined);
		for (const name of ["renamed", undefined]) await pi.emit("session_info_changed", { name });
		assert.deepEqual((await receivedByNow(pi, "session/renamed")).map(({ name }) => name), ["renamed", "subagent-worker"]);
	});

	for (const mode of ["print", "json", "rpc"] as const) {
		test(`another program's child attaches in ${mode} mode too, without a workspace`, async () => {
			const bridge = { PI_SUBAGENT_ORCHESTRATOR_TARGET: "planner", PI_SUBAGENT_RUN_ID: "r", PI_SUBAGENT_CHILD_AGENT: "worker", PI_SUBAGENT_CHILD_INDEX: "2" };
			const pi = new FakePi("s1", folder);
			pi.mode = mode;
			const initialize = await initialized(bridge, pi);
			assert.equal(initialize.workspaceMode, "never");
			assert.equal((initialize.host as { mode: string }).mode, mode);
		});
	}

	test("a rename while idle is seen at once (4.28)", async () => {
		const pi = new FakePi("s1", folder);
		await initialized({}, pi);
		await pi.emit("session_info_changed", { name: "planner" });
		assert.deepEqual((await receivedByNow(pi, "session/renamed")).at(-1), { name: "planner" });
	});
});

describe("a run that was handed to the session", () => {
	const RUN = { runId: "run-1", deliveryId: "alice/m1", label: "lexer", supervisor: { sessionId: "alice", name: "Alice" } };
	const handed = (id: string): JsonObject => ({ method: "deliver", params: { ...(deliver(id).params as JsonObject), runId: "run-1" } });
	const usage = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, cost: { total: 0.5 } };
	const told = (events: readonly JsonObject[]): unknown[] => events.map(({ event, turns }) => [event, turns]);

	async function worksOnIt(): Promise<FakePi> {
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		agentSends(handed("m1"));
		await pi.until(/sent m1/);
		await pi.runsWithLastMessage();
		const message = { role: "assistant", provider: "fake", model: "m", stopReason: "stop", usage, content: [{ type: "text", text: "all of it" }] };
		await pi.emit("message_end", { message });
		pi.saved.push({ type: "message", id: "a1", message });
		await pi.emit("turn_end", { outcome: "completed" });
		return pi;
	}

	test("is followed to its end, which is told again as long as the agent asks for it", async () => {
		const pi = await worksOnIt();
		assert.deepEqual(told(await receivedByNow(pi, "run")), [["progress", 0], ["progress", 1]]);
		await pi.emit("agent_end", { messages: [] });
		await pi.emit("agent_settled", { aborted: false });
		const [, , end] = await receivedByNow(pi, "run");
		assert.deepEqual(end, { deliveryId: "alice/m1", event: "done", turns: 1, model: "fake/m", usage: { ...usage, cost: 0.5 }, text: "all of it" });
		agentSends({ method: "runs", params: { open: [RUN] } }, { method: "runs", params: { open: [] } }, { method: "notice", params: { level: "info", text: "heard" } });
		await pi.until(/info heard/);
		assert.deepEqual(told(await receivedByNow(pi, "run")), [["progress", 0], ["progress", 1], ["done", 1], ["done", 1]]);
	});

	test("is stopped where its turn is, and interrupted where the session is left", async () => {
		const pi = await worksOnIt();
		await pi.emit("agent_settled", { aborted: true });
		while (received("run").at(-1)?.event !== "stopped") await new Promise((resolve) => setTimeout(resolve, 20));
		await pi.emit("session_shutdown", { reason: "new" });
		const other = await worksOnIt();
		await other.emit("session_shutdown", { reason: "new" });
		assert.equal(received("run").at(-1)?.event, "interrupted");
	});

	test("is decided from the session's entries by the next process, and by the modules of a reload", async () => {
		const pi = await worksOnIt();
		await pi.emit("session_shutdown", { reason: "reload" });
		assert.equal(received("run").at(-1)?.event, "progress");
		const next = new FakePi("s1", folder);
		next.saved.push(...pi.saved);
		await start("resume", next);
		await next.until(/status worker Builder/);
		agentSends({ method: "runs", params: { open: [RUN] } }, { method: "notice", params: { level: "info", text: "heard" } });
		await next.until(/info heard/);
		const last = (await receivedByNow(next, "run")).at(-1);
		assert.deepEqual([last?.event, last?.text], ["done", "all of it"]);
	});

	test("is refused also where the person says so while the agent starts", async () => {
		const pi = await start("resume");
		await pi.runsCommand("/intercom runs off");
		await pi.until(/status worker Builder/);
		assert.deepEqual(await receivedByNow(pi, "runs/policy"), [{ refused: true }]);
		assert.equal(received("initialize")[0]?.refusesRuns, false);
	});

	test("is refused where the person says so, over restarts and an agent's death", async () => {
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		await pi.runsCommand("/intercom runs off");
		assert.deepEqual(await receivedByNow(pi, "runs/policy"), [{ refused: true }]);
		await pi.runsCommand("/intercom runs off");
		assert.equal(pi.saved.length, 1);
		await pi.tools.get("intercom_send")?.execute("t", { die: true }, AbortSignal.timeout(1_000));
		while (received("initialize").length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
		await pi.emit("session_shutdown", { reason: "quit" });
		const next = new FakePi("s1", folder);
		next.saved.push(...pi.saved);
		await start("resume", next);
		await next.until(/status worker Builder/);
		await next.runsCommand("/intercom runs on");
		// The call is repeated, and may end the next agent, too.
		const [first, ...later] = received("initialize").map(({ refusesRuns }) => refusesRuns);
		assert.equal(first, false);
		assert.ok(later.length >= 2);
		assert.deepEqual(new Set(later), new Set([true]));
		assert.deepEqual((await receivedByNow(next, "runs/policy")).map(({ refused }) => refused), [true, false]);
	});
});

describe("whether the session may run programs", () => {
	test("is told at its start, and where it changed before a turn or at its end", async () => {
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		assert.equal(received("initialize")[0]?.programs, true);
		await pi.emit("turn_start");
		assert.deepEqual(await receivedByNow(pi, "programs"), []);
		pi.activeTools = ["read"];
		await pi.emit("turn_start");
		await pi.emit("turn_start");
		assert.deepEqual(await receivedByNow(pi, "programs"), [{ allowed: false }]);
		pi.activeTools = ["bash"];
		await pi.emit("agent_settled", { aborted: false });
		assert.deepEqual(await receivedByNow(pi, "programs"), [{ allowed: false }, { allowed: true }]);
	});

	test("is told before a watch's news is shown", async () => {
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		pi.activeTools = [];
		agentSends({ method: "bulletin", params: { topic: "watch", key: "w", ids: [], content: "news", summary: "news" } });
		await pi.until(/sent bulletin/);
		assert.deepEqual(await receivedByNow(pi, "programs"), [{ allowed: false }]);
	});
});

describe("what the agent itself has to say", () => {
	const NEWS = { topic: "runs", key: "k1", ids: ["run-1"], content: "1 run settled.", summary: "1 run settled" };

	test("comes into the idle session, starts a turn, and is told as shown", async () => {
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		agentSends({ method: "bulletin", params: NEWS });
		await pi.until(/sent bulletin/);
		assert.deepEqual((pi.sent[0]?.details.intercom as unknown as JsonObject).bulletin, { topic: "runs", key: "k1", ids: ["run-1"] });
		await pi.runsWithLastMessage();
		await pi.emit("turn_end", { outcome: "completed" });
		assert.deepEqual(await receivedByNow(pi, "bulletin/shown"), [{ topic: "runs", key: "k1" }]);
		assert.deepEqual(await receivedByNow(pi, "receipt"), []);
	});

	test("is not said again where a call's result told it, whose details and charge the host keeps", async () => {
		const pi = await start("resume");
		await pi.until(/tool direct intercom_send/);
		const answer = { ids: ["run-1"], usage: { input: 5, output: 3, cacheRead: 1, cacheWrite: 1, cost: 0.25 } };
		const result = await pi.tools.get("intercom_send")?.execute("c1", { answer }, undefined);
		assert.deepEqual((result?.details as JsonObject).intercom, { ids: ["run-1"] });
		assert.deepEqual(result?.usage, { input: 5, output: 3, cacheRead: 1, cacheWrite: 1, totalTokens: 10, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.25 } });
		pi.saved.push({ type: "message", id: "e1", message: { role: "toolResult", toolCallId: "c1", ...result } });
		agentSends({ method: "bulletin", params: NEWS });
		while ((await receivedByNow(pi, "results/shown")).length === 0);
		assert.deepEqual(received("results/shown"), [{ ids: ["run-1"] }]);
		assert.deepEqual(received("bulletin/shown"), []);
		assert.deepEqual(pi.sent, []);
	});

	test("counts as told by a call's result only once that is an entry, and not where it never came", async () => {
		const pi = await start("resume");
		await pi.until(/tool direct intercom_send/);
		await pi.emit("agent_start", {});
		const kept = await pi.tools.get("intercom_send")?.execute("c1", { answer: { ids: ["run-1"] } }, undefined);
		await pi.tools.get("intercom_send")?.execute("c2", { answer: { ids: ["run-2"] } }, undefined);
		assert.deepEqual(await receivedByNow(pi, "results/shown"), []);
		const message = { role: "toolResult", toolCallId: "c1", ...kept };
		pi.saved.push({ type: "message", id: "e1", message });
		await pi.emit("message_end", { message });
		await pi.emit("turn_end", { outcome: "completed" });
		assert.deepEqual(await receivedByNow(pi, "results/shown"), [{ ids: ["run-1"] }]);
		assert.deepEqual(received("results/lost"), []);
		await pi.emit("agent_settled", {});
		assert.deepEqual(await receivedByNow(pi, "results/lost"), [{ ids: ["run-2"] }]);
	});

	test("is told to the agent that asks what the session's entries tell", async () => {
		const pi = await start("resume");
		await pi.until(/tool direct intercom_send/);
		pi.saved.push({ type: "message", id: "e1", message: { role: "toolResult", details: { intercom: { ids: ["drain/a"] } } } });
		agentSends({ id: 41, method: "told", params: { ids: ["drain/a", "drain/b"] } });
		assert.deepEqual(await answerTo(pi, 41), { told: ["drain/a"] });
	});

	test("is dropped where another host has the session", async () => {
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		const ended = { connection: "ended", tools: [], instructions: "", statusText: "ended" };
		agentSends({ method: "bulletin", params: NEWS }, { method: "session", params: ended }, { method: "bulletin", params: { ...NEWS, topic: "watch", key: "later" } });
		await pi.until(/sent bulletin/);
		assert.deepEqual(pi.sent.map(({ details }) => details.intercom.bulletin?.key), ["later"]);
	});

	test("of a shape that is none is told to the person, and harms nothing", async () => {
		const pi = await start("resume");
		await pi.until(/tool direct intercom_send/);
		for (const usage of [{ input: -1 }, { cost: "much" }, 7]) {
			const result = await pi.tools.get("intercom_send")?.execute("c1", { answer: { usage } }, undefined);
			assert.deepEqual([result?.isError, result?.usage], [true, undefined]);
		}
		agentSends({ method: "bulletin", params: { topic: 7 } }, { method: "runs", params: { open: 7 } }, { method: "notice", params: { level: "info", text: "after" } });
		await pi.until(/info after/);
	});
});

test("a call of intercom_models is answered by the host, and one that it does not know is refused", async () => {
	const models = { ...TOOL, name: "intercom_models", host: true };
	process.env.FAKE_AGENT_SESSION = JSON.stringify({ ...WORKER, tools: [models, { ...models, name: "intercom_unheard" }, TOOL] });
	const pi = await start();
	await pi.until(/tool direct intercom_send/);
	const result = await pi.tools.get("intercom_models")?.execute("c1", { query: "M" }, undefined);
	assert.deepEqual([result?.isError, result?.content[0]?.text], [false, "1 model with \"M\". * marks those of this session's own provider.\n* fake/m"]);
	const unknown = await pi.tools.get("intercom_unheard")?.execute("c2", {}, undefined);
	assert.deepEqual([unknown?.isError, (unknown?.details as JsonObject).reason], [true, "HOST_TOOL_UNKNOWN"]);
	assert.deepEqual(received("tools/call"), []);
});

describe("a session's jobs", () => {
	const HANDOFF_TOOL = { ...TOOL, name: "intercom_report_handoff" };

	/** Starts a worker, and asks it for `kind`. */
	async function attached(pi = new FakePi("s1", folder)): Promise<FakePi> {
		process.env.FAKE_AGENT_SESSION = JSON.stringify({ ...WORKER, tools: [TOOL, HANDOFF_TOOL] });
		await start("resume", pi);
		await pi.until(/status worker Builder/);
		return pi;
	}

	let controls = 0;

	/** Sends a control and resolves with what the host answers. */
	async function control(pi: FakePi, kind: string, params: JsonObject = {}): Promise<JsonObject> {
		const id = `c${++controls}`;
		agentSends({ id, method: "control", params: { controlId: id, kind, ...params } });
		return answerTo(pi, id);
	}

	async function handsOver(pi: FakePi): Promise<void> {
		await control(pi, "prepareClose", { jobId: "j", handoffEnvelopeId: "m1" });
		await pi.emit("agent_start");
		const result = await pi.tools.get("intercom_report_handoff")?.execute("call-1", { jobId: "j", summary: "done" }, undefined);
		assert.equal(result?.terminate, true);
		pi.branch = [{ type: "message", message: { role: "toolResult", toolCallId: "call-1", isError: false } }];
		await pi.emit("agent_settled");
		await job(pi, "settled");
	}

	/** Waits for a job event: each tool call shows what has arrived before it. */
	async function job(pi: FakePi, event: string): Promise<JsonObject> {
		for (;;) {
			const found = (await receivedByNow(pi, "job")).find((params) => params.event === event);
			if (found !== undefined) return found;
		}
	}

	test("that are known to be safe on this host, and how it was started, are told to the agent", async () => {
		await attached();
		const [initialize] = received("initialize");
		assert.deepEqual(initialize?.capabilities, ["stop", "close"]);
		assert.ok(isObject(initialize.launch));
		assert.equal(initialize.launch.agentDir, join(folder, "pi"));
		assert.match(String(initialize.launch.extension), /\/extension\/src\/index\.ts$/);
	});

	test("are announced by no host that lacks a function they need", async () => {
		const pi = new FakePi("s1", folder);
		delete (pi.api as { sendUserMessage?: unknown }).sendUserMessage;
		await attached(pi);
		assert.deepEqual(received("initialize")[0]?.capabilities, []);
		assert.match(String((await control(pi, "stop", { jobId: "j", requestedAt: "2026-01-01T00:00:00Z" })).error), /not known to stop safely .* nothing was done/);
		assert.match(String((await control(pi, "prepareClose", { jobId: "j", handoffEnvelopeId: "m1" })).error), /not known to close safely/);
		assert.doesNotMatch(pi.happened.join(), /aborted|typed/);
	});

	test("leave a probe and a report of its status to what it is now", async () => {
		const pi = await attached();
		assert.deepEqual(await control(pi, "probe"), { ok: true, busy: false, sessionId: "s1" });
		pi.idle = false;
		assert.deepEqual(await control(pi, "reportStatus"), { ok: true, busy: true, sessionId: "s1" });
	});

	test("are refused in words where the control lacks what it needs", async () => {
		const pi = await attached();
		for (const kind of ["stop", "prepareClose", "commitClose", "endClose", "reloadResponsibility", "unheardOf"]) {
			assert.equal((await control(pi, kind, kind === "stop" ? { jobId: "j" } : {})).ok, false, kind);
		}
		assert.match(String((await control(pi, "stop", { jobId: "j", requestedAt: "yesterday" })).message), /requestedAt is not a time/);
	});

	test("stop it through a command that Pi runs at once, after the answer", async () => {
		const pi = await attached();
		pi.idle = false;
		assert.deepEqual(await control(pi, "stop", { jobId: "j", requestedAt: "2026-01-01T00:00:00.123456789+00:00" }), { ok: true });
		assert.equal((await job(pi, "stopped")).jobId, "j");
		assert.match(pi.happened.join(), /typed \/intercom-stop j,aborted/);
	});

	test("stop a run only while the session is at it: what it does after that is something else", async () => {
		const pi = await attached();
		pi.idle = false;
		const stop = (jobId: string): Promise<JsonObject> => control(pi, "stop", { jobId, requestedAt: "2026-01-01T00:00:00Z" });
		assert.deepEqual(await stop("run-7"), { ok: true });
		assert.doesNotMatch(pi.happened.join(), /intercom-stop/);
		agentSends({ method: "runs", params: { open: [{ runId: "run-7", deliveryId: "alice/m7", label: "", supervisor: { sessionId: "alice", name: "Alice" } }] } });
		assert.deepEqual(await stop("run-7"), { ok: true });
		assert.equal((await job(pi, "stopped")).jobId, "run-7");
	});

	test("end it after a handoff and a commit", async () => {
		const pi = await attached();
		await handsOver(pi);
		assert.deepEqual(await control(pi, "commitClose", { jobId: "j", nonce: "n" }), { ok: true, nonce: "n" });
		await pi.until(/shut down/);
	});

	for (const [what, event] of [
		["input", "input"],
		["a person's command", "user_bash"],
		["a move to another branch", "session_tree"],
		["a new run", "agent_start"],
		["a compaction", "session_before_compact"],
	] as const) {
		test(`do not end it after ${what} since the handoff`, async () => {
			const pi = await attached();
			await handsOver(pi);
			await pi.emit(event, { text: "wait", source: "interactive" });
			await job(pi, "invalidated");
			assert.equal((await control(pi, "commitClose", { jobId: "j", nonce: "n" })).ok, false);
			assert.doesNotMatch(pi.happened.join(), /shut down/);
		});
	}

	test("are forgotten when the agent dies, the broker is lost, or the session is reloaded", async () => {
		const pi = await attached();
		await handsOver(pi);
		agentSends({ method: "session", params: { ...WORKER, connection: "connecting", statusText: "reconnecting", tools: [TOOL, HANDOFF_TOOL] } });
		await pi.until(/status reconnecting/);
		assert.match(String((await control(pi, "commitClose", { jobId: "j", nonce: "n" })).error), /no close of that job/);
		await handsOver(pi);
		process.kill(Number(jsonLines(join(folder, "received.jsonl")).at(-1)?.pid), "SIGKILL");
		await pi.until(/status intercom: starting the agent again/);
		assert.match(String((await control(pi, "commitClose", { jobId: "j", nonce: "n" })).error), /no close of that job/);
		await handsOver(pi);
		await pi.emit("session_shutdown", { reason: "reload" });
		const next = await attached();
		assert.match(String((await control(next, "commitClose", { jobId: "j", nonce: "n" })).error), /no close of that job/);
	});
});

describe("a person", () => {
	const list = { self: { sessionId: "s1", name: "me" }, sessions: [{ sessionId: "0193a001-p", shortId: "0193a001", name: "planner", cwd: "/srv", status: "idle" }] };
	const ask = { deliveryId: "alice/a1", envelopeId: "a1", from: { sessionId: "alice", name: "Alice" }, askedAt: "2026-03-05T14:05:00Z", awaited: true, preview: "Which?" };

	test("writes to a session of the agent's list, through the tool and under a call id", async () => {
		writeFileSync(join(folder, "sessions.json"), JSON.stringify(list));
		writeFileSync(join(folder, "answer.json"), JSON.stringify({ text: "Sent.", summary: "sent to planner", isError: false }));
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		await pi.runsCommand("/intercom planner hello");
		await pi.until(/info Intercom: sent to planner/);
		assert.deepEqual(received("sessions/list"), [{ withAway: false }]);
		const [call] = received("tools/call");
		assert.equal(call?.name, "intercom");
		assert.deepEqual(call?.arguments, { action: "send", to: "0193a001-p", message: "hello" });
		assert.match(String(call?.callId), /^[0-9a-f-]{36}$/);
	});

	test("is told why there is no list", async () => {
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		void pi.presses("alt+m");
		const screen = (): string => pi.box?.render(88).join("\n") ?? "";
		while (!/there is no broker/.test(screen())) await receivedByNow(pi, "");
		agentSends({ method: "session", params: { connection: "refused", tools: [], error: { code: "NOT_FOUND", reason: "BROKER_NOT_FOUND", message: "No broker was found." } } });
		await pi.until(/status intercom: refused/);
		pi.box?.handleInput("\u001b");
		void pi.presses("alt+m");
		while (!/Not connected: No broker was found\. \(BROKER_NOT_FOUND\) It is tried again every 10 s\./.test(screen())) await receivedByNow(pi, "");
	});

	test("sees the asks that wait for an answer until they are answered, or the connection is lost", async () => {
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		agentSends({ method: "asks", params: { pending: [ask] } });
		await pi.until(/widget \? Alice asked .*, waits: Which\?/);
		await pi.until(/status worker Builder · 1 ask to answer/);
		agentSends({ method: "asks", params: { pending: [] } });
		await pi.until(/widget gone/);
		agentSends({ method: "asks", params: { pending: [{ ...ask, preview: "Again?" }] } });
		await pi.until(/widget .*Again\?/);
		agentSends({ method: "session", params: { ...WORKER, connection: "connecting" } }, { method: "notice", params: { level: "info", text: "after" } });
		await pi.until(/info after/);
		assert.deepEqual(pi.happened.filter((text) => text.startsWith("widget gone")).length, 2);
		assert.equal(pi.happened.filter((text) => text.startsWith("status")).at(-1), "status worker Builder");
	});

	test("sees how much mail waits while the session is busy", async () => {
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		await pi.emit("agent_start");
		agentSends(deliver("m1"), deliver("m2"));
		await pi.until(/status worker Builder · 2 unread/);
		await pi.emit("turn_end", { outcome: "completed" });
		// On the screen by now, and not saved yet.
		await pi.emit("message_end", { message: { role: "custom", ...pi.sent.at(-1) } });
		assert.equal(pi.happened.filter((text) => text.startsWith("status")).at(-1), "status worker Builder · 1 unread");
		agentSends({ id: 1, method: "withdraw", params: { deliveryId: "alice/m2" } });
		assert.deepEqual(await answerTo(pi, 1), { outcome: "withdrawn" });
		assert.equal(pi.happened.filter((text) => text.startsWith("status")).at(-1), "status worker Builder");
	});

	test("is given the pinned address of the session, where it is this session's", async () => {
		process.env.FAKE_AGENT_SESSION = JSON.stringify({ ...WORKER, stableId: "desk" });
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		await pi.runsCommand("/intercom-id");
		assert.match(pi.editorText, /as "desk"/);
	});

	test("is told that intercom is off, and why", async () => {
		process.env.PI_INTERCOM_AGENT = join(folder, "none");
		const pi = await start();
		await pi.presses("alt+m");
		assert.equal(pi.happened.filter((text) => /warning Intercom is off: PI_INTERCOM_AGENT names/.test(text)).length, 2);
	});
});

describe("the command for jobs", () => {
	test("cancels the session's work where a person types it, and no more", async () => {
		const pi = await start();
		await pi.until(/status worker Builder/);
		pi.idle = false;
		await pi.runsCommand("/intercom-stop");
		await pi.runsCommand("/intercom-stop some-job");
		assert.deepEqual(pi.happened.filter((text) => /aborted|shut down/.test(text)), ["aborted"]);
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

test("a launched RPC session asks nobody to confirm a message: behind it is a program of intercom's", async () => {
	process.env.FAKE_AGENT_SESSION = JSON.stringify({ ...WORKER, tools: [{ ...TOOL, name: "intercom" }] });
	process.env.PI_INTERCOM_LAUNCH_TOKEN = "token";
	process.env.PI_INTERCOM_CONFIRM_SEND = "true";
	try {
		const pi = new FakePi("s4", folder);
		pi.mode = "rpc";
		await start("startup", pi);
		await pi.until(/status worker Builder/);
		const result = await pi.tools.get("intercom")?.execute("c1", { action: "send", to: "planner", message: "hi" }, undefined);
		assert.equal(result?.isError, false);
		assert.doesNotMatch(pi.happened.join("\n"), /asked/);
	} finally {
		delete process.env.PI_INTERCOM_CONFIRM_SEND;
	}
});

test("no callback throws into a host whose session is stale: after shutdown or reload (4.22)", async () => {
	const pi = await start("resume");
	await pi.until(/status worker Builder/);
	pi.stale = true;
	agentSends(deliver("m1"), { method: "tools/progress", params: { callId: 1 } }, { method: "notice", params: { level: "info", text: "after" } });
	await pi.until(/info after/);
	const emitAll = async (): Promise<void> => {
		for (const event of pi.callbacks.keys()) {
			if (event !== "session_start" && event !== "session_shutdown") await pi.emit(event, { assistantMessageEvent: null, message: null, messages: null });
		}
	};
	await emitAll();
	await pi.emit("session_shutdown", { reason: "quit" });
	await emitAll();
	assert.equal((await pi.tools.get("intercom_send")?.execute("t", {}, undefined))?.isError, true);
});

describe("other extensions of the same Pi", () => {
	const heard = (pi: FakePi, event: string): JsonObject[] => {
		const found: JsonObject[] = [];
		pi.bus.on(event, (data) => found.push(data));
		return found;
	};
	const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

	test("hear that intercom listens in each session that it serves", async () => {
		const pi = new FakePi("s1", folder);
		const ready = heard(pi, "intercom:extension-registry-ready");
		await start("resume", pi);
		assert.deepEqual(ready, [{ version: 1 }]);
		const print = new FakePi("s2", folder);
		print.mode = "print";
		const silence = heard(print, "intercom:extension-registry-ready");
		await start("startup", print);
		assert.deepEqual(silence, []);
	});

	test("reach this session with a subagent's result, as a turn of its own, and hear of it", async () => {
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		const answers = heard(pi, "subagent:result-intercom-delivery");
		pi.bus.emit("subagent:result-intercom", { to: "Builder", message: "child done", requestId: "r1" });
		await pi.until(/sent /);
		assert.match(pi.sent[0]?.content ?? "", /^Relayed by another extension of this session \(subagent result\).*\n> child done$/);
		assert.deepEqual(answers, []);
		await pi.runsWithLastMessage();
		await turn();
		assert.deepEqual(answers, [{ requestId: "r1", delivered: true }]);
		assert.deepEqual(await receivedByNow(pi, "receipt"), []);
	});

	test("reach another session through the tool", async () => {
		const pi = await start("resume");
		await pi.until(/status worker Builder/);
		const answers = heard(pi, "intercom:extension-send-result");
		pi.bus.emit("intercom:extension-send", { to: "planner", message: "hello", requestId: "r1" });
		await receivedByNow(pi, "");
		await turn();
		const [call] = received("tools/call");
		assert.deepEqual([call?.name, call?.arguments], ["intercom", { action: "send", to: "planner", message: "hello" }]);
		assert.deepEqual(answers, [{ requestId: "r1", delivered: true }]);
	});

	test("are told where intercom is off, and after the session nobody listens", async () => {
		const pi = new FakePi("s1", folder);
		pi.mode = "print";
		const answers = [heard(pi, "subagent:result-intercom-delivery"), heard(pi, "intercom:extension-send-result")];
		await start("startup", pi);
		pi.bus.emit("subagent:result-intercom", { to: "s1", message: "done", requestId: "r1" });
		pi.bus.emit("intercom:extension-send", { to: "s2", message: "hello", requestId: "r2" });
		const off = "intercom is off in this session";
		assert.deepEqual(answers, [[{ requestId: "r1", delivered: false, error: off }], [{ requestId: "r2", delivered: false, reason: off }]]);
		await pi.emit("session_shutdown", { reason: "quit" });
		assert.deepEqual(pi.bus.eventNames().filter((event) => pi.bus.listenerCount(event) > 1 || event === "intercom:extension-register"), []);
	});
});
