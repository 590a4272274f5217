// broker/start.sh as a user runs it, in a state directory of the test's own.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "./support/broker.mjs";
import { ROOT, scenario } from "./support/rig.mjs";

const SCRIPT = join(ROOT, "broker/start.sh");

scenario("start.sh proves itself, says how to go on, and takes seconds again", async (rig) => {
	const start = () => run("bash", [SCRIPT, "--no-install", "--workspace", rig.project], { env: rig.env, timeoutMs: 120_000 });
	const first = await start();
	assert.equal(first.code, 0, first.all);
	const { port } = rig.broker.endpoint();
	for (const words of [`127.0.0.1:${port}`, rig.broker.socket, "Prover", "pi -e", "extension/src/index.ts", "grpcurl -plaintext", "-unix"]) {
		assert.ok(first.stdout.includes(words), `nothing of "${words}" in:\n${first.stdout}`);
	}
	for (const state of ["accepted", "delivered", "injected", "seen"]) assert.match(first.stdout, new RegExp(state, "i"));
	assert.equal(rig.broker.pids().length, 1, "the user's broker runs");
	assert.deepEqual(readdirSync(rig.project), [], "it wrote into the project");

	const began = Date.now();
	const second = await start();
	assert.equal(second.code, 0, second.all);
	assert.ok(Date.now() - began < 20_000, `the second run took ${Date.now() - began} ms`);
	assert.equal(rig.broker.endpoint().port, port);
});

scenario("start.sh explains itself and refuses what it does not know", async (rig) => {
	const help = await run("bash", [SCRIPT, "--help"], { env: rig.env });
	assert.equal(help.code, 0);
	for (const option of ["--no-install", "--workspace", "--help"]) assert.ok(help.stdout.includes(option));
	const unknown = await run("bash", [SCRIPT, "--nonsense"], { env: rig.env });
	assert.equal(unknown.code, 2);
	const missing = await run("bash", [SCRIPT, "--no-install", "--workspace", join(rig.projects, "nowhere")], { env: rig.env });
	assert.equal(missing.code, 1);
	assert.match(missing.stderr, /no directory/);
	assert.equal(existsSync(rig.home), false);
});
