// Proves that the programs work together: in a directory and with a broker of
// its own, a coordinator and a worker session attach, register, configure,
// reload, and exchange a message and its receipts. Usage:
//   node broker/round-trip.mjs --bin DIR
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { AgentHost } from "./agent-host.mjs";

const { values } = parseArgs({ options: { bin: { type: "string" } } });
if (values.bin === undefined) {
	console.error("Usage: node broker/round-trip.mjs --bin DIR");
	process.exit(2);
}
const bin = values.bin;
const home = mkdtempSync(join(tmpdir(), "icm-proof-"));
const project = mkdtempSync(join(tmpdir(), "icm-project-"));
const env = { ...process.env, PI_INTERCOM_HOME: home };
delete env.PI_INTERCOM_SESSION;
delete env.PI_INTERCOM_WORKSPACE;
const started = Date.now();
let step = "starting";

function done(text) {
	console.log(`  ✓ ${text}`);
}

function intercom(...args) {
	return execFileSync(join(bin, "intercom"), args, { env, cwd: project, encoding: "utf8" });
}

/** A tool call that must succeed. */
async function use(host, tool, args) {
	const result = await host.callTool(tool, args);
	if (result.isError) throw new Error(`${tool}: ${result.code} ${result.reason ?? ""}: ${result.text}`);
	return result;
}

async function prove(coordinator, worker) {
	step = "the coordinator attaches, which starts a broker and creates the config";
	coordinator.start();
	const session = await coordinator.attached();
	if (session.role !== "coordinator") throw new Error(`its role is ${session.role}`);
	const config = JSON.parse(readFileSync(join(project, ".pi-intercom/config.json"), "utf8"));
	if (config.agents?.[0]?.sessionId !== coordinator.sessionId) throw new Error("the config does not name it");
	done(`coordinator attached; broker ${session.endpoint?.brokerVersion ?? ""} on 127.0.0.1:${session.endpoint?.port}`);

	step = "the worker attaches and registers";
	worker.start();
	const role = (await worker.attached()).role;
	if (role !== "anonymous") throw new Error(`its role is ${role}`);
	const registration = await coordinator.delivered(worker.sessionId);
	done(`worker attached as anonymous; the coordinator was told: "${registration.summary}"`);

	step = "the coordinator configures the worker";
	await use(coordinator, "intercom_configure_worker", {
		sessionId: worker.sessionId,
		name: "Prover",
		description: "Answers the proof's one question.",
		projectDirectory: ".",
	});
	done("configured: its name and responsibility are in .pi-intercom/config.json");

	step = "the worker reloads its responsibility";
	await use(coordinator, "intercom_reload_worker", { to: "Prover" });
	await worker.until("the loaded responsibility", () => worker.session.role === "worker" && worker.session.loaded);
	done("reloaded: the worker has taken its responsibility");

	step = "a message and its answer";
	const question = randomUUID();
	await coordinator.callTool("intercom_send", { to: "Prover", message: "Are you there?" }, question).then(refuse);
	await worker.delivered("Are you there?");
	await use(worker, "intercom_send", { to: "Coordinator", message: "I am here." });
	await coordinator.delivered("I am here.");
	done("the coordinator asked, the worker's session took it and answered");

	step = "the message's receipt";
	await receipt(question);
	step = "the roster";
	console.log(indent(intercom("list")));
}

function refuse(result) {
	if (result.isError) throw new Error(`intercom_send: ${result.code} ${result.reason ?? ""}: ${result.text}`);
}

/** Waits for the state "seen" of a message, then prints every state. */
async function receipt(envelopeId) {
	let text = "";
	for (const end = Date.now() + 10_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
		text = intercom("status", envelopeId);
		if (/\b(seen|replied)\b/i.test(text)) break;
	}
	console.log("  the message's receipt, each state with its time and evidence:");
	console.log(indent(text));
	for (const state of ["accepted", "delivered", "injected", "seen"]) {
		if (!new RegExp(`\\b${state}\\b`, "i").test(text)) throw new Error(`the receipt lacks "${state}"`);
	}
}

const indent = (text) => text.trimEnd().replaceAll(/^/gm, "      ");

const coordinator = new AgentHost({ bin, cwd: project, env, name: "proof coordinator" });
const worker = new AgentHost({ bin, cwd: project, env, name: "proof worker" });
try {
	await prove(coordinator, worker);
	await coordinator.leave();
	await worker.leave();
	done(`proved in ${((Date.now() - started) / 1000).toFixed(1)} s; its broker and directory are removed again`);
} catch (error) {
	process.exitCode = 1;
	console.error(`\nThe round trip failed at: ${step}\n${error.message}`);
	try {
		console.error(`Its broker's log:\n${readFileSync(join(home, "logs/broker.log"), "utf8").split("\n").slice(-25).join("\n")}`);
	} catch {
		console.error("Its broker wrote no log.");
	}
} finally {
	for (const host of [coordinator, worker]) host.stop();
	try {
		intercom("broker", "stop");
	} catch {
		// it leaves by itself
	}
	rmSync(project, { recursive: true, force: true, maxRetries: 3 });
	rmSync(home, { recursive: true, force: true, maxRetries: 3 });
}
