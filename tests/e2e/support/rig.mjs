// One scenario's world: a state directory, project directories, a fake model,
// a terminal server and the sessions in them. Everything has random names, is
// ended with the scenario, and tells its story when the scenario fails.
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { AgentHost } from "../../../broker/agent-host.mjs";
import { BIN, BrokerView, ROOT, run } from "./broker.mjs";
import { FakeModel } from "./fake-model.mjs";
import { PiSession } from "./pi.mjs";
import { end, pidsWithEnvironment } from "./processes.mjs";
import { Tmux } from "./tmux.mjs";

export class Rig {
	sessions = [];
	hosts = [];

	static async create() {
		const rig = new Rig();
		rig.directory = mkdtempSync(join(tmpdir(), "icm-"));
		rig.home = join(rig.directory, "home");
		rig.projects = join(rig.directory, "projects");
		rig.project = rig.makeDirectory("A project 🛰");
		const proxies = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
		const inherited = Object.entries(process.env).filter(([name]) => !/^(PI_|TMUX|NODE_)/.test(name) && !proxies.includes(name));
		rig.env = {
			...Object.fromEntries(inherited.filter(([name]) => ["PATH", "HOME", "USER", "SHELL", "ASAN_OPTIONS"].includes(name))),
			...{ LANG: "C.UTF-8", TERM: "xterm-256color", PI_INTERCOM_HOME: rig.home },
			// Its scenarios ask for it: it changes the size of the host's pane.
			...{ PI_INTERCOM_MONITOR: "false" },
			// Who starts a terminal server of their own gets a private one.
			...{ TMUX_TMPDIR: rig.directory, PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" },
			...{ PI_INTERCOM_AGENT: join(BIN, "intercom-agent"), PI_INTERCOM_BROKER: join(BIN, "intercom-broker") },
		};
		rig.broker = new BrokerView(rig.home, rig.env);
		rig.model = await FakeModel.start();
		rig.tmux = new Tmux(rig.directory);
		return rig;
	}

	/** A directory below this scenario's projects. */
	makeDirectory(...names) {
		const path = join(this.projects, ...names);
		mkdirSync(path, { recursive: true });
		return path;
	}

	/** The workspace's config, parsed. */
	config(root = this.project) {
		return JSON.parse(readFileSync(join(root, ".pi-intercom/config.json"), "utf8"));
	}

	/** Starts a real Pi. `name` also names the session for the fake model. */
	async startPi({ name, dir = this.project, sessionId = randomUUID(), args, env }) {
		const pi = new PiSession(this, { name, dir, sessionId, args, env });
		this.sessions.push(pi);
		return pi.start();
	}

	/** A session without Pi: a stub that speaks to the agent as a host does. */
	startHost(options = {}) {
		const host = new AgentHost({ bin: BIN, cwd: this.project, ...options, env: { ...this.env, ...options.env } });
		this.hosts.push(host);
		host.start();
		return host;
	}

	/** Everything that could tell why a scenario failed. */
	async report() {
		const parts = [];
		for (const pi of this.sessions) parts.push(await pi.report());
		for (const host of this.hosts) parts.push(`--- stub ${host.name} (${host.sessionId})\n${host.report()}`);
		parts.push(`--- broker log of ${this.home}\n${this.broker.log.split("\n").slice(-80).join("\n")}`);
		return parts.join("\n");
	}

	async stop() {
		await this.tmux.stop();
		await run("tmux", ["kill-server"], { env: { PATH: process.env.PATH, TMUX_TMPDIR: this.directory } });
		for (const host of this.hosts) host.stop();
		await this.broker.stop().catch(() => undefined);
		for (const pid of pidsWithEnvironment(`PI_INTERCOM_HOME=${this.home}`)) await end(pid).catch(() => undefined);
		await this.model.stop();
		rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
	}
}

/** A test with a world of its own. On failure everything it saw is printed. */
export function scenario(name, ...rest) {
	const body = rest.find((argument) => typeof argument === "function");
	const { timeoutMs = 180_000, skip } = rest.find((argument) => typeof argument === "object") ?? {};
	test(name, { timeout: timeoutMs, skip }, async (context) => {
		const rig = await Rig.create();
		try {
			// The runner's own time-out would leave no report.
			const late = new Promise((_, reject) => {
				setTimeout(() => reject(new Error(`the scenario took over ${timeoutMs * 0.9} ms`)), timeoutMs * 0.9).unref();
			});
			await Promise.race([body(rig, context), late]);
		} catch (error) {
			process.stderr.write(`\n===== ${name}\n${error.stack}\n${await rig.report()}\n=====\n`);
			throw error;
		} finally {
			await rig.stop();
		}
	});
}

export { BIN, ROOT };
