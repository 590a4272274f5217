// A private tmux server: a terminal of 110 by 35 for each program.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";

const run = promisify(execFile);

export class Tmux {
	#socket = `intercom-test-${randomBytes(6).toString("hex")}`;

	async #call(...args) {
		const env = { PATH: process.env.PATH, LANG: "C.UTF-8", TERM: "xterm-256color", HOME: process.env.HOME };
		const { stdout } = await run("tmux", ["-L", this.#socket, "-f", "/dev/null", ...args], { env });
		return stdout;
	}

	/** Opens a window that runs `argv` in `cwd`, and returns the pane's id and the process's. */
	async open({ argv, cwd, env }) {
		const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
		const out = await this.#call(
			...["new-session", "-d", "-x", "110", "-y", "35", "-P", "-F", "#{pane_id} #{pane_pid}", "-c", cwd],
			...[...variables, "--", ...argv, ";", "set-option", "-g", "remain-on-exit", "on"],
		);
		const [pane, pid] = out.trim().split(" ");
		return { pane, pid: Number(pid) };
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

	async isDead(pane) {
		return (await this.#call("display-message", "-p", "-t", pane, "#{pane_dead}")).trim() === "1";
	}

	/** The exit status of a pane's program that has ended, or the signal's name. */
	async exitStatus(pane) {
		const out = await this.#call("display-message", "-p", "-t", pane, "#{pane_dead_status}/#{pane_dead_signal}");
		const [status, signal] = out.trim().split("/");
		return status === "" ? signal : Number(status);
	}

	async stop() {
		await this.#call("kill-server").catch(() => undefined);
	}
}
