import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { AutocompleteItem } from "@earendil-works/pi-tui";
import { describeModels, modelsOf } from "../models.ts";
import type { PeerSession, SessionList } from "../peers.ts";
import type { Timers } from "../timers.ts";
import { nameLabel, plainLine } from "./plain.ts";
import { type Opening, type PeerLink, Screens } from "./screens.ts";

const PREFIX_LEAST = 6;

/** The session's presence in intercom, as far as what a person calls for needs it. */
export interface CommandLink extends PeerLink {
	/** What others reach this session by, also after it was ended and resumed. */
	readonly target: string;
	/** Whether this session takes no runs. */
	readonly runsRefused: boolean;
	/** Throws where that can't be kept. */
	refuseRuns(refused: boolean): void;
	/** A person used intercom. */
	used?(): void;
}

export interface CommandPlace {
	/** Undefined where intercom is off. */
	link(): CommandLink | undefined;
	/** Why intercom is off, for a person. */
	whyOff(): string;
	readonly timers: Timers;
	report(error: unknown): void;
}

/** What a person wrote behind the command: a session, or the name of one, and perhaps a message. */
export interface Addressed {
	readonly to?: PeerSession;
	readonly name: string;
	readonly text: string;
}

/** Adds the key and the commands with which a person uses intercom. None of their callbacks throws. */
export function addCommands(pi: ExtensionAPI, place: CommandPlace): void {
	const screens = new Screens(place.timers, place.report);
	const withLink = async (ctx: ExtensionContext, run: (link: CommandLink) => Promise<void> | void): Promise<void> => {
		try {
			const link = place.link();
			if (link === undefined) {
				ctx.ui.notify(place.whyOff(), "warning");
				return;
			}
			link.used?.();
			await run(link);
		} catch (error) {
			place.report(error);
		}
	};
	const open = async (ctx: ExtensionContext, link: CommandLink, opening: Opening): Promise<void> => {
		if (ctx.mode === "tui") await screens.open(ctx.ui, link, opening);
		else ctx.ui.notify("Intercom: the list needs a terminal; `/intercom NAME text` sends without one.", "warning");
	};

	pi.registerShortcut("alt+m", {
		description: "Intercom: list the sessions and write to one",
		handler: (ctx) => withLink(ctx, (link) => open(ctx, link, {})),
	});
	pi.registerCommand("intercom", {
		description: "List the sessions and write to one; /intercom NAME text sends at once; /intercom runs on|off: whether this session takes runs",
		getArgumentCompletions: (prefix) => completions(prefix),
		handler: (args, ctx) =>
			withLink(ctx, async (link) => {
				const word = RUNS_COMMAND.exec(args.trim());
				if (word !== null) return tellRunsPolicy(ctx, link, word[1]?.toLowerCase());
				if (args.trim() === "") return open(ctx, link, {});
				const list = await screens.sessions(link).catch(() => undefined);
				const { to, name, text } = address(args, list);
				if (text !== "") await sendAtOnce(ctx, link, to?.sessionId ?? name, text, args);
				else await open(ctx, link, to === undefined ? { search: name } : { to });
			}),
	});
	pi.registerCommand("models", {
		description: "List the models that can be used here; /models QUERY those whose provider/id holds it",
		handler: (query, ctx) => {
			try {
				ctx.ui.notify(describeModels(query, modelsOf(ctx)).text, "info");
			} catch (error) {
				place.report(error);
			}
			return Promise.resolve();
		},
	});
	pi.registerCommand("intercom-id", {
		description: "Put how others reach this session into the editor",
		handler: (_args, ctx) =>
			withLink(ctx, (link) => {
				const before = ctx.ui.getEditorText();
				const gap = before === "" || before.endsWith("\n") ? "" : "\n";
				ctx.ui.setEditorText(before + gap + handOff(pi.getSessionName() ?? "", link.target));
				// The host draws a notice at once, and the editor's new text only with the next thing that it draws.
				ctx.ui.notify("Intercom: how to reach this session stands in the editor.", "info");
			}),
	});
}

/** A session of that name is written to with its name in quotes. */
const RUNS_COMMAND = /^runs(?:\s+(on|off))?$/i;

const RUNS_WORDS = [
	{ value: "runs on", label: "runs on", description: "This session takes runs" },
	{ value: "runs off", label: "runs off", description: "This session takes no runs; mail comes as before" },
];

function completions(prefix: string): AutocompleteItem[] | null {
	const wanted = prefix.trimStart().toLowerCase();
	const fitting = RUNS_WORDS.filter(({ value }) => wanted !== "" && value.startsWith(wanted) && value !== wanted);
	return fitting.length === 0 ? null : fitting;
}

function tellRunsPolicy(ctx: ExtensionContext, link: CommandLink, word: string | undefined): void {
	if (word !== undefined) link.refuseRuns(word === "off");
	const standing = link.runsRefused ? "takes no runs: who would hand it one is refused, and those that it has go on. /intercom runs on takes them again." : "takes runs from its coordinator or launcher. /intercom runs off refuses them.";
	ctx.ui.notify(`Intercom: this session ${standing}`, "info");
}

/** Tells an agent, or a person, how to reach this session. */
export function handOff(name: string, target: string): string {
	const called = nameLabel(name);
	return `The session ${called === "" ? "" : `"${called}" `}is reached through intercom as "${target}": intercom({ action: "send", to: "${target}", message: "…" })`;
}

/** Names may have spaces: the longest that `args` begins with counts, whatever its case; else a quoted one, else the first word. */
export function address(args: string, list: SessionList | undefined): Addressed {
	const given = args.trim();
	const quoted = /^"([^"]+)"\s*(.*)$/s.exec(given);
	const sessions = list?.sessions ?? [];
	if (quoted !== null) return found(quoted[1] ?? "", (quoted[2] ?? "").trim(), sessions);
	const [first = ""] = given.split(/\s/, 1);
	const begins = (name: string): boolean => name !== "" && given.toLowerCase().startsWith(name.toLowerCase()) && /^(\s|$)/.test(given.slice(name.length));
	const names = sessions.map(({ name }) => name).filter(begins);
	const name = names.reduce((longest, other) => (other.length > longest.length ? other : longest), first);
	return found(given.slice(0, name.length), given.slice(name.length).trim(), sessions);
}

/** One session only: two of a name are for the agent, or the person, to tell apart. */
function found(name: string, text: string, sessions: readonly PeerSession[]): Addressed {
	const wanted = name.toLowerCase();
	const exact = sessions.filter((session) => [session.sessionId, session.stableId, session.shortId, session.name].some((known) => known.toLowerCase() === wanted));
	const some = exact.length > 0 || wanted.length < PREFIX_LEAST ? exact : sessions.filter(({ sessionId }) => sessionId.toLowerCase().startsWith(wanted));
	return { to: some.length === 1 ? some[0] : undefined, name, text };
}

async function sendAtOnce(ctx: ExtensionContext, link: CommandLink, to: string, text: string, args: string): Promise<void> {
	const answer = await link.sendTo(to, text);
	if (!answer.isError) {
		ctx.ui.notify(`Intercom: ${plainLine(answer.summary || answer.text, 400)}`, "info");
		return;
	}
	const isFree = ctx.ui.getEditorText() === "";
	if (isFree) ctx.ui.setEditorText(`/intercom ${args}`);
	ctx.ui.notify(`Intercom: ${plainLine(answer.text, 400)}${isFree ? " What you wrote is back in the editor." : ""}`, "error");
}
