// An ask under kill -9: of the broker, of the agents, of the asker's host.
import assert from "node:assert/strict";
import { asksOf, intercom, intercomResult, peer } from "../e2e/support/peers.mjs";
import { end } from "../e2e/support/processes.mjs";
import { scenario } from "../e2e/support/rig.mjs";
import { reached } from "../e2e/support/team.mjs";
import { gate, once, until } from "../e2e/support/until.mjs";

/** Alice asks Bob, whose answer waits for `open`. Resolves once Bob has the question. */
async function asked(rig) {
	const [alice, bob] = [await peer(rig, "alice"), await peer(rig, "bob")];
	const hold = gate();
	rig.model.on("bob", /Which port/, intercom({ action: "reply", message: "Port 8443." }, { gate: hold.promise }), { say: "answered" });
	rig.model.on("alice", /ask bob/, intercom({ action: "ask", to: "bob", message: "Which port?" }), { say: "alice knows" });
	await alice.prompt("ask bob");
	await bob.waitForText("Which port?");
	const [ask] = await asksOf(rig, alice, true);
	return { alice, bob, ask, open: hold.open };
}

async function proveAnswered(rig, { alice, bob, ask }) {
	const result = await intercomResult(alice, 0, { timeoutMs: 60_000 });
	assert.equal(result.isError, false, result.text);
	assert.match(result.text, /Port 8443/);
	await alice.waitForScreen(/alice knows/);
	await reached(rig, ask.deliveryId, "REPLIED");
	assert.equal(bob.times("Which port?"), 1, "the question came once");
	assert.equal(alice.injected().length, 0, "the reply came as the result alone");
	assert.equal((await asksOf(rig, alice, true)).length, 1, "it was asked once");
}

scenario("kill -9 of the broker while an ask waits: the answer comes as its result", async (rig) => {
	const world = await asked(rig);
	await rig.broker.kill();
	await until("a new broker", async () => (await world.alice.rosterEntry()) && (await world.bob.rosterEntry()), { timeoutMs: 40_000 });
	world.open();
	await proveAnswered(rig, world);
});

scenario("kill -9 of the broker at the moment of the answer", async (rig) => {
	const world = await asked(rig);
	world.open();
	await rig.broker.kill();
	await proveAnswered(rig, world);
});

for (const whose of ["alice", "bob"]) {
	scenario(`kill -9 of ${whose}'s agent while an ask waits`, async (rig) => {
		const world = await asked(rig);
		const [agent] = world[whose].agentPids();
		await end(agent);
		await until("a new agent", () => world[whose].agentPids().some((pid) => pid !== agent), { timeoutMs: 20_000 });
		world.open();
		await proveAnswered(rig, world);
	});
}

scenario("kill -9 of the asker: the reply waits for it and comes as a message", async (rig) => {
	const world = await asked(rig);
	await world.alice.kill();
	world.open();
	await world.bob.waitForScreen(/answered/);
	await world.alice.start();
	await until("its return", async () => (await world.alice.rosterEntry())?.presence === "PRESENCE_ATTACHED", { timeoutMs: 40_000 });
	await until("the reply", () => world.alice.times("Port 8443.") > 0, { timeoutMs: 40_000 });
	await once("reply", () => world.alice.times("Port 8443."));
});

scenario("kill -9 of the recipient: the asker is told within seconds, not after its ten minutes", async (rig) => {
	const world = await asked(rig);
	const killedAt = Date.now();
	await world.bob.kill();
	const result = await intercomResult(world.alice, 0, { timeoutMs: 60_000 });
	assert.equal(result.isError, true);
	assert.ok(Date.now() - killedAt < 45_000);
	assert.ok(result.text.includes(world.ask.envelope.envelopeId.slice(0, 8)), result.text);
});
