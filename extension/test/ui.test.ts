import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Colours } from "../src/ui/folded.ts";
import { toolCallLine, toolResultLine } from "../src/ui/tool-lines.ts";

const colours: Colours = { fg: (colour, text) => (colour === "error" ? `<${text}>` : text), bold: (text) => text };
const id = "01234567-89ab-4def-8123-456789abcdef";

describe("a tool call's row", () => {
	test("is one line with each argument cut short, and ids at their first characters", () => {
		const row = toolCallLine("Hand over", { jobId: id, summary: `all done\n${"x".repeat(500)}` }, false, colours);
		assert.deepEqual(row.render(120), [`Hand over jobId=01234567… summary=all done ${"x".repeat(50)}…`]);
	});

	test("shows what was cut below it when unfolded", () => {
		const text = `first\nsecond ${"x".repeat(60)}`;
		assert.deepEqual(toolCallLine("Send", { to: "Builder", message: text }, true, colours).render(120).slice(1), ["message:", "  first", `  second ${"x".repeat(60)}`]);
	});

	test("brings no control character of its arguments onto the screen", () => {
		assert.deepEqual(toolCallLine("Send", { to: "\u001b[2JBuilder\u202e" }, false, colours).render(120), ["Send to=Builder"]);
	});

	test("stands for a call without arguments", () => assert.deepEqual(toolCallLine("List", undefined, false, colours).render(120), ["List"]));
});

describe("a tool result's row", () => {
	const page = '{"workers":[{"name":"Builder"}],"offset":0}';

	test("is the agent's summary", () => {
		assert.deepEqual(toolResultLine(page, "1 worker, none stale", false, false, colours).render(120), ["1 worker, none stale"]);
	});

	test("is the start of the text where there is no summary", () => {
		assert.deepEqual(toolResultLine("stored\nand told", "", false, false, colours).render(120), ["stored and told"]);
	});

	test("is marked and coloured where it is an error", () => {
		assert.deepEqual(toolResultLine("The worker is away.", "refused: WORKER_AWAY", true, false, colours).render(120), ["<✗ refused: WORKER_AWAY>"]);
		assert.deepEqual(toolResultLine("The worker is away.", "refused", true, true, colours).render(120), ["<✗ The worker is away.>"]);
	});

	test("is the whole text when unfolded, a page of JSON in lines", () => {
		assert.deepEqual(toolResultLine("a\nb", "s", false, true, colours).render(120), ["a", "b"]);
		assert.equal(toolResultLine(page, "s", false, true, colours).render(120).length, 8);
		assert.deepEqual(toolResultLine("{cut off", "s", false, true, colours).render(120), ["{cut off"]);
	});
});
