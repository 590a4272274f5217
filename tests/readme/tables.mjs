// The README's tables, made from what the programs say and from the one place
// in the source where each thing is defined.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BIN, ROOT } from "../e2e/support/broker.mjs";
import { DEFAULT_SETTINGS, FIELDS } from "../../extension/src/settings.ts";

const say = (program, ...args) => execFileSync(join(BIN, program), args, { encoding: "utf8" });
const row = (...cells) => `| ${cells.join(" | ")} |`;
const table = (head, rows) => [row(...head), row(...head.map(() => "---")), ...rows.map((cells) => row(...cells))].join("\n");

/** The sections of a help text: {usage, summary, options, subcommands}, entries as [left, right]. */
function helpOf(words) {
	const lines = say("intercom", ...words, "--help").split("\n");
	const help = { summary: lines.find((line) => line !== ""), usage: "", Options: [], Positionals: [], Subcommands: [] };
	let into;
	for (const line of lines) {
		if (line.startsWith("Usage: ")) help.usage = line.slice("Usage: ".length);
		const heading = /^(Options|Positionals|Subcommands):$/.exec(line);
		if (heading) into = help[heading[1]];
		else if (/^ {2}\S/.test(line) && into) into.push(line.trim().split(/ {2,}/));
		else if (/^ {10,}\S/.test(line) && into) into.at(-1)[1] = [into.at(-1)[1], line.trim()].filter(Boolean).join(" ");
	}
	return help;
}

/** Every command there is, as its words. */
export function commandNames(words = []) {
	const { Subcommands, usage } = helpOf(words);
	// A command may have further ones, which need not be named.
	const own = Subcommands.length === 0 || usage.includes("[SUBCOMMAND]") ? [words] : [];
	return [...own, ...Subcommands.flatMap(([name]) => commandNames([...words, name]))];
}

const EVERYWHERE = /^(-h|--json|--home|--version)\b/;

function commandRow(words) {
	const help = helpOf(words);
	const operands = help.Positionals.map(([left]) => {
		const name = left.split(" ")[0].toUpperCase();
		return left.includes("REQUIRED") ? ` ${name}` : ` [${name}]`;
	});
	const options = help.Options.filter(([left]) => !EVERYWHERE.test(left)).map(([left]) => {
		const names = left.split(" ")[0].split(",");
		const name = names.includes("--workspace") ? "-w" : names.at(-1);
		if (name === "-w") return "`-w DIR`";
		return /(TEXT|INT)/.test(left) ? `\`${name} X\`` : `\`${name}\``;
	});
	return [`\`intercom ${words.join(" ")}${operands.join("")}\``, help.summary, options.join(" ") || "–"];
}

/** All commands with their options, from their help. */
export const commandTable = () => table(["command", "what it does", "options"], commandNames().map(commandRow));

/** Who may do what, from the permission table. */
export function operationTable() {
	const source = readFileSync(join(ROOT, "broker/domain/permissions.cc"), "utf8");
	const found = [...source.matchAll(/\{Operation::k\w+, "([a-z.]+)",([^}]*)\}/g)];
	if (found.length < 20) throw new Error("the permission table was not found");
	return table(
		["operation", "coordinator", "worker", "anonymous", "peer", "its shell", "person", "client"],
		found.map(([, name, cells]) => {
			const may = cells.split(",").map((cell) => cell.trim()).filter(Boolean);
			if (may.length !== 7) throw new Error(`${name} has ${may.length} columns`);
			return [`\`${name}\``, ...may.map((cell) => (cell === "kYes" ? "yes" : "–"))];
		}),
	);
}

// What the program can't say of a setting.
const MEANING = {
	enabled: "`false`: the extension does nothing",
	workspace: "whether a session without a workspace makes one, only joins one, or stays a peer",
	rpc: "`true`: RPC sessions attach too; those that intercom launched always do",
	confirmSend: "`true`: the person confirms each `send` of the tool `intercom` that names nothing it answers, where a person is at a UI: not in headless workers",
	inboundTrigger:
		'which messages, asks and replies start a turn: all, answers to what this session sent, or none; all are shown and kept. A run whose message starts no turn ends with Pi\'s next run. Reports, notices, bulletins and the request of a close are no matter of it',
	toolVisibility: '`"after-first-use"`: the model sees the tool `intercom` once something was delivered to the session or its person used intercom',
	replyHint: "`false`: the model is not told with each message how to answer",
	status: "shown behind what the session does",
	stableId: "an address that stays over restarts. In the file it is claimed by every session, and the first has it",
	brokerPath: "path of the `intercom-broker` binary, and in the environment for the agent, too; without it the one beside the agent. It replaces `brokerCommand` and `brokerArgs`, which are refused",
	askTimeoutMs: "how long an ask waits that says nothing itself; 10 min where it is not set",
	livenessIntervalMs: "how often the link is pinged; 5 s where it is not set",
	livenessTimeoutMs: "how long a ping may take, the interval at most; 4 s where it is not set",
	runsKept: "how many settled runs are kept for this session as their supervisor; 25 where it is not set",
	mostHeadless: "how many headless workers this session may have; 8 where it is not set",
	monitor: "`false`: no monitor opens beside a coordinator",
};

/** The settings, from where they are read. A new one needs its meaning here. */
export function settingTable() {
	return table(
		["key", "file", "environment", "value", "default", "meaning"],
		Object.entries(FIELDS).map(([key, field]) => {
			if (MEANING[key] === undefined) throw new Error(`say in tests/readme/tables.mjs what the setting ${key} means`);
			const variable = key === "brokerPath" ? "PI_INTERCOM_BROKER" : field.variable;
			const files = { user: "yours", workspace: "yours, project", none: "–" }[field.inFile];
			const initial = DEFAULT_SETTINGS[key] === undefined || DEFAULT_SETTINGS[key] === "" ? "–" : `\`${JSON.stringify(DEFAULT_SETTINGS[key])}\``;
			return [`\`${key}\``, files, `\`${variable}\``, field.must, initial, MEANING[key]];
		}),
	);
}

/** Each generated block of the README by its name. */
export const TABLES = { tools: () => say("intercom-agent", "--print-tools").trim(), commands: commandTable, operations: operationTable, settings: settingTable };
