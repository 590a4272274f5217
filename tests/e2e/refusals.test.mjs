// What the shipped programs refuse, and how: each refusal has a stable reason
// and a sentence, and changes nothing.
import assert from "node:assert/strict";
import { readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario } from "./support/rig.mjs";
import { refused, stubCoordinator, stubWorker, use } from "./support/team.mjs";
import { never, until } from "./support/until.mjs";

scenario("an unknown recipient is refused with those that exist", async (rig) => {
	const lead = await stubCoordinator(rig);
	await stubWorker(rig, lead, "Tester");
	const result = await refused(lead, "UNKNOWN_RECIPIENT", "intercom_send", { to: "Nobody", message: "Hello?" });
	assert.equal(result.code, "NOT_FOUND");
	assert.match(result.text, /Tester/);
	assert.deepEqual((await rig.broker.records()).filter((found) => found.envelope.text === "Hello?"), []);
	const shell = await rig.broker.cli(["send", "Nobody", "Hello?"], { cwd: rig.project });
	assert.notEqual(shell.code, 0);
	assert.match(shell.stderr, /Tester/);
});

scenario("a message to oneself is refused, by name and by id", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await stubWorker(rig, lead, "Tester");
	for (const to of ["Coordinator", "coordinator", lead.sessionId]) {
		const result = await refused(lead, "SELF_TARGET", "intercom_send", { to, message: "Me?" });
		assert.equal(result.code, "INVALID_ARGUMENT");
	}
	await refused(worker, "SELF_TARGET", "intercom_send", { to: "TESTER", message: "Me?" });
});

scenario("an anonymous sender is refused on a workspace tool", async (rig) => {
	await stubCoordinator(rig);
	const stranger = rig.startHost({ name: "Stranger" });
	const session = await stranger.attached();
	assert.equal(session.role, "anonymous");
	const names = session.tools.map((tool) => tool.name);
	assert.ok(names.includes("intercom_report_status"));
	assert.ok(!names.includes("intercom_send"));
	const result = await refused(stranger, "ANONYMOUS_SENDER", "intercom_send", { to: "Coordinator", message: "Let me in." });
	assert.equal(result.code, "PERMISSION_DENIED");
});

scenario("a coordinator's tool is refused to a worker", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await stubWorker(rig, lead, "Tester");
	const before = readFileSync(join(rig.project, ".pi-intercom/config.json"));
	const entry = { sessionId: worker.sessionId, name: "Chief", description: "Takes over." };
	const result = await refused(worker, "NOT_PERMITTED", "intercom_configure_worker", entry);
	assert.equal(result.code, "PERMISSION_DENIED");
	await refused(worker, "NOT_PERMITTED", "intercom_reload_worker", { to: "Coordinator" });
	assert.deepEqual(readFileSync(join(rig.project, ".pi-intercom/config.json")), before);
});

scenario("a message of 48,000 characters arrives whole, one more is refused", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await stubWorker(rig, lead, "Tester");
	const longest = "ä".repeat(47_990) + "end-of-it.";
	await use(lead, "intercom_send", { to: "Tester", message: longest });
	await worker.delivered("end-of-it.");
	const result = await lead.callTool("intercom_send", { to: "Tester", message: `${longest}!` });
	assert.equal(result.isError, true);
	assert.equal(result.code, "INVALID_ARGUMENT");
	assert.match(result.text, /48,?000/);
});

scenario("an invalid config is refused to every caller and left byte-identical", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await stubWorker(rig, lead, "Tester");
	const path = join(rig.project, ".pi-intercom/config.json");
	const good = readFileSync(path, "utf8");
	const broken = good.replace('"version"', '"version" oops');
	writeFileSync(path, broken);
	await until("the broken file to count as old", () => Date.now() - statSync(path).mtimeMs > 1_200);

	for (const host of [lead, worker]) {
		const to = host === lead ? "Tester" : "Coordinator";
		const result = await refused(host, "CONFIG_INVALID", "intercom_send", { to, message: "Hello." });
		assert.match(result.text, /config\.json/);
		assert.match(result.text, /line|:\d+/);
	}
	await refused(lead, "CONFIG_INVALID", "intercom_configure_worker", { sessionId: "x", name: "X", description: "X." });
	const newcomer = rig.startHost({ name: "Newcomer" });
	await assert.rejects(newcomer.attached(), /CONFIG_INVALID/);
	const shell = await rig.broker.cli(["send", "Tester", "Hello."], { cwd: rig.project });
	assert.notEqual(shell.code, 0);
	// Reads serve the last good facts and say so.
	const list = await rig.broker.cli(["list"], { cwd: rig.project });
	assert.equal(list.code, 0, list.all);
	assert.match(list.all, /Tester/);
	assert.match(list.all, /stale|invalid/i);
	assert.equal(readFileSync(path, "utf8"), broken);

	writeFileSync(path, good);
	await until("a good config", async () => (await lead.callTool("intercom_send", { to: "Tester", message: "Back." })).isError === false);
});

scenario("a live session id claimed twice: the newcomer is refused in words", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await stubWorker(rig, lead, "Tester");
	const twin = rig.startHost({ name: "Twin", sessionId: worker.sessionId });
	await assert.rejects(twin.attached(30_000), /SESSION_ALREADY_ATTACHED/);
	// The first is undisturbed.
	await use(lead, "intercom_send", { to: "Tester", message: "Still you?" });
	await worker.delivered("Still you?");
	assert.equal(worker.session.connection, "connected");
});

scenario("a session id that belongs to another root is refused, naming both", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await stubWorker(rig, lead, "Tester");
	await worker.leave();
	const elsewhere = rig.makeDirectory("Another project");
	const claim = rig.startHost({ name: "Claim", sessionId: worker.sessionId, cwd: elsewhere });
	await assert.rejects(claim.attached(30_000), (error) => {
		assert.match(error.message, /SESSION_BELONGS_ELSEWHERE/);
		assert.ok(error.message.includes(rig.project) && error.message.includes(elsewhere), error.message);
		return true;
	});
});

scenario("a symbolic link out of the workspace is no project directory", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = rig.startHost({ name: "Tester" });
	await worker.attached();
	symlinkSync("/etc", join(rig.project, "escape"));
	const entry = { sessionId: worker.sessionId, name: "Tester", description: "Tests." };
	await refused(lead, "DIRECTORY_OUTSIDE", "intercom_configure_worker", { ...entry, projectDirectory: "escape" });
	const result = await lead.callTool("intercom_configure_worker", { ...entry, projectDirectory: "../other" });
	assert.equal(result.isError, true);
	assert.equal(rig.config().agents.length, 1);
});

scenario("what a host must not write is not executed, and the agent goes on", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await stubWorker(rig, lead, "Tester");
	const call = (message) => JSON.stringify({
		...{ jsonrpc: "2.0", id: 9_000, method: "tools/call" },
		params: { name: "intercom_send", arguments: { to: "Coordinator", message }, callId: "bad-line" },
	});
	worker.stdin.write("this is not JSON\n");
	worker.stdin.write(Buffer.concat([Buffer.from(call("Not UTF-8 ").slice(0, -30)), Buffer.from([0xff, 0xfe]), Buffer.from("\n")]));
	worker.stdin.write(`${call("x".repeat(1_100_000))}\n`);
	await use(worker, "intercom_send", { to: "Coordinator", message: "Still here." });
	await lead.delivered("Still here.");
	// A last line cut off by the end of input is not executed either.
	worker.stdin.end(call("Cut off."));
	await worker.exited;
	await never("a partial line executed", () => lead.entries.some((entry) => entry.content.includes("Cut off.")));
	assert.match(worker.stderr, /1[,.]?\d{2}\d*|too long|UTF-8|JSON/i);
});
