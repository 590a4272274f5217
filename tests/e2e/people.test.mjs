// What a person types, and what sessions write to them, on real Pi.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { intercom, intercomResult, peer } from "./support/peers.mjs";
import { isAlive } from "./support/processes.mjs";
import { BIN, scenario } from "./support/rig.mjs";
import { gate, until } from "./support/until.mjs";

/** Starts the command line and leaves it running: its process, and what it has said. */
function startCli(rig, args) {
	const child = spawn(join(BIN, "intercom"), args, { env: rig.env, cwd: rig.project, stdio: ["ignore", "pipe", "pipe"] });
	const said = { out: "", err: "" };
	child.stdout.on("data", (data) => (said.out += data));
	child.stderr.on("data", (data) => (said.err += data));
	const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal, ...said })));
	return { child, ended };
}

async function inbox(rig, ...args) {
	const result = await rig.broker.cli(["--json", "inbox", ...args]);
	assert.equal(result.code, 0, result.all);
	return JSON.parse(result.stdout).records ?? [];
}

/** The delivery that this text has, as the broker knows it. */
async function recordOf(rig, text) {
	return (await rig.broker.records()).find(({ envelope }) => envelope.text.includes(text));
}

scenario("a person asks at a terminal and reads the model's answer there", async (rig) => {
	await peer(rig, "api");
	rig.model.on("api", /Which port do you use/, intercom({ action: "reply", message: "Port 8080." }), { say: "told them" });
	const asked = await rig.broker.cli(["ask", "api", "Which port do you use?"], { cwd: rig.project, timeoutMs: 60_000 });
	assert.equal(asked.code, 0, asked.all);
	assert.equal(asked.stdout, "Port 8080.\n");
	assert.equal(asked.stderr, "", "progress is for terminals");
	const reply = await recordOf(rig, "Port 8080.");
	assert.equal(reply.state, "DELIVERY_STATE_SEEN");
	assert.match(reply.marks.at(-1).evidence, /^read at a terminal, process \d+$/);
	assert.deepEqual(await inbox(rig), []);
});

scenario("an answer to a command that was ended is in the inbox, once, and then it is read", async (rig) => {
	const api = await peer(rig, "api");
	const hold = gate();
	rig.model.on("api", /Is it deployed/, intercom({ action: "reply", message: "Deployed at noon." }, { gate: hold.promise }), { say: "told them" });
	const asking = startCli(rig, ["ask", "api", "Is it deployed?"]);
	await api.waitForText("Is it deployed?");
	asking.child.kill("SIGINT");
	const ended = await asking.ended;
	assert.equal(ended.code, 4, ended.err);
	assert.match(ended.err, /its answer will be in: intercom inbox/);
	assert.equal(ended.out, "");

	hold.open();
	await api.waitForScreen(/told them/);
	await until("the answer in the inbox", async () => (await inbox(rig, "--peek")).length === 1, { timeoutMs: 30_000 });
	const shown = await rig.broker.cli(["inbox"]);
	assert.equal(shown.code, 0, shown.all);
	assert.match(shown.stdout, /reply from api.*answers your question/);
	assert.match(shown.stdout, /Deployed at noon\./);
	assert.equal((await recordOf(rig, "Deployed at noon.")).state, "DELIVERY_STATE_SEEN");
	const again = await rig.broker.cli(["inbox"]);
	assert.equal(again.stdout, "No unread mail.\n");
	assert.match((await rig.broker.cli(["inbox", "--all"])).stdout, /Deployed at noon\./);
});

scenario("an answer to a command that was killed waits, too", async (rig) => {
	const api = await peer(rig, "api");
	const hold = gate();
	rig.model.on("api", /Is it green/, intercom({ action: "reply", message: "All green." }, { gate: hold.promise }), { say: "told them" });
	const asking = startCli(rig, ["ask", "api", "Is it green?"]);
	await api.waitForText("Is it green?");
	asking.child.kill("SIGKILL");
	await asking.ended;
	assert.ok(!isAlive(asking.child.pid));
	hold.open();
	await api.waitForScreen(/told them/);
	await until("the answer in the inbox", async () => (await inbox(rig, "--peek")).some(({ envelope }) => envelope.text === "All green."), { timeoutMs: 30_000 });
});

scenario("models write to the person, who answers; a session's shell has no inbox", async (rig) => {
	const lead = await rig.startPi({ name: "lead" });
	await lead.ready(/coordinator/i);
	rig.model.on(
		"lead",
		/tell the person/,
		{ tool: "intercom_send", args: { to: "person", message: "The build is done." } },
		intercom({ action: "send", to: "person", message: "And so are the docs." }),
		{ tool: "bash", args: { command: `'${join(BIN, "intercom")}' inbox; echo "exit $?"` } },
		{ say: "all told" },
	);
	rig.model.on("lead", /Then ship it/, { say: "shipping" });
	await lead.prompt("tell the person");
	await lead.waitForScreen(/all told/);
	const sent = await lead.toolResult("intercom_send");
	assert.equal(sent.isError, false, sent.text);
	assert.match(sent.text, /unread: it is kept in the mailbox of person/);
	assert.equal((await intercomResult(lead)).isError, false);
	const shell = await lead.toolResult("bash");
	assert.match(shell.text, /only a person at a shell of their own may/);
	assert.match(shell.text, /exit 1/);

	const list = await rig.broker.cli(["list"], { cwd: rig.project });
	assert.match(list.stdout, /2 unread for you: intercom inbox/);
	const [first] = await inbox(rig);
	assert.equal(first.envelope.text, "The build is done.");
	assert.deepEqual(await inbox(rig), []);
	const answer = await rig.broker.cli(["reply", first.envelope.envelopeId, "Then ship it."]);
	assert.equal(answer.code, 0, answer.all);
	await lead.waitForText("Then ship it.");
	await lead.waitForScreen(/shipping/);
	assert.equal((await recordOf(rig, "The build is done.")).state, "DELIVERY_STATE_REPLIED");
});

scenario("history finds what was said, by whom, and what became of it", async (rig) => {
	const [alice, bob] = [await peer(rig, "alice"), await peer(rig, "bob")];
	rig.model.on("alice", /say things/, intercom({ action: "send", to: "bob", message: "The NEEDLE is here." }), intercom({ action: "send", to: "bob", message: "Only hay." }), { say: "said" });
	await alice.prompt("say things");
	await alice.waitForScreen(/said/);
	await bob.waitForText("Only hay.");
	const history = async (...args) => {
		const result = await rig.broker.cli(["--json", "history", "--all", ...args]);
		assert.equal(result.code, 0, result.all);
		return (JSON.parse(result.stdout).records ?? []).map(({ envelope }) => envelope.text);
	};
	assert.deepEqual(await history("--containing", "needle"), ["The NEEDLE is here."]);
	assert.deepEqual(await history("--session", "bob", "--kind", "message", "--since", "1h"), ["Only hay.", "The NEEDLE is here."]);
	assert.deepEqual(await history("--until", "1h"), []);
	assert.deepEqual(await history("--state", "expired"), []);
	await until("both seen", async () => (await history("--state", "seen")).length === 2);
	assert.match((await rig.broker.cli(["sessions"])).stdout, /alice +peer/);
	const deliveries = await rig.broker.cli(["deliveries", "--all"]);
	assert.equal(deliveries.code, 0, deliveries.all);
	assert.ok(!deliveries.all.includes("NEEDLE"), "deliveries have no texts");
});

scenario("a config is checked at a terminal", async (rig) => {
	const lead = await rig.startPi({ name: "lead" });
	await lead.ready(/coordinator/i);
	const good = await rig.broker.cli(["config", "check", "-w", rig.project]);
	assert.equal(good.code, 0, good.all);
	assert.match(good.stdout, /Valid: 1 agent/);
	const nowhere = await rig.broker.cli(["config", "check", "-w", rig.makeDirectory("elsewhere")]);
	assert.equal(nowhere.code, 1, nowhere.all);
	assert.match(nowhere.stderr, /no workspace/);
});
