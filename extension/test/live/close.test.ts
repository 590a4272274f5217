import assert from "node:assert/strict";
import { realpathSync } from "node:fs";
import { describe, test } from "node:test";
import type { JsonObject } from "../../src/contract.ts";
import { deliver, type LiveMode, type LivePi, until, withPi } from "../support/live-pi.ts";

const parameters = { type: "object", properties: { jobId: { type: "string" }, summary: { type: "string" } }, required: ["jobId", "summary"] };
const HANDOFF_TOOL = { name: "intercom_report_handoff", label: "Hand over", description: "Hands over", promptGuidelines: [], parameters, effect: "config" };
const session: JsonObject = { connection: "connected", role: "worker", tools: [HANDOFF_TOOL], instructions: "", statusText: "worker" };
const HAND_OVER = 'TOOL intercom_report_handoff {"jobId":"job-1","summary":"all done"} ;; SAY one more word';

/** Has the session hand over, and resolves once it has settled. */
async function handsOver(pi: LivePi): Promise<void> {
	assert.equal((await pi.control("prepareClose", { jobId: "job-1", handoffEnvelopeId: "request" })).ok, true);
	pi.agentSends(deliver("mail", new Date().toISOString(), "SAY mail"), deliver("request", new Date().toISOString(), HAND_OVER));
	await pi.untilJob("settled");
}

describe("a close of the installed Pi", { concurrency: 4 }, () => {
	for (const mode of ["tui", "rpc"] satisfies LiveMode[]) {
		test(`follows the handoff and ends the host with exit code 0 and no further model request, ${mode}`, () =>
			withPi({ mode, session }, async (pi) => {
				await handsOver(pi);
				assert.equal((await pi.requests()).length, 1, await pi.report());
				assert.deepEqual(await pi.control("commitClose", { jobId: "job-1", nonce: "n-1" }), { ok: true, nonce: "n-1" });
				assert.equal(await pi.exitCode(), 0);
				assert.deepEqual(pi.received("goodbye"), [{ reason: "quit" }]);
				assert.equal((await pi.requests()).length, 1);
				assert.doesNotMatch(JSON.stringify(pi.entries()), /SAY mail/);
			}));

		test(`is refused after a person's word, and mail flows again, ${mode}`, () =>
			withPi({ mode, session }, async (pi) => {
				await handsOver(pi);
				await pi.prompt("SAY a word of a person");
				const { detail } = await pi.untilJob("invalidated");
				assert.match(String(detail), /there was input/);
				assert.equal((await pi.control("commitClose", { jobId: "job-1", nonce: "n-1" })).ok, false);
				assert.deepEqual(await pi.control("endClose", { jobId: "job-1" }), { ok: true });
				await pi.untilRequest("SAY mail");
			}));
	}

	test("reaches a session that works at its next boundary, and tells the file of the session", () =>
		withPi({ mode: "rpc", session }, async (pi) => {
			await pi.prompt('TOOL bash {"command":"sleep 2"} ;; SAY worked');
			await until("the tool", () => pi.received("activity").some(({ phase }) => phase === "tool"), () => pi.report());
			const { sessionFile } = await pi.control("prepareClose", { jobId: "job-1", handoffEnvelopeId: "request" });
			assert.equal(realpathSync(String(sessionFile)), sessionFile);
			pi.agentSends(deliver("request", new Date().toISOString(), HAND_OVER));
			await pi.untilJob("settled");
			assert.equal((await pi.control("commitClose", { jobId: "job-1", nonce: "n-1" })).ok, true);
			assert.equal(await pi.exitCode(), 0);
		}));
});
