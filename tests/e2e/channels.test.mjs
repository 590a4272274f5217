// Extension channels and the relay: real Pi sessions with other extensions next to intercom.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT, scenario } from "./support/rig.mjs";
import { EXTENSION } from "./support/pi.mjs";
import { never, until } from "./support/until.mjs";

const SECRET = "carried-by-channel";

/** Puts the other extensions where they find intercom's API as an installed package, and starts a Pi with them. */
async function startPi(rig, name, dir) {
	const folder = join(rig.directory, "other");
	if (!existsSync(folder)) {
		mkdirSync(join(folder, "node_modules"), { recursive: true });
		symlinkSync(dirname(dirname(EXTENSION)), join(folder, "node_modules/pi-intercom"));
		for (const file of ["channel-sample.ts", "channel-probe.ts"]) copyFileSync(join(ROOT, "tests/e2e/support", file), join(folder, file));
	}
	const log = join(rig.directory, `${name}.log`);
	const args = ["channel-sample.ts", "channel-probe.ts"].flatMap((file) => ["-e", join(folder, file)]);
	const pi = await rig.startPi({ name, dir, args, env: { PROBE_LOG: log } });
	await pi.ready();
	return Object.assign(pi, {
		heard: (type) => (existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line)) : []).filter((event) => event.type === type),
	});
}

const heard = (pi, type, matches = () => true) => until(`${type} at ${pi.name}`, () => pi.heard(type).find(matches), { timeoutMs: 30_000, detail: () => pi.screen() });

async function channel(rig, namespace) {
	const { channels = [] } = await rig.broker.call("ChannelService/ListChannels");
	return channels.find((found) => found.namespace === namespace);
}

scenario("two sessions exchange a payload over a channel, whose state outlives the broker, and no model hears of it", async (rig) => {
	const lead = await startPi(rig, "lead");
	const other = await startPi(rig, "other", rig.makeDirectory("elsewhere"));
	const ids = [lead.sessionId, other.sessionId];
	for (const namespace of ["example/v1", "probe/v1"]) {
		await until(`both in ${namespace}`, async () => (await channel(rig, namespace))?.memberSessionIds?.length === 2);
		assert.deepEqual((await channel(rig, namespace)).memberSessionIds, ids);
	}
	const owner = await heard(other, "owner", (event) => event.owner !== undefined);
	assert.equal(owner.owner.sessionId, lead.sessionId);
	assert.equal((await heard(lead, "session_joined")).session.id, other.sessionId);

	await other.prompt("/probe publish");
	for (const pi of [lead, other]) {
		const message = await heard(pi, "message");
		assert.deepEqual([message.fromSessionId, message.payload], [other.sessionId, { secret: SECRET }]);
	}
	await lead.prompt("/probe commit");
	assert.deepEqual(await heard(lead, "state_result"), { type: "state_result", committed: true, revision: 1 });
	assert.deepEqual((await heard(other, "state")).state, { revision: 1, payload: { secret: SECRET } });
	await other.prompt("/probe commit");
	assert.equal((await heard(other, "state_result")).reason, "NOT_OWNER");

	await rig.broker.kill();
	for (const pi of [lead, other]) {
		await until(`the state again at ${pi.name}`, () => pi.heard("state").length === 2, { timeoutMs: 40_000, detail: () => pi.screen() });
		assert.deepEqual(pi.heard("state")[1].state, { revision: 1, payload: { secret: SECRET } });
		assert.deepEqual(pi.heard("connection").map(({ connected }) => connected), [true, false, true]);
	}
	const epochs = new Set(lead.heard("owner").flatMap((event) => event.owner?.epoch ?? []));
	assert.ok(epochs.size > 1, "a new broker begins a new epoch");
	await until("both again", async () => (await channel(rig, "probe/v1"))?.memberSessionIds?.length === 2);
	await lead.prompt("/probe publish");
	await heard(other, "message", (event) => event.fromSessionId === lead.sessionId);

	await never("a turn", () => [lead, other].some((pi) => pi.requests().length > 0));
	for (const pi of [lead, other]) {
		await pi.prompt("say something");
		await pi.waitForRequest("say something", (request) => request.users.includes("say something") && request.answered);
		await until("a session file", () => pi.entries().some((entry) => entry.message?.role === "assistant"));
		assert.ok(!JSON.stringify(pi.requests()).includes(SECRET), "a model read it");
		assert.ok(!JSON.stringify(pi.entries()).includes(SECRET), "it is in the transcript");
		assert.ok(!(await pi.screen()).includes(SECRET), "it is on the screen");
	}
	assert.ok(!JSON.stringify(await rig.broker.records()).includes(SECRET), "it is mail");
	assert.match(await rig.tmux.history(lead.pane), /channel was not registered/);
});

scenario("a channel is there again after /reload and in the session after /new", async (rig) => {
	const lead = await startPi(rig, "lead");
	const { owner } = await heard(lead, "owner", (event) => event.owner !== undefined);
	await lead.prompt("/reload");
	await heard(lead, "owner", (event) => event.owner !== undefined && event.owner.epoch !== owner.epoch);
	await lead.prompt("/probe publish");
	assert.equal((await heard(lead, "message")).fromSessionId, lead.sessionId);
	await lead.prompt("/new");
	const next = await heard(lead, "owner", (event) => event.owner !== undefined && event.owner.sessionId !== lead.sessionId);
	await lead.prompt("/probe publish");
	await heard(lead, "message", (event) => event.fromSessionId === next.owner.sessionId);
	assert.equal(lead.heard("message").length, 2, "a publication came twice");
});

scenario("a subagent's result for its own session is a turn of its own, and is acknowledged when it is in the session", async (rig) => {
	const lead = await startPi(rig, "lead");
	rig.model.on("lead", /child is done/, { say: "read it" });
	await lead.prompt("/probe relay");
	const request = await lead.waitForText("child is done");
	assert.match(request.lastText, /^Relayed by another extension of this session \(subagent result\)/);
	assert.match(request.lastText, /^> child is done$/m);
	const { data } = await heard(lead, "subagent:result-intercom-delivery");
	assert.deepEqual(data, { requestId: "r1", delivered: true });
	assert.equal(lead.entries().filter((entry) => entry.customType === "intercom").length, 1);
	assert.deepEqual(await rig.broker.records(), []);
});
