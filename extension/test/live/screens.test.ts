import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../src/contract.ts";
import { matchesGolden } from "../support/golden.ts";
import { type LivePi, until, withPi } from "../support/live-pi.ts";

const SIZES = [[40, 24], [80, 24], [160, 40]] as const;
const SELF = { sessionId: "0193a0ff-0000-7000-8000-0000000000ff", shortId: "0193a0ff", name: "executor", role: "peer", cwd: "/srv/api", sameDirectory: true, status: "idle", model: "fake/fake-1", contextPercent: 3 };

function session(number: number, name: string, more: JsonObject = {}): JsonObject {
	const sessionId = `0193a00${number}-0000-7000-8000-00000000000${number}`;
	return { sessionId, shortId: sessionId.slice(0, 8), name, role: "peer", presence: "attached", cwd: "/srv/api", sameDirectory: true, status: "idle", model: "anthropic/claude-sonnet-4", waitsFor: [], ...more };
}

const LIST = {
	self: SELF,
	sessions: [
		session(1, "planner", { status: "thinking · researching", contextPercent: 42, waitsFor: [SELF.sessionId] }),
		session(2, "研究セッション", { cwd: "/srv/深いディレクトリ/プロジェクト", sameDirectory: false, status: "tool:bash" }),
		session(3, "", { runtimeName: "chat-0193a003" }),
		...[4, 5, 6, 7, 8, 9].map((number) => session(number, `worker ${number}`, { cwd: "/srv/web", sameDirectory: false })),
	],
};
const TEXT = ["Hello 🔬 漢字 e\u0301", "the second line is long enough to be wrapped in a box of forty columns 👍🏽", "third"];

/** The box on the screen, without what is beside it; undefined where it is not there whole, or not as wide as it is to be. */
function box(screen: string, width: number): string[] | undefined {
	const lines = screen.split("\n");
	const first = lines.findIndex((line) => line.includes("╭"));
	const last = lines.findIndex((line) => line.includes("╯"));
	if (first < 0 || last < first) return undefined;
	const shown = lines.slice(first, last + 1).map((line) => /[╭│╰].*[╮│╯]/.exec(line)?.[0] ?? line);
	return shown.at(-1)?.length === width ? shown : undefined;
}

async function untilScreen(pi: LivePi, pattern: RegExp): Promise<string> {
	return until(`${pattern} on the screen`, async () => {
		const screen = await pi.screen();
		return pattern.test(screen) && screen;
	}, () => pi.report());
}

/** Resizes the terminal and compares the box with golden text at each size. */
async function matchesAtEachSize(pi: LivePi, name: string, columns: number): Promise<void> {
	for (const [width, rows] of SIZES) {
		await pi.resize(width, rows);
		let before = "";
		// The same twice: a screen may be read while it is being drawn.
		const shown = await until(`the box at ${width} columns`, async () => {
			const lines = box(await pi.screen(), Math.min(columns, width));
			const isSame = lines?.join("\n") === before;
			before = lines?.join("\n") ?? "";
			return isSame && lines;
		}, () => pi.report());
		matchesGolden(`live-${name}-${width}`, shown);
	}
}

async function untilClosed(pi: LivePi): Promise<void> {
	await until("the screen without a box", async () => !/╭/.test(await pi.screen()), () => pi.report());
}

function toolCalls(pi: LivePi): unknown[] {
	return pi.received("tools/call").map(({ name, arguments: args }) => ({ name, args }));
}

describe("the screens in the installed Pi", { concurrency: 2 }, () => {
	test("list, search, choose, write several lines and send, in terminals of three widths", () =>
		withPi({ mode: "tui" }, async (pi) => {
			pi.tellAgent("sessions.json", LIST);
			pi.tellAgent("answer.json", { text: "Sent to worker 6.", summary: "sent to worker 6", isError: false });
			await pi.press("M-m");
			await untilScreen(pi, /▸ planner/);
			await matchesAtEachSize(pi, "list", 88);

			await pi.type("work");
			await untilScreen(pi, /▸ worker 4/);
			await pi.press("Down", "Down", "Enter");
			await untilScreen(pi, /Message to worker 6/);
			for (const [index, line] of TEXT.entries()) {
				if (index > 0) await pi.press("C-j");
				await pi.type(line);
			}
			await untilScreen(pi, /third/);
			await matchesAtEachSize(pi, "compose", 72);

			await pi.press("Enter");
			await untilScreen(pi, /✓ sent to worker 6/);
			assert.deepEqual(toolCalls(pi), [{ name: "intercom", args: { action: "send", to: session(6, "").sessionId, message: TEXT.join("\n") } }]);

			await pi.type("one");
			await pi.press("C-j");
			await pi.type("two");
			await untilScreen(pi, /two/);
			await pi.press("Escape");
			await untilScreen(pi, /Discard this text\?/);
			await pi.press("Enter");
			await untilScreen(pi, /▸ worker 6/);
			await pi.press("Escape");
			await untilClosed(pi);
			await pi.prompt("SAY still here");
			await pi.untilRequest("still here");
		}));

	test("a message that fails is kept in its box, and Pi goes on whatever is typed", () =>
		withPi({ mode: "tui" }, async (pi) => {
			pi.tellAgent("sessions.json", LIST);
			pi.tellAgent("answer.json", { text: "The mailbox of planner is full.", summary: "full", isError: true });
			await pi.prompt("/intercom planner");
			await untilScreen(pi, /Message to planner/);
			await pi.type("👩‍👩‍👧‍👦🏳️‍🌈 नमस्ते ﷺ क्क्क्क्ष \u200b\u202e end");
			await untilScreen(pi, / end/);
			await pi.press("Left", "Left", "Home", "End", "BSpace", "C-w", "C-u", "C-y", "Up", "Down", "PPage", "NPage", "Tab", "C-k", "M-d");
			await pi.resize(12, 12);
			await pi.type("more");
			await pi.resize(80, 24);
			await pi.press("Enter");
			const shown = await untilScreen(pi, /✗ The mailbox of planner is full/);
			assert.match(shown, /more/);
			assert.equal(pi.received("tools/call").length, 1);
		}));

	test("commands send at once and give the session's address; asks stand near the editor until they are answered", () =>
		withPi({ mode: "tui" }, async (pi) => {
			pi.tellAgent("sessions.json", LIST);
			await pi.prompt("/intercom worker 7 hi there");
			await until("the call", () => pi.received("tools/call").length === 1, () => pi.report());
			assert.deepEqual(toolCalls(pi), [{ name: "intercom", args: { action: "send", to: session(7, "").sessionId, message: "hi there" } }]);

			const from = { sessionId: "alice", name: "Alice", role: "peer", origin: "session", directory: "/srv/api" };
			const deadlineAt = new Date(Date.now() + 600_000).toISOString();
			const ask = { deliveryId: "alice/a1", envelopeId: "a1", from, askedAt: new Date().toISOString(), deadlineAt, awaited: true, preview: "Which one shall I take?" };
			const attachments = [{ type: "snippet", name: "auth.ts", language: "typescript", characters: 12 }];
			pi.agentSends(
				{ method: "asks", params: { pending: [ask] } },
				{ method: "deliver", params: { ...{ deliveryId: "alice/a1", envelopeId: "a1", kind: "ask", quiet: true, from, acceptedAt: ask.askedAt, attachments }, content: "Alice asks.\n> Which one shall I take?\nAnswer it.", summary: "Which one?", hint: "Answer with intercom reply." } },
			);
			await untilScreen(pi, /\? Alice asks · waits for your answer until/);
			const shown = await untilScreen(pi, /\? Alice asked just now, waits until/);
			assert.match(shown, /\+ snippet auth\.ts \(typescript, 12 characters\)[^]*Answer with intercom reply\./);
			assert.match(shown, /1 ask to answer/);
			assert.doesNotMatch(shown, /Alice asks\./);
			await pi.press("C-o");
			await untilScreen(pi, /Alice asks\.[^]*> Which one shall I take\?/);
			pi.agentSends({ method: "asks", params: { pending: [] } });
			await until("the screen without the ask", async () => !/Alice asked just now|waits for your answer|to answer/.test(await pi.screen()), () => pi.report());

			await pi.prompt("/intercom-id");
			await untilScreen(pi, new RegExp(`is reached through intercom as[^]*${pi.sessionId.slice(0, 8)}`));
		}));

	test("a session without a broker says why, and what to do", () => {
		const error = { code: "NOT_FOUND", reason: "BROKER_NOT_FOUND", message: "No intercom-broker was found. Set brokerPath in the settings." };
		return withPi({ mode: "tui", session: { connection: "refused", final: true, tools: [], instructions: "", statusText: "no broker", error } }, async (pi) => {
			await pi.press("M-m");
			await untilScreen(pi, /Not connected: No intercom-broker was found\. Set brokerPath/);
			await pi.press("Escape");
			await untilClosed(pi);
			await pi.prompt("SAY still here");
			await pi.untilRequest("still here");
		});
	});
});
