// What every command prints with --json, held against what `intercom schema` says of it.
import assert from "node:assert/strict";
import { kill } from "node:process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { faultsOf } from "./support/json-schema.mjs";
import { EXTENSION } from "./support/pi.mjs";
import { BIN, scenario } from "./support/rig.mjs";
import { stubCoordinator, stubWorker, use } from "./support/team.mjs";
import { until } from "./support/until.mjs";

/** Runs commands, holds what they print against their schemas, and keeps which ran. */
class Shapes {
	ran = new Set();
	#schemas = new Map();

	constructor(rig) {
		this.rig = rig;
	}

	async schema(command) {
		if (!this.#schemas.has(command)) {
			const result = await this.rig.broker.cli(["schema", ...command.split(" ")]);
			assert.equal(result.code, 0, result.all);
			this.#schemas.set(command, JSON.parse(result.stdout));
		}
		return this.#schemas.get(command);
	}

	/** Runs `command` with `args`; returns what it printed. */
	async run(command, ...args) {
		const result = await this.rig.broker.cli(["--json", ...command.split(" "), ...args], { cwd: this.rig.project, timeoutMs: 60_000 });
		assert.equal(result.code, 0, `${command}: ${result.all}`);
		return this.check(command, result.stdout);
	}

	/** The same at a terminal, where `command` asks and the person says yes. */
	async runAndConfirm(command, ...args) {
		const out = join(this.rig.directory, `${command.replace(" ", "-")}.json`);
		const shell = `"$@" > '${out}' && mv '${out}' '${out}.done'; exec sleep 600`;
		const argv = ["/bin/sh", "-c", shell, "sh", join(BIN, "intercom"), "--json", ...command.split(" "), ...args];
		const { pane } = await this.rig.tmux.open({ argv, cwd: this.rig.project, env: this.rig.env });
		const screen = () => this.rig.tmux.screen(pane);
		await until("the question", async () => (await screen()).includes("[y/N]"), { detail: screen });
		await this.rig.tmux.type(pane, "y");
		await this.rig.tmux.press(pane, "Enter");
		await until(`the end of ${command}`, () => existsSync(`${out}.done`), { detail: screen });
		return this.check(command, readFileSync(`${out}.done`, "utf8"));
	}

	async check(command, text) {
		const value = JSON.parse(text);
		assert.deepEqual(faultsOf(await this.schema(command), value), [], command);
		this.ran.add(command);
		return value;
	}

	/** As run(), and the list `field` is not empty. */
	async listed(field, command, ...args) {
		const value = await this.run(command, ...args);
		assert.ok(value[field]?.length > 0, `${command} has no ${field}: ${JSON.stringify(value)}`);
		return value[field];
	}
}

/** The failure that is on standard error, and nothing else. */
function failure(result, code) {
	assert.equal(result.code, code, result.all);
	assert.equal(result.stdout, "");
	assert.match(result.stderr, /^[^\n]+\n$/);
	const told = JSON.parse(result.stderr);
	assert.deepEqual(Object.keys(told).sort(), ["code", "message", "reason"]);
	return told;
}

scenario("what every command prints with --json is what its schema says", { timeoutMs: 240_000 }, async (rig) => {
	const launch = { argv: ["/bin/sh", "-c", "exec sleep 600", "sh"], extension: EXTENSION, agentDir: rig.directory };
	const lead = await stubCoordinator(rig, { launch });
	const worker = await stubWorker(rig, lead, "Builder");
	const shapes = new Shapes(rig);

	// Something of everything.
	await use(worker, "intercom_report_work", { status: "blocked", summary: "There is no key." });
	await use(lead, "intercom_send", { to: "Builder", message: "Look into it.", run: true, label: "part 1" });
	await use(lead, "intercom_send", { to: "person", message: "The build is done." });
	for (const host of [lead, worker]) assert.equal((await host.request("channel/join", { namespace: "probe/v1", ownerEligible: true })).ok, true);
	const { details } = await use(lead, "intercom_create_worker", { launcher: "headless" });
	await until("the launch", async () => (await shapes.listed("jobs", "jobs")).some(({ jobId, state }) => jobId === details.jobId && state === "STATE_SUBMITTED"));

	await shapes.listed("entries", "list");
	await shapes.listed("entries", "list", "--all");
	await shapes.listed("sessions", "sessions", "--away");
	await shapes.listed("runs", "runs");
	await shapes.listed("entries", "reports");
	await shapes.listed("channels", "channels");
	await shapes.listed("workers", "workers", "--probe");
	await shapes.run("job show", details.jobId);
	await shapes.listed("observations", "observations");
	await shapes.run("config check");

	// Mail, and an ask that is answered.
	const { record } = await shapes.run("send", "Builder", "Go on.");
	await shapes.run("status", record.envelope.envelopeId);
	await shapes.run("status");
	const later = await shapes.run("ask", "Builder", "Later?", "--no-wait");
	await shapes.listed("asks", "asks");
	await shapes.run("cancel", later.record.envelope.envelopeId);
	const answering = worker.delivered("Which port?").then(() => use(worker, "intercom", { action: "reply", to: "person", message: "Port 8080." }));
	const answer = await shapes.run("ask", "Builder", "Which port?", "--timeout", "1m");
	await answering;
	assert.equal(answer.reply?.envelope.text, "Port 8080.");
	const [mail] = (await shapes.listed("records", "inbox")).filter(({ envelope }) => envelope.text === "The build is done.");
	await shapes.run("reply", mail.envelope.envelopeId, "Ship it.");
	worker.takes = false;
	const late = await shapes.run("send", "Builder", "Never mind.");
	await shapes.run("cancel", late.record.envelope.envelopeId);
	await shapes.listed("records", "history", "--all");
	await shapes.listed("deliveries", "deliveries", "--all");

	const exported = await rig.broker.cli(["--json", "history", "export", "-", "--all"], { cwd: rig.project });
	assert.equal(exported.code, 0, exported.all);
	for (const line of exported.stdout.trim().split("\n")) await shapes.check("history export", line);
	// It ends with 1 where something is wrong with this machine.
	await shapes.check("doctor", (await rig.broker.cli(["--json", "doctor"], { cwd: rig.project, timeoutMs: 60_000 })).stdout);

	// What asks a person.
	const resolved = await shapes.runAndConfirm("job resolve", details.jobId);
	assert.equal(resolved.job.jobId, details.jobId);
	const config = rig.config();
	for (const agent of config.agents) {
		agent.coordinator = agent.sessionId === worker.sessionId;
		agent.name = agent.coordinator ? "Coordinator" : "Builder";
	}
	writeFileSync(join(rig.project, ".pi-intercom/config.json"), JSON.stringify(config));
	await until("the claim", async () => (await shapes.run("list")).claimedCoordinatorSessionId === worker.sessionId);
	const taken = await shapes.runAndConfirm("coordinator take");
	assert.equal(taken.coordinatorSessionId, worker.sessionId);

	// What the client knows by itself.
	assert.equal((await shapes.run("token")).token, rig.broker.token);
	assert.equal((await shapes.run("broker path")).path, rig.home);
	await shapes.run("version");
	const { commands } = await shapes.run("schema");

	// The broker's life; last, since the sessions follow it.
	assert.equal(Number((await shapes.run("broker status")).pid), await rig.broker.pid());
	for (const host of [lead, worker]) host.stop();
	const first = await rig.broker.pid();
	const ended = (await shapes.run("broker restart")).ended;
	assert.deepEqual(ended, { pid: String(first) }, "it was not killed");
	const second = await rig.broker.pid();
	kill(second, "SIGSTOP");
	const restarted = await shapes.run("broker restart");
	assert.deepEqual(restarted.ended, { pid: String(second), killed: true });
	assert.notEqual(restarted.broker.pid, String(second));
	assert.equal((await shapes.run("broker stop")).pid, restarted.broker.pid);
	await shapes.run("broker start");
	assert.equal((await shapes.run("broker restart")).ended !== undefined, true);

	const expected = commands.filter(({ message }) => message !== undefined).map(({ command }) => command);
	assert.deepEqual([...shapes.ran].sort(), expected.sort());
});

scenario("a failure under --json is one object in one line, with the exit code of the sentence", async (rig) => {
	const none = failure(await rig.broker.cli(["--json", "list"]), 3);
	assert.deepEqual([none.code, none.reason], ["UNAVAILABLE", "BROKER_NOT_RUNNING"]);
	await stubCoordinator(rig);
	const unknown = failure(await rig.broker.cli(["send", "Nobody", "x", "--json"], { cwd: rig.project }), 1);
	assert.equal(unknown.reason, "UNKNOWN_RECIPIENT");
	assert.equal(failure(await rig.broker.cli(["--json", "frobnicate"]), 2).reason, "USAGE");
	assert.equal(failure(await rig.broker.cli(["history", "--limit", "0", "--json"]), 2).reason, "USAGE");
	for (const words of [["monitor"], ["view", "Nobody"], ["completion", "bash"]]) {
		assert.equal(failure(await rig.broker.cli(["--json", ...words], { cwd: rig.project }), 1).reason, "JSON_UNSUPPORTED", words[0]);
	}
	const plain = await rig.broker.cli(["send", "Nobody", "x"], { cwd: rig.project });
	assert.match(plain.stderr, /^intercom: /);
});

test("the validator finds what a schema forbids", () => {
	const schema = {
		$ref: "#/$defs/a",
		$defs: {
			a: { type: "object", properties: { n: { type: "string", pattern: "^[0-9]+$" }, b: { $ref: "#/$defs/e" }, all: { type: "array", items: { type: "boolean" } }, at: { type: "string", format: "date-time" } }, additionalProperties: false },
			e: { type: "string", enum: ["X"] },
		},
	};
	assert.deepEqual(faultsOf(schema, { n: "12", b: "X", all: [true], at: "2026-01-31T12:00:00.123Z" }), []);
	for (const wrong of [{ n: 12 }, { n: "x" }, { b: "Y" }, { all: ["true"] }, { other: 1 }, { at: "noon" }, []]) {
		assert.notDeepEqual(faultsOf(schema, wrong), [], JSON.stringify(wrong));
	}
	assert.throws(() => faultsOf({ unknown: 1 }, {}), /unknown word/);
});
