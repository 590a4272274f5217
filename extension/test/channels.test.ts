import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { IntercomExtensionChannel, IntercomExtensionEvent } from "../extension-api.ts";
import { Channels } from "../src/channels.ts";
import { type JsonObject } from "../src/contract.ts";
import { AgentGone, AgentRefusal } from "../src/json-rpc.ts";
import { FakeTimers } from "./support/fake-timers.ts";

const OWNER = { sessionId: "s1", epoch: "e1" };

/** Another extension: keeps what it is told. */
class Extension {
	readonly events: IntercomExtensionEvent[] = [];
	readonly channels: IntercomExtensionChannel[] = [];
	readonly namespace: string;
	readonly ownerEligible: boolean;

	constructor(namespace = "example/v1", ownerEligible = true) {
		this.namespace = namespace;
		this.ownerEligible = ownerEligible;
	}

	readonly onReady = (channel: IntercomExtensionChannel): void => void this.channels.push(channel);
	readonly onEvent = (event: IntercomExtensionEvent): void => void this.events.push(event);

	get channel(): IntercomExtensionChannel {
		const channel = this.channels.at(-1);
		assert.ok(channel);
		return channel;
	}

	of<T extends IntercomExtensionEvent["type"]>(type: T): Extract<IntercomExtensionEvent, { type: T }>[] {
		return this.events.filter((event): event is Extract<IntercomExtensionEvent, { type: T }> => event.type === type);
	}
}

/** The registry before an agent whose answers a test gives. */
class Bench {
	readonly timers = new FakeTimers();
	readonly channels = new Channels(this.timers);
	readonly calls: { readonly method: string; readonly params: JsonObject }[] = [];
	readonly notices: string[] = [];
	answer: (method: string, params: JsonObject) => unknown = () => ({ ok: true });

	attach(): this {
		this.channels.attach({
			call: async (method, params) => {
				this.calls.push({ method, params });
				return this.answer(method, params);
			},
			notify: ({ text }) => void this.notices.push(text),
		});
		return this;
	}

	connect(isSupported = true): this {
		this.channels.connectionChanged(true, isSupported);
		return this;
	}

	register(extension = new Extension()): Extension {
		this.channels.register(extension);
		return extension;
	}

	receives(event: JsonObject): void {
		this.channels.received({ namespace: "example/v1", ...event });
	}

	of(method: string): JsonObject[] {
		return this.calls.flatMap((call) => (call.method === method ? [call.params] : []));
	}
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const connected = (): Bench => new Bench().attach().connect();

describe("a channel", () => {
	for (const order of ["before the connection", "after it", "before the session starts"]) {
		test(`that is registered ${order} is joined`, async () => {
			const bench = new Bench();
			const extension = new Extension();
			if (order === "before the session starts") bench.register(extension);
			bench.attach();
			if (order === "before the connection") bench.register(extension);
			bench.connect();
			if (order === "after it") bench.register(extension);
			await settle();
			assert.deepEqual(bench.of("channel/join"), [{ namespace: "example/v1", ownerEligible: true }]);
			assert.equal(extension.channels.length, 1);
			assert.deepEqual(extension.events, [{ type: "connection", connected: true, supported: true }]);
			assert.deepEqual(extension.channel.snapshot(), { connected: true, supported: true });
		});
	}

	test("tells what happens in it, and knows it afterwards", async () => {
		const bench = connected();
		const extension = bench.register();
		bench.receives({ type: "owner", owner: OWNER });
		bench.receives({ type: "state", state: { revision: 3, payload: { goal: 1 } } });
		bench.receives({ type: "message", fromSessionId: "s2", payload: [1], owner: OWNER });
		bench.receives({ type: "owner" });
		assert.deepEqual(extension.events.slice(1), [
			{ type: "owner", owner: OWNER },
			{ type: "state", state: { revision: 3, payload: { goal: 1 } } },
			{ type: "message", fromSessionId: "s2", payload: [1], owner: OWNER },
			{ type: "owner" },
		]);
		assert.deepEqual(extension.channel.snapshot(), { connected: true, supported: true, state: { revision: 3, payload: { goal: 1 } } });
	});

	test("publishes with what the caller said, and the epoch it knows where only the owner may", async () => {
		const bench = connected();
		const { channel } = bench.register();
		bench.receives({ type: "owner", owner: OWNER });
		channel.publish({ n: 1 });
		channel.publish(2, { audience: "owner", ownerOnly: true });
		await settle();
		assert.deepEqual(bench.of("channel/publish"), [
			{ namespace: "example/v1", payload: { n: 1 } },
			{ namespace: "example/v1", payload: 2, audience: "owner", ownerOnly: true, epoch: "e1" },
		]);
	});

	test("commits over the revision last seen, or the one named", async () => {
		const bench = connected();
		const extension = bench.register();
		bench.receives({ type: "owner", owner: OWNER });
		bench.receives({ type: "state", state: { revision: 3, payload: 1 } });
		bench.answer = (_method, { expectedRevision }) => ({ ok: true, revision: Number(expectedRevision) + 1 });
		extension.channel.commitState("a");
		await settle();
		extension.channel.commitState("b");
		await settle();
		extension.channel.commitState("c", 0);
		await settle();
		assert.deepEqual(bench.of("channel/commit").map(({ expectedRevision, epoch }) => [expectedRevision, epoch]), [[3, "e1"], [4, "e1"], [0, "e1"]]);
		assert.deepEqual(extension.of("state_result")[0], { type: "state_result", committed: true, revision: 4 });
	});

	test("is joined before anything that its extension sends at once", async () => {
		const bench = connected();
		bench.channels.register({ namespace: "a", ownerEligible: true, onReady: (channel: IntercomExtensionChannel) => channel.publish(1), onEvent: () => undefined });
		await settle();
		const extension = new Extension("b");
		bench.channels.connectionChanged(false, true);
		bench.channels.register({ ...extension, onReady: extension.onReady, onEvent: ({ type }: IntercomExtensionEvent) => type === "connection" && extension.channel.publish(2) });
		bench.connect();
		await settle();
		assert.deepEqual(bench.calls.map(({ method, params }) => `${method} ${String(params.namespace)}`), ["channel/join a", "channel/publish a", "channel/join b", "channel/publish b"]);
	});

	test("commits what the payload was when it was handed in", async () => {
		const bench = connected();
		const { channel } = bench.register();
		const payload = { goal: "one" };
		channel.commitState(payload);
		payload.goal = "two";
		await settle();
		assert.deepEqual(bench.of("channel/commit")[0]?.payload, { goal: "one" });
	});

	test("goes on from the revision in force after a conflict", async () => {
		const bench = connected();
		const extension = bench.register();
		bench.answer = () => ({ ok: false, reason: "REVISION_CONFLICT", revision: 9, message: "9 is in force" });
		extension.channel.commitState("a");
		await settle();
		assert.deepEqual(extension.of("state_result"), [{ type: "state_result", committed: false, revision: 9, reason: "REVISION_CONFLICT" }]);
		extension.channel.commitState("a");
		await settle();
		assert.equal(bench.of("channel/commit")[1]?.expectedRevision, 9);
		assert.deepEqual(bench.notices, []);
	});

	test("answers a commit only when the call for it is over", () => {
		const bench = new Bench().attach();
		const extension = bench.register();
		extension.channel.commitState("a");
		assert.deepEqual(extension.of("state_result"), []);
	});

	test("tells a state once for each revision and connection", () => {
		const bench = connected();
		const extension = bench.register();
		const state = { type: "state", state: { revision: 1, payload: 1 } };
		bench.receives(state);
		bench.receives(state);
		assert.equal(extension.of("state").length, 1);
		bench.channels.connectionChanged(false, true);
		assert.equal(extension.channel.snapshot().state?.revision, 1);
		bench.connect();
		bench.receives(state);
		assert.equal(extension.of("state").length, 2);
	});
});

describe("a lost connection", () => {
	test("is told, takes the owner, and lets nothing be sent", async () => {
		const bench = connected();
		const extension = bench.register();
		await settle();
		bench.receives({ type: "owner", owner: OWNER });
		bench.channels.connectionChanged(false, true);
		extension.channel.publish(1);
		extension.channel.publish(2);
		extension.channel.commitState(3);
		await settle();
		assert.deepEqual(extension.of("connection").at(-1), { type: "connection", connected: false, supported: true });
		assert.equal(extension.channel.snapshot().owner, undefined);
		assert.equal(bench.calls.length, 1);
		assert.deepEqual(bench.notices, ["Intercom: channel example/v1: could not be published to (NOT_CONNECTED)"]);
		assert.equal(extension.of("state_result")[0]?.reason, "NOT_CONNECTED");
		await assert.rejects(extension.channel.listSessions(), /not connected/);
	});

	test("to the broker leaves joining again to the agent, that of the agent does not", async () => {
		const bench = connected();
		bench.register();
		await settle();
		bench.channels.connectionChanged(false, true);
		bench.connect();
		await settle();
		assert.equal(bench.of("channel/join").length, 1);
		bench.channels.agentLost();
		bench.connect();
		await settle();
		assert.equal(bench.of("channel/join").length, 2);
	});

	test("in the middle of a join has it made with the next connection", async () => {
		const bench = connected();
		bench.answer = () => ({ ok: false, reason: "NOT_CONNECTED", message: "lost" });
		bench.register();
		await settle();
		bench.channels.connectionChanged(false, true);
		bench.answer = () => ({ ok: true });
		bench.connect();
		await settle();
		assert.equal(bench.of("channel/join").length, 2);
		assert.deepEqual(bench.notices, []);
	});

	test("answers a commit whose agent died", async () => {
		const bench = connected();
		const extension = bench.register();
		bench.answer = () => {
			throw new AgentGone("gone");
		};
		extension.channel.commitState(1);
		await settle();
		assert.deepEqual(extension.of("state_result"), [{ type: "state_result", committed: false, revision: 0, reason: "NOT_CONNECTED" }]);
	});
});

test("an older broker is told to the extension, and is sent nothing", async () => {
	const bench = new Bench().attach().connect(false);
	const extension = bench.register();
	extension.channel.publish(1);
	extension.channel.commitState(2);
	await settle();
	assert.deepEqual(extension.of("connection"), [{ type: "connection", connected: true, supported: false }]);
	assert.equal(extension.channel.snapshot().supported, false);
	assert.equal(extension.of("state_result")[0]?.reason, "UNSUPPORTED_BROKER");
	assert.deepEqual(bench.calls, []);
	assert.deepEqual(bench.notices, []);
});

describe("what other extensions do wrong", () => {
	const good = new Extension();
	for (const [what, value] of [
		["nothing", undefined],
		["a text", "example/v1"],
		["a namespace that is none", { ...good, namespace: "a b" }],
		["a namespace that is too long", { ...good, namespace: "a".repeat(65) }],
		["no word on owning", { ...good, ownerEligible: undefined }],
		["no callbacks", { namespace: "a", ownerEligible: true }],
		["an object that throws", Object.defineProperty({}, "namespace", { get: () => assert.fail("no") })],
	] as const) {
		test(`as to register ${what} is told to the person and does no harm`, () => {
			const bench = new Bench();
			bench.channels.register(value);
			assert.deepEqual(bench.notices, []);
			bench.attach();
			assert.equal(bench.notices.length, 1);
			assert.match(bench.notices[0] ?? "", /channel was not registered/);
		});
	}

	test("as to throw, at once or later, ends with a notice", async () => {
		const bench = connected();
		bench.channels.register({
			namespace: "a",
			ownerEligible: false,
			onReady: () => {
				throw new Error("ready");
			},
			onEvent: async () => {
				throw new Error("event");
			},
		});
		await settle();
		assert.deepEqual(bench.notices, ["Intercom: channel a: its extension failed: ready (EXTENSION_FAILED)"]);
	});

	test("as to register more than 32 namespaces is refused", () => {
		const bench = connected();
		for (let i = 0; i <= 32; i++) bench.register(new Extension(`n${i}`));
		assert.equal(bench.of("channel/join").length, 32);
		assert.match(bench.notices.join(), /there are 32 already/);
	});

	test("as to publish what is no JSON is told once", async () => {
		const bench = connected();
		const { channel } = bench.register();
		const cycle: JsonObject[] = [];
		cycle.push({ cycle });
		for (const payload of [undefined, () => 1, cycle, 1n, "\ud800", { "\udfff": 1 }]) channel.publish(payload);
		channel.publish("\\ud800 is text, and 🛰 too");
		await settle();
		assert.deepEqual(bench.of("channel/publish").map(({ payload }) => payload), ["\\ud800 is text, and 🛰 too"]);
		assert.deepEqual(bench.notices, ["Intercom: channel example/v1: could not be published to (PAYLOAD_INVALID)"]);
	});

	test("as to publish too much too fast is told once, and again after it went well", async () => {
		const bench = connected();
		const { channel } = bench.register();
		await settle();
		const refused = { ok: false, reason: "CHANNEL_RATE", message: "slower" };
		for (const answer of [refused, refused, { ok: true }, refused]) {
			bench.answer = () => answer;
			channel.publish(1);
			await settle();
		}
		assert.deepEqual(bench.notices, Array(2).fill("Intercom: channel example/v1: could not be published to: slower (CHANNEL_RATE)"));
	});

	test("or the agent refuses is told with its reason", async () => {
		const bench = connected();
		const { channel } = bench.register();
		await settle();
		bench.answer = () => {
			throw new AgentRefusal("payload nests deeper than 256 levels", "INVALID_ARGUMENT", "ARGUMENT_INVALID");
		};
		channel.publish(1);
		await settle();
		assert.match(bench.notices.join(), /deeper than 256 levels \(ARGUMENT_INVALID\)/);
	});

	test("a registration that is replaced is quiet", async () => {
		const bench = connected();
		const first = bench.register();
		const second = bench.register();
		await settle();
		first.channel.publish(1);
		first.channel.commitState(1);
		await settle();
		bench.receives({ type: "message", fromSessionId: "s2", payload: 1 });
		assert.deepEqual([first.of("message").length, first.of("state_result").length, second.of("message").length], [0, 0, 1]);
		assert.equal(first.channel.snapshot().connected, false);
		assert.deepEqual(bench.of("channel/publish"), []);
	});

	test("and what comes after the session's end calls nobody", async () => {
		const bench = connected();
		const extension = bench.register();
		await settle();
		const { channel } = extension;
		bench.channels.detach();
		bench.receives({ type: "message", fromSessionId: "s2", payload: 1 });
		channel.publish(1);
		channel.commitState(1);
		await settle();
		assert.deepEqual(extension.events.map(({ type }) => type), ["connection"]);
		assert.equal(bench.calls.length, 1);
		assert.equal(bench.timers.pendingCount, 0);
	});
});

describe("sessions of a channel", () => {
	const SESSIONS = {
		self: { sessionId: "s1", name: "planner", cwd: "/a", model: "m", status: "idle", contextPercent: 12, tokens: 5 },
		sessions: [{ sessionId: "s2", name: "", runtimeName: "chat-2", cwd: "/b", status: "thinking" }],
	};

	test("are listed with what is known of them, this one first", async () => {
		const bench = connected();
		const { channel } = bench.register();
		bench.answer = () => SESSIONS;
		assert.deepEqual(await channel.listSessions(), [
			{ id: "s1", name: "planner", cwd: "/a", model: "m", status: "idle", contextPercent: 12, tokens: 5 },
			{ id: "s2", name: "chat-2", cwd: "/b", model: "", status: "thinking" },
		]);
	});

	test("that join at about the same time cost one listing", async () => {
		const bench = connected();
		const extension = bench.register();
		await settle();
		bench.answer = (method) => (method === "sessions/list" ? SESSIONS : { ok: true });
		for (const [sessionId, name] of [["s2", "two"], ["s3", "three"], ["s4", "four"]]) bench.receives({ type: "membership", sessionId, name, joined: true });
		bench.receives({ type: "membership", sessionId: "s4", name: "four", joined: false });
		bench.timers.advance(1_000);
		await settle();
		assert.equal(bench.of("sessions/list").length, 1);
		assert.deepEqual(extension.of("session_joined").map(({ session }) => session), [
			{ id: "s2", name: "chat-2", cwd: "/b", model: "", status: "thinking" },
			{ id: "s3", name: "three", cwd: "", model: "" },
		]);
		assert.deepEqual(extension.of("session_left"), [{ type: "session_left", sessionId: "s4" }]);
	});

	test("are told as changed where a listing shows it, and never pushed", async () => {
		const bench = connected();
		const extension = bench.register();
		bench.answer = () => SESSIONS;
		await extension.channel.listSessions();
		await extension.channel.listSessions();
		assert.deepEqual(extension.of("presence_update"), []);
		bench.answer = () => ({ ...SESSIONS, sessions: [{ ...SESSIONS.sessions[0], status: "idle" }] });
		await extension.channel.listSessions();
		assert.deepEqual(extension.of("presence_update").map(({ session }) => [session.id, session.status]), [["s2", "idle"]]);
	});
});

test("an event that has not the contract's shape is no event", () => {
	const bench = connected();
	const extension = bench.register();
	for (const event of [{ type: "owner", owner: 1 }, { type: "state", state: { revision: "1" } }, { type: "message", payload: 1 }, { type: "other" }]) {
		assert.throws(() => bench.receives(event));
	}
	assert.equal(extension.events.length, 1);
});
