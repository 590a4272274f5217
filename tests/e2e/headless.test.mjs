// A headless worker without the coordinator's part: what a launcher starts, hosted with real Pi.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXTENSION, NODE, PI, writeAgentDirectory } from "./support/pi.mjs";
import { end, isAlive, kill, parentOf, pidsWithEnvironment } from "./support/processes.mjs";
import { run } from "./support/broker.mjs";
import { BIN, scenario } from "./support/rig.mjs";
import { enlist, stubCoordinator, use } from "./support/team.mjs";
import { until } from "./support/until.mjs";

/** Starts what the launcher starts; resolves when it says that it can be followed. */
async function host(rig, { jobId = randomUUID(), sessionId = randomUUID(), env = { PI_INTERCOM_LAUNCH_TOKEN: "none", PI_INTERCOM_WORKSPACE_MODE: "never" } } = {}) {
	const agentDir = writeAgentDirectory(rig, "worker");
	const environment = { ...rig.env, PI_CODING_AGENT_DIR: agentDir, PI_INTERCOM_JOB_ID: jobId, ...env };
	const argv = [NODE, PI, "--mode", "rpc", "-e", EXTENSION, "--session-id", sessionId];
	mkdirSync(join(rig.home, "launch"), { recursive: true, mode: 0o700 });
	const file = join(rig.home, "launch", `${jobId}.json`);
	writeFileSync(file, JSON.stringify({ argv, directory: rig.project, environment, unset: [] }), { mode: 0o600 });
	const started = await run(join(BIN, "intercom-agent"), ["--headless", file], { env: rig.env });
	assert.equal(started.code, 0, started.all);
	const [, pid, hostPid, job, socket] = /^ready (\d+) (\d+) (\S+) (.*)\n$/.exec(started.stdout);
	assert.equal(job, jobId);
	assert.equal(existsSync(file), false, "the launch file is left");
	return { pid: Number(pid), hostPid: Number(hostPid), jobId, socket, sessionId };
}

/** `intercom view`, followed. */
function view(rig, name, ...flags) {
	const child = spawn(join(BIN, "intercom"), ["view", name, ...flags], { env: rig.env, cwd: rig.project });
	const seen = { text: "", code: undefined, child };
	for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (seen.text += data));
	child.on("exit", (code) => (seen.code = code));
	return seen;
}

const entryOf = async (rig, sessionId) =>
	(await rig.broker.call("InspectionService/ListAttachments")).entries?.find((entry) => entry.sessionId === sessionId);

const attached = (rig, worker) =>
	until("the headless session in the roster", async () => (await entryOf(rig, worker.sessionId))?.presence === "PRESENCE_ATTACHED", {
		timeoutMs: 60_000,
		detail: async () => (await run(join(BIN, "intercom"), ["view", worker.jobId, "--no-follow"], { env: rig.env })).all,
	});

/** All that was started for a worker: they know its home and its socket. */
const processesOf = (worker) => pidsWithEnvironment(`PI_INTERCOM_HEADLESS_SOCKET=${worker.socket}`);

/** A worker whose model runs a program that ignores SIGTERM, in a session of its own as Pi's bash tool does. */
async function busy(rig) {
	const worker = await host(rig);
	await attached(rig, worker);
	const command = "trap '' TERM HUP INT; echo $$ > bash.pid; while :; do sleep 1000; done";
	rig.model.on("worker", /run it/, { tool: "bash", args: { command } }, { say: "ran" });
	const peer = rig.startHost({ name: "Peer", env: { PI_INTERCOM_WORKSPACE_MODE: "never" }, workspaceMode: "never" });
	await peer.attached();
	await peer.callTool("intercom", { action: "send", to: worker.sessionId, message: "run it" });
	const path = join(rig.project, "bash.pid");
	const bash = await until("the program", () => existsSync(path) && Number(readFileSync(path, "utf8")), { timeoutMs: 40_000 });
	assert.ok(isAlive(bash));
	return { ...worker, bash };
}

const gone = (worker, patience = 20_000) =>
	until("the end of all that was started", () => [worker.pid, worker.hostPid, worker.bash ?? worker.pid].every((pid) => !isAlive(pid)) && processesOf(worker).length === 0, {
		timeoutMs: patience,
		detail: () => JSON.stringify(processesOf(worker).map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "))),
	});

scenario("a headless worker attaches, is told something, answers, and is seen doing it", { timeoutMs: 240_000 }, async (rig) => {
	rig.model.on("worker", /What is six times seven/, { tool: "bash", args: { command: "echo 42" } }, { say: "It is forty-two." });
	const worker = await host(rig);
	assert.equal(parentOf(parentOf(worker.hostPid)), worker.pid, "a guard stands between them");
	await attached(rig, worker);
	const seen = view(rig, worker.jobId.slice(0, 8));
	const peer = rig.startHost({ name: "Peer", env: { PI_INTERCOM_WORKSPACE_MODE: "never" }, workspaceMode: "never" });
	await peer.attached();
	const sent = await peer.callTool("intercom", { action: "send", to: worker.sessionId, message: "What is six times seven?" });
	assert.equal(sent.isError, false, sent.text);
	await until("the answer in the view", () => seen.text.includes("It is forty-two.") && seen.text.includes("[idle]"), {
		timeoutMs: 60_000,
		detail: () => seen.text,
	});
	assert.match(seen.text, /What is six times seven/);
	assert.match(seen.text, /→ bash/);
	assert.match(seen.text, /← bash ok: 42/);
	assert.equal(seen.code, undefined, "the view follows");
	// Late viewers get what was said before; by the job's id without asking the broker.
	const late = await run(join(BIN, "intercom"), ["view", worker.jobId, "--no-follow"], { env: rig.env });
	assert.equal(late.code, 0, late.all);
	assert.match(late.stdout, /forty-two/);

	kill(worker.pid, "SIGTERM");
	await gone(worker);
	await until("the end of the view", () => seen.code !== undefined);
	assert.equal(seen.code, 0, seen.text);
	assert.match(seen.text, /the worker's host ended with exit code 0/);
	assert.equal(existsSync(worker.socket), false, "the socket is left");
	const after = await run(join(BIN, "intercom"), ["view", worker.sessionId], { env: rig.env });
	assert.equal(after.code, 1);
	assert.match(after.stderr, /is no headless worker|no session or job/);
});

scenario("a headless worker is found by its name, its session and its job", { timeoutMs: 240_000 }, async (rig) => {
	// The coordinator's launch only tells what a host is told; then that is hosted without a pane.
	const told = join(rig.directory, "told");
	const launch = { argv: ["/bin/sh", "-c", `env > "${told}.new" && mv "${told}.new" "${told}"`, "sh"], extension: EXTENSION, agentDir: rig.directory };
	const lead = await stubCoordinator(rig, { launch });
	const { details } = await use(lead, "intercom_create_worker", { launcher: "tmux" });
	const text = await until("the token", () => existsSync(told) && readFileSync(told, "utf8"));
	const value = (name) => new RegExp(`^${name}=(.*)$`, "m").exec(text)[1];
	const env = { PI_INTERCOM_LAUNCH_TOKEN: value("PI_INTERCOM_LAUNCH_TOKEN"), PI_INTERCOM_WORKSPACE: value("PI_INTERCOM_WORKSPACE") };
	assert.equal(value("PI_INTERCOM_JOB_ID"), details.jobId);
	const worker = await host(rig, { jobId: details.jobId, env });
	await attached(rig, worker);
	assert.equal((await entryOf(rig, worker.sessionId)).launchJobId, details.jobId);
	await enlist(lead, worker.sessionId, "Builder");
	for (const name of ["Builder", worker.sessionId, worker.sessionId.slice(0, 8), details.jobId]) {
		const seen = await run(join(BIN, "intercom"), ["view", name, "--no-follow"], { env: rig.env, cwd: rig.project });
		assert.equal(seen.code, 0, `${name}: ${seen.all}`);
	}
	const nobody = await run(join(BIN, "intercom"), ["view", "Nobody"], { env: rig.env, cwd: rig.project });
	assert.match(nobody.stderr, /there is no session or job Nobody/);
	const other = await run(join(BIN, "intercom"), ["view", lead.sessionId], { env: rig.env, cwd: rig.project });
	assert.match(other.stderr, /is no headless worker/);
	await end(worker.pid);
	await gone(worker);
	const after = await run(join(BIN, "intercom"), ["view", details.jobId], { env: rig.env, cwd: rig.project });
	assert.equal(after.code, 1);
	assert.match(after.stderr, /it was launched in tmux|is gone/);
});

scenario("SIGTERM ends a worker whose program ignores it", { timeoutMs: 240_000 }, async (rig) => {
	const worker = await busy(rig);
	kill(worker.pid, "SIGTERM");
	await gone(worker);
});

scenario("kill -9 of the hosting process takes Pi, its agent and its programs along", { timeoutMs: 240_000 }, async (rig) => {
	const worker = await busy(rig);
	await end(worker.pid);
	await gone(worker);
	assert.ok(existsSync(worker.socket), "it had no time to take it away");
	assert.equal(rig.broker.pids().length, 1, "the broker stays");
	const seen = await run(join(BIN, "intercom"), ["view", worker.jobId], { env: rig.env });
	assert.equal(seen.code, 1);
	// The next one clears up.
	const next = await host(rig);
	assert.equal(existsSync(worker.socket), false, "the socket of a killed process is left");
	kill(next.pid, "SIGTERM");
	await gone(next);
});

scenario("kill -9 of Pi ends the hosting process at once", { timeoutMs: 240_000 }, async (rig) => {
	const worker = await busy(rig);
	kill(worker.hostPid);
	const before = Date.now();
	await until("the end of the hosting process", () => !isAlive(worker.pid));
	assert.ok(Date.now() - before < 5_000, "it took long");
	await gone(worker);
});

scenario("kill -9 of the guard ends everything", { timeoutMs: 240_000 }, async (rig) => {
	const worker = await busy(rig);
	kill(parentOf(worker.hostPid));
	await gone(worker);
});

scenario("a broker that a headless worker started outlives it", { timeoutMs: 240_000 }, async (rig) => {
	const worker = await host(rig);
	await attached(rig, worker);
	const [broker] = rig.broker.pids();
	kill(worker.pid, "SIGTERM");
	await gone(worker);
	assert.ok(isAlive(broker), "the broker went with it");
});

scenario("what can't be hosted is said", async (rig) => {
	mkdirSync(join(rig.home, "launch"), { recursive: true, mode: 0o700 });
	const file = join(rig.home, "launch", "x.json");
	const environment = { PI_INTERCOM_HOME: rig.home, PI_INTERCOM_JOB_ID: "job-1" };
	writeFileSync(file, JSON.stringify({ argv: ["/no/such/program"], directory: rig.project, environment }), { mode: 0o600 });
	const refused = await run(join(BIN, "intercom-agent"), ["--headless", file], { env: rig.env });
	assert.equal(refused.code, 1);
	assert.match(refused.stdout, /error there is no program/);
	const again = await run(join(BIN, "intercom-agent"), ["--headless", file], { env: rig.env });
	assert.match(again.stdout, /error there is nothing to start/);
	assert.equal(existsSync(join(rig.home, "headless", "job-1.sock")), false);
});
