// `intercom doctor` on a healthy machine and on broken ones, and its bundle.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname, homedir, userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { run } from "./support/broker.mjs";
import { intercom, peer } from "./support/peers.mjs";
import { BIN, ROOT, scenario } from "./support/rig.mjs";

/** The doctor, on a machine whose Pi and settings are this scenario's own. */
function machine(rig) {
	const agentDirectory = join(rig.directory, "agent");
	mkdirSync(agentDirectory, { recursive: true });
	writeFileSync(join(agentDirectory, "settings.json"), JSON.stringify({ packages: [join(ROOT, "extension")] }));
	const modules = join(ROOT, "extension/node_modules");
	const path = [join(modules, "node/bin"), join(modules, ".bin"), rig.env.PATH].join(delimiter);
	const env = { ...rig.env, PATH: path, PI_CODING_AGENT_DIR: agentDirectory };
	const doctor = (...args) => run(join(BIN, "intercom"), ["doctor", ...args], { env, cwd: rig.project, timeoutMs: 60_000 });
	const findings = async (...args) => JSON.parse((await doctor("--json", ...args)).stdout).findings;
	return { agentDirectory, doctor, findings };
}

const whatOf = (findings, check) => findings.filter((one) => one.check === check);

scenario("without a broker the doctor starts none, and nothing is wrong", async (rig) => {
	const { doctor } = machine(rig);
	const result = await doctor();
	assert.equal(result.code, 0, result.all);
	assert.match(result.stdout, /^note +no broker runs/m);
	assert.match(result.stdout, /^ok +Pi 1\.6\.0, known to stop and close safely$/m);
	assert.match(result.stdout, /^ok +Pi loads the extension/m);
	assert.match(result.stdout, /^ok +Unix sockets work here$/m);
	assert.doesNotMatch(result.all, /\x1b/);
	assert.ok(!existsSync(rig.home), "it changes nothing");
	assert.deepEqual(rig.broker.pids(), []);
});

scenario("a healthy machine, a token that others read, and settings that are no JSON", async (rig) => {
	const { agentDirectory, doctor, findings } = machine(rig);
	await rig.broker.start("-w", rig.project);
	const healthy = await findings();
	assert.deepEqual(
		healthy.filter(({ severity }) => /ERROR|WARNING/.test(severity)),
		[],
	);
	for (const check of ["programs", "pi", "node", "extension", "disk", "state", "token", "endpoint", "sockets", "broker", "store", "jobs", "mailboxes", "hosts"]) {
		assert.ok(whatOf(healthy, check).some(({ severity }) => severity === "SEVERITY_OK"), check);
	}
	chmodSync(join(rig.home, "token"), 0o644);
	const broken = await doctor();
	assert.equal(broken.code, 1, broken.all);
	assert.match(broken.stdout, /^error +.*token has mode 0644: others may have read it\n +if others may have read it, rm /);
	assert.match(broken.stderr, /something does not work/);
	chmodSync(join(rig.home, "token"), 0o600);
	assert.equal((await doctor()).code, 0);

	mkdirSync(join(agentDirectory, "intercom"));
	writeFileSync(join(agentDirectory, "intercom/config.json"), "{enabled: no}");
	const settings = await doctor();
	assert.equal(settings.code, 1, settings.all);
	assert.match(settings.stdout, /^error +.*config\.json does not hold one JSON object$/m);
});

scenario("a host that can't be stopped is a warning, and one that can is none", async (rig) => {
	const { doctor, findings } = machine(rig);
	const able = rig.startHost({ name: "Able", capabilities: ["stop", "close"] });
	await able.attached();
	assert.deepEqual(
		whatOf(await findings(), "hosts").map(({ severity }) => severity),
		["SEVERITY_OK"],
	);
	await rig.startHost({ name: "Unable", capabilities: ["stop"] }).attached();
	const result = await doctor();
	assert.equal(result.code, 0, result.all);
	assert.match(result.stdout, /^warning Unable runs in pi 1\.6\.0, which is not known to close safely$/m);
});

scenario("a broker that hangs is an error with the way out", async (rig) => {
	const { doctor } = machine(rig);
	await rig.broker.start("-w", rig.project);
	const pid = await rig.broker.pid();
	process.kill(pid, "SIGSTOP");
	try {
		const hung = await doctor();
		assert.equal(hung.code, 1, hung.all);
		assert.match(hung.stdout, /^error +the broker does not answer.*\n +intercom broker restart$/m);
	} finally {
		process.kill(pid, "SIGCONT");
	}
});

scenario("a config with an error is found, and a bundle tells nothing private", async (rig) => {
	const { doctor, findings } = machine(rig);
	await peer(rig, "zebedee");
	await peer(rig, "florence");
	rig.model.on("zebedee", /say it/, intercom({ action: "send", to: "florence", message: "swordfish opens the door" }), { say: "said" });
	const zebedee = rig.sessions[0];
	await zebedee.prompt("say it");
	await rig.sessions[1].waitForText("swordfish opens the door");

	mkdirSync(join(rig.project, ".pi-intercom"), { recursive: true });
	writeFileSync(join(rig.project, ".pi-intercom/config.json"), "{");
	const [config] = whatOf(await findings("-w", rig.project), "config");
	assert.equal(config.severity, "SEVERITY_ERROR", JSON.stringify(config));

	const log = join(rig.home, "logs/broker.log");
	writeFileSync(log, `2026-12-01T03:00:00.000 W zebedee said swordfish opens the door with ${rig.broker.token} in ${rig.project}/hidden and ${homedir()}/taxes\n`, { flag: "a" });
	const path = join(rig.directory, "bundle.tar");
	const first = await doctor("--bundle", path);
	assert.match(first.stdout, /Written to .*bundle\.tar/);
	const list = await run("tar", ["-tf", path]);
	assert.deepEqual(
		list.stdout.trim().split("\n").map((name) => name.replace("intercom-doctor/", "")),
		["README.txt", "broker.json", "metrics.json", "sessions.json", "attachments.json", "workspaces.json", ...(list.stdout.includes("workspace.json") ? ["workspace.json"] : []), "mailboxes.json", "jobs.json", "runs.json", "asks.json", "report.txt", "logs/broker.log"],
	);
	const all = (await run("tar", ["-xOf", path])).stdout;
	for (const secret of ["swordfish", "zebedee", "florence", rig.broker.token, rig.project, "A project", "hidden", "taxes", `${homedir()}/`, hostname()]) {
		assert.ok(!all.includes(secret), `${secret} is in the bundle`);
	}
	assert.doesNotMatch(all.replaceAll("\"root\":", ""), new RegExp(`\\b${userInfo().username}\\b`));
	assert.ok(all.includes(zebedee.sessionId), "ids stay");
	const before = readFileSync(path);
	const again = await doctor("--bundle", path);
	assert.equal(again.code, 1);
	assert.match(again.stderr, /is there already; nothing was written/);
	assert.deepEqual(readFileSync(path), before);
});
