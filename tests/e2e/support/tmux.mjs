// A private tmux server: a terminal of 110 by 35 for each program.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { until } from "./until.mjs";

const run = promisify(execFile);

// tmux does not always learn how a program ended: this shell writes it down.
const RUN = '"$@"; echo $? >"$0$TMUX_PANE"';

export class Tmux {
	#directory;
	#socket = `intercom-test-${randomBytes(6).toString("hex")}`;

	/** `directory` is where it may keep files. */
	constructor(directory) {
		this.#directory = directory;
	}

	async #call(...args) {
		const env = { PATH: process.env.PATH, LANG: "C.UTF-8", TERM: "xterm-256color", HOME: process.env.HOME };
		const { stdout } = await run("tmux", ["-L", this.#socket, "-f", "/dev/null", ...args], { env });
		return stdout;
	}

	/** Opens a terminal that runs `argv` in `cwd`, and returns the pane's id and the program's process. */
	async open({ argv, cwd, env }) {
		const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
		const out = await this.#call(
			...["new-session", "-d", "-x", "110", "-y", "35", "-P", "-F", "#{pane_id} #{pane_pid}", "-c", cwd],
			...[...variables, "--", "/bin/sh", "-c", RUN, this.#statusPath(""), ...argv],
			...[";", "set-option", "-g", "remain-on-exit", "on"],
		);
		const [pane, shell] = out.trim().split(" ");
		const children = `/proc/${shell}/task/${shell}/children`;
		const pid = await until("the program's process", () => Number(readFileSync(children, "utf8").trim().split(" ")[0]));
		return { pane, pid };
	}

	#statusPath(pane) {
		return join(this.#directory, `status-${pane}`);
	}

	screen(pane) {
		return this.#call("capture-pane", "-p", "-t", pane);
	}

	/** Everything that scrolled by, for a failure's report. */
	history(pane) {
		return this.#call("capture-pane", "-p", "-S", "-200", "-t", pane);
	}

	type(pane, text) {
		return this.#call("send-keys", "-t", pane, "-l", text);
	}

	press(pane, ...keys) {
		return this.#call("send-keys", "-t", pane, ...keys);
	}

	/** Every pane of the server: {pane, pid, window, name, directory, dead}. */
	async panes() {
		const format = ["#{pane_id}", "#{pane_pid}", "#{window_id}", "#{window_name}", "#{pane_current_path}", "#{pane_dead}"].join("\t");
		const out = await this.#call("list-panes", "-a", "-F", format).catch(() => "");
		return out.split("\n").flatMap((line) => {
			const [pane, pid, window, name, directory, dead] = line.split("\t");
			return pane ? [{ pane, pid: Number(pid), window, name, directory, dead: dead === "1" }] : [];
		});
	}

	/** Where a pane is in its window. */
	async place(pane) {
		const out = await this.#call("display-message", "-p", "-t", pane, "#{pane_active} #{pane_top} #{pane_height}");
		const [active, top, height] = out.trim().split(" ").map(Number);
		return { active: active === 1, top, height };
	}

	/** As a person closes a pane. */
	close(pane) {
		return this.#call("kill-pane", "-t", pane);
	}

	async isDead(pane) {
		return (await this.#call("display-message", "-p", "-t", pane, "#{pane_dead}")).trim() === "1";
	}

	/** How a pane's program ended: its exit status, or 128 and the signal. */
	exitStatus(pane) {
		const path = this.#statusPath(pane);
		return until("an exit status", () => existsSync(path) && readFileSync(path, "utf8").trim(), { timeoutMs: 5_000 }).then(Number);
	}

	async stop() {
		await this.#call("kill-server").catch(() => undefined);
	}
}
