import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandDoor } from "../src/command-door.ts";
import { FakePi } from "./support/fake-pi.ts";
import { FakeTimers } from "./support/fake-timers.ts";

function bench(): { readonly pi: FakePi; readonly timers: FakeTimers; readonly door: CommandDoor } {
	const pi = new FakePi("s", "/");
	const timers = new FakeTimers();
	return { pi, timers, door: new CommandDoor(pi.api, timers) };
}

describe("a command's context", () => {
	test("is had at once, and does what the command may", async () => {
		const { pi, timers, door } = bench();
		pi.idle = false;
		const context = await door.enter("t");
		context.abort();
		assert.deepEqual(pi.happened, ["typed /intercom-stop t", "aborted"]);
		assert.equal(context.isIdle(), true);
		assert.equal(context.editorText(), "");
		assert.equal(timers.pendingCount, 0);
	});

	test("is refused where the host has no such command, whose text would become a prompt", async () => {
		const { pi, door } = bench();
		pi.commands.clear();
		await assert.rejects(door.enter("t"), /does not know the command/);
		assert.deepEqual(pi.happened, []);
	});

	test("is refused where the command belongs to a prompt template", async () => {
		const { pi, door } = bench();
		Object.assign(pi.api, { getCommands: () => [{ name: "intercom-stop", source: "prompt" }] });
		await assert.rejects(door.enter("t"), /does not know the command/);
	});

	test("is refused where the host does not run the command, and a late run of it does nothing", async () => {
		const { pi, timers, door } = bench();
		Object.assign(pi.api, { sendUserMessage: () => undefined });
		const context = door.enter("t");
		timers.advance(5_000);
		await assert.rejects(context, /did not run the command/);
		await pi.runsCommand("/intercom-stop t");
		assert.deepEqual(pi.happened, []);
	});

	test("is refused by a host whose session was replaced", async () => {
		const { pi, door } = bench();
		pi.stale = true;
		await assert.rejects(door.enter("t"), /stale/);
	});
});
