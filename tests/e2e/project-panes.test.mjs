// A message to a directory in which nobody is: a session is opened there first.
import assert from "node:assert/strict";
import { EXTENSION, NODE, PI, writeAgentDirectory } from "./support/pi.mjs";
import { scenario } from "./support/rig.mjs";
import { reached, refused, use } from "./support/team.mjs";
import { until } from "./support/until.mjs";

/** A session without Pi and without a workspace that opens real Pi sessions. */
async function openingPeer(rig, env = {}) {
	const agentDir = writeAgentDirectory(rig, "opened");
	const peer = rig.startHost({
		name: "Opener",
		cwd: rig.makeDirectory("where the opener is"),
		workspaceMode: "never",
		env: { PI_CODING_AGENT_DIR: agentDir, PI_INTERCOM_WORKSPACE_MODE: "never", ...env },
		launch: { argv: [NODE, PI], extension: EXTENSION, agentDir },
	});
	await peer.attached();
	return peer;
}

scenario("a project pane is opened, its session waited for, and the message delivered; each is told apart", async (rig) => {
	const peer = await openingPeer(rig);
	const project = rig.makeDirectory("billing; $(touch hit) 🛰");
	const args = { action: "send", cwd: project, message: "Let us talk about retries.", openProjectPaneIfMissing: true, launcher: "tmux" };
	const result = await use(peer, "intercom", args);
	assert.match(result.text, /project pane/);
	assert.match(result.text, /attached/);
	assert.match(result.text, /accepted/);
	const { entries } = await rig.broker.call("InspectionService/ListAttachments");
	const opened = entries.find((entry) => entry.launchJobId === result.details.messageId || entry.sessionId === result.details.to?.sessionId);
	assert.ok(opened, JSON.stringify(entries));
	assert.equal(opened.role, "ROLE_PEER");
	await reached(rig, result.details.deliveryId, "INJECTED", { timeoutMs: 40_000 });

	// Now somebody is there: nothing is opened again.
	const again = await use(peer, "intercom", { ...args, message: "One more word." });
	assert.doesNotMatch(again.text, /project pane/);
	assert.equal(again.details.to.sessionId, opened.sessionId);
	const { jobs } = await rig.broker.call("WorkService/ListJobs");
	assert.deepEqual(jobs.map(({ kind, state }) => [kind, state]), [["KIND_OPEN", "STATE_SUCCEEDED"]]);
});

scenario("an ask opens a session and gets its answer", async (rig) => {
	const peer = await openingPeer(rig);
	rig.model.on("opened", /How many endpoints/, { tool: "intercom", args: { action: "reply", message: "Seven endpoints." } }, { say: "answered" });
	const result = await use(peer, "intercom", { action: "ask", cwd: rig.makeDirectory("api"), message: "How many endpoints?", openProjectPaneIfMissing: true, launcher: "tmux", timeoutMs: 60_000 });
	assert.match(result.text, /project pane/);
	assert.match(result.text, /Seven endpoints\./);
	await until("the state of the ask", async () => (await rig.broker.call("MessageService/ListMessages", {})).records.some((found) => found.state === "DELIVERY_STATE_REPLIED"));
});

scenario("what can't be opened is refused in words, nothing is sent, and without the wish nothing is opened", async (rig) => {
	const peer = await openingPeer(rig);
	const project = rig.makeDirectory("nobody is here");
	await refused(peer, "NOBODY_THERE", "intercom", { action: "send", cwd: project, message: "Hello?" });
	await refused(peer, "LAUNCHER_UNAVAILABLE", "intercom", { action: "send", cwd: project, message: "Hello?", openProjectPaneIfMissing: true });
	const missing = await peer.callTool("intercom", { action: "send", cwd: `${project}/not-there`, message: "Hello?", openProjectPaneIfMissing: true, launcher: "tmux" });
	assert.equal(missing.isError, true);
	assert.deepEqual((await rig.broker.call("MessageService/ListMessages", {})).records ?? [], []);
});
