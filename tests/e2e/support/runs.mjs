// Work that one session handed to another as a run, seen from outside: in the
// session files, in the process table and in what the model is told.
import { intercom } from "./peers.mjs";
import { isAlive, parentOf, pidsWithArguments, programOf } from "./processes.mjs";
import { until } from "./until.mjs";

/** A real Pi that coordinates its project. */
export async function lead(rig, options = {}) {
	const pi = await rig.startPi({ name: "lead", ...options });
	return pi.ready(/coordinator/i);
}

/** A real Pi in a terminal that `coordinator`, a real Pi, configured as `name`. */
export async function terminalWorker(rig, coordinator, name) {
	const pi = await rig.startPi({ name: name.toLowerCase() });
	await pi.ready(/anonymous/i);
	rig.model.on(
		coordinator.name,
		new RegExp(`enlist ${name}`),
		{ tool: "intercom_configure_worker", args: { sessionId: pi.sessionId, name, description: `Does the work of ${name}.`, projectDirectory: "." } },
		{ tool: "intercom_reload_worker", args: { to: name } },
		{ say: `${name} is enlisted` },
	);
	await coordinator.prompt(`enlist ${name}`);
	await coordinator.waitForScreen(new RegExp(`${name} is enlisted`), { timeoutMs: 40_000 });
	await until(`the role of ${name}`, async () => (await pi.rosterEntry())?.role === "ROLE_WORKER");
	return pi;
}

/** Has `coordinator` open `count` headless workers in one turn; returns their roster entries. They answer as its model does. */
export async function headlessWorkers(rig, coordinator, count) {
	const call = ["intercom_create_worker", { launcher: "headless" }];
	rig.model.on(coordinator.name, /open the workers/, { tools: Array.from({ length: count }, () => call) }, { say: "the workers are opened" });
	await coordinator.prompt("open the workers");
	await coordinator.waitForScreen(/the workers are opened/, { timeoutMs: 60_000 });
	return until(
		`${count} headless workers`,
		async () => {
			const { entries = [] } = await rig.broker.call("InspectionService/ListAttachments");
			const launched = entries.filter((entry) => (entry.launchJobId ?? "") !== "");
			return launched.length === count && launched;
		},
		{ timeoutMs: 90_000, detail: () => coordinator.screen() },
	);
}

/** The call that hands `message` to a session as a run. */
export const handOut = (to, message, label) => ["intercom", { action: "send", to, message, run: true, label }];

/**
 * Types `prompt` into a session whose model then takes `steps`, and waits for its last word. Returns the results of the tool
 * calls. Each prompt of a session is another.
 */
export async function turn(rig, pi, prompt, ...steps) {
	const before = pi.toolResults().length;
	rig.model.on(pi.name, new RegExp(`^${prompt}$`), ...steps, { say: `over: ${prompt}` });
	await pi.prompt(prompt);
	await pi.waitForScreen(new RegExp(`over: ${prompt}`), { timeoutMs: 60_000 });
	return pi.toolResults().slice(before);
}

/** A step of a model that supervises: an action of the tool `intercom`. */
export const supervise = (action, args = {}, more = {}) => intercom(typeof args === "function" ? (request) => ({ action, ...args(request) }) : { action, ...args }, more);

/** The id of the run that a text names in one line with its label, as a peek does. */
export function runCalled(label, ...texts) {
	const lines = texts.flatMap((text) => text.split("\n")).filter((line) => line.includes(label));
	return lines.map((line) => /\brun-\d+\b/.exec(line)?.[0]).find((id) => id !== undefined);
}

/** Arguments that name the run with this label, for a model that has peeked. */
export const theRun = (label, more = {}) => (request) => ({ runId: runCalled(label, ...request.talk.filter(({ role }) => role === "tool").map(({ text }) => text)), ...more });

/** Waits until the broker is back and has `pi` attached. */
export function brokerIsBack(rig, pi) {
	return until("the broker's return", async () => rig.broker.pids().length === 1 && (await pi.rosterEntry())?.presence === "PRESENCE_ATTACHED", { timeoutMs: 30_000 });
}

/** Waits until none of these sessions is in a turn. */
export function allIdle(rig, sessions) {
	return until("idle workers", async () => {
		const { entries = [] } = await rig.broker.call("InspectionService/ListAttachments");
		return sessions.every(({ sessionId }) => entries.find((entry) => entry.sessionId === sessionId)?.activity?.phase === "ACTIVITY_PHASE_IDLE");
	}, { timeoutMs: 60_000 });
}

/** The bulletins in a session's file, in order: {topic, key, ids, content}. */
export function bulletins(pi, topic) {
	return pi.entries().flatMap((entry) => {
		const bulletin = entry.type === "custom_message" ? entry.details?.intercom?.bulletin : undefined;
		if (bulletin === undefined || (topic !== undefined && bulletin.topic !== topic)) return [];
		return [{ ...bulletin, content: typeof entry.content === "string" ? entry.content : JSON.stringify(entry.content) }];
	});
}

/** How often a run's end stands in a session as a bulletin. */
export const announcements = (pi, runId) => bulletins(pi, "runs").filter(({ ids = [] }) => ids.includes(runId)).length;

/** The ids that calls of a session have collected, with repeats. */
export function collected(pi) {
	return pi.toolResults().flatMap(({ details }) => details?.intercom?.ids ?? []);
}

/** The run that the nth handing out of a session opened. */
export async function runOf(pi, nth = 0) {
	const isHandedOut = ({ tool, isError, text }) => ["intercom", "intercom_send"].includes(tool) && !isError && /\brun-\d+\b/.test(text);
	const result = await until(`run ${nth} of ${pi.name}`, () => pi.toolResults().filter(isHandedOut)[nth], { timeoutMs: 30_000, detail: () => pi.screen() });
	return /\brun-\d+\b/.exec(result.text)[0];
}

/** The one process whose arguments are `text`, such as a program that a session runs. */
export function processOf(text) {
	return until(`the process "${text}"`, () => pidsWithArguments(text).find(isAlive), { timeoutMs: 40_000 });
}

/** The agent's process that hosts the headless Pi above `pid`. */
export function hostingProcess(pid) {
	const hosts = pidsWithArguments("--headless");
	for (let at = pid; at > 1; at = parentOf(at)) if (programOf(at) === "intercom-agent" && hosts.includes(at)) return at;
	return undefined;
}

/** Waits until no process has these arguments. */
export function goneWithArguments(text) {
	return until(`the end of "${text}"`, () => pidsWithArguments(text).filter(isAlive).length === 0, { timeoutMs: 20_000 });
}
