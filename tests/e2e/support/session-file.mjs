// Reading the session files that Pi writes.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Every session file below an agent directory. */
export function sessionFiles(agentDirectory) {
	try {
		return readdirSync(join(agentDirectory, "sessions"), { recursive: true })
			.filter((name) => name.endsWith(".jsonl"))
			.map((name) => join(agentDirectory, "sessions", name));
	} catch {
		return [];
	}
}

/** The entries of one session, oldest first; empty while it has no file. */
export function sessionEntries(agentDirectory, sessionId) {
	const path = sessionFiles(agentDirectory).find((name) => name.endsWith(`_${sessionId}.jsonl`));
	if (path === undefined) return [];
	const lines = readFileSync(path, "utf8").split("\n");
	return lines.flatMap((line) => {
		try {
			return [JSON.parse(line)];
		} catch {
			return []; // the last line of a killed session
		}
	});
}

/** The intercom details of a session's entries: what was injected, in order. */
export function injected(agentDirectory, sessionId) {
	return sessionEntries(agentDirectory, sessionId).flatMap((entry) => {
		const details = entry.type === "custom_message" ? entry.details?.intercom : undefined;
		if (details?.deliveryId === undefined) return [];
		const content = typeof entry.content === "string" ? entry.content : JSON.stringify(entry.content);
		return [{ ...details, content }];
	});
}

/** Each tool result of a session, in order: {tool, text, isError, details, usage}. */
export function toolResults(agentDirectory, sessionId) {
	return sessionEntries(agentDirectory, sessionId)
		.filter((entry) => entry.message?.role === "toolResult")
		.map(({ message }) => ({
			tool: message.toolName,
			isError: message.isError === true,
			text: message.content.map((part) => part.text ?? "").join(""),
			details: message.details,
			usage: message.usage,
		}));
}
