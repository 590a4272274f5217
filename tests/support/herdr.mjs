// A stand-in for Herdr, which can't be installed where the tests run. It keeps
// to Herdr 0.8: its command line and the part of its socket API that launchers
// use, with real panes, which show on a private tmux server. What it runs is
// real; how Herdr draws, names and restores its panes is not here.
//
//   node herdr.mjs serve DIRECTORY    until its standard input ends
//
// says on one line how to reach it: {socket, bin, tmux, environment, pane}. `bin`
// is a folder with a `herdr` program to put on PATH; `environment` is what a
// process in the first pane would see. The directory holds all that it makes.
//
// HERDR_STANDIN_FAULTS, a list with commas, makes it misbehave:
//   no_socket          nobody listens where HERDR_SOCKET_PATH says; the program works
//   no_layout          an older Herdr that does not know layout.apply
//   server_not_running the program says that no server runs
//   tab_create_failed, layout_apply_failed  the server refuses that
//   layout_lost        layout.apply is done, and the connection ends without an answer
//   slow_start         a new shell gets the terminal only at the third look
//   run_lost           what is typed into a pane is lost, and called well done
//   garbage            answers are no JSON objects
//   huge_output        answers have 2 MiB
//   hang               nothing is answered
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const SELF = fileURLToPath(import.meta.url);
const VERSION = { type: "pong", version: "0.8.0", protocol: 1, capabilities: null };

class HerdrError extends Error {
	constructor(code, message) {
		super(message);
		this.code = code;
	}
}

/** Keys in alphabetical order, as Herdr's command line prints them. */
function sorted(value) {
	if (Array.isArray(value)) return value.map(sorted);
	if (value === null || typeof value !== "object") return value;
	return Object.fromEntries(
		Object.entries(value)
			.filter(([, item]) => item !== undefined)
			.sort(([a], [b]) => (a < b ? -1 : 1))
			.map(([key, item]) => [key, sorted(item)]),
	);
}

/** A word that tmux takes as it is: a `;` at its end would begin a command. */
const word = (text) => (text.endsWith(";") ? `${text.slice(0, -1)}\\;` : text);

/** A text where tmux expands formats. */
const literal = (text) => text.replaceAll("#", "##");

// ---------------------------------------------------------------- the server

class Server {
	#directory;
	#faults;
	#socket;
	#tmuxSocket;
	// By public id: {pane, tab, workspace, terminal, label, tmux, looks, argv}.
	#panes = new Map();
	// By public id: {tab, workspace, label, number}.
	#tabs = new Map();
	#nextPane = 1;
	#nextTab = 1;

	constructor(directory, faults) {
		this.#directory = directory;
		this.#faults = faults;
		this.#socket = join(directory, "herdr.sock");
		this.#tmuxSocket = join(directory, "tmux.sock");
	}

	async #tmux(...words) {
		const { stdout } = await run("tmux", ["-u", "-S", this.#tmuxSocket, "-f", "/dev/null", ...words], {
			env: this.#serverEnvironment(),
		});
		return stdout;
	}

	/** Of the panes' server: nothing of the multiplexer that the tests run in. */
	#serverEnvironment() {
		const left = Object.entries(process.env).filter(([name]) => !/^(TMUX|HERDR_|PI_)/.test(name));
		return { ...Object.fromEntries(left), TERM: "xterm-256color", LANG: "C.UTF-8" };
	}

	environmentOf(pane) {
		return {
			HERDR_ENV: "1",
			HERDR_SOCKET_PATH: this.#socket,
			HERDR_BIN_PATH: join(this.#directory, "bin", "herdr"),
			HERDR_WORKSPACE_ID: pane.workspace,
			HERDR_TAB_ID: pane.tab,
			HERDR_PANE_ID: pane.pane,
		};
	}

	async start() {
		mkdirSync(join(this.#directory, "bin"), { recursive: true, mode: 0o700 });
		const program = join(this.#directory, "bin", "herdr");
		const quoted = [process.execPath, SELF, "cli", this.#directory].map((text) => `'${text.replaceAll("'", "'\\''")}'`);
		writeFileSync(program, `#!/bin/sh\nexec ${quoted.join(" ")} "$@"\n`);
		chmodSync(program, 0o700);
		writeFileSync(join(this.#directory, "faults"), [...this.#faults].join(","));
		const pane = await this.#open({ workspace: "w1", cwd: this.#directory, label: "1" });
		await this.#tmux("set-option", "-s", "exit-empty", "off");
		await this.#listen(join(this.#directory, "cli.sock"));
		if (!this.#faults.has("no_socket")) await this.#listen(this.#socket);
		return {
			socket: this.#socket,
			bin: join(this.#directory, "bin"),
			tmux: this.#tmuxSocket,
			environment: this.environmentOf(pane),
			pane: pane.pane,
		};
	}

	async stop() {
		await this.#tmux("kill-server").catch(() => undefined);
	}

	#listen(path) {
		const server = createServer((connection) => {
			let text = "";
			connection.setEncoding("utf8");
			connection.on("error", () => undefined);
			connection.on("data", (bytes) => {
				text += bytes;
				const end = text.indexOf("\n");
				if (end < 0) return;
				connection.pause();
				void this.#serve(connection, text.slice(0, end));
			});
		});
		return new Promise((resolve) => server.listen(path, resolve));
	}

	async #serve(connection, line) {
		let request;
		try {
			request = JSON.parse(line);
		} catch {
			request = undefined;
		}
		if (typeof request?.id !== "string" || !this.#knows(request.method)) {
			const message = `invalid request: unknown variant \`${request?.method}\``;
			connection.end(`${JSON.stringify({ id: "", error: { code: "invalid_request", message } })}\n`);
			return;
		}
		if (request.method === "ping") {
			connection.end(`${JSON.stringify({ id: request.id, result: VERSION })}\n`);
			return;
		}
		if (this.#faults.has("hang")) return;
		let answer;
		try {
			await this.#refresh();
			answer = { id: request.id, result: await this.#methods[request.method](request.params ?? {}) };
		} catch (error) {
			const code = error instanceof HerdrError ? error.code : "server_unavailable";
			answer = { id: request.id, error: { code, message: error.message } };
		}
		if (this.#faults.has("layout_lost") && request.method === "layout.apply") {
			connection.destroy();
			return;
		}
		if (this.#faults.has("garbage")) answer = "so it is";
		if (this.#faults.has("huge_output")) answer.filler = "x".repeat(2 << 20);
		connection.end(`${JSON.stringify(answer)}\n`);
	}

	#knows(method) {
		if (method === "layout.apply" && this.#faults.has("no_layout")) return false;
		return method === "ping" || method in this.#methods;
	}

	/** Opens a tab with one pane: a shell, or `command` as it is. */
	async #open({ workspace, cwd, label, command, env }) {
		const pane = {
			pane: `${workspace}:p${this.#nextPane}`,
			tab: `${workspace}:t${this.#nextTab}`,
			workspace,
			terminal: `term_${this.#nextPane}`,
			looks: 0,
			shell: command === undefined,
			command,
		};
		const argv = this.#paneArgv(pane, command, env);
		const first = this.#tabs.size === 0;
		const place = first ? ["new-session", "-s", "herdr", "-x", "110", "-y", "35"] : ["new-window", "-t", "herdr:"];
		const out = await this.#tmux(
			...[place[0], "-d", "-P", "-F", "#{pane_id}", ...place.slice(1)],
			...["-c", word(literal(cwd)), "-n", word(literal(label)), "--", ...argv],
		);
		pane.tmux = out.trim();
		this.#nextPane++;
		this.#tabs.set(pane.tab, { tab: pane.tab, workspace, label, number: this.#nextTab++ });
		this.#panes.set(pane.pane, pane);
		return pane;
	}

	/** At least two words, so that tmux starts them without a shell. */
	#paneArgv(pane, command, env = {}) {
		const variables = { ...env, ...this.environmentOf(pane) };
		const settings = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
		const shell = ["/bin/bash", "--norc", "--noprofile", "-i"];
		return ["/usr/bin/env", "-u", "TMUX", "-u", "TMUX_PANE", ...settings, ...(command ?? shell)].map(word);
	}

	/** Forgets panes that have gone. */
	async #refresh() {
		const rows = new Map();
		const format = "#{pane_id} #{pane_pid} #{pane_active} #{window_active} #{pane_left} #{pane_top} #{pane_width} #{pane_height}";
		const out = await this.#tmux("list-panes", "-a", "-F", format).catch(() => "");
		for (const line of out.split("\n").filter((text) => text !== "")) {
			const [id, ...numbers] = line.split(" ");
			const [pid, active, windowActive, x, y, width, height] = numbers.map(Number);
			rows.set(id, { pid, active: active === 1, focused: active === 1 && windowActive === 1, rect: { x, y, width, height } });
		}
		for (const pane of this.#panes.values()) {
			const row = rows.get(pane.tmux);
			if (row === undefined) this.#panes.delete(pane.pane);
			else Object.assign(pane, row);
		}
		for (const tab of this.#tabs.keys()) {
			if (this.#panesOf(tab).length === 0) this.#tabs.delete(tab);
		}
	}

	#panesOf(tab) {
		return [...this.#panes.values()].filter((pane) => pane.tab === tab);
	}

	#pane(id) {
		const pane = this.#panes.get(id);
		if (pane === undefined) throw new HerdrError("pane_not_found", `pane ${id} not found`);
		return pane;
	}

	#focused() {
		return [...this.#panes.values()].find((pane) => pane.focused);
	}

	#tab(id) {
		const tab = this.#tabs.get(id);
		if (tab === undefined) throw new HerdrError("tab_not_found", `tab ${id} not found`);
		return tab;
	}

	#workspace(id) {
		if (id !== undefined && id !== "w1") throw new HerdrError("workspace_not_found", `workspace ${id} not found`);
		return "w1";
	}

	#paneInfo(pane) {
		return {
			pane_id: pane.pane,
			terminal_id: pane.terminal,
			workspace_id: pane.workspace,
			tab_id: pane.tab,
			focused: pane.focused ?? false,
			label: pane.label,
			agent_status: "unknown",
			revision: 0,
		};
	}

	#tabInfo(tab) {
		const panes = this.#panesOf(tab.tab);
		return {
			tab_id: tab.tab,
			workspace_id: tab.workspace,
			number: tab.number,
			label: tab.label,
			focused: panes.some((pane) => pane.focused),
			pane_count: panes.length,
			agent_status: "unknown",
		};
	}

	#layout(tab) {
		const panes = this.#panesOf(tab);
		return {
			workspace_id: panes[0].workspace,
			tab_id: tab,
			zoomed: false,
			focused_pane_id: panes.find((pane) => pane.active)?.pane ?? panes[0].pane,
			panes: panes.map(({ pane, active, rect }) => ({ pane_id: pane, focused: active, rect })),
			splits: [],
		};
	}

	#processInfo(pane) {
		let group = stat(pane.pid)?.terminalGroup;
		// A shell that still runs its start files is not in the foreground.
		if (this.#faults.has("slow_start") && pane.shell && ++pane.looks < 3) group = pane.pid + 1;
		return {
			pane_id: pane.pane,
			shell_pid: pane.pid,
			foreground_process_group_id: group,
			foreground_processes: processesOf(group),
		};
	}

	#methods = {
		"layout.apply": async ({ workspace_id, tab_label, root }) => {
			const workspace = this.#workspace(workspace_id);
			if (root?.type !== "pane" || !Array.isArray(root.command) || root.command.length === 0) {
				throw new HerdrError("invalid_layout", "pane command must not be empty");
			}
			if (this.#faults.has("layout_apply_failed")) throw new HerdrError("layout_apply_failed", "failed to spawn argv command pane");
			const { cwd = this.#directory, command, env } = root;
			const pane = await this.#open({ workspace, cwd, label: tab_label ?? "tab", command, env });
			const shown = { type: "pane", pane_id: pane.pane, cwd, command };
			return {
				type: "layout_apply",
				layout: { workspace_id: workspace, tab_id: pane.tab, zoomed: false, focused_pane_id: pane.pane, root: shown },
			};
		},
		"tab.create": async ({ workspace_id, cwd = this.#directory, label = "tab", env }) => {
			const workspace = this.#workspace(workspace_id);
			if (this.#faults.has("tab_create_failed")) throw new HerdrError("tab_create_failed", "no more terminals");
			const pane = await this.#open({ workspace, cwd, label, env });
			return { type: "tab_created", tab: this.#tabInfo(this.#tab(pane.tab)), root_pane: this.#paneInfo(pane) };
		},
		"tab.get": async ({ tab_id }) => ({ type: "tab_info", tab: this.#tabInfo(this.#tab(tab_id)) }),
		"tab.rename": async ({ tab_id, label }) => {
			this.#tab(tab_id).label = label;
			return { type: "tab_info", tab: this.#tabInfo(this.#tab(tab_id)) };
		},
		"pane.current": async ({ caller_pane_id }) => ({
			type: "pane_current",
			pane: this.#paneInfo(caller_pane_id === undefined ? this.#focused() : this.#pane(caller_pane_id)),
		}),
		"pane.get": async ({ pane_id }) => ({ type: "pane_info", pane: this.#paneInfo(this.#pane(pane_id)) }),
		"pane.list": async ({ workspace_id }) => {
			this.#workspace(workspace_id);
			return { type: "pane_list", panes: [...this.#panes.values()].map((pane) => this.#paneInfo(pane)) };
		},
		"pane.process_info": async ({ pane_id }) => ({ type: "pane_process_info", process_info: this.#processInfo(this.#pane(pane_id)) }),
		"pane.layout": async ({ pane_id }) => ({ type: "pane_layout", layout: this.#layout(this.#pane(pane_id).tab) }),
		"pane.rename": async ({ pane_id, label }) => {
			this.#pane(pane_id).label = label ?? undefined;
			return { type: "pane_info", pane: this.#paneInfo(this.#pane(pane_id)) };
		},
		"pane.split": async ({ target_pane_id, direction, ratio = 0.5, cwd, env }) => {
			const target = target_pane_id === undefined ? this.#focused() : this.#pane(target_pane_id);
			const pane = { ...target, pane: `${target.workspace}:p${this.#nextPane}`, terminal: `term_${this.#nextPane}`, looks: 0, shell: true };
			const share = `${Math.round((1 - Math.min(0.9, Math.max(0.1, ratio))) * 100)}%`;
			const out = await this.#tmux(
				...["split-window", "-d", "-P", "-F", "#{pane_id}", "-t", target.tmux, direction === "down" ? "-v" : "-h", "-l", share],
				...["-c", word(literal(cwd ?? this.#directory)), "--", ...this.#paneArgv(pane, undefined, env)],
			);
			pane.tmux = out.trim();
			pane.label = undefined;
			this.#nextPane++;
			this.#panes.set(pane.pane, pane);
			await this.#refresh();
			return { type: "pane_info", pane: this.#paneInfo(pane) };
		},
		"pane.swap": async ({ source_pane_id, target_pane_id }) => {
			const [source, target] = [this.#pane(source_pane_id), this.#pane(target_pane_id)];
			const changed = source !== target && source.tab === target.tab;
			// The focus is a pane's, tmux's a place's.
			const focused = this.#panesOf(source.tab).find((pane) => pane.active) ?? target;
			if (changed) await this.#tmux("swap-pane", "-d", "-s", source.tmux, "-t", target.tmux, ";", "select-pane", "-t", focused.tmux);
			await this.#refresh();
			const layout = this.#layout(source.tab);
			const swap = { changed, source_pane_id, target_pane_id, focused_pane_id: layout.focused_pane_id, layout };
			return { type: "pane_swap", swap };
		},
		"pane.move": async ({ pane_id }) => {
			const pane = this.#pane(pane_id);
			const tab = { tab: `${pane.workspace}:t${this.#nextTab}`, workspace: pane.workspace, label: "moved", number: this.#nextTab++ };
			this.#tabs.set(tab.tab, tab);
			pane.tab = tab.tab;
			return { type: "pane_move", move_result: { changed: true, pane: this.#paneInfo(pane) } };
		},
		"pane.send_input": async ({ pane_id, text, keys }) => {
			const pane = this.#pane(pane_id);
			if (this.#faults.has("run_lost")) return { type: "ok" };
			await this.#tmux("send-keys", "-t", pane.tmux, "-l", "--", word(text));
			for (const key of keys) await this.#tmux("send-keys", "-t", pane.tmux, key);
			return { type: "ok" };
		},
		"pane.close": async ({ pane_id }) => {
			const pane = this.#pane(pane_id);
			await this.#tmux("kill-pane", "-t", pane.tmux);
			return { type: "ok" };
		},
	};
}

/** Of /proc/PID/stat: the process group, and the one that has its terminal. */
function stat(pid) {
	let text;
	try {
		text = readFileSync(`/proc/${pid}/stat`, "utf8");
	} catch {
		return undefined;
	}
	const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
	return { group: Number(fields[2]), terminalGroup: Number(fields[5]) > 0 ? Number(fields[5]) : undefined };
}

function processesOf(group) {
	if (group === undefined) return [];
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name) && stat(name)?.group === group)
		.flatMap((pid) => {
			try {
				const argv = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
				return [{ pid: Number(pid), name: readFileSync(`/proc/${pid}/comm`, "utf8").trim(), argv0: argv[0], argv, cmdline: argv.join(" ") }];
			} catch {
				return [];
			}
		});
}

// ----------------------------------------------------------- the command line

class UsageError extends Error {}

/** Options of one command: `--name VALUE` or a flag; the rest are its words. */
function parse(args, { values = [], flags = [] }) {
	const options = { words: [] };
	for (let at = 0; at < args.length; at++) {
		const name = args[at];
		if (values.includes(name)) {
			if (at + 1 >= args.length) throw new UsageError(`missing value for ${name}`);
			options[name] = name === "--env" ? [...(options[name] ?? []), args[++at]] : args[++at];
		} else if (flags.includes(name)) {
			options[name] = true;
		} else if (name.startsWith("--")) {
			throw new UsageError(`unknown option: ${name}`);
		} else {
			options.words.push(name);
		}
	}
	return options;
}

function environmentOf(settings = []) {
	return Object.fromEntries(
		settings.map((setting) => {
			const equals = setting.indexOf("=");
			if (equals < 1) throw new UsageError(`invalid env assignment: ${setting}`);
			return [setting.slice(0, equals), setting.slice(equals + 1)];
		}),
	);
}

function exactly(words, count, usage) {
	if (words.length !== count) throw new UsageError(`usage: herdr ${usage}`);
	return words;
}

const COMMANDS = {
	"tab create": (args) => {
		const options = parse(args, { values: ["--workspace", "--cwd", "--label", "--env"], flags: ["--focus", "--no-focus"] });
		exactly(options.words, 0, "tab create");
		const params = { workspace_id: options["--workspace"], cwd: options["--cwd"], label: options["--label"], focus: options["--focus"] ?? false };
		return ["tab.create", { ...params, env: environmentOf(options["--env"]) }];
	},
	"tab get": (args) => ["tab.get", { tab_id: exactly(args, 1, "tab get <tab_id>")[0] }],
	"tab rename": (args) => {
		if (args.length < 2) throw new UsageError("usage: herdr tab rename <tab_id> <label>");
		return ["tab.rename", { tab_id: args[0], label: args.slice(1).join(" ") }];
	},
	"pane run": (args) => {
		if (args.length < 2) throw new UsageError("usage: herdr pane run <pane_id> <command>");
		return ["pane.send_input", { pane_id: args[0], text: args.slice(1).join(" "), keys: ["Enter"] }];
	},
	"pane current": (args) => {
		const options = parse(args, { values: ["--pane"], flags: ["--current"] });
		return ["pane.current", { caller_pane_id: options["--pane"] ?? process.env.HERDR_PANE_ID }];
	},
	"pane list": (args) => ["pane.list", { workspace_id: parse(args, { values: ["--workspace"] })["--workspace"] }],
	"pane get": (args) => ["pane.get", { pane_id: exactly(args, 1, "pane get <pane_id>")[0] }],
	"pane close": (args) => ["pane.close", { pane_id: exactly(args, 1, "pane close <pane_id>")[0] }],
	"pane rename": (args) => {
		if (args.length < 2) throw new UsageError("usage: herdr pane rename <pane_id> <label>|--clear");
		return ["pane.rename", { pane_id: args[0], label: args[1] === "--clear" ? null : args.slice(1).join(" ") }];
	},
	"pane process-info": (args) => ["pane.process_info", { pane_id: paneOption(args) }],
	"pane layout": (args) => ["pane.layout", { pane_id: paneOption(args) }],
	"pane split": (args) => {
		const values = ["--pane", "--direction", "--ratio", "--cwd", "--env"];
		const options = parse(args, { values, flags: ["--current", "--focus", "--no-focus"] });
		if (options["--direction"] === undefined) throw new UsageError("missing required --direction");
		const target = options.words[0] ?? options["--pane"] ?? (options["--current"] ? process.env.HERDR_PANE_ID : undefined);
		const ratio = options["--ratio"] === undefined ? undefined : Number(options["--ratio"]);
		if (ratio !== undefined && !Number.isFinite(ratio)) throw new UsageError(`invalid ratio: ${options["--ratio"]}`);
		const params = { target_pane_id: target, direction: options["--direction"], ratio, cwd: options["--cwd"], env: environmentOf(options["--env"]) };
		return ["pane.split", params];
	},
	"pane swap": (args) => {
		const options = parse(args, { values: ["--source-pane", "--target-pane"] });
		return ["pane.swap", { source_pane_id: options["--source-pane"], target_pane_id: options["--target-pane"] }];
	},
};

function paneOption(args) {
	const options = parse(args, { values: ["--pane"], flags: ["--current"] });
	return options["--pane"] ?? process.env.HERDR_PANE_ID;
}

function ask(path, request) {
	return new Promise((resolve, reject) => {
		const connection = createConnection(path, () => connection.write(`${JSON.stringify(request)}\n`));
		let text = "";
		connection.setEncoding("utf8");
		connection.on("data", (bytes) => (text += bytes));
		connection.on("error", reject);
		connection.on("end", () => resolve(text));
	});
}

async function cli(directory, words) {
	const faults = new Set(readFileSync(join(directory, "faults"), "utf8").split(","));
	// Herdr takes these anywhere, also from where a label was meant.
	if (words.some((text) => text === "--help" || text === "-h")) {
		console.log("herdr: help");
		return 0;
	}
	const session = words.indexOf("--session");
	if (session >= 0) words.splice(session, 2);
	const command = COMMANDS[words.slice(0, 2).join(" ")];
	if (command === undefined) throw new UsageError("herdr commands: tab, pane");
	const [method, params] = command(words.slice(2));
	const silent = words[1] === "run";
	const id = silent ? "cli:request" : `cli:${words[0]}:${words[1].replace("-", "_")}`;
	if (faults.has("server_not_running")) {
		const error = { code: "server_not_running", message: "no herdr server is running; run `herdr` to start or attach it" };
		console.error(JSON.stringify({ error, id }));
		return 1;
	}
	const path = join(directory, "cli.sock");
	await ask(path, { id, method: "ping", params: {} });
	const text = await ask(path, { id, method, params });
	const answer = JSON.parse(text);
	if (answer.error !== undefined) {
		console.error(JSON.stringify(sorted(answer)));
		return 1;
	}
	if (!silent) console.log(JSON.stringify(sorted(answer)));
	return 0;
}

// ------------------------------------------------------------------------ main

const [, , role, directory, ...words] = process.argv;
if (role === "serve" && directory !== undefined) {
	const faults = new Set((process.env.HERDR_STANDIN_FAULTS ?? "").split(",").filter((name) => name !== ""));
	const server = new Server(directory, faults);
	const stop = () => void server.stop().finally(() => process.exit(0));
	process.stdin.on("end", stop).resume();
	process.on("SIGTERM", stop);
	console.log(JSON.stringify(await server.start()));
} else if (role === "cli" && directory !== undefined) {
	try {
		process.exitCode = await cli(directory, words);
	} catch (error) {
		console.error(error.message);
		process.exitCode = error instanceof UsageError ? 2 : 1;
	}
} else {
	console.error("usage: node herdr.mjs serve DIRECTORY");
	process.exitCode = 2;
}
