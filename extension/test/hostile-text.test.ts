import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { refusedByPerson } from "../src/confirm-send.ts";
import { answerModels } from "../src/models.ts";
import { relayedText } from "../src/relay.ts";
import { CUSTOM_TYPE } from "../src/session-entries.ts";
import { AskLines, PendingAsks } from "../src/ui/asks.ts";
import { handOff } from "../src/ui/commands.ts";
import { MessageCard } from "../src/ui/message-card.ts";
import { nameLabel, plainLine, plainLines, shownName } from "../src/ui/plain.ts";
import { SessionListView } from "../src/ui/session-list.ts";
import { statusLine } from "../src/ui/status.ts";
import { peerCallLine, toolCallLine, toolPreview, toolProgressLine, toolResultLine } from "../src/ui/tool-lines.ts";
import { nameOf, statusOf } from "../src/ui/words.ts";
import { FakeTimers } from "./support/fake-timers.ts";
import { HONEST_NAMES, HOSTILE_TEXTS, isHarmless } from "./support/hostile-text.ts";
import { keys, peer, plainColours } from "./support/screens.ts";

const WIDTH = 120;
/** The marks between the facts of a line. */
const MARKS = /[()[\]<>"'=;,:!*·•→✉■|│]/;

describe("names", () => {
	test("that people have stay as they are", () => {
		for (const name of HONEST_NAMES) assert.deepEqual([nameLabel(name), shownName(name)], [name, name]);
	});

	test("are letters, digits and signs, with single spaces between words", () => {
		for (const label of HOSTILE_TEXTS.map((text) => nameLabel(text))) {
			assert.match(label, /^$|^[\p{L}\p{Mn}\p{Mc}\p{Nd}\p{Nl}._@+#-]+(?: [\p{L}\p{Mn}\p{Mc}\p{Nd}\p{Nl}._@+#-]+)*$/u);
			assert.ok([...label].length <= 80);
			assert.equal(nameLabel(label), label);
		}
		assert.deepEqual(
			["Ann (coordinator) · id 3f", '> a\n[b]: "c"', "\u001b[31mred\u001b[0m", "Builder 🛰", "\uff22\uff55ild", "e\u0301", "A\u00adn\u200bn", "a\u02d0b\u1427c\u1433d", "\u3164\u115f", "#- ."].map((name) => nameLabel(name)),
			["Ann coordinator id 3f", "a b c", "red", "Builder", "Build", "\u00e9", "Ann", "a b c d", "", ""],
		);
	});

	test("keep their pictures for a person, and no mark that looks like one of the line's", () => {
		assert.deepEqual(["研究セッション🔬", "Ada 👩‍👩‍👧‍👦 👍🏽", "✉ Ann → Bob", "a 🏳️‍🌈"].map((name) => shownName(name)), ["研究セッション🔬", "Ada 👩‍👩‍👧‍👦 👍🏽", "Ann Bob", "a 🏳️‍🌈"]);
		for (const text of HOSTILE_TEXTS) assert.doesNotMatch(shownName(text), MARKS);
	});
});

describe("escape sequences", () => {
	test("go as a whole, and one that is not finished loses its introducer only", () => {
		assert.equal(plainLine("\u001b]0;title\u0007a\u001b[2Jb\u001b(0c\u001b]8;;x\u001b\\d"), "abcd");
		assert.equal(plainLine("\u001b]0;title and what follows"), "0;title and what follows");
		assert.deepEqual(plainLines("\u001b]0;kept\nkept too\u0007"), ["0;kept", "kept too"]);
	});

	test("that never end are looked through once", () => {
		// As many again take as long again: counted in characters that are left, not in time.
		for (const worst of ["\u001b]", "\u001b[", "\u001b[1;2", "\u001bP"]) assert.ok(plainLine(worst.repeat(100_000), 10).length <= 10);
	});
});

const details = (text: string, kind: string): object => ({
	deliveryId: "s/1",
	envelopeId: "1",
	kind,
	quiet: false,
	from: { sessionId: "s-2", name: text, role: text, origin: "session", directory: text },
	summary: text,
	hint: text,
	attachments: [{ type: text, name: text, language: text, characters: 3 }],
});

function card(content: string, intercom: object): { readonly content: string } {
	return Object.assign({ content }, { customType: CUSTOM_TYPE, details: { intercom } });
}

/** Everything that the extension draws with words or names of others, each as lines. */
const PATHS: readonly { readonly what: string; lines(text: string): readonly string[] }[] = [
	...["message", "ask", "reply", "notice", "report", "sent"].flatMap((kind) =>
		[false, true].map((isExpanded) => ({
			what: `the card of a ${kind}${isExpanded ? ", unfolded" : ""}`,
			lines: (text: string) => {
				const place = { colours: plainColours, isExpanded, paddingColumns: 1, expandKey: "ctrl+o", home: "/home/ada", clock: () => 0, pendingAsk: () => undefined };
				return new MessageCard(card(`> ${text}`, details(text, kind)), place).render(WIDTH);
			},
		})),
	),
	{
		what: "the lines of pending asks",
		lines: (text) => {
			let lines: readonly string[] = [];
			const asks = new PendingAsks((shown) => void (lines = shown ?? []), new FakeTimers(), () => 0);
			asks.set([{ deliveryId: "s/1", envelopeId: "1", from: { sessionId: "s-2", name: text }, awaited: true, preview: text }]);
			asks.close();
			return new AskLines(lines, plainColours).render(WIDTH);
		},
	},
	{
		what: "the list of sessions",
		lines: (text) => {
			const view = new SessionListView({ colours: plainColours, keys, home: "/home/ada", terminalRows: () => 24 }, { chosen: () => undefined, closed: () => undefined, changed: () => undefined });
			view.show({ sessions: [peer("s-2", { name: text, cwd: text, model: text, status: text, shortId: text, role: text, waitsFor: [text] })] });
			return view.render(WIDTH);
		},
	},
	{ what: "a tool's call", lines: (text) => toolCallLine("intercom", { to: text }, true, plainColours).render(WIDTH) },
	{ what: "a call of the peer tool", lines: (text) => peerCallLine("intercom", { action: "send", to: text, message: text }, true, plainColours).render(WIDTH) },
	...["peek", "result", "wait", "steer", "stop", "inbox", "message"].map((action) => ({
		what: `a call of the peer tool's ${action}`,
		lines: (text: string) => peerCallLine("intercom", { action, to: text, runId: text, messageId: text, message: text, label: text }, true, plainColours).render(WIDTH),
	})),
	{ what: "a call of intercom_watch", lines: (text) => toolCallLine("intercom_watch", { action: "arm", command: text, args: [text], label: text }, true, plainColours).render(WIDTH) },
	...[false, true].map((isExpanded) => ({
		what: `a bulletin of runs${isExpanded ? ", unfolded" : ""}`,
		lines: (text: string) => {
			const place = { colours: plainColours, isExpanded, paddingColumns: 1, expandKey: "ctrl+o", home: "/home/ada", clock: () => 0, pendingAsk: () => undefined };
			const mark = { topic: "runs", key: text, ids: [text] };
			return new MessageCard(card(`1 run settled.\n> ${text}`, { ...details(text, "bulletin"), runId: text, bulletin: mark }), place).render(WIDTH);
		},
	})),
	{ what: "the list of models", lines: (text) => answerModels({ query: "" }, { models: [{ id: text, provider: text }], provider: text }).text.split("\n") },
	{ what: "a tool's progress", lines: (text) => toolProgressLine(text, plainColours).render(WIDTH) },
	{ what: "the first lines of a tool's result", lines: (text) => toolPreview(text, false, "ctrl+o", plainColours).render(WIDTH) },
	{ what: "a tool's result", lines: (text) => toolResultLine(text, text, false, true, plainColours).render(WIDTH) },
	{ what: "a tool's result, folded", lines: (text) => toolResultLine(text, text, false, false, plainColours).render(WIDTH) },
	{
		what: "the status line",
		lines: (text) => [statusLine({ kind: "session", state: { connection: "connected", awaitReload: false, final: false, tools: [], instructions: "", statusText: text, features: [] } })],
	},
	{ what: "how to reach a session", lines: (text) => [handOff(text, "s-1")] },
	{ what: "a relayed text", lines: (text) => relayedText(text, "subagent result").split("\n") },
	{ what: "a session's status", lines: (text) => [nameOf({ name: text, sessionId: "s-2" }), statusOf(peer("s-2", { status: text, waitsFor: [text] }), { sessions: [] })] },
];

/** Without what the components style and mark by themselves. */
function unstyled(line: string): string {
	return line.replace(/\u001b(?:\[[0-9;]*m|_pi:\/?[a-z]+\u0007)/g, "");
}

describe("words of others", () => {
	for (const { what, lines } of PATHS) {
		test(`steer no terminal in ${what}`, () => {
			for (const text of HOSTILE_TEXTS) for (const line of lines(text)) assert.ok(isHarmless(unstyled(line)), JSON.stringify([text, line]));
		});
	}

	test("are quoted in every line of a relayed text", () => {
		for (const text of HOSTILE_TEXTS) for (const line of relayedText(text, "subagent result").split("\n").slice(1)) assert.ok(line.startsWith("> "), line);
	});

	test("are plain where a person is asked about them", async () => {
		for (const text of HOSTILE_TEXTS) {
			const asked: string[] = [];
			const host = { hasUI: () => true, confirm: async (title: string, body: string) => (asked.push(title, ...body.split("\n")), true) };
			await refusedByPerson(host, { action: "send", to: text, message: text, attachments: [{ type: "file", name: text, content: text }] }, undefined);
			for (const line of asked) assert.ok(isHarmless(line), JSON.stringify(line));
		}
	});

	test("as a name are one line without a mark in a card's head", () => {
		for (const name of HOSTILE_TEXTS.filter((text) => shownName(text) !== "")) {
			const shown = { ...details("x", "message"), from: { sessionId: "s-2", name, role: "peer", origin: "session" } };
			const place = { colours: plainColours, isExpanded: false, paddingColumns: 0, expandKey: "ctrl+o", home: "", clock: () => 0, pendingAsk: () => undefined };
			const [head = ""] = new MessageCard(card("> x", shown), place).render(1000);
			assert.equal(unstyled(head).trimEnd(), `✉ ${shownName(name)} · peer`);
		}
	});
});
