// intercom_watch as a host without Pi sees it: when it is listed, what it tells, and how its programs end.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kill, isAlive } from "./support/processes.mjs";
import { scenario } from "./support/rig.mjs";
import { refused, use } from "./support/team.mjs";
import { never, until } from "./support/until.mjs";

/** A session that may run programs, and the bulletins that its agent has for it. */
async function watcher(rig) {
	const host = rig.startHost({ name: "Watcher", workspaceMode: "never" });
	const bulletins = [];
	let input = "";
	host.stdout.on("data", (data) => {
		input += data;
		for (let end = input.indexOf("\n"); end >= 0; end = input.indexOf("\n")) {
			const message = JSON.parse(input.slice(0, end));
			input = input.slice(end + 1);
			if (message.method === "bulletin") bulletins.push(message.params);
		}
	});
	await host.attached();
	const lists = () => host.session.tools.some((tool) => tool.name === "intercom_watch");
	assert.equal(lists(), false, "listed without permission");
	host.notify("programs", { allowed: true });
	await host.until("the tool", lists);
	return { host, bulletins, lists };
}

const shell = (script, more = {}) => ({ action: "arm", command: "sh", args: ["-c", script], ...more });

const pidIn = (rig, name) => until(`the process of ${name}`, () => existsSync(join(rig.project, name)) && Number(readFileSync(join(rig.project, name), "utf8")));

scenario("what a watched program writes is a bulletin, and so is the loss of the permission", async (rig) => {
	const { host, bulletins, lists } = await watcher(rig);
	const armed = await use(host, "intercom_watch", shell("echo ready; echo $$ > pid; exec sleep 1000", { maxEvents: 2, label: "server" }));
	const bulletin = await until("the bulletin", () => bulletins.at(-1)?.content && bulletins.at(-1));
	assert.equal(bulletin.topic, "watch");
	assert.equal(bulletin.quiet, false);
	assert.match(bulletin.content, /\(server\) wrote:\n> ready/);
	assert.deepEqual(bulletin.ids, [`${armed.details.watchId}/1`]);
	host.notify("bulletin/shown", { topic: "watch", key: bulletin.key });
	const pid = await pidIn(rig, "pid");
	host.notify("programs", { allowed: false });
	await until("the end of the program", () => !isAlive(pid));
	await until("what is said of it", () => bulletins.at(-1).content?.includes("may not run programs any more"));
	await host.until("the end of the tool", () => !lists());
	await refused(host, "PROGRAMS_NOT_ALLOWED", "intercom_watch", shell("true"));
});

scenario("a cancelled watch takes its bulletin back", async (rig) => {
	const { host, bulletins } = await watcher(rig);
	const { details } = await use(host, "intercom_watch", shell("echo x; exec sleep 1000", { maxEvents: 5 }));
	await until("the bulletin", () => bulletins.at(-1)?.content);
	await use(host, "intercom_watch", { action: "cancel", id: details.watchId });
	await until("that it is taken back", () => bulletins.at(-1).key === "");
	await never("another one", () => bulletins.at(-1).key !== "", 300);
});

for (const [how, end] of [
	["kill -9 of the agent", (host) => kill(host.agentPid)],
	["the session's goodbye", (host) => host.leave()],
]) {
	scenario(`${how} ends what is watched, and all that it started`, async (rig) => {
		const { host } = await watcher(rig);
		await use(host, "intercom_watch", shell("echo $$ > pid; setsid sh -c 'trap \"\" TERM; echo $$ > deep; exec sleep 1000' & wait"));
		const pids = [await pidIn(rig, "pid"), await pidIn(rig, "deep")];
		await end(host);
		await until("the end of both", () => pids.every((pid) => !isAlive(pid)));
	});
}
