// The pane above a coordinator: when it opens, and when it does not.
import assert from "node:assert/strict";
import { scenario } from "./support/rig.mjs";
import { never, until } from "./support/until.mjs";

const WITH_MONITOR = { PI_INTERCOM_MONITOR: "true" };

/** A worker without Pi, which the coordinator's model is told to configure. */
async function configure(rig, lead, worker, marker) {
	const args = { sessionId: worker.sessionId, name: "Worker", description: `Works ${marker}.` };
	const before = lead.toolResults().filter((result) => result.tool === "intercom_configure_worker").length;
	rig.model.on(lead.name, new RegExp(marker), { tool: "intercom_configure_worker", args }, { say: "done" });
	await lead.prompt(`please ${marker}`);
	await lead.toolResult("intercom_configure_worker", before);
}

/** The panes of the window that shows `pi`, but its own. */
async function above(rig, pi) {
	const panes = await rig.tmux.panes();
	const own = panes.find((pane) => pane.pane === pi.pane);
	return panes.filter((pane) => pane.window === own.window && pane.pane !== pi.pane && !pane.dead);
}

const opened = (rig, pi) => until("a pane above the coordinator", async () => (await above(rig, pi))[0]);

scenario("the monitor opens above the coordinator with the first worker, once, and again at the next start", { timeoutMs: 300_000 }, async (rig) => {
	const dir = rig.makeDirectory("it's \"a\" project; 🛰");
	const lead = await rig.startPi({ name: "lead", dir, env: WITH_MONITOR });
	await lead.ready(/coordinator/i);
	const worker = rig.startHost({ name: "worker", cwd: dir });
	await worker.attached();
	assert.deepEqual(await above(rig, lead), [], "a pane without a worker");

	await configure(rig, lead, worker, "first-marker");
	const monitor = await opened(rig, lead);
	await until("the table", async () => /Worker/.test(await rig.tmux.screen(monitor.pane)), { detail: () => rig.tmux.screen(monitor.pane) });
	const place = await rig.tmux.place(monitor.pane);
	assert.equal(place.active, false, "it has the focus");
	assert.equal(place.top, 0, "it is not above");
	assert.ok(place.height >= 7 && place.height <= 9, `${place.height} of 35 rows`);

	await rig.tmux.close(monitor.pane);
	await configure(rig, lead, worker, "second-marker");
	await never("a second pane", async () => (await above(rig, lead)).length > 0, 1_000);

	await lead.quit();
	await lead.start();
	await lead.ready(/coordinator/i);
	const again = await opened(rig, lead);
	await never("two panes", async () => (await above(rig, lead)).length > 1, 1_000);

	// One that is there is kept over a start, and over the end of the roster.
	await lead.quit();
	await lead.start();
	await lead.ready(/coordinator/i);
	await never("another monitor", async () => (await above(rig, lead)).length > 0, 1_000);
	assert.ok((await rig.tmux.panes()).some(({ pane, dead }) => pane === again.pane && !dead), "it is gone");
});

scenario("a person who sets monitor to false gets no pane", async (rig) => {
	const lead = await rig.startPi({ name: "lead" });
	await lead.ready(/coordinator/i);
	const worker = rig.startHost({ name: "worker" });
	await worker.attached();
	await configure(rig, lead, worker, "only-marker");
	await never("a pane", async () => (await above(rig, lead)).length > 0, 1_000);
});
