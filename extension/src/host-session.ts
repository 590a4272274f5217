import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { ExtensionAPI, ExtensionContext, ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { AttachedHost } from "./attached-host.ts";
import { CommandDoor } from "./command-door.ts";
import { capabilitiesOf } from "./compatibility.ts";
import { contentText } from "./content-text.ts";
import { isObject, type ToolAnswer, type ToolSpec, type Usage } from "./contract.ts";
import { modelsOf } from "./models.ts";
import type { Timers } from "./timers.ts";
import { HANDOFF_TOOL, type RunTool } from "./tools.ts";
import { AskLines } from "./ui/asks.ts";
import { safely } from "./ui/frame.ts";
import { callLine, isPreviewed, toolPreview, toolProgressLine, toolResultLine } from "./ui/tool-lines.ts";
import { plainLines } from "./ui/plain.ts";

const STATUS_KEY = "intercom";
const EXPAND_KEY = "app.tools.expand";
/** Who has it may run programs. */
const PROGRAM_TOOL = "bash";
/** Marks the shells and programs that this session starts. The agent is none of them. */
const SESSION_VARIABLE = "PI_INTERCOM_SESSION";
/** Set where intercom hosts this Pi without a terminal. */
const HEADLESS_VARIABLE = "PI_INTERCOM_HEADLESS_SOCKET";
/** Where the agent looks for the broker's binary first. */
const BROKER_VARIABLE = "PI_INTERCOM_BROKER";

/** What a tool result keeps: its one-line view, what the agent knows of it, and the delivery that it is, if it is one. */
interface ResultDetails {
	readonly summary: string;
	readonly code?: string;
	readonly reason?: string;
	readonly details?: unknown;
	readonly intercom?: { readonly deliveryId?: string; readonly ids?: readonly string[] };
}

/** What a session's host needs beside Pi itself. */
export interface HostSurroundings {
	readonly agentPath: string;
	/** The broker that the agent is to start, where the person named one. */
	readonly brokerPath?: string;
	readonly env: NodeJS.ProcessEnv;
	readonly hostVersion: string;
	readonly timers: Timers;
}

/** Pi's side of one session, bound to the `pi` and `ctx` of its session_start. */
export function hostSession(pi: ExtensionAPI, ctx: ExtensionContext, { agentPath, brokerPath, env, hostVersion, timers }: HostSurroundings): AttachedHost {
	const sessionId = ctx.sessionManager.getSessionId();
	const capabilities = capabilitiesOf(hostVersion, { pi, ctx });
	const door = capabilities.length > 0 ? new CommandDoor(pi, timers) : undefined;
	return {
		sessionId: () => ctx.sessionManager.getSessionId(),
		isIdle: () => ctx.isIdle(),
		capabilities: () => (door?.isThere === true ? capabilities : []),
		enterCommand: (ticket) => door?.enter(ticket) ?? Promise.reject(new Error("this host has no command of ours")),
		branch: () => ctx.sessionManager.getBranch(),
		sessionFile: () => {
			const path = ctx.sessionManager.getSessionFile();
			return path !== undefined && existsSync(path) ? path : undefined;
		},
		send: (message, options) => pi.sendMessage(message, options),
		entries: () => ctx.sessionManager.getEntries(),
		file: () => {
			const path = ctx.sessionManager.getSessionFile();
			if (path === undefined) return "memory";
			return existsSync(path) ? "present" : "absent";
		},
		spawnAgent: () => {
			const { [SESSION_VARIABLE]: _, ...rest } = env;
			// The environment comes before the setting, as with all of them.
			const agentEnv = brokerPath === undefined || (rest[BROKER_VARIABLE] ?? "") !== "" ? rest : { ...rest, [BROKER_VARIABLE]: brokerPath };
			return spawn(agentPath, [], { env: agentEnv, stdio: ["pipe", "pipe", "pipe"], detached: false, windowsHide: true });
		},
		registerTool: (tool, isVisible, run) => pi.registerTool(hostTool(tool, isVisible, run)),
		sessionName: () => pi.getSessionName(),
		setSessionName: (name) => pi.setSessionName(name),
		setStatus: (text) => ctx.ui.setStatus(STATUS_KEY, text),
		showAsks: (lines) => {
			if (lines === undefined || ctx.mode !== "tui") ctx.ui.setWidget(STATUS_KEY, lines === undefined ? undefined : [...lines]);
			else ctx.ui.setWidget(STATUS_KEY, (_tui, theme) => safely(new AskLines(lines, theme)));
		},
		// The screen of a headless worker is a program, which answers no.
		hasUI: () => ctx.hasUI && (env[HEADLESS_VARIABLE] ?? "") === "",
		confirm: (title, text, signal) => ctx.ui.confirm(title, text, { signal }),
		notify: ({ level, text }) => ctx.ui.notify(plainLines(text).join("\n"), level),
		figures: () => {
			const usage = ctx.getContextUsage();
			return {
				model: ctx.model?.id,
				contextPercent: usage?.percent ?? undefined,
				tokens: usage?.tokens ?? undefined,
			};
		},
		emit: (event, data) => pi.events.emit(event, data),
		models: () => modelsOf(ctx),
		runsPrograms: () => pi.getActiveTools().includes(PROGRAM_TOOL),
		remember: (fact, value) => pi.appendEntry(fact, value),
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
		execute: async (toolCallId, params, signal, onUpdate) => {
			const onProgress = (text: string): void => onUpdate?.(toolResult({ text, summary: text, isError: false }));
			const answer = await run(tool, params, signal, toolCallId, onProgress);
			// A handoff is a worker's last word: the run ends with it, and no further model request can fail or go on working.
			return { ...toolResult(answer), terminate: tool.name === HANDOFF_TOOL && !answer.isError };
		},
		renderCall: (args, theme, context) => safely(callLine(tool.name, tool.label, args, context.expanded, theme)),
		renderResult: (result, options, theme, context) => {
			const text = contentText(result.content);
			if (options.isPartial) return safely(toolProgressLine(text, theme));
			if (!options.expanded && isPreviewed(tool.name, context.args)) return safely(toolPreview(text, context.isError, context.keyText(EXPAND_KEY), theme));
			const summary = isObject(result.details) && typeof result.details.summary === "string" ? result.details.summary : "";
			return safely(toolResultLine(text, summary, context.isError, options.expanded, theme));
		},
	};
}

type HostUsage = NonNullable<Awaited<ReturnType<ToolDefinition["execute"]>>["usage"]>;

interface HostResult {
	readonly content: { type: "text"; text: string }[];
	readonly details: ResultDetails;
	readonly isError: boolean;
	readonly usage?: HostUsage;
}

function toolResult(answer: ToolAnswer): HostResult {
	const { text, isError, summary, code, reason, details, deliveryId, ids, usage } = answer;
	const intercom = { ...(deliveryId === undefined ? {} : { deliveryId }), ...(ids === undefined || ids.length === 0 ? {} : { ids }) };
	return {
		content: [{ type: "text", text }],
		details: { summary, code, reason, details, ...(Object.keys(intercom).length === 0 ? {} : { intercom }) },
		isError,
		...(usage === undefined ? {} : { usage: hostUsage(usage) }),
	};
}

/** Of the cost nothing is known but its sum. */
function hostUsage({ input, output, cacheRead, cacheWrite, cost }: Usage): HostUsage {
	const totalTokens = input + output + cacheRead + cacheWrite;
	return { input, output, cacheRead, cacheWrite, totalTokens, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: cost } };
}
