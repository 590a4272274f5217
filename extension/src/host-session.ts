import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { ExtensionAPI, ExtensionContext, ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { AttachedHost } from "./attachment.ts";
import { isObject, type ToolAnswer, type ToolSpec } from "./contract.ts";
import type { RunTool } from "./tools.ts";
import { toolCallLine, toolResultLine } from "./ui/tool-lines.ts";

const STATUS_KEY = "intercom";
/** Marks the shells and programs that this session starts. The agent is none of them. */
const SESSION_VARIABLE = "PI_INTERCOM_SESSION";

/** What a tool result keeps for its one-line view. */
interface ResultDetails {
	readonly summary: string;
	readonly code?: string;
	readonly reason?: string;
	readonly details?: unknown;
}

/** Pi's side of one session, bound to the `pi` and `ctx` of its session_start. */
export function hostSession(pi: ExtensionAPI, ctx: ExtensionContext, agentPath: string, env: NodeJS.ProcessEnv): AttachedHost {
	const sessionId = ctx.sessionManager.getSessionId();
	return {
		isIdle: () => ctx.isIdle(),
		send: (message, options) => pi.sendMessage(message, options),
		entries: () => ctx.sessionManager.getEntries(),
		file: () => {
			const path = ctx.sessionManager.getSessionFile();
			if (path === undefined) return "memory";
			return existsSync(path) ? "present" : "absent";
		},
		spawnAgent: () => {
			const { [SESSION_VARIABLE]: _, ...agentEnv } = env;
			return spawn(agentPath, [], { env: agentEnv, stdio: ["pipe", "pipe", "pipe"], detached: false, windowsHide: true });
		},
		registerTool: (tool, isVisible, run) => pi.registerTool(hostTool(tool, isVisible, run)),
		sessionName: () => pi.getSessionName(),
		setSessionName: (name) => pi.setSessionName(name),
		setStatus: (text) => ctx.ui.setStatus(STATUS_KEY, text),
		notify: ({ level, text }) => ctx.ui.notify(text, level),
		figures: () => {
			const usage = ctx.getContextUsage();
			return {
				model: ctx.model?.id,
				contextPercent: usage?.percent ?? undefined,
				tokens: usage?.tokens ?? undefined,
			};
		},
		attached: (isAttached) => {
			if (isAttached) env[SESSION_VARIABLE] = sessionId;
			else if (env[SESSION_VARIABLE] === sessionId) delete env[SESSION_VARIABLE];
		},
	};
}

function hostTool(tool: ToolSpec, isVisible: boolean, run: RunTool): ToolDefinition {
	return {
		name: tool.name,
		label: tool.label,
		description: tool.description,
		promptSnippet: tool.promptSnippet,
		promptGuidelines: [...tool.promptGuidelines],
		// Pi takes a plain JSON Schema; its type is TypeBox's, which describes the same objects.
		parameters: tool.parameters as ToolDefinition["parameters"],
		exposure: isVisible ? "direct" : "hidden",
		execute: async (_toolCallId, params, signal) => toolResult(await run(tool.name, params, signal)),
		renderCall: (args, theme) => toolCallLine(tool.label, args, theme),
		renderResult: (result, options, theme, context) => {
			const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
			const summary = isObject(result.details) && typeof result.details.summary === "string" ? result.details.summary : "";
			return toolResultLine(text, summary, context.isError, options.expanded, theme);
		},
	};
}

function toolResult(answer: ToolAnswer): { content: { type: "text"; text: string }[]; details: ResultDetails; isError: boolean } {
	const { text, isError, summary, code, reason, details } = answer;
	return { content: [{ type: "text", text }], details: { summary, code, reason, details }, isError };
}
