// The broker of one state directory, seen from outside: its endpoint, its
// process, the command line and the inspection client.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { end, isAlive, pidsWithEnvironment, programOf } from "./processes.mjs";
import { until } from "./until.mjs";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
export const BIN = process.env.INTERCOM_BIN ?? join(ROOT, "build/release/bin");
export const BUF = join(ROOT, "extension/node_modules/.bin/buf");

/** Runs a program to its end; never rejects. */
export function run(program, args, { env = process.env, cwd, input, timeoutMs = 30_000 } = {}) {
	return new Promise((resolve) => {
		const child = execFile(program, args, { env, cwd, timeout: timeoutMs, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
			resolve({ code: error ? (error.code ?? error.signal ?? 1) : 0, stdout, stderr, all: stdout + stderr });
		});
		// A program may be over before it reads.
		child.stdin.on("error", () => undefined);
		child.stdin.end(input ?? "");
	});
}

export class BrokerView {
	constructor(home, env) {
		this.home = home;
		this.env = env;
	}

	get socket() {
		return join(this.home, "broker.sock");
	}

	get token() {
		return readFileSync(join(this.home, "token"), "utf8").trim();
	}

	get log() {
		const path = join(this.home, "logs/broker.log");
		return existsSync(path) ? readFileSync(path, "utf8") : "(no broker log)";
	}

	/** What endpoint.json says, or undefined. */
	endpoint() {
		try {
			return JSON.parse(readFileSync(join(this.home, "endpoint.json"), "utf8"));
		} catch {
			return undefined;
		}
	}

	/** Every live broker process of this state directory: one or none. */
	pids() {
		return pidsWithEnvironment(`PI_INTERCOM_HOME=${this.home}`).filter((pid) => programOf(pid) === "intercom-broker");
	}

	async pid() {
		return (await until("a broker process", () => this.pids()[0]));
	}

	/** SIGKILL, and wait until it is gone. */
	async kill() {
		await end(await this.pid());
	}

	/** The command line, as a person would type it. */
	cli(args, options = {}) {
		return run(join(BIN, "intercom"), args, { env: this.env, ...options });
	}

	/** Starts the broker and waits until it answers. */
	async start(...args) {
		const result = await this.cli(["broker", "start", ...args]);
		if (result.code !== 0) throw new Error(`intercom broker start: ${result.all}`);
		return result;
	}

	/** `buf curl`: what grpcurl does. Returns {code, stdout, stderr}. */
	grpc(method, data, { unix = false, token = !unix, flags = [], timeoutMs } = {}) {
		const { port } = this.endpoint();
		return run(
			BUF,
			[
				...["curl", "--protocol", "grpc", "--http2-prior-knowledge", ...flags],
				...(unix ? ["--unix-socket", this.socket] : []),
				...(token ? ["-H", `authorization: Bearer ${this.token}`] : []),
				...(data === undefined ? [] : ["--data", JSON.stringify(data)]),
				`http://127.0.0.1:${port}${method ? `/${method}` : ""}`,
			],
			{ env: this.env, timeoutMs },
		);
	}

	/** A unary call that must succeed; returns its answer. */
	async call(method, data = {}, options = {}) {
		const result = await this.grpc(`intercom.v1.${method}`, data, options);
		if (result.code !== 0) throw new Error(`${method}: ${result.all}`);
		return JSON.parse(result.stdout);
	}

	/** Every stored envelope's record, oldest first. */
	async records() {
		const records = [];
		let pageToken = "";
		do {
			const page = await this.call("MessageService/ListMessages", { pageSize: 200, pageToken });
			records.push(...(page.records ?? []));
			pageToken = page.nextPageToken ?? "";
		} while (pageToken !== "");
		return records.sort((a, b) => Number(a.sequence) - Number(b.sequence));
	}

	/** Ends every broker of this state directory. */
	async stop() {
		for (const pid of this.pids()) if (isAlive(pid)) await end(pid);
	}
}
