import { homedir } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import * as hostPackage from "@earendil-works/pi-coding-agent";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { announce, listen } from "./bus.ts";
import { Channels } from "./channels.ts";
import { contentText } from "./content-text.ts";
import type { PendingAsk } from "./contract.ts";
import { findAgent } from "./find-agent.ts";
import { guards } from "./guard.ts";
import { hostLaunch } from "./host-launch.ts";
import { hostSession } from "./host-session.ts";
import { addInstructions } from "./instructions.ts";
import { Lifecycle } from "./lifecycle.ts";
import { CUSTOM_TYPE } from "./session-entries.ts";
import { systemTimers } from "./timers.ts";
import { addCommands } from "./ui/commands.ts";
import { safely } from "./ui/frame.ts";
import { MessageCard } from "./ui/message-card.ts";

const EXTENSION_FILE = fileURLToPath(import.meta.url);
const EXTENSION_ROOT = dirname(dirname(EXTENSION_FILE));

/** Wires Pi's events to the modules. Opens nothing: that is session_start's. */
export default function (pi: ExtensionAPI): void {
	// A throw out of a callback ends Pi, so none leaves here; what goes wrong is shown by the next session_start's ctx.
	let complain: (text: string) => void = () => undefined;
	const report = (error: unknown): void => {
		try {
			complain(`Intercom: ${error instanceof Error ? error.message : String(error)}`);
		} catch {
			// The session is over, and with it the screen that this was for.
		}
	};
	const { env } = process;
	const agentDir = hostPackage.getAgentDir();
	const hostVersion = hostPackage.VERSION;
	const timers = systemTimers(report);
	const channels = new Channels(timers);
	const lifecycle = new Lifecycle({
		...{ env, agentDir, hostVersion, timers, channels },
		scope: globalThis,
		mutateFile: typeof hostPackage.withFileMutationQueue === "function" ? hostPackage.withFileMutationQueue : undefined,
		findAgent: () => findAgent(env, EXTENSION_ROOT),
		hostLaunch: () => hostLaunch(process, EXTENSION_FILE, agentDir),
	});
	const { guarded, guardedAsync } = guards(report);
	const endListening = listen(pi.events, channels, () => lifecycle.attachment?.relay);

	pi.registerMessageRenderer(CUSTOM_TYPE, (message, options, theme) => {
		const pendingAsk = (deliveryId: string): PendingAsk | undefined => lifecycle.attachment?.standing.pendingAsk(deliveryId);
		const place = { colours: theme, isExpanded: options.expanded, paddingColumns: options.outputPad, expandKey: options.keyText("app.tools.expand"), home: homedir(), clock: Date.now, pendingAsk };
		return safely(new MessageCard(message, place));
	});
	addCommands(pi, { link: () => lifecycle.attachment, whyOff: () => lifecycle.whyOff, timers, report });

	pi.on(
		"session_start",
		guarded((event, ctx) => {
			complain = (text) => ctx.ui.notify(text, "error");
			const session = {
				reason: event.reason,
				mode: ctx.mode,
				isTrusted: ctx.isProjectTrusted(),
				sessionId: ctx.sessionManager.getSessionId(),
				cwd: ctx.cwd,
			};
			lifecycle.start(
				session,
				({ level, text }) => ctx.ui.notify(text, level),
				(paths) => hostSession(pi, ctx, { ...paths, env, hostVersion, timers }),
			);
			if (lifecycle.attachment !== undefined) announce(pi.events);
		}),
	);
	pi.on(
		"session_shutdown",
		guardedAsync(async (event) => {
			endListening();
			await lifecycle.stop(event.reason);
		}),
	);
	pi.on(
		"session_info_changed",
		guarded((event) => lifecycle.attachment?.renamed(event.name)),
	);
	pi.on(
		"model_select",
		guarded(() => lifecycle.attachment?.activity.report()),
	);

	pi.on(
		"input",
		guarded((event) => {
			lifecycle.attachment?.inbox.inputArrived();
			lifecycle.attachment?.stopper.inputArrived(event);
			lifecycle.attachment?.closer.disturbed("there was input");
			lifecycle.attachment?.permissionsMayDiffer();
		}),
	);
	pi.on(
		"user_bash",
		guarded(() => {
			lifecycle.attachment?.closer.disturbed("a person ran a command");
			return undefined;
		}),
	);
	pi.on(
		"session_tree",
		guarded(() => lifecycle.attachment?.closer.disturbed("the session went to another branch")),
	);
	pi.on(
		"before_agent_start",
		guardedAsync(async (event) => {
			const attachment = lifecycle.attachment;
			if (attachment === undefined) return undefined;
			attachment.inbox.inputArrived();
			attachment.stopper.runPrepared();
			await attachment.whenKnown();
			return addInstructions(event, attachment.instructions);
		}),
	);
	pi.on(
		"agent_start",
		guarded(() => {
			lifecycle.attachment?.inbox.runStarted();
			lifecycle.attachment?.activity.runStarted();
			lifecycle.attachment?.closer.runStarted();
		}),
	);
	pi.on(
		"turn_start",
		guarded(() => lifecycle.attachment?.permissionsMayDiffer()),
	);
	pi.on(
		"message_update",
		guarded((event) => {
			lifecycle.attachment?.activity.streamed(event.assistantMessageEvent.type);
			lifecycle.attachment?.runs.streamed(event.message);
		}),
	);
	pi.on(
		"message_end",
		guarded((event) => {
			lifecycle.attachment?.inbox.messageEnded(event.message);
			lifecycle.attachment?.runs.messageEnded(event.message);
			lifecycle.attachment?.standing.refresh();
			if (event.message.role === "user") lifecycle.attachment?.stopper.userMessageShown(contentText(event.message.content));
		}),
	);
	pi.on(
		"context",
		guarded((event) => {
			const messages = lifecycle.attachment?.inbox.contextBuilt(event.messages);
			return messages === undefined ? undefined : { messages };
		}),
	);
	pi.on(
		"tool_execution_start",
		guarded((event) => lifecycle.attachment?.activity.toolStarted(event.toolCallId, event.toolName)),
	);
	pi.on(
		"tool_execution_end",
		guarded((event) => lifecycle.attachment?.activity.toolEnded(event.toolCallId)),
	);
	pi.on(
		"turn_end",
		guarded((event, ctx) => {
			lifecycle.attachment?.activity.turnEnded();
			// What the inbox proves is told before how the runs go.
			lifecycle.attachment?.inbox.turnEnded(event.outcome === "completed" && ctx.signal?.aborted !== true);
			lifecycle.attachment?.runs.turnEnded();
			return undefined;
		}),
	);
	pi.on(
		"agent_settled",
		guarded((event, ctx) => {
			lifecycle.attachment?.activity.settled();
			lifecycle.attachment?.stopper.settled(!ctx.hasPendingMessages());
			lifecycle.attachment?.closer.runEnded();
			lifecycle.attachment?.inbox.settled();
			lifecycle.attachment?.runs.settled(event.aborted, lifecycle.attachment.closer.hasHandedOver);
			lifecycle.attachment?.permissionsMayDiffer();
		}),
	);

	pi.on(
		"session_before_compact",
		guarded(() => {
			lifecycle.attachment?.activity.compactionStarted();
			lifecycle.attachment?.inbox.compactionStarted();
			lifecycle.attachment?.closer.compactionStarted();
			return undefined;
		}),
	);
	const compactionEnded = guarded(() => {
		const attachment = lifecycle.attachment;
		attachment?.inbox.compactionEnded();
		attachment?.activity.compactionEnded(attachment.inbox.runIsActive);
	});
	pi.on("session_compact", () => compactionEnded());
	pi.on("session_compact_failed", () => compactionEnded());
}
