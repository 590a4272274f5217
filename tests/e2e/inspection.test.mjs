// Looking at the broker from outside: health, reflection, inspection, and the
// documented grpcurl lines as their `buf curl` equivalents.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { grpcurlCommands, toBufCurl } from "./support/grpcurl.mjs";
import { BUF, run } from "./support/broker.mjs";
import { ROOT, scenario } from "./support/rig.mjs";
import { stubCoordinator, stubWorker } from "./support/team.mjs";
import { until } from "./support/until.mjs";

const SERVICES = ["SessionService", "MessageService", "WorkspaceService", "InspectionService"].map((name) => `intercom.v1.${name}`);

scenario("services are listed and described without the token, on both listeners", async (rig) => {
	await stubCoordinator(rig);
	for (const unix of [false, true]) {
		const list = await rig.broker.grpc("", undefined, { token: false, unix, flags: ["--list-services"] });
		assert.equal(list.code, 0, list.all);
		for (const service of [...SERVICES, "grpc.health.v1.Health"]) assert.match(list.stdout, new RegExp(service.replaceAll(".", "\\.")));
		const methods = await rig.broker.grpc("", undefined, { token: false, unix, flags: ["--list-methods"] });
		assert.equal(methods.code, 0, methods.all);
		assert.match(methods.stdout, /grpc\.health\.v1\.Health\/Check/);
		assert.match(methods.stdout, /intercom\.v1\.MessageService\/Send/);
	}
});

scenario("health answers Check and Watch, and Watch tells of the drain", async (rig) => {
	const lead = await stubCoordinator(rig);
	const check = await rig.broker.grpc("grpc.health.v1.Health/Check", {}, { token: false });
	assert.equal(check.code, 0, check.all);
	assert.equal(JSON.parse(check.stdout).status, "SERVING");

	const { port } = rig.broker.endpoint();
	const args = ["curl", "--protocol", "grpc", "--http2-prior-knowledge", "--data", "{}", `http://127.0.0.1:${port}/grpc.health.v1.Health/Watch`];
	const watch = spawn(BUF, args, { env: rig.env, stdio: ["ignore", "pipe", "pipe"] });
	let seen = "";
	watch.stdout.on("data", (data) => {
		seen += data;
	});
	await until("SERVING", () => /"SERVING"/.test(seen), { detail: () => seen });
	process.kill(await rig.broker.pid(), "SIGTERM");
	await until("NOT_SERVING", () => /"NOT_SERVING"/.test(seen), { detail: () => seen });
	watch.kill();
	// The session's agent starts another broker by itself.
	await lead.until("the link again", () => lead.session.connection === "connected", 20_000);
	await until("an answer", async () => (await rig.broker.grpc("grpc.health.v1.Health/Check", {}, { token: false })).code === 0);
});

scenario("inspection needs the token on TCP and none on the socket", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await stubWorker(rig, lead, "Tester");
	const bare = await rig.broker.grpc("intercom.v1.InspectionService/GetBroker", {}, { token: false });
	assert.notEqual(bare.code, 0);
	assert.match(bare.all, /unauthenticated/i);
	const wrong = await rig.broker.grpc("intercom.v1.InspectionService/GetBroker", {}, {
		token: false,
		flags: ["-H", "authorization: Bearer not-the-token"],
	});
	assert.match(wrong.all, /unauthenticated/i);

	for (const unix of [false, true]) {
		const broker = await rig.broker.call("InspectionService/GetBroker", {}, { unix });
		assert.equal(Number(broker.pid), await rig.broker.pid());
		assert.equal(broker.port, rig.broker.endpoint().port);
		const { entries } = await rig.broker.call("InspectionService/ListAttachments", {}, { unix });
		assert.deepEqual(entries.map((entry) => entry.sessionId), [lead.sessionId, worker.sessionId]);
		const { workspaces } = await rig.broker.call("InspectionService/ListWorkspaces", {}, { unix });
		assert.deepEqual(workspaces.map((workspace) => workspace.coordinatorSessionId), [lead.sessionId]);
		assert.equal(workspaces[0].agents, 2);
	}
	const { root, entries } = await rig.broker.call("WorkspaceService/GetWorkspace", { directory: rig.project });
	assert.equal(root, rig.project);
	assert.deepEqual(entries.map((entry) => entry.name), ["Coordinator", "Tester"]);
});

scenario("a client with the token sends as a client, never as a person or a session", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await stubWorker(rig, lead, "Tester");
	const envelope = { envelopeId: "from-a-client-1", kind: "ENVELOPE_KIND_MESSAGE", text: "Hello from TCP." };
	const sent = await rig.broker.call("MessageService/Send", { envelope, to: "Tester", directory: rig.project });
	assert.equal(sent.record.sender.origin, "ORIGIN_CLIENT");
	assert.match(sent.record.sender.sessionId, /^client:/);
	const delivery = await worker.delivered("Hello from TCP.");
	assert.equal(delivery.from.origin, "client");
	const again = await rig.broker.call("MessageService/Send", { envelope, to: "Tester", directory: rig.project });
	assert.equal(again.record.sequence, sent.record.sequence, "a repeat is the first answer");
	const other = await rig.broker.grpc("intercom.v1.MessageService/Send", {
		envelope: { ...envelope, text: "Other words." },
		to: "Tester",
		directory: rig.project,
	});
	assert.match(other.all, /already_exists/i);
});

scenario("the state directory is the user's alone", async (rig) => {
	await stubCoordinator(rig);
	assert.equal(statSync(rig.home).mode & 0o777, 0o700);
	assert.equal(statSync(join(rig.home, "token")).mode & 0o777, 0o600);
	assert.equal(statSync(join(rig.home, "state.db")).mode & 0o077, 0);
	assert.ok(!rig.broker.log.includes(rig.broker.token), "the token is in the log");
});

scenario("every grpcurl line of the README works as its buf curl equivalent", async (rig) => {
	const commands = grpcurlCommands(readFileSync(join(ROOT, "README.md"), "utf8"));
	assert.ok(commands.length >= 9, `${commands.length} lines found`);
	const lead = await stubCoordinator(rig);
	await stubWorker(rig, lead, "Tester");
	const { port } = rig.broker.endpoint();
	const places = { port, socket: rig.broker.socket, token: rig.broker.token };
	for (const command of commands) {
		const args = toBufCurl(command.replaceAll("/path/to/project", rig.project), places);
		// Watch has no end of its own.
		const result = await run(BUF, args, { env: rig.env, timeoutMs: /Watch/.test(command) ? 2_000 : 20_000 });
		if (/Watch/.test(command)) assert.match(result.stdout, /SERVING/, `${command}\n${result.all}`);
		else assert.equal(result.code, 0, `${command}\n${result.all}`);
	}
});

scenario("an agent attaches over TCP as well", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await stubWorker(rig, lead, "Tester", { args: ["--tcp"] });
	const result = await lead.callTool("intercom_send", { to: "Tester", message: "Over TCP." });
	assert.equal(result.isError, false, result.text);
	await worker.delivered("Over TCP.");
});

scenario("figures, sessions, asks, runs and the store are looked at with a client", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await stubWorker(rig, lead, "Tester");
	const sent = await lead.callTool("intercom_send", { to: "Tester", message: "A secret plan." });
	assert.equal(sent.isError, false, sent.text);
	await worker.delivered("A secret plan.");

	const { counters, latencies } = await rig.broker.call("InspectionService/GetMetrics");
	const accepted = counters.find((counter) => counter.name === "envelopes_accepted" && counter.label === "kind=message");
	assert.ok(Number(accepted.value) >= 1, JSON.stringify(accepted));
	assert.deepEqual(latencies.map((latency) => latency.name), ["accepted_to_delivered", "accepted_to_injected", "accepted_to_seen", "ask_to_reply"]);
	const session = await rig.broker.call("InspectionService/GetSession", { sessionId: worker.sessionId.slice(0, 12) });
	assert.equal(session.entry.name, "Tester");
	assert.ok(session.deliveries.some((delivery) => delivery.kind === "ENVELOPE_KIND_MESSAGE"));
	assert.ok(!JSON.stringify(session.deliveries).includes("secret"));
	assert.deepEqual(await rig.broker.call("InspectionService/ListOpenAsks", { directory: rig.project }), {});
	assert.deepEqual(await rig.broker.call("InspectionService/ListAllRuns", { open: true }), {});
	const store = await rig.broker.call("InspectionService/CheckStore", { within: "5s" });
	assert.equal(store.complete, true);
	assert.equal(store.findings, undefined);
});

scenario("both watches stream until the broker leaves", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await stubWorker(rig, lead, "Tester");
	const { port } = rig.broker.endpoint();
	const watch = (method) => {
		const child = spawn(
			BUF,
			[
				...["curl", "--protocol", "grpc", "--http2-prior-knowledge", "-H", `authorization: Bearer ${rig.broker.token}`, "--data", "{}"],
				`http://127.0.0.1:${port}/intercom.v1.InspectionService/${method}`,
			],
			{ env: rig.env, stdio: ["ignore", "pipe", "pipe"] },
		);
		const seen = { text: "", over: false };
		for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (seen.text += data));
		child.on("close", () => (seen.over = true));
		return seen;
	};
	const events = watch("WatchEvents");
	const overview = watch("WatchOverview");
	await until("a cursor", () => /"cursor"/.test(events.text), { detail: () => events.text });
	await until("the team", () => /"Tester"/.test(overview.text), { detail: () => overview.text });
	const sent = await lead.callTool("intercom_send", { to: "Tester", message: "A secret plan." });
	assert.equal(sent.isError, false, sent.text);
	await worker.delivered("A secret plan.");
	await until("its delivery", () => /DELIVERY_STATE_DELIVERED/.test(events.text), { detail: () => events.text });
	assert.ok(!(events.text + overview.text).includes("secret"));
	process.kill(await rig.broker.pid(), "SIGTERM");
	await until("the end of both", () => events.over && overview.over, { detail: () => events.text + overview.text });
	assert.match(events.text, /unavailable/i);
	assert.match(overview.text, /unavailable/i);
});
