// The README's screens, captured as text from real Pi sessions in tmux that a
// scripted model drives: a coordinator hands out work to two workers.
import { join } from "node:path";
import { BIN } from "../e2e/support/broker.mjs";
import { intercom } from "../e2e/support/peers.mjs";
import { handOut } from "../e2e/support/runs.mjs";
import { until } from "../e2e/support/until.mjs";

const PROJECT = "parser";
const WIDTH = 110;
const WORKERS = [
	["Builder", "Writes the parser, with tests."],
	["Tester", "Runs the test suite and says what fails."],
];

async function worker(rig, lead, dir, name, description) {
	const pi = await rig.startPi({ name: name.toLowerCase(), dir });
	await pi.ready(/anonymous/i);
	rig.model.on(
		lead.name,
		new RegExp(`make it ${name}`),
		{ tool: "intercom_configure_worker", args: { sessionId: pi.sessionId, name, description, projectDirectory: "." } },
		{ tool: "intercom_reload_worker", args: { to: name } },
		{ say: `${name} is ready.` },
	);
	await lead.prompt(`make it ${name}`);
	await lead.waitForScreen(new RegExp(`${name} is ready`), { timeoutMs: 40_000 });
	await until(`the role of ${name}`, async () => (await pi.rosterEntry())?.role === "ROLE_WORKER");
	return pi;
}

/** A program in a terminal of its own, with what Rig gives a Pi. */
async function open(rig, dir, ...args) {
	const { pane } = await rig.tmux.open({ argv: [join(BIN, "intercom"), ...args], cwd: dir, env: { ...rig.env, NO_COLOR: "1" } });
	return {
		pane,
		press: (...keys) => rig.tmux.press(pane, ...keys),
		screen: () => rig.tmux.screen(pane),
		shows: (pattern) => until(`${pattern} in intercom ${args.join(" ")}`, async () => pattern.test(await rig.tmux.screen(pane)), { timeoutMs: 20_000, detail: () => rig.tmux.screen(pane) }),
	};
}

/** Captures every screen: {coordinator, monitor, list}, each without a path or name of this machine. */
export async function makeScreens(rig) {
	const dir = rig.makeDirectory(PROJECT);
	const lead = await rig.startPi({ name: "lead", dir });
	await lead.ready(/coordinator/i);
	const [builder, tester] = [await worker(rig, lead, dir, ...WORKERS[0]), await worker(rig, lead, dir, ...WORKERS[1])];

	const done = ["The tokenizer is done: 14 tests pass."];
	rig.model.on("builder", /Write the tokenizer/, { say: done[0] });
	rig.model.on("lead", /start with the tokenizer/, { tools: [handOut("Builder", "Write the tokenizer in lexer/, with tests.", "tokenizer")] }, { say: "Builder has it. I am told when it is done." });
	rig.model.on("lead", /14 tests pass/, { say: "The tokenizer is done." });
	await lead.prompt("start with the tokenizer");
	await lead.waitForText("14 tests pass", { timeoutMs: 60_000 });
	await lead.waitForScreen(/The tokenizer is done\./);

	rig.model.on(
		"tester",
		/look at the suite/,
		{ tool: "intercom_report_work", args: { status: "needs_decision", summary: "Two old tests fail since the tokenizer. Drop them or mend them?" } },
		intercom({ action: "send", to: "Coordinator", message: "Two old tests fail since the tokenizer: dates.test and money.test." }),
		{ say: "I wait for a decision." },
	);
	rig.model.on("lead", /money\.test/, { say: "I look at both tests before I decide." });
	await tester.prompt("look at the suite");
	await lead.waitForScreen(/before I decide/, { timeoutMs: 60_000 });
	await until("idle sessions", async () => {
		const { entries = [] } = await rig.broker.call("InspectionService/ListAttachments");
		return [lead, builder, tester].every(({ sessionId }) => entries.find((entry) => entry.sessionId === sessionId)?.activity?.phase === "ACTIVITY_PHASE_IDLE");
	}, { timeoutMs: 30_000 });

	const coordinator = await lead.screen();
	const monitor = await open(rig, dir, "monitor");
	await monitor.shows(/Tester[\s\S]*needs decision/);
	await monitor.press("Down", "Down", "Enter");
	await monitor.shows(/Tester ─[\s\S]*Responsibility/);
	const details = await monitor.screen();
	await monitor.press("q");
	await until("the monitor's end", () => rig.tmux.isDead(monitor.pane));
	const list = await rig.broker.cli(["list"], { cwd: dir });
	const listed = list.stdout.replaceAll(dir, "/home/ada/parser").split("\n").map((line) => (line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line)).join("\n");
	const tidied = (text) => tidy(rig, dir, text);
	return { coordinator: tidied(lastOf(coordinator, /start with the tokenizer/)), monitor: tidied(details), list: tidied(`$ intercom list\n${listed}`) };
}

/** A screen from the line on that matches. */
function lastOf(screen, pattern) {
	const lines = screen.split("\n");
	const from = lines.findIndex((line) => pattern.test(line));
	return lines.slice(Math.max(from, 0)).join("\n");
}

function tidy(rig, dir, text) {
	return text
		.replaceAll(dir, "/home/ada/parser")
		.replaceAll(rig.directory, "/home/ada")
		.split("\n")
		.map((line) => line.trimEnd())
		.join("\n")
		.replace(/\n{3,}/g, "\n\n")
		.replace(/^\n+|\n+$/g, "");
}

/** What stays the same from run to run: ids, times and ages are marks, white space is one space. */
export function stableLines(screen) {
	return screen
		.split("\n")
		.map((line) =>
			line
				.replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "ID")
				.replaceAll(/\brun-\d+\b/g, "RUN")
				.replaceAll(/\b\d\d:\d\d(:\d\d)?Z?\b/g, "TIME")
				.replaceAll(/\b\d+(\.\d+)?(ms|s|m|h)\b/g, "AGE")
				.replaceAll(/[▁▂▃▄▅▆▇█]+/g, "▁")
				.replaceAll(/\s+/g, " ")
				.trim(),
		)
		.filter((line) => line !== "");
}
