// What the machine may refuse the broker, and what the broker says then: a port
// in use, a socket path too long, a directory that can't be written, a full disk.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { BIN, BrokerView, run } from "./support/broker.mjs";
import { scenario } from "./support/rig.mjs";
import { stubCoordinator, stubWorker, use } from "./support/team.mjs";
import { until } from "./support/until.mjs";

/** The same programs with another state directory. */
function brokerAt(rig, home) {
	return new BrokerView(home, { ...rig.env, PI_INTERCOM_HOME: home });
}

function listen(port = 0) {
	return new Promise((resolve, reject) => {
		const server = createServer().listen(port, "127.0.0.1", () => resolve(server));
		server.on("error", reject);
	});
}

/** Mounts a tmpfs for the length of `body`; needs root. */
async function withTmpfs(rig, options, body) {
	const path = join(rig.directory, "disk");
	mkdirSync(path);
	execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]);
	try {
		await body(path);
	} finally {
		await brokerAt(rig, join(path, "home")).stop();
		for (const host of rig.hosts) host.stop();
		execFileSync("umount", ["-l", path]);
	}
}

function mayMount() {
	if (process.getuid() !== 0) return "needs root";
	const path = "/tmp/intercom-mount-probe";
	try {
		mkdirSync(path, { recursive: true });
		execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", path], { stdio: "ignore" });
		execFileSync("umount", [path]);
		return false;
	} catch {
		return "this machine lets nobody mount";
	} finally {
		rmSync(path, { recursive: true, force: true });
	}
}

scenario("a named port in use is refused in words", async (rig) => {
	const taken = await listen();
	const { port } = taken.address();
	const result = await run(join(BIN, "intercom-broker"), [`--port=${port}`], { env: rig.env, timeoutMs: 10_000 });
	taken.close();
	assert.notEqual(result.code, 0);
	assert.notEqual(result.code, "SIGTERM", "it runs on a port that another program holds");
	assert.match(result.all + rig.broker.log, new RegExp(`PORT_IN_USE|${port}`));
});

scenario("a saved port that another program took costs only another port", async (rig) => {
	const lead = await stubCoordinator(rig);
	const { port } = rig.broker.endpoint();
	await lead.leave();
	await rig.broker.kill();
	const taken = await listen(port);
	const again = rig.startHost({ sessionId: lead.sessionId, startReason: "resume" });
	await again.attached();
	assert.notEqual(rig.broker.endpoint().port, port);
	assert.equal(again.session.role, "coordinator");
	await until("the new port in the config", () => rig.config().agents[0].port === rig.broker.endpoint().port);
	taken.close();
});

scenario("a socket path that is too long is refused with what to do", async (rig) => {
	const home = join(rig.directory, "h".repeat(110));
	const result = await brokerAt(rig, home).cli(["broker", "start"]);
	assert.notEqual(result.code, 0);
	assert.match(result.all, /107|too long/i);
	assert.match(result.all, /PI_INTERCOM_HOME/);
	const host = rig.startHost({ env: { PI_INTERCOM_HOME: home } });
	await assert.rejects(host.attached(30_000), /SOCKET_PATH_TOO_LONG/);
});

scenario("a state directory that cannot be written is refused by its name", { skip: mayMount() }, async (rig) => {
	await withTmpfs(rig, "size=1m,ro", async (disk) => {
		const home = join(disk, "home");
		const result = await brokerAt(rig, home).cli(["broker", "start"]);
		assert.notEqual(result.code, 0);
		assert.ok(result.all.includes(disk), result.all);
		assert.match(result.all, /read-only|permission|cannot|can't/i);
	});
});

scenario("a state directory open to others is closed or refused", async (rig) => {
	mkdirSync(rig.home, { mode: 0o777 });
	chmodSync(rig.home, 0o777);
	const result = await rig.broker.cli(["broker", "start"]);
	const mode = Number.parseInt(execFileSync("stat", ["-c", "%a", rig.home], { encoding: "utf8" }), 8);
	assert.ok(result.code !== 0 || (mode & 0o077) === 0, `started in a directory of mode ${mode.toString(8)}`);
});

scenario("a full disk refuses sends, loses nothing accepted, and heals", { skip: mayMount() }, async (rig) => {
	await withTmpfs(rig, "size=6m,mode=0700", async (disk) => {
		const env = { PI_INTERCOM_HOME: join(disk, "home") };
		const lead = await stubCoordinator(rig, { env });
		const worker = await stubWorker(rig, lead, "Tester", { env });
		const filler = join(disk, "filler");
		const { bavail, bsize } = statfsSync(disk);
		writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - 300_000)));

		const accepted = [];
		let refusal;
		for (let number = 0; number < 400 && refusal === undefined; number++) {
			const message = `Number ${number}; ${"x".repeat(20_000)}`;
			const result = await lead.callTool("intercom_send", { to: "Tester", message });
			if (result.isError) refusal = result;
			else accepted.push(`Number ${number};`);
		}
		assert.ok(refusal, "the disk never got full");
		assert.equal(refusal.reason, "STORAGE_FULL", refusal.text);
		assert.equal(refusal.code, "RESOURCE_EXHAUSTED");

		rmSync(filler);
		await until("a send that is accepted again", async () => {
			const result = await lead.callTool("intercom_send", { to: "Tester", message: "After the cleaning." });
			return !result.isError;
		});
		await worker.delivered("After the cleaning.");
		for (const text of accepted) {
			assert.equal(worker.entries.filter((entry) => entry.content.includes(text)).length, 1, text);
		}
	});
});

scenario("a broker that was killed is started again by those attached, with its mail", async (rig) => {
	const lead = await stubCoordinator(rig);
	const worker = await stubWorker(rig, lead, "Tester");
	worker.takes = false;
	await use(lead, "intercom_send", { to: "Tester", message: "Over a death." });
	await worker.until("the hold", () => worker.held.length === 1);
	const before = await rig.broker.pid();
	await rig.broker.kill();
	worker.release();
	await use(lead, "intercom_send", { to: "Tester", message: "After a death." });
	await worker.delivered("After a death.");
	await worker.delivered("Over a death.");
	assert.deepEqual(worker.entries.map((entry) => /(Over|After) a death/.exec(entry.content)?.[1]).filter(Boolean), ["Over", "After"]);
	assert.notEqual(await rig.broker.pid(), before);
	assert.equal(rig.broker.pids().length, 1);
});

scenario("twenty sessions at once start one broker and one config", async (rig) => {
	const hosts = Array.from({ length: 20 }, (_, index) => rig.startHost({ name: `Contender ${index}` }));
	const sessions = await Promise.all(hosts.map((host) => host.attached(60_000)));
	assert.equal(rig.broker.pids().length, 1);
	assert.equal(sessions.filter((session) => session.role === "coordinator").length, 1);
	assert.equal(sessions.filter((session) => session.role === "anonymous").length, 19);
	assert.equal(rig.config().agents.length, 1);
	assert.ok(existsSync(rig.broker.socket));
});

scenario("an idle broker leaves by itself and removes its endpoint", async (rig) => {
	const result = await run(join(BIN, "intercom-broker"), ["--idle-exit=1"], { env: rig.env, timeoutMs: 15_000 });
	assert.equal(result.code, 0, result.all);
	assert.equal(existsSync(rig.broker.socket), false);
});
