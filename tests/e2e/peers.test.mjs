// Sessions that talk to each other directly, on real Pi.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { asksOf, intercom, intercomResult, nameIt, peer } from "./support/peers.mjs";
import { scenario } from "./support/rig.mjs";
import { reached } from "./support/team.mjs";
import { gate, never, once, until } from "./support/until.mjs";

/** Plans of a planner and a worker: delegate, clarify in the middle of the turn, complete. */
function planConversation(rig, { planner, worker, plannerName, workerName }) {
	rig.model.on(planner, /delegate it/, intercom({ action: "send", to: workerName, message: "Task-3: add retry logic. Ask if anything is unclear." }), { say: "delegated" });
	rig.model.on(
		worker,
		/Task-3: add retry/,
		intercom({ action: "ask", to: plannerName, message: "All endpoints, or only idempotent ones?" }),
		{ tool: "bash", args: { command: "echo retry-written" } },
		intercom({ action: "ask", to: plannerName, message: "Task-3 done, 4 tests pass." }),
		{ say: "worker is done" },
	);
	rig.model.on(planner, /All endpoints, or only/, intercom({ action: "reply", message: "Only GET, PUT and DELETE." }), { say: "clarified" });
	rig.model.on(planner, /Task-3 done/, intercom({ action: "reply", message: "Good. Nothing else." }), { say: "accepted it" });
}

/** The id that the hint below a question names. */
function hinted(request, question) {
	const text = request.users.find((user) => question.test(user)) ?? "";
	return /replyTo "([^"]+)"/.exec(text)?.[1] ?? "";
}

async function proveConversation(rig, planner, worker) {
	await planner.prompt("delegate it");
	await worker.waitForScreen(/worker is done/, { timeoutMs: 60_000 });
	await planner.waitForScreen(/accepted it/);

	const clarified = await intercomResult(worker, 0);
	assert.equal(clarified.isError, false, clarified.text);
	assert.match(clarified.text, /Only GET, PUT and DELETE/);
	const completed = await intercomResult(worker, 1);
	assert.match(completed.text, /Good\. Nothing else/);
	// All of it in one turn: the replies came as results, and never as messages.
	const told = worker.injected();
	assert.deepEqual(told.map(({ content }) => /Task-3: add retry/.test(content)), [true], JSON.stringify(told));
	const asks = await asksOf(rig, worker, true);
	assert.equal(asks.length, 2);
	for (const ask of asks) {
		const found = await reached(rig, ask.deliveryId, "REPLIED");
		assert.equal(found.recipientSessionId, planner.sessionId);
	}
	// The replies are in the worker's session, by its own word.
	const { records } = await rig.broker.call("MessageService/ListMessages", { sessionId: worker.sessionId, pageSize: 50 });
	const replies = records.filter(({ envelope }) => envelope.kind === "ENVELOPE_KIND_REPLY");
	assert.equal(replies.length, 2);
	for (const reply of replies) await reached(rig, reply.deliveryId, "SEEN");
}

scenario("planner and worker in one directory without any configuration: delegate, clarify, complete", async (rig) => {
	const planner = await rig.startPi({ name: "planner" });
	await planner.ready(/coordinator/i);
	const worker = await rig.startPi({ name: "worker" });
	await worker.ready(/anonymous/i);
	await nameIt(planner, "planner");
	await nameIt(worker, "worker");
	planConversation(rig, { planner: "planner", worker: "worker", plannerName: "planner", workerName: "worker" });
	await proveConversation(rig, planner, worker);
	assert.equal(rig.config().agents.length, 1, "talking configures nobody");
});

scenario("two sessions without a workspace have the same conversation and leave no file in the project", async (rig) => {
	const planner = await peer(rig, "planner");
	const worker = await peer(rig, "worker");
	planConversation(rig, { planner: "planner", worker: "worker", plannerName: "planner", workerName: "worker" });
	await proveConversation(rig, planner, worker);
	assert.ok(!existsSync(join(rig.project, ".pi-intercom")));
});

scenario("three sessions in three directories find and answer each other", async (rig) => {
	const api = await peer(rig, "api", { dir: rig.makeDirectory("api") });
	const web = await peer(rig, "web", { dir: rig.makeDirectory("a web 🛰 project") });
	const lead = await rig.startPi({ name: "lead", dir: rig.makeDirectory("docs") });
	await lead.ready(/coordinator/i);

	rig.model.on("api", /who is there/, intercom({ action: "list" }), intercom({ action: "list-cwd" }), { say: "listed" });
	await api.prompt("who is there");
	const list = await intercomResult(api, 0);
	for (const part of ["api", "web", "a web 🛰 project", "docs", "self"]) assert.ok(list.text.includes(part), `${part} is not in ${list.text}`);
	const here = await intercomResult(api, 1);
	assert.ok(!/\bweb\b/.test(here.text), here.text);

	// By name, by the beginning of an id, by role and directory.
	rig.model.on("api", /tell them/, { tools: [
		["intercom", { action: "send", to: "web", message: "Hello by name." }],
		["intercom", { action: "send", to: web.sessionId.slice(0, 13), message: "Hello by prefix." }],
		["intercom", { action: "send", to: "Coordinator@docs", message: "Hello, coordinator of docs." }],
		["intercom", { action: "send", cwd: lead.dir, message: "Hello, whoever is in docs." }],
		["intercom", { action: "send", to: "nobody-of-this-name", message: "Hello?" }],
	] }, { say: "told" });
	await api.prompt("tell them");
	await api.waitForScreen(/told/);
	for (const text of ["Hello by name.", "Hello by prefix."]) await once(text, () => web.times(text));
	for (const text of ["Hello, coordinator of docs.", "Hello, whoever is in docs."]) await once(text, () => lead.times(text));
	const results = api.toolResults().filter(({ tool }) => tool === "intercom");
	assert.deepEqual(results.slice(2).map(({ isError }) => isError), [false, false, false, false, true]);
	assert.match(results.at(-1).text, /nobody-of-this-name/);
	assert.match(results.at(-1).text, /web/, "a refusal names who is there");
});

scenario("a reply goes to the ask that started the turn, not to the one that came last", async (rig) => {
	const [alice, bob, carol] = [await peer(rig, "alice"), await peer(rig, "bob"), await peer(rig, "carol")];
	const hold = gate();
	rig.model.on("bob", /Question of Alice/, { tool: "bash", args: { command: "echo thinking" }, gate: hold.promise }, intercom({ action: "reply", message: "For Alice." }), intercom({ action: "reply", message: "For nobody in particular." }), intercom((request) => ({ action: "reply", message: "For Carol.", replyTo: hinted(request, /Question of Carol/) })), { say: "both answered" });
	rig.model.on("alice", /ask bob/, intercom({ action: "ask", to: "bob", message: "Question of Alice?" }), { say: "alice knows" });
	rig.model.on("carol", /ask bob/, intercom({ action: "ask", to: "bob", message: "Question of Carol?" }), { say: "carol knows" });
	await alice.prompt("ask bob");
	await bob.waitForText("Question of Alice?");
	await carol.prompt("ask bob");
	await until("both asks at bob", async () => (await asksOf(rig, bob)).length === 2);
	hold.open();
	await alice.waitForScreen(/alice knows/);
	await carol.waitForScreen(/carol knows/);
	assert.match((await intercomResult(alice)).text, /For Alice\./);
	assert.match((await intercomResult(carol)).text, /For Carol\./);
	// What the turn was started by is answered: a bare reply could be meant for either.
	const bare = await intercomResult(bob, 1);
	assert.equal(bare.isError, true);
	assert.match(bare.text, /carol/);
});

scenario("Escape ends a waiting ask at once; the reply arrives later as a message that says so", async (rig) => {
	const [alice, bob] = [await peer(rig, "alice"), await peer(rig, "bob")];
	const hold = gate();
	rig.model.on("bob", /Is it ready/, intercom({ action: "reply", message: "It is ready now." }, { gate: hold.promise }), { say: "answered" });
	rig.model.on("alice", /ask bob/, intercom({ action: "ask", to: "bob", message: "Is it ready?" }), { say: "knows" });
	await alice.prompt("ask bob");
	await bob.waitForText("Is it ready?");
	await alice.waitForScreen(/bob/);
	await alice.press("Escape");
	const ended = await intercomResult(alice);
	assert.equal(ended.isError, true);
	const [ask] = await asksOf(rig, alice, true);
	assert.ok(ended.text.includes(ask.envelope.envelopeId.slice(0, 8)), ended.text);
	hold.open();
	await bob.waitForScreen(/answered/);
	await until("the late reply", () => alice.times("It is ready now.") === 1, { timeoutMs: 40_000 });
	await once("late reply", () => alice.times("It is ready now."));
});

scenario("mail waits for a session that returns under the same name and directory, and for no other", async (rig) => {
	const alice = await peer(rig, "alice");
	const bob = await peer(rig, "bob", { dir: rig.makeDirectory("one") });
	assert.equal(await bob.quit(), 0);
	rig.model.on("alice", /leave word/, intercom({ action: "send", to: "bob", message: "Read this when you are back." }), { say: "left" });
	await alice.prompt("leave word");
	await alice.waitForScreen(/left/);
	const sent = await intercomResult(alice);
	assert.equal(sent.isError, false, sent.text);
	assert.match(sent.text, /bob is away/);

	const stranger = await rig.startPi({ name: "stranger", dir: rig.makeDirectory("two"), env: { PI_INTERCOM_WORKSPACE_MODE: "never" } });
	await stranger.ready(/peer/i);
	await nameIt(stranger, "bob");
	await never("mail of another project", () => stranger.times("Read this when you are back.") > 0);

	const back = await rig.startPi({ name: "back", dir: bob.dir, env: { PI_INTERCOM_WORKSPACE_MODE: "never" } });
	await back.ready(/peer/i);
	await nameIt(back, "bob");
	await once("the word that was left", () => back.times("Read this when you are back."));
	assert.equal(stranger.times("Read this when you are back."), 0);
});

scenario("scopes keep fleets apart", async (rig) => {
	const red = await peer(rig, "red", { env: { PI_INTERCOM_SCOPE_ID: "fleet-one" } });
	const blue = await peer(rig, "blue", { env: { PI_INTERCOM_SCOPE_ID: "fleet-two" } });
	rig.model.on("red", /look around/, intercom({ action: "list" }), intercom({ action: "send", to: "blue", message: "Over the fence." }), intercom({ action: "send", to: blue.sessionId, message: "By id." }), { say: "looked" });
	await red.prompt("look around");
	await red.waitForScreen(/looked/);
	assert.ok(!(await intercomResult(red, 0)).text.includes("blue"));
	for (const nth of [1, 2]) assert.equal((await intercomResult(red, nth)).isError, true);
	assert.equal(blue.injected().length, 0);
});
