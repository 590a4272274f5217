import assert from "node:assert/strict";
import { test } from "node:test";
import { Activity } from "../src/activity.ts";
import type { JsonObject } from "../src/contract.ts";

function recorded(): { readonly activity: Activity; readonly log: string[]; readonly emitted: JsonObject[] } {
	const emitted: JsonObject[] = [];
	const log: string[] = [];
	const activity = new Activity(
		(state) => {
			emitted.push(state);
			log.push(`${state.phase}: ${state.label}`);
		},
		() => ({ model: "m", tokens: 7 }),
	);
	return { activity, log, emitted };
}

test("a run goes through its phases, each reported once", () => {
	const { activity, log } = recorded();
	activity.runStarted();
	for (const kind of ["start", "thinking_start", "thinking_delta", "thinking_delta", "text_start", "text_delta", "toolcall_start"]) activity.streamed(kind);
	activity.toolStarted("1", "read");
	activity.toolEnded("1");
	activity.settled();
	activity.settled();
	assert.deepEqual(log, [
		"working: Processing",
		"thinking: Thinking",
		"responding: Writing response",
		"working: Processing",
		"tool: Reading files",
		"working: Processing",
		"idle: Turn settled",
	]);
});

test("tools have public labels, several one of their own, and outrank streaming", () => {
	const { activity, log } = recorded();
	for (const name of ["edit", "bash", "secret_tool"]) {
		activity.toolStarted("1", name);
		activity.streamed("text_delta");
	}
	activity.toolStarted("2", "read");
	activity.toolEnded("1");
	assert.deepEqual(log, ["tool: Editing files", "tool: Running command", "tool: Using a tool", "tool: Running multiple tools", "tool: Reading files"]);
});

test("a report carries figures and turns and nothing else, and follows each turn", () => {
	const { activity, emitted } = recorded();
	activity.report();
	activity.runStarted();
	activity.turnEnded();
	assert.deepEqual(emitted, [
		{ phase: "idle", model: "m", tokens: 7, turns: 0 },
		{ phase: "working", label: "Processing", model: "m", tokens: 7, turns: 0 },
		{ phase: "working", label: "Processing", model: "m", tokens: 7, turns: 1 },
	]);
});

test("a running tool is named, the one that was started last where there are several", () => {
	const { activity, emitted } = recorded();
	activity.toolStarted("1", "bash");
	activity.toolStarted("2", `mcp__${"x".repeat(80)}`);
	activity.toolStarted("3", "bash");
	activity.toolEnded("2");
	activity.toolEnded("3");
	activity.toolEnded("1");
	const seen = emitted.map(({ phase, label, tool }) => `${phase} ${tool ?? "-"}: ${label}`);
	assert.deepEqual(seen, [
		"tool bash: Running command",
		`tool mcp__${"x".repeat(59)}: Running multiple tools`,
		"tool bash: Running multiple tools",
		"tool bash: Running command",
		"working -: Processing",
	]);
});

test("the person's note goes along with every report", () => {
	const emitted: JsonObject[] = [];
	const activity = new Activity(
		(state) => void emitted.push(state),
		() => ({}),
		"researching",
	);
	activity.report();
	activity.runStarted();
	assert.deepEqual(emitted.map(({ note }) => note), ["researching", "researching"]);
});

test("manual compaction is work, and leaves an idle session idle", () => {
	const { activity, log } = recorded();
	activity.compactionStarted();
	activity.compactionEnded(false);
	assert.deepEqual(log, ["working: Processing", "idle: Turn settled"]);
});
