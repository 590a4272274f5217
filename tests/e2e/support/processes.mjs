// Looking at processes through /proc, and ending those that a test started.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { until } from "./until.mjs";

const read = (path) => {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
};

/** True while a process runs. A zombie does not, once the last of its threads has let go of files and ports. */
export function isAlive(pid) {
	const stat = read(`/proc/${pid}/stat`);
	if (stat === "") return false;
	if (!/^\S+ \(.*\) [ZX]/s.test(stat)) return true;
	try {
		return readdirSync(`/proc/${pid}/task`).length > 1;
	} catch {
		return false;
	}
}

export function parentOf(pid) {
	return Number(/^\S+ \(.*\) \S (\d+)/s.exec(read(`/proc/${pid}/stat`))?.[1] ?? 0);
}

/** The file name of a process's program. */
export function programOf(pid) {
	try {
		return readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, "").split("/").at(-1);
	} catch {
		return "";
	}
}

const allPids = () => readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);

/** Live processes whose environment holds `entry` (NAME=value). */
export function pidsWithEnvironment(entry) {
	return allPids().filter((pid) => isAlive(pid) && read(`/proc/${pid}/environ`).split("\0").includes(entry));
}

/** Processes whose arguments, joined by blanks, contain `text`. */
export function pidsWithArguments(text) {
	return allPids().filter((pid) => read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").includes(text));
}

export function childrenOf(pid, program) {
	return allPids().filter((child) => parentOf(child) === pid && isAlive(child) && programOf(child) === program);
}

export function kill(pid, signal = "SIGKILL") {
	try {
		process.kill(pid, signal);
	} catch (error) {
		if (error.code !== "ESRCH") throw error;
	}
}

/** Ends a process and waits until it is gone. */
export async function end(pid, signal = "SIGKILL") {
	kill(pid, signal);
	await until(`the end of process ${pid} (${programOf(pid)})`, () => !isAlive(pid), { timeoutMs: 10_000 });
}
