import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isObject, type JsonObject } from "../../src/contract.ts";
import { deliver, type LiveMode, type LivePi, until, withPi } from "../support/live-pi.ts";

const parameters = { type: "object", properties: { action: { type: "string" } }, required: ["action"] };
const TOOL = { name: "intercom", label: "Intercom", description: "Talks", promptGuidelines: [], parameters, effect: "mail" };
const session: JsonObject = { connection: "connected", role: "peer", tools: [TOOL], instructions: "", statusText: "peer" };
const now = (): string => new Date().toISOString();

function call(args: JsonObject, then = "SAY done"): string {
	return `TOOL intercom ${JSON.stringify(args)} ;; ${then}`;
}

async function untilReceipt(pi: LivePi, deliveryId: string, event: string): Promise<void> {
	await until(`${deliveryId} ${event}`, () => pi.received("receipt").some((receipt) => receipt.deliveryId === deliveryId && receipt.event === event), () => pi.report());
}

async function untilText(pi: LivePi, text: string): Promise<void> {
	await until(`"${text}" in the session`, () => JSON.stringify(pi.entries()).includes(text), () => pi.report());
}

async function untilScreen(pi: LivePi, text: RegExp): Promise<string> {
	return until(`${text} on the screen`, async () => text.test(await pi.screen()) && pi.screen(), () => pi.report());
}

/** The entries of the session's file that are this delivery. */
function entriesOf(pi: LivePi, deliveryId: string): string[] {
	return pi.entries().flatMap((entry) => {
		const details = isObject(entry.message) ? entry.message.details : entry.details;
		return isObject(details) && isObject(details.intercom) && details.intercom.deliveryId === deliveryId ? [String(entry.type)] : [];
	});
}

let requests = 0;

async function reconcile(pi: LivePi, ...deliveryIds: string[]): Promise<unknown> {
	const id = `reconcile-${++requests}`;
	pi.agentSends({ id, method: "reconcile", params: { deliveryIds } });
	return (await pi.answerTo(id)).present;
}

describe("talking in the installed Pi", { concurrency: 4 }, () => {
	test("a reply that is a call's result is injected, seen, and there when the session comes back", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			await pi.prompt(call({ action: "ask", answer: { deliveryId: "alice/r", text: "take the first" } }));
			await untilReceipt(pi, "alice/r", "seen");
			assert.deepEqual(pi.received("receipt").map(({ event }) => event), ["injected", "seen"]);
			assert.deepEqual(entriesOf(pi, "alice/r"), ["message"]);
			await untilText(pi, "done |");
			pi.agentSends(deliver("r", now(), "SAY shown twice", "reply"));
			await until("the repeated receipt", () => pi.received("receipt").length === 3, () => pi.report());
			await pi.restart();
			assert.deepEqual(await reconcile(pi, "alice/r", "alice/x"), ["alice/r"]);
			assert.deepEqual(entriesOf(pi, "alice/r"), ["message"]);
		}));

	test("a reply that is delivered while its call's result waits for a slower call is not injected again (4.38)", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			const ask = `intercom ${JSON.stringify({ action: "ask", answer: { deliveryId: "alice/r", text: "yes" } })}`;
			await pi.prompt(`TOOLS ${ask} && bash {"command":"until [ -e go ]; do sleep 0.1; done"} ;; SAY done`);
			await until("the call", () => pi.received("tools/call").length > 0, () => pi.report());
			pi.agentSends(deliver("r", now(), "SAY shown twice", "reply"));
			await untilReceipt(pi, "alice/r", "held");
			assert.deepEqual(await reconcile(pi, "alice/r"), []);
			pi.write("go");
			await untilReceipt(pi, "alice/r", "seen");
			await untilText(pi, "done |");
			assert.deepEqual(entriesOf(pi, "alice/r"), ["message"]);
		}));

	test("a call says which delivery started its run, not which was steered into it without aborting anything (3.20, 4.12)", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			pi.agentSends(deliver("q", now(), call({ action: "reply", n: 1 }), "ask"));
			await untilReceipt(pi, "alice/q", "seen");
			await untilText(pi, "done |");
			await until("idle", () => pi.received("activity").at(-1)?.phase === "idle", () => pi.report());
			await pi.prompt('TOOL bash {"command":"until [ -e go ]; do sleep 0.1; done"} ;; SAY never');
			await until("the tool", () => pi.received("activity").at(-1)?.tool === "bash", () => pi.report());
			pi.agentSends(deliver("steered", now(), call({ action: "reply", n: 2 }), "ask"));
			await untilReceipt(pi, "alice/steered", "held");
			pi.write("go");
			await until("the second call", () => pi.received("tools/call").length === 2, () => pi.report());
			assert.deepEqual(pi.received("tools/call").map(({ trigger }) => trigger), ["alice/q", undefined]);
			assert.doesNotMatch(JSON.stringify(pi.entries()), /abort/i);
		}));

	for (const mode of ["tui", "rpc"] satisfies LiveMode[]) {
		test(`an ask that waits ends at once when its run is aborted, and another can be made (4.20), ${mode}`, () =>
			withPi({ mode, session }, async (pi) => {
				await pi.prompt(call({ action: "ask", wait: true }));
				const { callId } = await until("the call", () => pi.received("tools/call")[0], () => pi.report());
				if (mode === "tui") await pi.press("Escape");
				else pi.rpc({ type: "abort" });
				await untilText(pi, `The ask ${String(callId)} stays open`);
				assert.deepEqual(pi.received("tools/cancel"), [{ callId }]);
				await until("idle", () => pi.received("activity").at(-1)?.phase === "idle", () => pi.report());
				await pi.prompt(call({ action: "ask", answer: { deliveryId: "alice/r", text: "yes" } }, "SAY again"));
				await untilReceipt(pi, "alice/r", "seen");
			}));
	}

	test("what inboundTrigger withholds is on the screen and in the session, and no model is asked", () =>
		withPi({ mode: "tui", session, config: '{"inboundTrigger": "replies"}' }, async (pi) => {
			await pi.prompt("SAY first words");
			await untilText(pi, '"first words"');
			await until("idle", () => pi.received("activity").at(-1)?.phase === "idle", () => pi.report());
			pi.agentSends(deliver("q", now(), "withheld question", "ask"));
			await untilReceipt(pi, "alice/q", "injected");
			await untilScreen(pi, /withheld question/);
			assert.equal((await pi.requests()).length, 1);
			pi.agentSends(deliver("r", now(), "SAY to the reply", "reply"));
			const { users } = await pi.untilRequest("to the reply");
			assert.match(users.join("\n"), /withheld question/);
			await untilReceipt(pi, "alice/q", "seen");
		}));

	test("the tool is hidden until something was delivered where the person wants it so", () =>
		withPi({ mode: "rpc", session, config: '{"toolVisibility": "after-first-use"}' }, async (pi) => {
			await pi.prompt("SAY before");
			assert.equal((await pi.untilRequest("SAY before")).tools.includes("intercom"), false);
			await until("idle", () => pi.received("activity").at(-1)?.phase === "idle", () => pi.report());
			pi.agentSends(deliver("m", now(), "SAY after"));
			assert.equal((await pi.untilRequest("SAY after")).tools.includes("intercom"), true);
		}));

	test("a message is shown to the person who confirms messages, and sent or not as they say", () =>
		withPi({ mode: "tui", session, config: '{"confirmSend": true}' }, async (pi) => {
			await pi.prompt(call({ action: "send", to: "planner", message: "hello there" }));
			const screen = await untilScreen(pi, /Send a message to planner\?/);
			assert.match(screen, /hello there/);
			await pi.press("Down", "Enter");
			await untilText(pi, "The person declined this message to planner");
			assert.deepEqual(pi.received("tools/call"), []);
			await until("idle", () => pi.received("activity").at(-1)?.phase === "idle", () => pi.report());
			await pi.prompt(call({ action: "send", to: "planner", message: "once more" }));
			await untilScreen(pi, /Send a message to planner\?\s+once more/);
			await pi.press("Enter");
			await until("the call", () => pi.received("tools/call").length === 1, () => pi.report());
			await until("idle", () => pi.received("activity").at(-1)?.phase === "idle", () => pi.report());
			await pi.prompt(call({ action: "ask", to: "planner", message: "not asked about" }));
			await until("the call", () => pi.received("tools/call").length === 2, () => pi.report());
		}));

	test("what an open call waits for is on the screen", () =>
		withPi({ mode: "tui", session }, async (pi) => {
			await pi.prompt(call({ action: "ask", progress: "waiting for Alice, who has it", wait: true }));
			await until("the call", () => pi.received("tools/call")[0], () => pi.report());
			await pi.press("C-l");
			await until("the progress", async () => /^\s*waiting for Alice, who has it/m.test(await pi.screen()), () => pi.report());
		}));

	test("a bad settings file is shown on the screen with its key and line, and nothing starts (4.49, 4.52)", () =>
		withPi({ mode: "tui", config: '{\n\t"confirmSend": "sometimes"\n}', attaches: false }, async (pi) => {
			const screen = await untilScreen(pi, /Intercom is off/);
			assert.match(screen.replace(/\s+/g, ""), /config\.json,line2:"confirmSend"mustbetrueorfalse/);
			assert.deepEqual(pi.received("initialize"), []);
		}));

	test("the skill comes with the package", () =>
		withPi({ mode: "rpc", session, asPackage: true }, async (pi) => {
			pi.rpc({ id: "commands", type: "get_commands" });
			await until("the command", async () => /"name":"skill:pi-intercom"/.test(await pi.screen()), () => pi.screen());
		}));

	test("a rename of an idle session is told at once (4.28)", () =>
		withPi({ mode: "tui", session }, async (pi) => {
			await pi.prompt("/name planner");
			await until("the rename", () => pi.received("session/renamed").at(-1)?.name === "planner", () => pi.report());
			assert.deepEqual(await pi.requests(), []);
		}));
});
