#!/usr/bin/env node
// Stands in for `intercom-agent`: speaks the host contract on its standard streams and does what a test tells it
// through files. FAKE_AGENT_DIR names a folder: it appends every line that it receives to received.jsonl there, and
// sends each file that appears in the folder's `send` (oldest name first) as it is, then deletes it. The first state
// it sends is FAKE_AGENT_SESSION, or a plain peer. Where the folder has sessions.json, that is its list of sessions, and
// answer.json its answer to every tool call. FAKE_AGENT_MODE: `deaf` ignores the end of its input and SIGTERM,
// `mute` never answers, `dying` ends at once.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const folder = process.env.FAKE_AGENT_DIR;
const mode = process.env.FAKE_AGENT_MODE ?? "";
const session = process.env.FAKE_AGENT_SESSION ?? JSON.stringify({ connection: "connected", role: "peer", tools: [], instructions: "", statusText: "" });
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const record = (event) => {
	if (folder !== undefined) appendFileSync(join(folder, "received.jsonl"), `${JSON.stringify({ pid: process.pid, at: Date.now(), ...event })}\n`);
};

const fileOf = (name) => {
	const path = join(folder ?? "", name);
	return folder !== undefined && existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
};

/** Call id to request id of the asks that wait. */
const waiting = new Map();

if (mode === "dying") {
	console.error("the fake agent dies as told");
	process.exit(3);
}
record({ event: "start", broker: process.env.PI_INTERCOM_BROKER });
if (mode === "deaf") {
	process.on("SIGTERM", () => record({ event: "SIGTERM" }));
	setInterval(() => undefined, 1000);
}

if (folder !== undefined) {
	const outbox = join(folder, "send");
	mkdirSync(outbox, { recursive: true });
	const sendFiles = () => {
		for (const name of readdirSync(outbox).filter((file) => !file.startsWith(".")).sort()) {
			const path = join(outbox, name);
			const taken = join(outbox, `.${name}`);
			if (!existsSync(path)) continue;
			renameSync(path, taken);
			for (const line of readFileSync(taken, "utf8").split("\n")) if (line.trim() !== "") process.stdout.write(`${line}\n`);
			rmSync(taken);
		}
	};
	watch(outbox, sendFiles);
	sendFiles();
}

createInterface({ input: process.stdin, crlfDelay: Infinity })
	.on("line", (line) => {
		const message = JSON.parse(line);
		record({ event: "line", message });
		if (mode === "mute") return;
		if (message.method === "initialize") {
			write({ id: message.id, result: { agentVersion: "fake", protocolVersion: 1 } });
			write({ method: "session", params: JSON.parse(session) });
		} else if (message.method === "sessions/list") {
			const list = fileOf("sessions.json");
			if (list !== undefined) write({ id: message.id, result: list });
			else write({ id: message.id, error: { code: -32000, message: "there is no broker", data: { code: "UNAVAILABLE", reason: "NOT_CONNECTED" } } });
		} else if (message.method === "tools/call") {
			const { name, arguments: args, callId } = message.params;
			const answer = fileOf("answer.json");
			if (answer !== undefined) {
				write({ id: message.id, result: answer });
				return;
			}
			if (args.die === true) process.exit(4);
			if (args.hang === true) return;
			// Changes a file as one does who reads it well before writing.
			if (args.rewrite !== undefined) {
				const { path, from, to } = args.rewrite;
				const before = readFileSync(path, "utf8");
				setTimeout(() => {
					writeFileSync(path, before.replace(from, to));
					write({ id: message.id, result: { text: "written", summary: "written", isError: false } });
				}, 500);
				return;
			}
			if (args.progress !== undefined) write({ method: "tools/progress", params: { callId, text: args.progress } });
			// What else the answer holds, as the delivery that it is.
			if (args.answer !== undefined) {
				write({ id: message.id, result: { text: `Reply from Alice: ${args.answer.text ?? "yes"}`, summary: "Reply from Alice", isError: false, ...args.answer } });
				return;
			}
			// An ask waits until it is cancelled.
			if (args.wait === true) {
				waiting.set(callId, message.id);
				return;
			}
			write({ id: message.id, result: { text: `${name} ran as ${callId}`, summary: `${name} ran`, isError: args.fail === true } });
		} else if (message.method === "tools/cancel") {
			const { callId } = message.params;
			record({ event: "cancel", callId });
			if (waiting.has(callId)) write({ id: waiting.get(callId), result: { text: `Stopped waiting. The ask ${callId} stays open.`, summary: "stopped waiting", isError: true } });
			waiting.delete(callId);
		} else if (message.method === "goodbye" && mode !== "deaf") {
			process.exit(0);
		}
	})
	.on("close", () => {
		record({ event: "end of input" });
		if (mode !== "deaf") process.exit(0);
	});
