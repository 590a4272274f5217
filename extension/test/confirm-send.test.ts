import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type AskingHost, isUnasked, refusedByPerson } from "../src/confirm-send.ts";
import type { ToolSpec } from "../src/contract.ts";

const tool = (name: string): ToolSpec => ({ name, label: name, description: name, promptGuidelines: [], parameters: {} });

class FakeHost implements AskingHost {
	readonly asked: string[] = [];
	readonly #answer: boolean | undefined;

	constructor(answer: boolean | undefined) {
		this.#answer = answer;
	}

	hasUI(): boolean {
		return this.#answer !== undefined;
	}

	confirm(title: string, text: string): Promise<boolean> {
		this.asked.push(`${title}\n${text}`);
		return Promise.resolve(this.#answer === true);
	}
}

describe("a message that the person confirms", () => {
	test("is a send that names nothing it answers, and no other call", () => {
		assert.equal(isUnasked(tool("intercom"), { action: "send", to: "planner" }), true);
		assert.equal(isUnasked(tool("intercom"), { action: "send", to: "planner", replyTo: "m-1" }), false);
		for (const action of ["ask", "reply", "cancel", "list"]) assert.equal(isUnasked(tool("intercom"), { action }), false, action);
		assert.equal(isUnasked(tool("intercom_send"), { action: "send" }), false);
		assert.equal(isUnasked(tool("contact_supervisor"), { action: "send" }), false);
		assert.equal(isUnasked(tool("intercom"), undefined), false);
	});

	test("is shown with its recipient, its first lines and its attachments, and goes on when confirmed", async () => {
		const host = new FakeHost(true);
		const message = Array.from({ length: 10 }, (_, index) => `line ${index + 1}`).join("\n");
		const attachments = [{ type: "file", name: "src/\u202eapi.ts", content: "abc" }, "nonsense"];
		assert.equal(await refusedByPerson(host, { to: "planner\u0007", cwd: "/p", message, attachments }, undefined), undefined);
		assert.deepEqual(host.asked, [
			["Send a message to planner in /p?", ...message.split("\n").slice(0, 8), "… 2 more lines", "+ file src/ api.ts (3 characters)"].join("\n"),
		]);
	});

	test("that the person declines is not sent, which the model is told as a failure", async () => {
		const answer = await refusedByPerson(new FakeHost(false), { to: "planner", message: "hi" }, undefined);
		assert.equal(answer?.isError, true);
		assert.match(answer.text, /The person declined this message to planner: nothing was sent/);
	});

	test("whose question was dismissed by an abort was cancelled, and declined by nobody", async () => {
		const answer = await refusedByPerson(new FakeHost(false), { to: "planner", message: "hi" }, AbortSignal.abort());
		assert.equal(answer?.reason, "CANCELLED");
	});

	test("is not asked about where there is no UI", async () => {
		const host = new FakeHost(undefined);
		assert.equal(await refusedByPerson(host, { to: "planner", message: "hi" }, undefined), undefined);
		assert.deepEqual(host.asked, []);
	});
});
