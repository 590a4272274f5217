// Runs where several have to do with one: fellows that write to each other, and supervisors that want the same worker.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { peer } from "./support/peers.mjs";
import { scenario } from "./support/rig.mjs";
import { announcements, bulletins, collected, handOut, headlessWorkers, lead, runOf, supervise, turn } from "./support/runs.mjs";
import { gate, never, until } from "./support/until.mjs";

const order = (n) => `WORK-${n}: look into part ${n}`;

scenario("contact_peer over 8,000 characters is refused unsent, and so is the 21st message of a run", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const [worker, fellow] = await headlessWorkers(rig, boss, 2);
	const tell = (message) => ["contact_peer", { to: fellow.sessionId, message }];
	// Characters, not bytes: 8,000 pictures are as many letters.
	const longest = `FELLOW-00 ${"🛰".repeat(7_990)}`;
	const twenty = [longest, ...Array.from({ length: 19 }, (_, index) => `FELLOW-${String(index + 1).padStart(2, "0")}`)];
	rig.model.on("lead", /WORK-1:/, { tools: [tell(`TOO-LONG ${"x".repeat(7_992)}`)] }, { tools: twenty.map(tell) }, { tools: [tell("FELLOW-20")] }, { say: "result of part 1" });
	rig.model.on("lead", /WORK-2:/, { tools: [tell("FELLOW-21")] }, { say: "result of part 2" });
	await turn(rig, boss, "hand it out", { tools: [handOut(worker.sessionId, order(1), "part 1")] });
	const runId = await runOf(boss);
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 60_000, detail: () => boss.screen() });
	const told = boss.toolResults(worker.sessionId).filter(({ tool }) => tool === "contact_peer");
	assert.equal(told.length, 22);
	assert.equal(told[0].isError, true);
	assert.match(told[0].text, /8,?000/);
	for (const { isError, text } of told.slice(1, 21)) assert.equal(isError, false, text);
	assert.equal(told[21].isError, true);
	assert.match(told[21].text, /20 messages/);

	// The next run has twenty of its own.
	await turn(rig, boss, "hand more out", { tools: [handOut(worker.sessionId, order(2), "part 2")] });
	await until("all that was sent", () => boss.injected(fellow.sessionId).some(({ content }) => content.includes("FELLOW-21")), { timeoutMs: 60_000 });
	const heard = boss.injected(fellow.sessionId).flatMap(({ content }) => /FELLOW-\d+|TOO-LONG/.exec(content)?.[0] ?? []);
	assert.deepEqual(heard, [...twenty.map((text) => text.slice(0, 9)), "FELLOW-21"], "in order, once each, and nothing that was refused");
	assert.ok(boss.injected(fellow.sessionId).some(({ content }) => content.includes("🛰".repeat(7_990))), "the longest was cut");
	assert.equal(boss.times("FELLOW"), 0, "the supervisor was told, too");
});

scenario("of two supervisors only the one that launched a headless worker hands runs to it and follows them", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const other = await peer(rig, "other");
	const [worker] = await headlessWorkers(rig, boss, 1);
	// The other supervises as well: it has a worker of its own.
	const elsewhere = rig.makeDirectory("elsewhere");
	await turn(rig, other, "open mine", { tool: "intercom", args: { action: "send", cwd: elsewhere, openProjectPaneIfMissing: true, launcher: "headless", message: "hello there" } });
	const own = await until("the other's worker", async () => {
		const { entries = [] } = await rig.broker.call("InspectionService/ListAttachments");
		return entries.find((entry) => (entry.launchJobId ?? "") !== "" && entry.sessionId !== worker.sessionId);
	}, { timeoutMs: 60_000, detail: () => other.screen() });
	const mayFinish = gate();
	for (const name of ["lead", "other"]) {
		for (const n of [1, 2, 3]) rig.model.on(name, new RegExp(`WORK-${n}:`), { say: `result of part ${n}`, gate: n === 1 ? mayFinish.promise : undefined });
	}
	await turn(rig, boss, "hand it out", { tools: [handOut(worker.sessionId, order(1), "part 1")] });
	const runId = await runOf(boss);
	const attempts = await turn(
		rig,
		other,
		"take it over",
		{ tools: [handOut(worker.sessionId, order(2), "part 2")] },
		...["peek", "result", "wait", "stop"].map((action) => supervise(action, { runId })),
		supervise("steer", { runId, message: "STEERED by another" }),
	);
	assert.equal(attempts.length, 6);
	assert.match(attempts[0].text, /neither a worker of a workspace .* nor a headless worker that it launched/);
	for (const { isError, text } of attempts) {
		assert.equal(isError, true, text);
		assert.doesNotMatch(text, /part 1/, "another's run is told of");
	}
	const [toOwn] = await turn(rig, other, "use mine", { tools: [handOut(own.sessionId, order(3), "part 3")] });
	assert.equal(toOwn.isError, false, toOwn.text);
	const ownRun = await runOf(other);
	await until("its announcement", () => announcements(other, ownRun) === 1, { timeoutMs: 60_000, detail: () => other.screen() });
	const [refused] = await turn(rig, boss, "take theirs", { tools: [handOut(own.sessionId, order(2), "part 2")] });
	assert.equal(refused.isError, true, refused.text);

	mayFinish.open();
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 60_000, detail: () => boss.screen() });
	await never("news of another's run", () => announcements(other, runId) + announcements(boss, ownRun) > 0, 2_000);
	assert.match(bulletins(boss, "runs").at(-1).content, /^> (… )*result of part 1$/m);
	for (const [pi, { sessionId }] of [[boss, worker], [other, own]]) {
		assert.ok(pi.injected(sessionId).every(({ content }) => !/WORK-2|STEERED/.test(content)), "a refused message came all the same");
	}
});

scenario("a headless worker in a directory with spaces, quotes, pictures and a command in its name works there, and only there", { timeoutMs: 240_000 }, async (rig) => {
	const boss = await lead(rig);
	const directory = rig.makeDirectory(`it's "here" $(touch escaped) \`touch escaped\` ; 🛰 \u202eback`);
	rig.model.on("lead", /WORK-1:/, { tool: "bash", args: { command: "pwd -P > where.txt; ls >> where.txt" } }, { say: "result of part 1" });
	const [opened] = await turn(rig, boss, "open it there", { tool: "intercom", args: { action: "send", cwd: directory, openProjectPaneIfMissing: true, launcher: "headless", message: order(1), run: true, label: "part 1" } });
	assert.equal(opened.isError, false, opened.text);
	const runId = await runOf(boss);
	await until("the announcement", () => announcements(boss, runId) === 1, { timeoutMs: 60_000, detail: () => boss.screen() });
	assert.match(bulletins(boss, "runs").at(-1).content, /^> result of part 1$/m);
	assert.equal(readFileSync(join(directory, "where.txt"), "utf8"), `${directory}\nwhere.txt\n`);
	assert.equal(existsSync(join(rig.project, "escaped")), false, "its name was run");
});

scenario("64 runs are open at once and one more is refused; each is joined or announced once, and none is lost", { timeoutMs: 400_000 }, async (rig) => {
	const boss = await lead(rig);
	const workers = await headlessWorkers(rig, boss, 2);
	const mayFinish = gate();
	for (let n = 1; n <= 65; n++) rig.model.on("lead", new RegExp(`WORK-${n}:`), { say: `result of part ${n}`, gate: n <= 2 ? mayFinish.promise : undefined });
	const sent = await turn(rig, boss, "hand them out", { tools: Array.from({ length: 65 }, (_, index) => handOut(workers[index % 2].sessionId, order(index + 1), `part ${index + 1}`)) });
	assert.equal(sent.length, 65);
	const refused = sent.filter(({ isError }) => isError);
	assert.equal(refused.length, 1);
	assert.match(refused[0].text, /64 runs of this session are open/);
	const ids = sent.flatMap(({ isError, text }) => (isError ? [] : [/\brun-\d+\b/.exec(text)[0]]));
	assert.equal(new Set(ids).size, 64);

	// Joined again and again until there is nothing to wait for.
	rig.model.on("lead", /^join them$/, (request) => (/There is no run to wait for/.test(request.lastText) ? { say: "all are joined" } : supervise("wait")));
	await boss.prompt("join them");
	await boss.waitForScreen(/waiting for/, { timeoutMs: 30_000 });
	mayFinish.open();
	await boss.waitForScreen(/all are joined/, { timeoutMs: 200_000 });
	const told = [...collected(boss), ...bulletins(boss, "runs").flatMap((bulletin) => bulletin.ids ?? [])];
	assert.deepEqual([...told].sort(), [...ids].sort());
	const states = boss.toolResults().filter(({ text }) => /runs? ended/.test(text)).map(({ text }) => text.split("\n")[0]);
	assert.doesNotMatch(states.join("\n"), /failed|stopped/);
	await never("an announcement of what was joined", () => bulletins(boss, "runs").some(({ ids: said = [] }) => said.some((id) => collected(boss).includes(id))), 2_000);
	for (const { sessionId } of workers) assert.equal(boss.injected(sessionId).filter(({ content }) => /WORK-\d+:/.test(content)).length, 32);
	// And there is room again.
	const [again] = await turn(rig, boss, "one more", { tools: [handOut(workers[0].sessionId, order(65), "part 65")] });
	assert.equal(again.isError, false, again.text);
});
