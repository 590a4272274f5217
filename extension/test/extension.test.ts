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

function lines(): JsonObject[] {
	const records = readFileSync(join(folder, "received.jsonl"), "utf8").trim().split("\n");
	return records.map((line) => JSON.parse(line).message).filter(isObject);
}

function received(method: string): JsonObject[] {
	return lines().flatMap((message) => (message.method === method && isObject(message.params) ? [message.params] : []));
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
		process.kill(JSON.parse(readFileSync(join(folder, "received.jsonl"), "utf8").trim().split("\n").at(-1) ?? "").pid, "SIGKILL");
		await pi.until(/status intercom: starting the agent again/);
		assert.match(String((await control(pi, "commitClose", { jobId: "j", nonce: "n" })).error), /no close of that job/);
		await handsOver(pi);
		await pi.emit("session_shutdown", { reason: "reload" });
		const next = await attached();
		assert.match(String((await control(next, "commitClose", { jobId: "j", nonce: "n" })).error), /no close of that job/);
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
