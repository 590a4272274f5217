import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AgentGone, AgentRefusal } from "../src/json-rpc.ts";
import { inConfigQueue } from "../src/config-queue.ts";
import type { JsonObject, ToolSpec } from "../src/contract.ts";
import { ToolCalls, type ToolLink, ToolSet, type UnshownAnswer } from "../src/tools.ts";
import { FakeTimers } from "./support/fake-timers.ts";

function tool(name: string, description = "does it"): ToolSpec {
	return { name, label: name, description, promptGuidelines: [], parameters: { type: "object" } };
}

describe("the tools of a role", () => {
	function registrations(): { readonly set: ToolSet; readonly log: string[] } {
		const log: string[] = [];
		return { set: new ToolSet(({ name }, isVisible) => log.push(`${isVisible ? "+" : "-"}${name}`)), log };
	}

	test("are shown, and hidden again when the role changes", () => {
		const { set, log } = registrations();
		set.show([tool("intercom"), tool("intercom_send")]);
		set.show([tool("intercom")]);
		set.show([tool("intercom"), tool("intercom_send")]);
		assert.deepEqual(log, ["+intercom", "+intercom_send", "-intercom_send", "+intercom_send"]);
	});

	test("are registered again only where they changed", () => {
		const { set, log } = registrations();
		set.show([tool("a"), tool("b")]);
		set.show([tool("a"), tool("b", "does it otherwise")]);
		assert.deepEqual(log, ["+a", "+b", "+b"]);
	});
});

/** A link whose answers a test gives by hand. */
class FakeLink implements ToolLink {
	readonly calls: { readonly params: JsonObject; resolve(result: unknown): void; reject(error: Error): void }[] = [];
	readonly notified: JsonObject[] = [];
	up = true;
	#onUp: { readonly order: number; resolve(isUp: boolean): void }[] = [];
	readonly #timers: FakeTimers;

	constructor(timers: FakeTimers) {
		this.#timers = timers;
	}

	whenUp(limitMs: number, order: number, signal?: AbortSignal): Promise<boolean> {
		if (this.up) return Promise.resolve(true);
		return new Promise((resolve) => {
			this.#timers.after(limitMs, () => resolve(false));
			signal?.addEventListener("abort", () => resolve(false));
			this.#onUp.push({ order, resolve });
		});
	}

	comesUp(): void {
		this.up = true;
		for (const { resolve } of this.#onUp.splice(0).sort((a, b) => a.order - b.order)) resolve(true);
	}

	call(_method: string, params: JsonObject): Promise<unknown> {
		return new Promise((resolve, reject) => this.calls.push({ params, resolve, reject }));
	}

	notify(method: string, params: JsonObject): boolean {
		this.notified.push({ method, ...params });
		return true;
	}
}

/** Lets every promise that can go on do so. */
function turns(): Promise<void> {
	return new Promise((resolve) => setImmediate(resolve));
}

function bench(): { timers: FakeTimers; link: FakeLink; calls: ToolCalls } {
	const timers = new FakeTimers();
	const link = new FakeLink(timers);
	let minted = 0;
	return { timers, link, calls: new ToolCalls(link, timers, () => `id-${++minted}`) };
}

const OK = { text: "sent", summary: "sent", isError: false };

describe("a tool call", () => {
	test("is repeated under its own id when the agent dies", async () => {
		const { link, calls } = bench();
		const answer = calls.run("intercom_send", { to: "B" }, undefined);
		await turns();
		link.up = false;
		link.calls[0]?.reject(new AgentGone("gone"));
		await turns();
		link.comesUp();
		await turns();
		link.calls[1]?.resolve(OK);
		assert.equal((await answer).text, "sent");
		assert.deepEqual(link.calls.map(({ params }) => params.callId), ["id-1", "id-1"]);
		assert.deepEqual(link.calls.map(({ params }) => params.repeated), [undefined, true]);
	});

	test("cut off by the agent's death goes before a later one that found no agent", async () => {
		const { link, calls } = bench();
		const answers = [calls.run("intercom_send", { message: "first" }, undefined)];
		await turns();
		// The link no longer takes messages, but that the agent ended is not known yet.
		link.up = false;
		answers.push(calls.run("intercom_send", { message: "second" }, undefined));
		await turns();
		link.calls[0]?.reject(new AgentGone("gone"));
		await turns();
		link.comesUp();
		await turns();
		for (const call of link.calls.slice(1)) call.resolve(OK);
		await Promise.all(answers);
		assert.deepEqual(link.calls.map(({ params }) => params.callId), ["id-1", "id-1", "id-2"]);
	});

	test("of its own gets an id of its own", async () => {
		const { link, calls } = bench();
		const answers = [calls.run("a", {}, undefined), calls.run("a", {}, undefined)];
		await turns();
		for (const call of link.calls) call.resolve(OK);
		await Promise.all(answers);
		assert.deepEqual(link.calls.map(({ params }) => params.callId), ["id-1", "id-2"]);
	});

	test("whose agent stays away for 5 s has an unknown outcome, and says where to look", async () => {
		const { timers, link, calls } = bench();
		const answer = calls.run("intercom_send", {}, undefined);
		await turns();
		timers.advance(600_000);
		link.up = false;
		link.calls[0]?.reject(new AgentGone("gone"));
		await turns();
		timers.advance(5_000);
		const { text, isError, reason } = await answer;
		assert.equal(isError, true);
		assert.equal(reason, "OUTCOME_UNKNOWN");
		assert.match(text, /intercom status id-1/);
	});

	for (const [tools, where, never] of [
		[["intercom_send"], /`intercom status id-1`/, /job/],
		[["intercom_create_worker", "intercom_resume_worker"], /`intercom job show id-1`/, /intercom status/],
		[["intercom_stop_worker", "intercom_close_worker"], /`intercom jobs`/, /id-1/],
		[["intercom_configure_worker", "intercom_reload_worker", "intercom_remove_worker", "intercom_report_work"], /intercom_list .* config/, /id-1/],
	] as const) {
		for (const name of tools) {
			test(`of ${name} with an unknown outcome says where that tool's effect shows`, async () => {
				const { timers, link, calls } = bench();
				const answer = calls.run(name, {}, undefined);
				await turns();
				link.up = false;
				link.calls[0]?.reject(new AgentGone("gone"));
				await turns();
				timers.advance(5_000);
				const { text } = await answer;
				assert.match(text, where);
				assert.doesNotMatch(text, never);
			});
		}
	}

	for (const [tool, args, text, summary] of [
		["intercom", { action: "ask", to: "planner" }, /`intercom status id-1`/, /id id-1$/],
		["intercom", { action: "send", to: "planner", messageId: "m-7" }, /`intercom status m-7`/, /id m-7$/],
		["intercom", { action: "cancel", messageId: "m-8" }, /`intercom status m-8`/, /id m-8$/],
		["contact_supervisor", { reason: "need_decision" }, /`intercom status id-1`/, /id id-1$/],
		["intercom", { action: "pending" }, /It changes nothing, so it can be called again/, /id id-1$/],
	] as const) {
		test(`of ${tool} ${JSON.stringify(args)} with an unknown outcome names its message, if it has one`, async () => {
			const { timers, link, calls } = bench();
			const answer = calls.run(tool, args, undefined);
			await turns();
			link.up = false;
			link.calls[0]?.reject(new AgentGone("gone"));
			await turns();
			timers.advance(5_000);
			assert.match((await answer).text, text);
			assert.match((await answer).summary, summary);
		});
	}

	test("that has waited for minutes is repeated over each of several agents' deaths", async () => {
		const { timers, link, calls } = bench();
		const answer = calls.run("intercom", { action: "ask" }, undefined);
		for (let death = 0; death < 3; death++) {
			await turns();
			timers.advance(120_000);
			link.up = false;
			link.calls[death]?.reject(new AgentGone("gone"));
			await turns();
			timers.advance(400);
			link.comesUp();
		}
		await turns();
		link.calls[3]?.resolve(OK);
		assert.equal((await answer).text, "sent");
		assert.deepEqual(link.calls.map(({ params }) => params.callId), ["id-1", "id-1", "id-1", "id-1"]);
	});

	test("that ends every agent at once is given up 5 s after the first death", async () => {
		const { timers, link, calls } = bench();
		const answer = calls.run("intercom", { action: "ask" }, undefined);
		for (let death = 0; death < 6; death++) {
			await turns();
			link.calls[death]?.reject(new AgentGone("gone"));
			await turns();
			timers.advance(1_000);
		}
		assert.equal((await answer).reason, "OUTCOME_UNKNOWN");
		assert.equal(link.calls.length, 6);
	});

	test("says what started the run, the same when it is repeated", async () => {
		const { link, calls } = bench();
		const answer = calls.run("intercom", { action: "reply" }, undefined, { trigger: "alice/q" });
		await turns();
		link.calls[0]?.reject(new AgentGone("gone"));
		await turns();
		link.calls[1]?.resolve(OK);
		await answer;
		assert.deepEqual(link.calls.map(({ params }) => params.trigger), ["alice/q", "alice/q"]);
	});

	test("hears of its own progress until it is answered", async () => {
		const { link, calls } = bench();
		const heard: string[] = [];
		const answers = ["a", "b"].map((name) => calls.run("intercom", {}, undefined, { onProgress: (text) => void heard.push(`${name}: ${text}`) }));
		await turns();
		calls.progressed({ callId: "id-2", text: "waiting for planner" });
		calls.progressed({ callId: "unheard of", text: "nobody's" });
		for (const call of link.calls) call.resolve(OK);
		await Promise.all(answers);
		calls.progressed({ callId: "id-2", text: "too late" });
		assert.deepEqual(heard, ["b: waiting for planner"]);
	});

	test("aborted like seven others at the same time leaves each its own answer (4.26)", async () => {
		const { link, calls } = bench();
		const controllers = Array.from({ length: 8 }, () => new AbortController());
		const answers = controllers.map(({ signal }, index) => calls.run("intercom", { action: "ask", to: `p${index}` }, signal));
		await turns();
		for (const controller of controllers) controller.abort();
		assert.deepEqual(link.notified.map(({ callId }) => callId), controllers.map((_, index) => `id-${index + 1}`));
		link.calls.reverse().forEach((call, index) => call.resolve({ text: `the ask ${call.params.callId} stays open`, summary: `${index}`, isError: true }));
		assert.deepEqual((await Promise.all(answers)).map(({ text }) => text), controllers.map((_, index) => `the ask id-${index + 1} stays open`));
	});

	test("after one that was aborted is made as ever: no second ask after a cancel (4.20)", async () => {
		const { link, calls } = bench();
		const controller = new AbortController();
		const first = calls.run("intercom", { action: "ask" }, controller.signal);
		await turns();
		controller.abort();
		link.calls[0]?.resolve({ text: "stopped waiting; the ask id-1 stays open", summary: "stopped waiting", isError: true });
		assert.match((await first).text, /id-1 stays open/);
		const second = calls.run("intercom", { action: "ask" }, undefined);
		await turns();
		link.calls[1]?.resolve({ ...OK, deliveryId: "alice/r" });
		assert.equal((await second).deliveryId, "alice/r");
	});

	test("that was aborted, and whose reply came after all when nobody waited any more, gives the reply back", async () => {
		const timers = new FakeTimers();
		const link = new FakeLink(timers);
		const unshown: UnshownAnswer[] = [];
		const calls = new ToolCalls(link, timers, () => "id-1", (given) => void unshown.push(given));
		const controller = new AbortController();
		const answer = calls.run("intercom", { action: "ask" }, controller.signal);
		await turns();
		controller.abort();
		timers.advance(2_000);
		assert.equal((await answer).reason, "OUTCOME_UNKNOWN");
		link.calls[0]?.resolve({ ...OK, deliveryId: "alice/r" });
		await turns();
		assert.deepEqual(unshown, [{ deliveryId: "alice/r", ids: [] }]);
	});

	test("that was aborted, and whose answer told of runs when nobody waited any more, gives those back", async () => {
		const timers = new FakeTimers();
		const link = new FakeLink(timers);
		const unshown: UnshownAnswer[] = [];
		const calls = new ToolCalls(link, timers, () => "id-1", (given) => void unshown.push(given));
		const controller = new AbortController();
		const answer = calls.run("intercom", { action: "wait" }, controller.signal);
		await turns();
		controller.abort();
		timers.advance(2_000);
		await answer;
		link.calls[0]?.resolve({ ...OK, ids: ["run-1", "run-2"] });
		await turns();
		assert.deepEqual(unshown, [{ ids: ["run-1", "run-2"] }]);
	});

	test("without any agent says that nothing happened", async () => {
		const { timers, link, calls } = bench();
		link.up = false;
		const answer = calls.run("intercom_send", {}, undefined);
		await turns();
		timers.advance(5_000);
		assert.equal((await answer).reason, "AGENT_NOT_RUNNING");
		assert.equal(link.calls.length, 0);
	});

	test("that is aborted is cancelled at the agent, whose word counts", async () => {
		const { link, calls } = bench();
		const controller = new AbortController();
		const answer = calls.run("intercom_ask", {}, controller.signal);
		await turns();
		controller.abort();
		assert.deepEqual(link.notified, [{ method: "tools/cancel", callId: "id-1" }]);
		link.calls[0]?.resolve({ text: "cancelled; the question was delivered", summary: "cancelled", isError: true });
		assert.match((await answer).text, /was delivered/);
	});

	test("that is aborted ends within 2 s where the agent does not answer", async () => {
		const { timers, link, calls } = bench();
		const controller = new AbortController();
		const answer = calls.run("intercom_ask", {}, controller.signal);
		await turns();
		controller.abort();
		timers.advance(2_000);
		assert.equal((await answer).reason, "OUTCOME_UNKNOWN");
		assert.equal(link.calls.length, 1);
	});

	test("that is aborted before it was sent is not sent", async () => {
		const { link, calls } = bench();
		assert.equal((await calls.run("a", {}, AbortSignal.abort())).reason, "CANCELLED");
		assert.equal(link.calls.length, 0);
	});

	test("that is refused carries code and reason", async () => {
		const { link, calls } = bench();
		const answer = calls.run("a", {}, undefined);
		await turns();
		link.calls[0]?.reject(new AgentRefusal("no worker of that name", "NOT_FOUND", "NAME_UNKNOWN"));
		assert.deepEqual(await answer, { text: "no worker of that name", summary: "no worker of that name", isError: true, code: "NOT_FOUND", reason: "NAME_UNKNOWN" });
	});

	test("whose answer has the wrong shape is an error", async () => {
		const { link, calls } = bench();
		const answer = calls.run("a", {}, undefined);
		await turns();
		link.calls[0]?.resolve({ nonsense: 1 });
		assert.equal((await answer).isError, true);
	});
});

describe("a call that changes the workspace's config", () => {
	test("waits in the host's queue for that file", async () => {
		const paths: string[] = [];
		const answer = await inConfigQueue(
			(path, change) => {
				paths.push(path);
				return change();
			},
			"/w",
			() => Promise.resolve("done"),
		);
		assert.equal(answer, "done");
		assert.deepEqual(paths, ["/w/.pi-intercom/config.json"]);
	});

	test("is made all the same where there is no queue, no workspace, or a queue that can't take the path", async () => {
		const call = (): Promise<string> => Promise.resolve("done");
		assert.equal(await inConfigQueue(undefined, "/w", call), "done");
		assert.equal(await inConfigQueue(() => Promise.reject(new Error("EACCES")), "/w", call), "done");
		assert.equal(await inConfigQueue(() => Promise.reject(new Error("not used")), undefined, call), "done");
	});

	test("is made once, even where the queue fails after it", async () => {
		let calls = 0;
		const failsLate = async <T>(_path: string, change: () => Promise<T>): Promise<T> => {
			await change();
			throw new Error("late");
		};
		assert.equal(await inConfigQueue(failsLate, "/w", () => Promise.resolve(++calls)), 1);
		assert.equal(calls, 1);
	});
});
