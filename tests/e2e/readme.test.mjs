// The README says what is so: its tables, its limits, its screens, its commands.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { blockOf } from "../readme/blocks.mjs";
import { isNotRun, NOT_RUN, shellLines, tableCommands } from "../readme/commands.mjs";
import { LIMITS } from "../readme/limits.mjs";
import { makeScreens, stableLines } from "../readme/screens.mjs";
import { TABLES } from "../readme/tables.mjs";
import { run } from "./support/broker.mjs";
import { BIN, ROOT, scenario } from "./support/rig.mjs";
import { stubCoordinator, stubWorker, use } from "./support/team.mjs";
import { until } from "./support/until.mjs";

const README = readFileSync(join(ROOT, "README.md"), "utf8");
const SCREENS = ["coordinator", "monitor", "list"];

for (const [name, make] of Object.entries(TABLES)) {
	test(`the README's table of ${name} is what the programs say`, () => {
		assert.equal(blockOf(README, name), make(), "run tests/readme/write.mjs");
	});
}

test("the README's limits are those of the source", () => {
	const limits = README.slice(README.indexOf("## Limits"));
	for (const [phrase, path, constant] of LIMITS) {
		assert.ok(limits.includes(phrase), `the README no longer says "${phrase}"`);
		assert.ok(readFileSync(join(ROOT, path), "utf8").includes(constant), `${path} no longer has ${constant}: mend "${phrase}"`);
	}
});

test("the README's screens are narrow and name no machine", () => {
	for (const name of SCREENS) {
		const lines = blockOf(README, `screen ${name}`).split("\n");
		assert.ok(lines.length > 5, name);
		for (const line of lines) assert.ok([...line].length <= 110, `${name}: ${line}`);
		assert.doesNotMatch(lines.join("\n"), /\/tmp\/|icm-|\/root\b/);
	}
});

scenario("the README's screens appear on real Pi", async (rig) => {
	const screens = await makeScreens(rig);
	for (const name of SCREENS) {
		const now = new Set(stableLines(screens[name]));
		const told = stableLines(blockOf(README, `screen ${name}`)).filter((line) => !line.startsWith("```"));
		const gone = told.filter((line) => !now.has(line));
		// What depends on how fast the machine is: figures, and the order of two notices.
		const steady = gone.filter((line) => !/Messages ▁|^Session |^↑|^TIME |^Activity |^Coordinator |^Builder |^Tester /.test(line));
		assert.deepEqual(steady, [], `${name} now:\n${screens[name]}`);
	}
});

scenario("every command of the README runs", async (rig) => {
	const lead = await stubCoordinator(rig);
	const builder = await stubWorker(rig, lead, "Builder", { capabilities: ["stop", "close"] });
	builder.on("taken", (delivery) => {
		if (delivery.kind === "ask") void builder.callTool("intercom", { action: "reply", replyTo: delivery.envelopeId, message: "It is so." });
	});
	builder.release();
	// Mail to the person, to be answered, and a message of the person's, to be looked at and taken back.
	await use(builder, "intercom_send", { to: "person", message: "Look at this." });
	const inbox = await rig.broker.cli(["--json", "inbox", "--peek"]);
	const { envelopeId: unread } = JSON.parse(inbox.stdout).records[0].envelope;
	const { envelopeId: own } = JSON.parse((await rig.broker.cli(["--json", "send", "Builder", "Hello."], { cwd: rig.project })).stdout).record.envelope;
	// A stop that the stub does not carry out is a job as well.
	await lead.callTool("intercom_stop_worker", { to: "Builder" });
	const { jobs } = JSON.parse((await rig.broker.cli(["--json", "jobs"], { cwd: rig.project })).stdout);

	const fromTable = tableCommands(README, { name: "Builder", id: (command) => (command.includes(" reply ") ? unread : own), job: jobs[0].jobId, file: "messages.jsonl" });
	// What ends the broker comes last.
	const isLast = (command) => /broker (stop|restart)/.test(command);
	const commands = [...shellLines(README), ...fromTable.filter((command) => !isLast(command)), ...fromTable.filter(isLast).sort()];
	assert.ok(shellLines(README).length >= 10, `${shellLines(README).length} lines of shell found`);
	assert.ok(fromTable.length >= 30, `${fromTable.length} commands found in the table`);
	for (const start of NOT_RUN.keys()) assert.ok(commands.some((command) => command === start || command.startsWith(`${start} `)), `the README no longer has ${start}`);

	const env = { ...rig.env, PATH: `${BIN}:${rig.env.PATH}` };
	let ran = 0;
	for (const command of commands.filter((candidate) => !isNotRun(candidate))) {
		const line = command.replaceAll("<clone>", ROOT);
		const result = await run("/bin/bash", ["-c", line], { env, cwd: rig.project, timeoutMs: 40_000 });
		assert.equal(result.code, 0, `${line}\n${result.all}`);
		ran++;
	}
	assert.ok(ran >= 34, `${ran} commands ran`);
});

scenario("the README's monitor opens on a terminal and quits", async (rig) => {
	await stubCoordinator(rig);
	const { pane } = await rig.tmux.open({ argv: [join(BIN, "intercom"), "monitor"], cwd: rig.project, env: rig.env });
	await until("the table", async () => /Coordinator/.test(await rig.tmux.screen(pane)), { timeoutMs: 20_000, detail: () => rig.tmux.screen(pane) });
	await rig.tmux.press(pane, "q");
	await until("its end", () => rig.tmux.isDead(pane));
	assert.equal(await rig.tmux.exitStatus(pane), 0);
});
