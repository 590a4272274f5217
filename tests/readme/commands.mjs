// The README's commands: the lines of its ```sh blocks and every `intercom …`
// of its command table, as a shell runs them in a prepared place.
import { blockOf } from "./blocks.mjs";

/** Those that no test here runs, with how else they are proven. */
export const NOT_RUN = new Map([
	["bash broker/start.sh", "tests/e2e/start-script.test.mjs runs it"],
	["bash tests/run.sh", "it runs this test"],
	["intercom monitor", "needs a terminal: another test here opens it in tmux and quits it"],
	["intercom job resolve", "asks at a terminal: tests/unit/cli/work_commands_test.cc answers it"],
	["intercom coordinator take", "asks at a terminal: tests/unit/cli/work_commands_test.cc answers it"],
	["intercom view", "needs a headless worker: tests/e2e/headless.test.mjs has one"],
]);

export const isNotRun = (command) => [...NOT_RUN.keys()].some((start) => command === start || command.startsWith(`${start} `));

/** The lines of the ```sh blocks, without their comments. */
export function shellLines(readme) {
	const blocks = [...readme.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map((match) => match[1]);
	return blocks
		.join("\n")
		.split("\n")
		.map((line) => line.replace(/\s+# .*$/, "").trim())
		.filter((line) => line !== "");
}

/** The commands of the table, with what stands for their operands. */
export function tableCommands(readme, { name, id, job, file }) {
	const found = [...blockOf(readme, "commands").matchAll(/^\| `(intercom [^`]+)`/gm)].map((match) => match[1]);
	return found.map((command) => {
		const bare = command.replace(/ \[[A-Z]+\]/g, "");
		return bare
			.replace(/\bNAME\b/, name)
			.replace(/\bFILE\b/, file)
			.replace(/\bSHELL\b/, "bash")
			.replace(/\bTEXT\b/, "'Is all well?'")
			.replace(/\bID\b/, bare.startsWith("intercom job ") ? job : id(bare));
	});
}
