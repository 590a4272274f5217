import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ToolAnswer } from "../src/contract.ts";
import type { PeerSession, SessionList } from "../src/peers.ts";
import { addCommands, address, handOff } from "../src/ui/commands.ts";
import { FakePi } from "./support/fake-pi.ts";
import { FakeTimers } from "./support/fake-timers.ts";
import { KEY, peer } from "./support/screens.ts";

const PLANNER = peer("0193a001-0000-7000-8000-0000000000b1", { name: "Planner" });
const SECOND = peer("0193a002-0000-7000-8000-0000000000b2", { name: "Planner B" });
const TWINS = [peer("0193a003-0000-7000-8000-0000000000b3", { name: "twin" }), peer("0193a004-0000-7000-8000-0000000000b4", { name: "twin", stableId: "desk" })];
const ALL = [PLANNER, SECOND, ...TWINS];

async function settles(): Promise<void> {
	for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The commands in a session whose link answers as a test says. */
class Rig {
	readonly pi = new FakePi("0193a0ff-me", "/home/ada");
	readonly timers = new FakeTimers();
	readonly sent: [string, string][] = [];
	readonly reported: unknown[] = [];
	list: SessionList | Error | undefined = { self: peer("0193a0ff-me", { name: "me" }), sessions: ALL };
	asked = 0;
	offline: string | undefined;
	isOff = false;
	answer: (answer: Partial<ToolAnswer>) => void = () => undefined;
	target = "0193a0ff-me";
	refused = false;
	keepProblem: string | undefined;

	constructor() {
		const link = {
			sessions: (): Promise<SessionList> => {
				this.asked++;
				if (this.list === undefined) return new Promise(() => undefined);
				return this.list instanceof Error ? Promise.reject(this.list) : Promise.resolve(this.list);
			},
			sendTo: (to: string, text: string): Promise<ToolAnswer> => {
				this.sent.push([to, text]);
				return new Promise((resolve) => void (this.answer = (answer) => resolve({ text: "", summary: "", isError: false, ...answer })));
			},
			whyOffline: () => this.offline,
			target: this.target,
			runsRefused: false,
			refuseRuns: (refused: boolean): void => {
				if (this.keepProblem !== undefined) throw new Error(this.keepProblem);
				this.refused = refused;
				link.runsRefused = refused;
			},
		};
		addCommands(this.pi.api, {
			link: () => (this.isOff ? undefined : Object.assign(link, { target: this.target, runsRefused: this.refused })),
			whyOff: () => "Intercom is off: no agent.",
			timers: this.timers,
			report: (error) => void this.reported.push(error),
		});
	}

	async runs(text: string): Promise<this> {
		void this.pi.runsCommand(text);
		await settles();
		return this;
	}

	async opens(): Promise<this> {
		void this.pi.presses("alt+m");
		await settles();
		return this;
	}

	async types(...inputs: readonly string[]): Promise<this> {
		for (const input of inputs) {
			for (const data of input.startsWith("\u001b") ? [input] : [...input]) this.pi.box?.handleInput(data);
			await settles();
		}
		return this;
	}

	async answers(answer: Partial<ToolAnswer>): Promise<void> {
		this.answer(answer);
		await settles();
	}

	async passes(ms: number): Promise<void> {
		this.timers.advance(ms);
		await settles();
	}

	screen(): string {
		return this.pi.box?.render(88).join("\n") ?? "";
	}
}

describe("Alt+M and /intercom", () => {
	for (const [how, open] of [["Alt+M", (rig: Rig) => rig.opens()], ["/intercom", (rig: Rig) => rig.runs("/intercom")]] as const) {
		test(`${how} lists the sessions, from which one is chosen, written to, and come back from`, async () => {
			const rig = await open(new Rig());
			assert.match(rig.screen(), /Planner B/);
			await rig.types(KEY.down, KEY.enter);
			assert.match(rig.screen(), /Message to Planner B/);
			await rig.types("hello", KEY.ctrlJ, "you", KEY.enter);
			assert.deepEqual(rig.sent, [[SECOND.sessionId, "hello\nyou"]]);
			await rig.answers({ summary: "sent to Planner B" });
			assert.match(rig.screen(), /✓ sent to Planner B/);
			await rig.types(KEY.escape);
			assert.match(rig.screen(), /▸ Planner B/);
			await rig.types(KEY.escape);
			assert.equal(rig.pi.box, undefined);
			assert.deepEqual(rig.reported, []);
		});
	}

	test("refresh the list every two seconds while it is open, and no longer", async () => {
		const rig = await new Rig().opens();
		rig.list = { sessions: [peer("n", { name: "newcomer" }), ...ALL] };
		await rig.passes(2_000);
		assert.match(rig.screen(), /newcomer/);
		assert.match(rig.screen(), /▸ Planner/);
		assert.equal(rig.asked, 2);
		await rig.types(KEY.escape);
		await rig.passes(20_000);
		assert.equal(rig.asked, 2);
		assert.equal(rig.timers.pendingCount, 0);
	});

	test("open once, however often the key is pressed", async () => {
		const rig = await new Rig().opens();
		const { box } = rig.pi;
		await rig.opens();
		assert.equal(rig.pi.box, box);
		await rig.types(KEY.escape);
		assert.equal(rig.pi.box, undefined);
		await rig.opens();
		assert.match(rig.screen(), /Planner/);
	});

	test("open again after the host itself took the screens away, as at a reload", async () => {
		const rig = await new Rig().opens();
		rig.pi.box?.dispose();
		rig.pi.box = undefined;
		assert.equal(rig.timers.pendingCount, 0);
		await rig.opens();
		assert.match(rig.screen(), /Planner/);
	});

	test("say why there is no list, and fill it once there is", async () => {
		const rig = new Rig();
		rig.list = new Error("there is no broker");
		rig.offline = "Not connected: intercom-broker was not found (BROKER_NOT_FOUND).";
		await rig.opens();
		assert.match(rig.screen(), /Not connected: intercom-broker was not found/);
		rig.list = { sessions: ALL };
		await rig.passes(2_000);
		assert.match(rig.screen(), /▸ Planner/);
	});

	test("say so where the agent does not answer", async () => {
		const rig = new Rig();
		rig.list = undefined;
		await rig.opens();
		assert.match(rig.screen(), /Asking which sessions/);
		await rig.passes(10_000);
		assert.match(rig.screen(), /gave no answer within 10 s/);
	});

	test("tell why intercom is off, where it is", async () => {
		const rig = new Rig();
		rig.isOff = true;
		await rig.opens();
		for (const command of ["/intercom", "/intercom x y", "/intercom-id"]) await rig.runs(command);
		assert.deepEqual(rig.pi.happened, Array(4).fill("warning Intercom is off: no agent."));
	});

	test("need a terminal for the list, and none to send", async () => {
		const rig = new Rig();
		rig.pi.mode = "rpc";
		await rig.runs("/intercom");
		assert.match(rig.pi.happened.join(), /warning .*needs a terminal/);
		await rig.runs("/intercom planner hi");
		assert.deepEqual(rig.sent, [[PLANNER.sessionId, "hi"]]);
	});

	test("tell the outcome of a message whose box was closed meanwhile, and keep what failed for the next time", async () => {
		const rig = await (await new Rig().opens()).types(KEY.enter, "one", KEY.ctrlJ, "two", KEY.enter, KEY.escape, KEY.escape);
		assert.equal(rig.pi.box, undefined);
		await rig.answers({ isError: true, text: "The mailbox is full." });
		assert.match(rig.pi.happened.join(), /error Intercom: to Planner: The mailbox is full\./);
		await (await rig.opens()).types(KEY.enter);
		assert.match(rig.screen(), /one[^]*two/);
		await rig.types(KEY.enter, KEY.escape, KEY.escape);
		await rig.answers({ summary: "sent to Planner" });
		assert.match(rig.pi.happened.join(), /info Intercom: sent to Planner/);
	});

	test("do not throw into a host whose session is over", async () => {
		const rig = await (await new Rig().opens()).types(KEY.enter, "hello", KEY.enter, KEY.escape, KEY.escape);
		rig.pi.notifyProblem = "this ctx is stale";
		await rig.answers({ summary: "sent" });
		rig.isOff = true;
		await rig.runs("/intercom");
		assert.equal(rig.reported.length, 2);
	});
});

describe("/intercom NAME", () => {
	test("with a text sends it at once, and says how that went", async () => {
		const rig = await new Rig().runs("/intercom planner Should retries apply?\nTo all?");
		assert.deepEqual(rig.sent, [[PLANNER.sessionId, "Should retries apply?\nTo all?"]]);
		await rig.answers({ summary: "sent to Planner" });
		assert.match(rig.pi.happened.join(), /info Intercom: sent to Planner/);
	});

	test("whose sending failed is back in the editor, unless one has gone on writing there", async () => {
		for (const written of ["", "something else"]) {
			const rig = await new Rig().runs("/intercom planner hi");
			rig.pi.editorText = written;
			await rig.answers({ isError: true, text: "The mailbox is full." });
			assert.equal(rig.pi.editorText, written === "" ? "/intercom planner hi" : written);
			assert.match(rig.pi.happened.join(), /error Intercom: The mailbox is full\./);
		}
	});

	test("without a text opens the message to it", async () => {
		assert.match((await new Rig().runs("/intercom planner b")).screen(), /Message to Planner B/);
	});

	test("of which there are two, or none, opens the list with that search", async () => {
		assert.match((await new Rig().runs("/intercom twin")).screen(), /> twin[^]*twin[^]*twin/);
		assert.match((await new Rig().runs("/intercom nobody")).screen(), /No session matches "nobody"/);
	});

	test("of which there are two leaves the choice to the agent, which refuses with the candidates", async () => {
		assert.deepEqual((await new Rig().runs("/intercom twin hi")).sent, [["twin", "hi"]]);
	});

	test("sends also where there is no list", async () => {
		const rig = new Rig();
		rig.list = new Error("no broker");
		await rig.runs("/intercom Builder@/srv/api hi");
		assert.deepEqual(rig.sent, [["Builder@/srv/api", "hi"]]);
	});
});

describe("/intercom runs", () => {
	test("on and off say whether this session takes runs, and send nothing", async () => {
		const rig = await new Rig().runs("/intercom runs off");
		assert.equal(rig.refused, true);
		assert.match(rig.pi.happened.at(-1) ?? "", /info Intercom: this session takes no runs/);
		await rig.runs("/intercom Runs ON");
		assert.equal(rig.refused, false);
		assert.match(rig.pi.happened.at(-1) ?? "", /info Intercom: this session takes runs/);
		assert.deepEqual([rig.sent, rig.asked], [[], 0]);
	});

	test("alone tells which it is, and changes nothing", async () => {
		const rig = new Rig();
		rig.refused = true;
		await rig.runs("/intercom runs");
		assert.equal(rig.refused, true);
		assert.match(rig.pi.happened.at(-1) ?? "", /takes no runs/);
	});

	test("with anything else, or in quotes, is a session of that name", async () => {
		assert.deepEqual((await new Rig().runs("/intercom runs onwards")).sent, [["runs", "onwards"]]);
		assert.deepEqual((await new Rig().runs('/intercom "runs" off')).sent, [["runs", "off"]]);
	});

	test("is completed while it is typed, and nothing else is", () => {
		const offered = (prefix: string): string[] | undefined => new Rig().pi.completions.get("intercom")?.(prefix)?.map(({ value }) => value);
		assert.deepEqual(offered("ru"), ["runs on", "runs off"]);
		assert.deepEqual(offered("runs of"), ["runs off"]);
		for (const prefix of ["", "runs on", "planner"]) assert.equal(offered(prefix), undefined);
	});

	test("is told where the host can't keep it", async () => {
		const rig = new Rig();
		rig.keepProblem = "the disk is full";
		await rig.runs("/intercom runs off");
		assert.match(String(rig.reported[0]), /the disk is full/);
		assert.equal(rig.refused, false);
	});
});

describe("/models", () => {
	test("lists the models that can be used, also where intercom is off", async () => {
		const rig = new Rig();
		rig.isOff = true;
		rig.pi.models = [{ provider: "other", id: "x-1" }, { provider: "fake", id: "m" }];
		await rig.runs("/models");
		assert.deepEqual(rig.pi.happened, ["info 2 models. * marks those of this session's own provider.\n* fake/m\n  other/x-1"]);
		await rig.runs("/models X-");
		assert.match(rig.pi.happened[1] ?? "", /^info 1 model with "X-"[^]*other\/x-1$/);
	});

	test("does not throw into a host whose session is over", async () => {
		const rig = new Rig();
		rig.pi.notifyProblem = "this ctx is stale";
		await rig.runs("/models");
		assert.equal(rig.reported.length, 1);
	});
});

describe("what stands behind /intercom", () => {
	const list: SessionList = { sessions: ALL };
	const cases: readonly [string, PeerSession | undefined, string, string][] = [
		["planner hello there", PLANNER, "planner", "hello there"],
		["PLANNER B hello", SECOND, "PLANNER B", "hello"],
		["planner be quick", PLANNER, "planner", "be quick"],
		['"planner b" hello', SECOND, "planner b", "hello"],
		['"no one" hello', undefined, "no one", "hello"],
		["0193a002-0000-7000-8000-0000000000b2 x", SECOND, "0193a002-0000-7000-8000-0000000000b2", "x"],
		["0193a002 x", SECOND, "0193a002", "x"],
		["0193a0 x", undefined, "0193a0", "x"],
		["desk x", TWINS[1], "desk", "x"],
		["p x", undefined, "p", "x"],
	];
	for (const [args, to, name, text] of cases) test(`${args} is ${to?.name ?? "nobody"} and "${text}"`, () => assert.deepEqual(address(args, list), { to, name, text }));
});

describe("/intercom-id", () => {
	test("puts how this session is reached into the editor, behind what stands there", async () => {
		const rig = new Rig();
		rig.pi.sessionName = "me\u001b[2J";
		rig.pi.editorText = "Ask it:";
		await rig.runs("/intercom-id");
		assert.equal(rig.pi.editorText, 'Ask it:\nThe session "me" is reached through intercom as "0193a0ff-me": intercom({ action: "send", to: "0193a0ff-me", message: "…" })');
	});

	test("names the pinned address where there is one, and no name where there is none", async () => {
		const rig = new Rig();
		rig.target = "desk";
		await rig.runs("/intercom-id");
		assert.equal(rig.pi.editorText, handOff("", "desk"));
		assert.match(rig.pi.editorText, /^The session is reached through intercom as "desk"/);
	});
});
