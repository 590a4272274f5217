// A coordinator and its workers, ready to work.
import assert from "node:assert/strict";
import { EXTENSION, NODE, PI, writeAgentDirectory } from "./pi.mjs";
import { until } from "./until.mjs";

/** A tool call that must succeed; returns its result. */
export async function use(host, tool, args, callId) {
	const result = await host.callTool(tool, args, callId);
	assert.equal(result.isError, false, `${tool}: ${result.code} ${result.reason}: ${result.text}`);
	return result;
}

/** A tool call that must be refused, for `reason`; returns its result. */
export async function refused(host, reason, tool, args) {
	const result = await host.callTool(tool, args);
	assert.equal(result.isError, true, `${tool} was not refused: ${result.text}`);
	assert.equal(result.reason, reason, result.text);
	return result;
}

/** Configures a session under `name` and lets it load its responsibility. */
export async function enlist(coordinator, sessionId, name, description = `Does the work of ${name}.`) {
	await use(coordinator, "intercom_configure_worker", { sessionId, name, description, projectDirectory: "." });
	await use(coordinator, "intercom_reload_worker", { to: name });
}

/** A coordinator without Pi. */
export async function stubCoordinator(rig, options = {}) {
	const lead = rig.startHost({ name: "Coordinator stub", ...options });
	const session = await lead.attached();
	assert.equal(session.role, "coordinator");
	await lead.until("its responsibility", () => lead.session.loaded);
	return lead;
}

/** A worker without Pi, configured as `name`. */
export async function stubWorker(rig, lead, name, options = {}) {
	const host = rig.startHost({ name, ...options });
	await host.attached();
	await enlist(lead, host.sessionId, name);
	await host.until("the role of a worker", () => host.session.role === "worker" && host.session.loaded);
	return host;
}

/** A real Pi, configured as `name` by a coordinator without Pi. */
export async function piWorker(rig, lead, name, options = {}) {
	const pi = await rig.startPi({ name: name.toLowerCase(), ...options });
	await pi.ready(/anonymous/i);
	await enlist(lead, pi.sessionId, name);
	return pi;
}

/** The model of `session` answers a handoff request with `summary`, once `wait` lets it, and then does `more`. */
export function answersHandoff(rig, session, summary, { wait, more = [] } = {}) {
	const requestOf = (request) => request.users.findLast((text) => text.includes("intercom_report_handoff"));
	const jobOf = (request) => /jobId[^A-Za-z0-9]*([A-Za-z0-9-]{8,})/.exec(requestOf(request) ?? "")?.[1] ?? "";
	const report = { gate: wait, tool: "intercom_report_handoff", args: (request) => ({ jobId: jobOf(request), summary }) };
	rig.model.on(session, /intercom_report_handoff/, report, ...more, { say: "handed over" });
}

/** The broker's record of a message. */
export async function record(rig, id) {
	return (await rig.broker.call("MessageService/GetMessage", { id })).record;
}

const STATES = ["ACCEPTED", "DELIVERED", "INJECTED", "SEEN", "REPLIED"];

/** Waits until a message has reached `state` (SEEN, say) or a later one; returns its record. */
export function reached(rig, id, state, options = {}) {
	return until(
		`state ${state} of ${id}`,
		async () => {
			const found = await record(rig, id);
			return STATES.indexOf(found.state.replace("DELIVERY_STATE_", "")) >= STATES.indexOf(state) && found;
		},
		{ detail: async () => JSON.stringify(await record(rig, id).catch((error) => error.message)), ...options },
	);
}

/** Asserts that a record has every state up to its furthest, in the order of time. */
export function assertMarks(found) {
	const times = found.marks.map((mark) => Date.parse(mark.at));
	assert.deepEqual([...times].sort((a, b) => a - b), times, `marks out of order: ${JSON.stringify(found.marks)}`);
	for (const mark of found.marks) assert.ok(mark.state, "a mark without state");
	assert.equal(found.marks.at(-1).state, found.state);
}

/** The roster's entry of the session that a launch opened. */
export function opened(rig, jobId) {
	return until(
		`the session of job ${jobId}`,
		async () => (await rig.broker.call("InspectionService/ListAttachments")).entries?.find((entry) => entry.launchJobId === jobId),
		{ timeoutMs: 40_000 },
	);
}

/** A coordinator without Pi that launches real Pi workers, whose model answers as `launched`. */
export function launchingCoordinator(rig, env = {}) {
	const agentDir = writeAgentDirectory(rig, "launched");
	return stubCoordinator(rig, {
		env: { PI_CODING_AGENT_DIR: agentDir, ...env },
		launch: { argv: [NODE, PI], extension: EXTENSION, agentDir },
	});
}
