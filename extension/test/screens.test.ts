import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { visibleWidth } from "@earendil-works/pi-tui";
import type { ToolAnswer } from "../src/contract.ts";
import type { PeerSession, SessionList } from "../src/peers.ts";
import { ComposeView, MESSAGE_LIMIT } from "../src/ui/compose.ts";
import { SessionListView } from "../src/ui/session-list.ts";
import { matchesGolden, screen } from "./support/golden.ts";
import { fakeTui, KEY, keys, pasted, peer, plainColours } from "./support/screens.ts";

const WIDTHS = [40, 80, 160];
const LIST_WIDTH = 88;
const COMPOSE_WIDTH = 72;
/** What crashes a careless screen: families, flags, keycaps, marks without end, half characters, text of no width. */
const GRAPHEMES = ["👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇩", "1️⃣", `e${"\u0301".repeat(300)}`, "\ud83d", "\udc00", "\u200b\u200d\ufeff", "漢字かな交じり文", "नमस्ते", `${"क्".repeat(60)}ष`, "ﷺ", "\u202eabc", "👍🏽‍", "\u0000\u001b[31m"];

const SELF = peer("0193a000-0000-7000-8000-00000000aaaa", { name: "executor", sameDirectory: true, contextPercent: 42.4 });
const SESSIONS: SessionList = {
	self: SELF,
	sessions: [
		peer("0193a001-0000-7000-8000-0000000000b1", { name: "planner", sameDirectory: true, status: "thinking · researching", contextPercent: 7.6, tokens: 15_204, waitsFor: [SELF.sessionId] }),
		peer("0193a002-0000-7000-8000-0000000000b2", { name: "", shortId: "0193a002", status: "tool:bash", sameDirectory: true, model: "openai/gpt-5" }),
		peer("0193a003-0000-7000-8000-0000000000b3", { name: "研究セッション🔬", cwd: "/home/ada/深い/とても深いディレクトリ/プロジェクト", status: "idle", contextPercent: 100 }),
		peer("0193a004-0000-7000-8000-0000000000b4", { name: "Coordinator of the billing migration, second attempt", role: "coordinator", cwd: "/srv/work/billing/services/invoices/migration", status: "idle", waitsFor: ["0193a001-0000-7000-8000-0000000000b1"] }),
		...[5, 6, 7, 8, 9].map((number) => peer(`0193a00${number}-0000-7000-8000-0000000000b${number}`, { name: `worker ${number}`, role: "worker", cwd: "/tmp/elsewhere" })),
		peer("0193a010-0000-7000-8000-000000000c10", { name: "👩‍👩‍👧‍👦 fam\u001b[2Jily", cwd: "/home/ada", model: "", status: "" }),
	],
};

class ListRig {
	readonly chosen: PeerSession[] = [];
	closes = 0;
	readonly view: SessionListView;

	constructor(list: SessionList | null = SESSIONS, rows = 24, search = "", selectedId?: string) {
		const events = { chosen: (session: PeerSession) => void this.chosen.push(session), closed: () => void this.closes++, changed: () => undefined };
		this.view = new SessionListView({ colours: plainColours, keys, home: "/home/ada", terminalRows: () => rows }, events, search, selectedId);
		if (list !== null) this.view.show(list);
	}

	/** Presses each key; a text is typed character by character. */
	types(...inputs: readonly string[]): this {
		for (const input of inputs) {
			const isKey = input.startsWith("\u001b") || input.length === 1;
			for (const data of isKey ? [input] : [...input]) this.view.handleInput(data);
		}
		return this;
	}

	lines(width = LIST_WIDTH): string[] {
		return screen(this.view, width);
	}

	/** The row that is selected, without its frame. */
	selected(): string {
		return this.lines().find((line) => line.startsWith("│ ▸"))?.replace(/^│ ▸ /, "") ?? "";
	}
}

describe("the list of sessions", () => {
	for (const width of WIDTHS) {
		test(`is shown at ${width} columns`, () => matchesGolden(`list-${width}`, new ListRig().lines(Math.min(LIST_WIDTH, width))));
		test(`says at ${width} columns that nothing matches, that nobody is there, and why it can't tell`, () => {
			const shown = Math.min(LIST_WIDTH, width);
			const offline = new ListRig(null);
			const waiting = offline.lines(shown);
			offline.view.showProblem("Not connected: intercom-broker was not found. Set brokerPath in the settings (BROKER_NOT_FOUND) Once that is mended, /reload connects.");
			const stale = new ListRig().types(KEY.down);
			stale.view.showProblem("the intercom agent is not running");
			const screens = [new ListRig().types("nobody").lines(shown), new ListRig({ self: SELF, sessions: [] }).lines(shown), waiting, offline.lines(shown), stale.lines(shown)];
			matchesGolden(`list-states-${width}`, screens.flatMap((lines) => [...lines, ""]));
		});
	}

	test("fits every width and height, whatever names hold", () => {
		const sessions = GRAPHEMES.map((text, index) => peer(`id-${index}`, { name: text.repeat(20), cwd: `/home/ada/${text.repeat(9)}`, status: text, model: text, waitsFor: [text] }));
		for (const rows of [1, 10, 24, 60]) {
			const rig = new ListRig({ self: sessions[0], sessions }, rows);
			for (let width = 1; width <= 130; width++) {
				for (const line of rig.view.render(width)) assert.ok(visibleWidth(line) <= width, `${width}: ${line}`);
				rig.types(KEY.down);
			}
		}
	});

	test("brings no control character of a session onto the screen", () => {
		const rig = new ListRig({ sessions: [peer("a", { name: "x\u001b[2J\u202ey", cwd: "/a\u0007\nb", status: "s\r", model: "\u009bm" })] });
		for (const line of rig.view.render(LIST_WIDTH)) assert.doesNotMatch(line.replaceAll(/\u001b(_pi:[^\u0007]*\u0007|\[0m)/g, ""), /[\u0000-\u001f\u007f-\u009f\u202e]/);
	});

	test("shows eight rows, and the one's own session beside them", () => {
		const lines = new ListRig().lines();
		assert.equal(lines.filter((line) => /worker|planner|0193a002 |研究|Coordinator of/.test(line.slice(0, 30))).length, 8);
		assert.match(lines.join("\n"), /executor +this session/);
	});

	test("shows fewer rows where the terminal is low, so that all of it is seen", () => {
		assert.ok(new ListRig(SESSIONS, 16).lines().length <= 16);
	});

	test("selects with the arrows, round the ends, and never one's own session", () => {
		const rig = new ListRig();
		assert.match(rig.selected(), /^planner/);
		rig.types(KEY.up);
		assert.match(rig.selected(), /family|fam \[2Jily/);
		rig.types(KEY.down, KEY.down);
		assert.match(rig.selected(), /^session 0193a002/);
		for (let step = 0; step < 30; step++) assert.doesNotMatch(rig.types(KEY.down).selected(), /executor/);
	});

	test("moves by a page without going round", () => {
		const rig = new ListRig().types(KEY.pageDown);
		assert.match(rig.selected(), /^worker 9/);
		rig.types(KEY.pageDown, KEY.pageDown);
		assert.match(rig.selected(), /ily/);
		rig.types(KEY.pageUp, KEY.pageUp);
		assert.match(rig.selected(), /^planner/);
	});

	test("chooses with Enter, and closes with Escape", () => {
		const rig = new ListRig().types(KEY.down, KEY.enter, KEY.escape);
		assert.deepEqual(rig.chosen.map(({ sessionId }) => sessionId), [SESSIONS.sessions[1]?.sessionId]);
		assert.equal(rig.closes, 1);
	});

	for (const [by, text] of [["name", "PLANN"], ["directory", "~/projects/api plann"], ["id", "0193a001"], ["model", "sonnet planner"]] as const) {
		test(`is searched by ${by} as one types`, () => {
			assert.match(new ListRig().types(text).selected(), /^planner/);
		});
	}

	test("finds CJK and emoji, and shows all again once the search is deleted", () => {
		const rig = new ListRig().types("研究");
		assert.match(rig.selected(), /^研究セッション🔬/);
		rig.types(KEY.backspace, KEY.backspace);
		assert.match(rig.selected(), /^planner/);
		assert.match(rig.types("🔬").selected(), /^研究/);
	});

	test("chooses nothing where nothing matches", () => {
		assert.deepEqual(new ListRig().types("nobody", KEY.enter, KEY.up, KEY.down, KEY.pageDown, KEY.enter).chosen, []);
	});

	test("keeps the selection where the sessions change under it, and takes a neighbour where it has gone", () => {
		const rig = new ListRig().types(KEY.down, KEY.down);
		rig.view.show({ self: SELF, sessions: [peer("new", { name: "newcomer" }), ...SESSIONS.sessions].reverse() });
		assert.match(rig.selected(), /^研究/);
		rig.view.show({ self: SELF, sessions: SESSIONS.sessions.filter(({ name }) => !name.startsWith("研究")) });
		assert.notEqual(rig.selected(), "");
		rig.view.show({ self: SELF, sessions: [] });
		rig.view.show(SESSIONS);
		assert.notEqual(rig.selected(), "");
	});

	test("keeps what it shows where it can't be refreshed, and says so", () => {
		const rig = new ListRig();
		rig.view.showProblem("Not connected: the broker is gone.");
		assert.match(rig.lines().join("\n"), /planner[^]*Not refreshed: Not connected/);
		rig.view.show(SESSIONS);
		assert.doesNotMatch(rig.lines().join("\n"), /Not refreshed/);
	});

	test("starts with a search, or a selection, that it is given", () => {
		assert.match(new ListRig(SESSIONS, 24, "worker 7").selected(), /^worker 7/);
		assert.match(new ListRig(SESSIONS, 24, "", SESSIONS.sessions[3]?.sessionId).selected(), /^Coordinator of/);
	});

	test("does not throw while one types anything at all", () => {
		const rig = new ListRig();
		for (const text of [...GRAPHEMES, pasted("a\nb\n".repeat(1000)), "\u001b[200~never ends", "\u001b[201~", "\u001b[999;999u", "\u0003", "\u0015", "\u001b[F", KEY.left, KEY.right]) {
			rig.view.handleInput(text);
			for (const width of [1, 7, 8, 40, 88]) for (const line of rig.view.render(width)) assert.ok(visibleWidth(line) <= width);
		}
	});
});

class ComposeRig {
	readonly sent: string[] = [];
	closes = 0;
	readonly view: ComposeView;
	answer: (answer: Partial<ToolAnswer>) => void = () => undefined;

	constructor(to: PeerSession = SESSIONS.sessions[0] ?? SELF, draft = "", rows = 24) {
		const send = (text: string): Promise<ToolAnswer> => {
			this.sent.push(text);
			return new Promise((resolve) => void (this.answer = (answer) => resolve({ text: "", summary: "", isError: false, ...answer })));
		};
		const events = { send, closed: () => void this.closes++, changed: () => undefined };
		this.view = new ComposeView(to, { tui: fakeTui(rows), colours: plainColours, keys, home: "/home/ada" }, events, draft);
	}

	types(...inputs: readonly string[]): this {
		for (const input of inputs) {
			const isKey = input.startsWith("\u001b") || input.length === 1;
			for (const data of isKey ? [input] : [...new Intl.Segmenter().segment(input)].map(({ segment }) => segment)) this.view.handleInput(data);
		}
		return this;
	}

	async answers(answer: Partial<ToolAnswer>): Promise<void> {
		this.answer(answer);
		await new Promise((resolve) => setImmediate(resolve));
	}

	lines(width = COMPOSE_WIDTH): string[] {
		return screen(this.view, width);
	}

	text(): string {
		return this.lines().join("\n");
	}
}

const LONG = "The retry policy should apply to idempotent requests only: 再試行は冪等なリクエストのみに適用してください。 👩‍👩‍👧‍👦🏳️‍🌈 done";

describe("the message to a session", () => {
	for (const width of WIDTHS) {
		test(`is shown at ${width} columns: empty, with long lines, sent, failed, before it is discarded`, async () => {
			const shown = Math.min(COMPOSE_WIDTH, width);
			const empty = new ComposeRig();
			const long = new ComposeRig().types(LONG, KEY.ctrlJ, "second line", KEY.shiftEnter, "third");
			const sending = new ComposeRig().types("hello", KEY.enter);
			const sent = new ComposeRig().types("hello", KEY.enter);
			await sent.answers({ summary: "accepted for planner, which is away: it waits until planner attaches" });
			const failed = new ComposeRig().types("hello", KEY.ctrlJ, "you", KEY.enter);
			await failed.answers({ isError: true, text: "The session planner has gone: nobody by that id is attached. List the sessions and choose again.", reason: "NOBODY_THERE" });
			const leaving = new ComposeRig().types("one", KEY.ctrlJ, "two", KEY.escape);
			const screens = [empty, long, sending, sent, failed, leaving].map((rig) => rig.lines(shown));
			matchesGolden(`compose-${width}`, screens.flatMap((lines) => [...lines, ""]));
		});
	}

	test("is sent with Enter as it was written, lines and all", () => {
		assert.deepEqual(new ComposeRig().types("one", KEY.ctrlJ, "  two 🏳️‍🌈", KEY.shiftEnter, KEY.ctrlJ, "three", KEY.enter).sent, ["one\n  two 🏳️‍🌈\n\nthree"]);
	});

	test("takes a paste of many lines whole", () => {
		const lines = Array.from({ length: 200 }, (_, index) => `line ${index} 漢字 👍🏽`).join("\n");
		const rig = new ComposeRig().types("before: ", pasted(lines), " :after", KEY.enter);
		assert.deepEqual(rig.sent, [`before: ${lines} :after`]);
	});

	test("is edited with the cursor keys, by whole characters", () => {
		const rig = new ComposeRig().types("a👩‍👩‍👧‍👦b", KEY.left, KEY.left, "x", KEY.right, KEY.backspace, KEY.enter);
		assert.deepEqual(rig.sent, ["axb"]);
	});

	test("stays empty and open after it was sent, for a further one", async () => {
		const rig = new ComposeRig().types("hello", KEY.enter);
		assert.match(rig.text(), /Sending…/);
		await rig.answers({ summary: "sent to planner" });
		assert.match(rig.text(), /✓ sent to planner/);
		assert.equal(rig.view.text, "");
		assert.doesNotMatch(rig.types("again").text(), /✓/);
		assert.deepEqual(rig.types(KEY.enter).sent, ["hello", "again"]);
	});

	test("that failed is kept, and sent again with one key", async () => {
		const text = `${"long ".repeat(500)}\nend`;
		const rig = new ComposeRig().types(pasted(text), KEY.enter);
		await rig.answers({ isError: true, text: "The mailbox is full.", reason: "MAILBOX_FULL" });
		assert.match(rig.text(), /✗ The mailbox is full\. The text is kept: Enter tries again\./);
		assert.deepEqual(rig.types(KEY.enter).sent, [text, text]);
	});

	test("whose outcome is unknown is kept without advice to send it again blindly", async () => {
		const rig = new ComposeRig().types("hello", KEY.enter);
		await rig.answers({ isError: true, text: "Outcome unknown.", reason: "OUTCOME_UNKNOWN" });
		assert.doesNotMatch(rig.text(), /tries again/);
		assert.equal(rig.view.text, "hello");
	});

	test("is sent once, however often Enter is pressed while it is on its way", () => {
		assert.deepEqual(new ComposeRig().types("hello", KEY.enter, KEY.enter, "more", KEY.enter).sent, ["hello"]);
	});

	test("is not sent empty", () => {
		const rig = new ComposeRig().types("  ", KEY.ctrlJ, KEY.enter);
		assert.deepEqual(rig.sent, []);
		assert.match(rig.text(), /nothing to send/);
	});

	test("is not sent above the limit, which is shown", () => {
		const rig = new ComposeRig().types(pasted("👍".repeat(MESSAGE_LIMIT)));
		assert.match(rig.text(), /48,000 of 48,000 characters/);
		rig.types("x", KEY.enter);
		assert.deepEqual(rig.sent, []);
		assert.match(rig.text(), /Too long: 48,001 of 48,000 characters/);
		rig.types(KEY.backspace, KEY.enter);
		assert.equal([...(rig.sent[0] ?? "")].length, MESSAGE_LIMIT);
	});

	test("of a line is left at once, of more only after a question", () => {
		assert.equal(new ComposeRig().types(KEY.escape).closes, 1);
		assert.equal(new ComposeRig().types("short", KEY.escape).closes, 1);
		const rig = new ComposeRig().types("one", KEY.ctrlJ, "two", KEY.escape);
		assert.equal(rig.closes, 0);
		assert.match(rig.text(), /Discard this text\?/);
		assert.equal(rig.types("x", KEY.escape).closes, 0);
		assert.equal(rig.view.text, "one\ntwo");
		assert.equal(rig.types(KEY.escape, KEY.enter).closes, 1);
		const long = new ComposeRig();
		long.lines();
		assert.equal(long.types("w ".repeat(60), KEY.escape).closes, 0);
	});

	test("can be left while it is on its way", () => assert.equal(new ComposeRig().types("one", KEY.ctrlJ, "two", KEY.enter, KEY.escape).closes, 1));

	test("begins with a draft that is kept for it", () => assert.deepEqual(new ComposeRig(SELF, "kept\ntext").types(KEY.enter).sent, ["kept\ntext"]));

	test("crashed while one typed: nothing that is typed throws, at any width", () => {
		const rig = new ComposeRig();
		const control = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).filter((data) => data !== KEY.enter && data !== KEY.escape);
		const odd = [...GRAPHEMES, ...control, pasted("a\nb\n".repeat(1000)), pasted(GRAPHEMES.join("\n")), "\u001b[999;999u", "\u001b[3~", "\u001b[H", "\u001b[F", "\u001b[1;5D", "\u001b[1;3C", KEY.up, KEY.down, KEY.pageUp, KEY.pageDown, "\u001bd", "/", "@", "\t"];
		for (const data of [...odd, ...odd.toReversed()]) {
			rig.view.handleInput(data);
			for (const width of [1, 2, 7, 8, 9, 40, 72]) for (const line of rig.view.render(width)) assert.ok(visibleWidth(line) <= width, `${width} columns after ${JSON.stringify(data)}: ${JSON.stringify(line)}`);
		}
	});
});
