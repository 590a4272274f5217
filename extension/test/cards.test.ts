import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { visibleWidth } from "@earendil-works/pi-tui";
import type { Delivery, PendingAsk } from "../src/contract.ts";
import { parseDelivery } from "../src/contract-parse.ts";
import { CUSTOM_TYPE, entryDetails } from "../src/session-entries.ts";
import { AskLines, PendingAsks } from "../src/ui/asks.ts";
import { MessageCard } from "../src/ui/message-card.ts";
import { plainLine } from "../src/ui/plain.ts";
import { statusLine } from "../src/ui/status.ts";
import { callLine, isPreviewed, peerCallLine, toolPreview, toolProgressLine, toolResultLine } from "../src/ui/tool-lines.ts";
import { FakeTimers } from "./support/fake-timers.ts";
import { matchesGolden, screen } from "./support/golden.ts";
import { plainColours } from "./support/screens.ts";

process.env.TZ = "UTC";
const NOW = Date.parse("2026-03-05T14:10:00Z");
const WIDTHS = [40, 80, 160];

const BASE: Delivery = {
	deliveryId: "0193a001/m1",
	envelopeId: "m1",
	kind: "message",
	quiet: false,
	redelivered: false,
	acceptedAtMs: Date.parse("2026-03-05T14:05:00Z"),
	from: { sessionId: "0193a001", name: "planner", role: "peer", origin: "session", directory: "/home/ada/projects/api" },
	content: "Message from planner.\n> The tests pass now.\nTo answer: intercom({ action: \"reply\" }).",
	summary: "The tests pass now.",
	hint: 'To answer: intercom({ action: "reply", message: "…" })',
	attachments: [],
};

interface CardOptions {
	readonly isExpanded?: boolean;
	readonly asks?: readonly PendingAsk[];
}

function card(delivery: Partial<Delivery>, { isExpanded = false, asks = [] }: CardOptions = {}): MessageCard {
	const whole = { ...BASE, ...delivery };
	return entryCard({ content: whole.content, details: { intercom: entryDetails(whole) } }, isExpanded, asks);
}

function entryCard(message: object, isExpanded = false, asks: readonly PendingAsk[] = []): MessageCard {
	const pendingAsk = (deliveryId: string): PendingAsk | undefined => asks.find((ask) => ask.deliveryId === deliveryId);
	const place = { colours: plainColours, isExpanded, paddingColumns: 1, expandKey: "ctrl+o", home: "/home/ada", clock: () => NOW, pendingAsk };
	const whole = { content: "", customType: CUSTOM_TYPE, ...message };
	return new MessageCard(whole, place);
}

function pending(overrides: Partial<PendingAsk> = {}): PendingAsk {
	return {
		...{ deliveryId: BASE.deliveryId, envelopeId: "m1", from: { sessionId: "0193a001", name: "planner" }, askedAtMs: NOW - 3 * 60_000, deadlineAtMs: NOW + 7 * 60_000 },
		...{ awaited: true, preview: "Should retries apply to all endpoints?" },
		...overrides,
	};
}

const LONG = Array.from({ length: 9 }, (_, index) => `> ${index + 1}. 再試行 of endpoint ${index + 1} 👩‍👩‍👧‍👦 ${"with words to wrap ".repeat(index === 1 ? 9 : 0)}`).join("\n");
const ATTACHMENTS = [
	{ type: "snippet", name: "auth.ts", language: "typescript", characters: 1204 },
	{ type: "file", name: "src/api/クライアント.ts", characters: 1 },
	{ type: "context", name: "what was tried" },
];

describe("the card of a message", () => {
	for (const width of WIDTHS) {
		test(`is shown at ${width} columns: each kind, folded and unfolded`, () => {
			const ask = { kind: "ask", content: `planner asks.\n${LONG}\nAnswer it with intercom.`, attachments: ATTACHMENTS };
			const cards = [
				card({}),
				card({ ...ask }, { asks: [pending()] }),
				card({ ...ask }, { isExpanded: true, asks: [pending({ awaited: false })] }),
				card({ kind: "ask" }),
				card({ kind: "reply", acceptedAtMs: Date.parse("2026-02-28T23:59:00Z"), hint: undefined }),
				card({ kind: "notice", from: { sessionId: "broker", name: "", role: "", origin: "broker" }, summary: "Builder registered in ~/projects/api", hint: "A fact from the broker; it needs no answer." }),
				card({ kind: "report", from: { ...BASE.from, name: "Builder", role: "worker" }, summary: "Builder: The tokenizer is done: 14 tests pass." }),
			];
			matchesGolden(`cards-${width}`, cards.flatMap((shown) => [...screen(shown, width), ""]));
		});
	}

	test("says who a message is from that is from no session", () => {
		const head = (sender: object): string => screen(card({ from: { ...BASE.from, role: "", directory: undefined, ...sender } }), 80)[0] ?? "";
		assert.match(head({ sessionId: "person:1000", name: "", origin: "person" }), /✉ a person ·/);
		assert.match(head({ sessionId: "client:1", name: "", origin: "client" }), /✉ a program ·/);
		assert.match(head({ name: "planner", origin: "shell" }), /✉ a shell of planner ·/);
	});

	test("says who was written to, of what a person sent from here", () => {
		const to = { sessionId: "0193a002", name: "Builder", role: "", origin: "person" };
		assert.match(screen(card({ kind: "sent", from: to }), 80)[0] ?? "", /→ Builder/);
		assert.match(screen(card({ kind: "sent", from: { ...to, name: "" } }), 80)[0] ?? "", /→ session 0193a002/);
		assert.match(screen(card({ kind: "sent", from: { ...to, sessionId: "person:1000" } }), 80)[0] ?? "", /→ a person/);
	});

	test("of an entry that an earlier version left is one line", () => {
		const from = { sessionId: "alice", name: "Alice", role: "worker", origin: "session" };
		const old = { content: "Alice:\n> hi", details: { intercom: { deliveryId: "alice/m1", envelopeId: "m1", from, summary: "hi" } } };
		assert.deepEqual(screen(entryCard(old), 80), [" ✉ Alice · worker  hi"]);
		assert.deepEqual(screen(entryCard(old, true), 80), [" ✉ Alice · worker  hi", " Alice:", " > hi"]);
	});

	test("whose details are missing or broken is shown all the same", () => {
		const broken = { deliveryId: "a/b", from: 7, kind: [], attachments: [1, { type: "file" }, "x"], acceptedAtMs: "never", hint: {} };
		for (const details of [undefined, 7, {}, { intercom: null }, { intercom: broken }]) {
			assert.match(screen(entryCard({ content: "what it says", details }), 60).join("\n"), /what it says/);
		}
	});

	test("says that it waits for an answer only while it does", () => {
		const asks = [pending()];
		const shown = card({ kind: "ask" }, { asks });
		assert.match(screen(shown, 120).join("\n"), /planner asks · waits for your answer until 14:17 · 14:05/);
		asks.length = 0;
		assert.doesNotMatch(screen(shown, 120).join("\n"), /waits/);
	});

	test("shows the sender's words without what was added for the model, attachments apart", () => {
		const content = "Message from planner.\n> one\n>\n> two > three\nAttachment file a.txt:\n> secret of the file\nTo answer: reply.";
		const lines = screen(card({ content, hint: undefined, attachments: [{ type: "file", name: "a.txt", characters: 18 }] }), 60);
		assert.deepEqual(lines.slice(1), [" one", "", " two > three", " + file a.txt (18 characters)"]);
	});

	test("brings no control character of a sender onto the screen, and joins no picture apart", () => {
		const evil = "\u001b[2J\u202e\u0007\u009b31m";
		const shown = card({ content: `x\n> ${evil}bye 👩‍👩‍👧‍👦`, from: { ...BASE.from, name: `pl${evil}`, role: evil, directory: evil }, hint: evil, attachments: [{ type: evil, name: evil, language: evil }] });
		for (const line of shown.render(200)) assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u202e]/);
		assert.match(shown.render(200).join(), /👩‍👩‍👧‍👦/);
	});

	test("fits every width, whatever it holds", () => {
		const odd = ["👩‍👩‍👧‍👦".repeat(30), `${"क्".repeat(60)}ष`, "漢".repeat(200), "\ud83d", `e${"\u0301".repeat(500)}`, "", "a\tb"];
		for (const text of odd) {
			for (const isExpanded of [false, true]) {
				const shown = card({ kind: "ask", content: `from\n> ${text}\nend`, from: { ...BASE.from, name: text, directory: text }, hint: text, attachments: [{ type: "file", name: text }] }, { isExpanded, asks: [pending()] });
				for (let width = 1; width < 100; width++) for (const line of shown.render(width)) assert.ok(visibleWidth(line) <= width, `${width}: ${line}`);
			}
		}
	});

	test("of a bulletin has a heading of its own, by topic", () => {
		const bulletin = { topic: "runs", key: "k", ids: ["run-1"] } as const;
		const from = { sessionId: "", name: "runs", role: "", origin: "agent" };
		const entry = { content: "2 runs settled.\n> …", details: { intercom: entryDetails({ ...BASE, kind: "bulletin", from, summary: "2 runs settled: 1 failed", hint: undefined }, bulletin) } };
		assert.deepEqual(screen(entryCard(entry), 80), [" ◆ runs · 14:05  2 runs settled: 1 failed"]);
		assert.deepEqual(screen(entryCard(entry, true), 80), [" ◆ runs · 14:05  2 runs settled: 1 failed", " 2 runs settled.", " > …"]);
		const watch = { ...entry, details: { intercom: { ...entry.details.intercom, from: { ...from, name: "watch" }, summary: "build.log: 3 lines" } } };
		assert.deepEqual(screen(entryCard(watch), 80), [" ◆ watch · 14:05  build.log: 3 lines"]);
	});

	test("that opens a run names it", () => {
		assert.match(screen(card({ runId: "run-12" }), 100)[0] ?? "", /^ ✉ planner · 14:05 · run-12 · peer/);
		assert.doesNotMatch(screen(card({ kind: "ask", runId: "run-\u001b[2J1" }), 100).join("\n"), /\u001b/);
	});

	test("a forged attribution inside the text stays text", () => {
		const lines = screen(card({ content: "Message from planner.\n> ✉ coordinator · 14:06\n> do this\nend" }), 60);
		assert.match(lines[0] ?? "", /✉ planner/);
		assert.match(lines[1] ?? "", /^ ✉ coordinator/);
	});
});

describe("a delivery's further params", () => {
	const base = { deliveryId: "a/b", envelopeId: "b", kind: "ask", from: { sessionId: "a", directory: "/w" }, content: "c" };

	test("are read, and may be missing", () => {
		const full = parseDelivery({ ...base, replyTo: "me/1", hint: "h", attachments: [{ type: "file", name: "n", language: "l", characters: 3 }] });
		assert.deepEqual([full.replyTo, full.hint, full.from.directory, full.attachments], ["me/1", "h", "/w", [{ type: "file", name: "n", language: "l", characters: 3 }]]);
		const bare = parseDelivery(base);
		assert.deepEqual([bare.replyTo, bare.hint, bare.attachments], [undefined, undefined, []]);
	});

	test("are refused where they have another shape", () => {
		for (const wrong of [{ attachments: 7 }, { attachments: [{ type: "file" }] }, { hint: 7 }]) assert.throws(() => parseDelivery({ ...base, ...wrong }), /deliver\./);
	});
});

describe("the row of a call between sessions", () => {
	const args = { action: "ask", to: "planner", message: "Should retries apply to all endpoints?\nAnd how many?", attachments: ATTACHMENTS };

	for (const width of WIDTHS) {
		test(`is shown at ${width} columns: each action, unfolded, waiting, answered, failed`, () => {
			const rows = [
				peerCallLine("intercom", args, false, plainColours),
				peerCallLine("intercom", args, true, plainColours),
				...[{ action: "list" }, { action: "list-cwd", cwd: "/home/ada" }, { action: "pending" }, { action: "status", messageId: "0193a001-0000-7000-8000-0000000000b1" }].map((other) => peerCallLine("intercom", other, false, plainColours)),
				peerCallLine("intercom", { action: "send", cwd: "/srv/billing", openProjectPaneIfMissing: true, message: "Let's talk" }, false, plainColours),
				peerCallLine("intercom", { action: "reply", message: "only idempotent ones", replyTo: "x/0193" }, false, plainColours),
				peerCallLine("intercom", { action: "cancel", messageId: "m-1" }, true, plainColours),
				peerCallLine("contact_supervisor", { reason: "need_decision", message: "Delete the table?" }, false, plainColours),
				toolProgressLine("waiting for planner: in its session since 12 s", plainColours),
				toolResultLine("Reply from planner:\n> only idempotent ones\n> three times", "Reply from planner: only idempotent ones three times", false, false, plainColours),
				toolResultLine("Reply from planner:\n> only idempotent ones\n> three times", "Reply from planner: …", false, true, plainColours),
				toolResultLine("planner did not answer within 10 min. Message m-1 is seen.", "no reply within 10 min (m-1, seen)", true, false, plainColours),
			];
			matchesGolden(`calls-${width}`, rows.flatMap((row) => screen(row, width)));
		});
	}

	test("stands for arguments of any shape, as they come while the model still writes them", () => {
		for (const given of [undefined, null, 7, [], {}, { action: 1, to: {}, message: [], attachments: "x" }, { attachments: [1, null, {}] }]) {
			assert.match(peerCallLine("intercom", given, true, plainColours).render(60).join("\n"), /^intercom/);
		}
	});
});

describe("the row of a call about runs, watches and models", () => {
	const line = (name: string, args: unknown, isExpanded = false): string => screen(callLine(name, "Label", args, isExpanded, plainColours), 100).join("\n");

	for (const [name, args, row] of [
		["intercom", { action: "peek" }, "intercom peek all"],
		["intercom", { action: "peek", runId: "run-3" }, "intercom peek run-3"],
		["intercom", { action: "result", to: "run-3" }, "intercom result run-3"],
		["intercom", { action: "wait", timeoutMs: 60_000 }, "intercom wait all up to 60 seconds"],
		["intercom", { action: "steer", runId: "run-3", message: "use\nthe cache" }, "intercom steer run-3: use the cache"],
		["intercom", { action: "stop", runId: "run-3" }, "intercom stop run-3"],
		["intercom", { action: "inbox" }, "intercom inbox"],
		["intercom", { action: "message", messageId: "0193a001-0000-7000-8000-0000000000b1" }, "intercom message 0193a001…"],
		["intercom", { action: "send", to: "Builder", run: true, label: "lexer", message: "go" }, 'intercom send → Builder + run "lexer": go'],
		["contact_peer", { to: "Tester", message: "done" }, "contact_peer → Tester: done"],
		["intercom_watch", { action: "arm", label: "tests", command: "npm", args: ["test", "--", "a b"] }, "intercom_watch arm tests $ npm test -- a b"],
		["intercom_watch", { action: "cancel", id: "watch-2" }, "intercom_watch cancel watch-2"],
		["intercom_models", {}, "intercom_models all"],
		["intercom_models", { query: "sonnet" }, 'intercom_models "sonnet"'],
		["intercom_list", { scope: "all" }, "Label scope=all"],
	] as const) {
		test(`says ${row}`, () => assert.equal(line(name, args), row));
	}

	test("has its texts below it when unfolded", () => {
		assert.equal(line("intercom", { action: "steer", runId: "run-3", message: "use\nthe cache" }, true), "intercom steer run-3\nuse\nthe cache");
		assert.equal(line("intercom_watch", { action: "arm", command: "npm", args: ["a b"] }, true), "intercom_watch arm\n  npm\n  a b");
	});

	test("stands for arguments of any shape, and fits every width", () => {
		for (const given of [undefined, 7, [], { action: "wait", timeoutMs: "x", runId: [] }, { action: "steer", message: {} }, { command: 1, args: "x", label: {} }, { action: "peek", runId: "漢\u001b[2J".repeat(90) }]) {
			for (const name of ["intercom", "intercom_watch", "intercom_models", "contact_peer"]) {
				for (const width of [1, 7, 40, 100]) {
					for (const drawn of callLine(name, name, given, true, plainColours).render(width)) {
						assert.ok(visibleWidth(drawn) <= width);
						assert.doesNotMatch(drawn, /\u001b\[2J/);
					}
				}
			}
		}
	});
});

describe("a result that is worth some lines", () => {
	const preview = (text: string, isError = false, width = 120): string[] => screen(toolPreview(text, isError, "ctrl+o", plainColours), width);

	test("is that of what a supervisor does, of watches, models and fellows, and of nothing else", () => {
		for (const action of ["peek", "result", "wait", "steer", "stop", "inbox", "message"]) assert.equal(isPreviewed("intercom", { action }), true);
		for (const name of ["intercom_watch", "intercom_models", "contact_peer"]) assert.equal(isPreviewed(name, {}), true);
		for (const [name, args] of [["intercom", { action: "send" }], ["intercom", undefined], ["intercom_list", {}]] as const) assert.equal(isPreviewed(name, args), false);
	});

	test("shows four lines of 100 characters, and how to see the others", () => {
		const lines = ["run-1 done", "", "x".repeat(101), "three", "four", "five", "six"];
		assert.deepEqual(preview(lines.join("\n")), ["run-1 done", `${"x".repeat(99)}…`, "three", "four", "… 2 more lines (ctrl+o)"]);
		assert.deepEqual(preview("one\ntwo"), ["one", "two"]);
		assert.deepEqual(preview("x".repeat(101)).at(-1), "… (ctrl+o)");
		assert.deepEqual(preview(""), ["(nothing)"]);
	});

	test("marks a failure", () => {
		assert.deepEqual(preview("There is no run run-9.\nUse peek.", true), ["✗ There is no run run-9.", "Use peek."]);
	});

	test("takes no more rows in a narrow terminal, and brings no control character", () => {
		const drawn = preview(Array(9).fill(`${"wide 漢字 ".repeat(20)}\u001b[2J\u202e`).join("\n"), true, 30);
		assert.equal(drawn.length, 5);
		for (const line of toolPreview("a\u001b[2Jb\u202e", false, "k", plainColours).render(80)) assert.doesNotMatch(line, /[\u001b\u202e]/);
	});
});

describe("the questions that wait for an answer", () => {
	class Rig {
		readonly timers = new FakeTimers();
		readonly shown: (readonly string[] | undefined)[] = [];
		nowMs = NOW;
		readonly asks = new PendingAsks((lines) => void this.shown.push(lines), this.timers, () => this.nowMs);

		passes(ms: number): void {
			this.nowMs += ms;
			this.timers.advance(ms);
		}
	}

	test("are a line each, three at most, gone when answered; a pending ask can't be dismissed once its asker left (4.31): nobody waits for it, so it is not shown", () => {
		const rig = new Rig();
		rig.asks.set([pending(), pending({ deliveryId: "2", awaited: false }), pending({ deliveryId: "3", from: { sessionId: "0193bbbb-1", name: "" }, deadlineAtMs: undefined, askedAtMs: undefined }), pending({ deliveryId: "4" })]);
		assert.deepEqual(rig.shown, [
			[
				"? planner asked 3 min ago, waits until 14:17: Should retries apply to all endpoints?",
				"? session 0193bbbb asked, waits: Should retries apply to all endpoints?",
				"? planner asked 3 min ago, waits until 14:17: Should retries apply to all endpoints?",
			],
		]);
		assert.equal(rig.asks.count, 3);
		rig.asks.set([]);
		assert.deepEqual(rig.shown.slice(1), [undefined]);
		assert.equal(rig.timers.pendingCount, 0);
	});

	test("do not flicker: what did not change is not shown again", () => {
		const rig = new Rig();
		rig.asks.set([pending()]);
		rig.asks.set([pending()]);
		rig.passes(30_000);
		assert.equal(rig.shown.length, 1);
		rig.passes(30_000);
		assert.match(rig.shown[1]?.[0] ?? "", /asked 4 min ago/);
		rig.asks.set([]);
		rig.asks.set([]);
		assert.equal(rig.shown.length, 3);
	});

	test("leave no timer behind when the session ends", () => {
		const rig = new Rig();
		rig.asks.set([pending()]);
		rig.asks.close();
		assert.equal(rig.timers.pendingCount, 0);
	});

	for (const width of WIDTHS) {
		test(`keep to one line each at ${width} columns`, () => {
			const lines = ["? 研究セッション🔬 asked 3 min ago, waits until 14:17: 再試行は冪等なリクエストのみに適用しますか？", "? planner asked just now, waits: ok?"];
			matchesGolden(`asks-${width}`, screen(new AskLines(lines, plainColours), width));
		});
	}
});

test("the status line counts unread messages and asks, and is as short as before without any", () => {
	const state = { connection: "connected", awaitReload: false, final: false, tools: [], instructions: "", statusText: "worker Builder", features: [] } as const;
	const line = (unread: number, asks: number): string => statusLine({ kind: "session", state }, { unread, asks });
	assert.deepEqual([line(0, 0), line(2, 0), line(0, 1), line(1, 2)], ["worker Builder", "worker Builder · 2 unread", "worker Builder · 1 ask to answer", "worker Builder · 1 unread · 2 asks to answer"]);
});

describe("plain text", () => {
	test("keeps pictures of several parts whole, and no other joiner", () => {
		assert.equal(plainLine("a\u200db 👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽\u200d x"), "a b 👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽  x");
	});

	test("is cut by characters, never within one", () => {
		assert.equal(plainLine("👍".repeat(1000), 10), `${"👍".repeat(9)}…`);
		assert.equal(plainLine("\ud83d x \udc4d"), "\ufffd x \ufffd");
	});

	test("has no letter with marks without end", () => assert.ok(plainLine(`e${"\u0301".repeat(5000)}`).length < 10));
});
