// Children that another program starts for a session: contact_supervisor on real Pi.
import assert from "node:assert/strict";
import { peer } from "./support/peers.mjs";
import { scenario } from "./support/rig.mjs";
import { until } from "./support/until.mjs";

const bridge = (prefix, target) => ({
	[`${prefix}ORCHESTRATOR_TARGET`]: target,
	[`${prefix}RUN_ID`]: "78f659a3",
	[`${prefix}CHILD_AGENT`]: "worker",
	[`${prefix}CHILD_INDEX`]: "1",
	[`${prefix}INTERCOM_SESSION_NAME`]: "subagent-worker-1",
});

/** The nth result (from 0) of contact_supervisor in a session. */
const contacted = (pi, nth = 0) => pi.toolResult("contact_supervisor", nth, { timeoutMs: 60_000 });

for (const [prefix, mode, args] of [
	["PI_SUBAGENT_", "a terminal", []],
	["SELESAI_SUBAGENT_", "print mode", ["-p", "do the task"]],
	["PI_SUBAGENT_", "JSON mode", ["--mode", "json", "-p", "do the task"]],
]) {
	scenario(`a child in ${mode} asks for a decision, interviews and reports progress (${prefix}…)`, async (rig) => {
		const lead = await peer(rig, "lead");
		const interview = { title: "API", questions: [{ id: "api", type: "single", question: "Which API?", options: ["Stable", "Experimental"] }, { id: "why", type: "text", question: "Why?" }] };
		rig.model.on(
			"child",
			/do the task/,
			{ tool: "contact_supervisor", args: { reason: "progress_update", message: "The bug is in the wrapper." } },
			{ tool: "contact_supervisor", args: { reason: "need_decision", message: "403 or 401?" } },
			{ tool: "contact_supervisor", args: { reason: "interview_request", message: "Before I go on.", interview } },
			{ say: "task done" },
		);
		rig.model.on("lead", /The bug is in the wrapper/, { say: "noted" });
		rig.model.on("lead", /403 or 401/, { tool: "intercom", args: { action: "reply", message: "401." } }, { say: "decided" });
		const answers = { responses: [{ id: "api", value: "Stable" }, { id: "why", value: "It lasts." }] };
		rig.model.on("lead", /Which API/, { tool: "intercom", args: { action: "reply", message: `\`\`\`json\n${JSON.stringify(answers)}\n\`\`\`` } }, { say: "interviewed" });

		const child = await rig.startPi({ name: "child", args, env: bridge(prefix, "lead") });
		if (args.length === 0) {
			await child.ready(/peer/i);
			await child.prompt("do the task");
		}
		const [told, decided, asked] = [await contacted(child, 0), await contacted(child, 1), await contacted(child, 2)];
		assert.equal(told.isError, false, told.text);
		assert.match(decided.text, /401\./);
		assert.match(asked.text, /Stable/);
		assert.deepEqual(asked.details.details.structuredReply, answers);
		await until("the header of the child", () => lead.injected().some(({ content }) => /78f659a3/.test(content) && /worker/.test(content)));
		assert.ok(lead.injected().every(({ from }) => from.name === "subagent-worker-1"), JSON.stringify(lead.injected().map(({ from }) => from)));
	});
}

scenario("a session that nobody delegated to has no contact_supervisor", async (rig) => {
	const alone = await peer(rig, "alone", { env: { PI_SUBAGENT_RUN_ID: "78f659a3" } });
	rig.model.on("alone", /look/, { say: "looked" });
	await alone.prompt("look");
	const request = await alone.waitForText("look");
	assert.ok(request.toolNames.includes("intercom"));
	assert.ok(!request.toolNames.includes("contact_supervisor"));
});
