// Sessions that talk to each other without a workspace.
import { until } from "./until.mjs";

const WITHOUT_WORKSPACE = { PI_INTERCOM_WORKSPACE_MODE: "never" };

/** A real Pi without a workspace, which a person has named. */
export async function peer(rig, name, options = {}) {
	const pi = await rig.startPi({ name: name.toLowerCase(), ...options, env: { ...WITHOUT_WORKSPACE, ...options.env } });
	await pi.ready(/peer/i);
	await nameIt(pi, name);
	return pi;
}

/** Names a session as a person does, and waits until the roster shows it. */
export async function nameIt(pi, name) {
	await pi.prompt(`/name ${name}`);
	// A coordinator is shown under the name of its config; others find it by its own as well.
	await pi.waitForScreen(new RegExp(`Session name set: ${name}`));
	await until(`the name ${name} in the roster`, async () => [name, "Coordinator"].includes((await pi.rosterEntry())?.name));
}

/** The nth result (from 0) of the tool `intercom` in a session. */
export const intercomResult = (pi, nth = 0, options = {}) => pi.toolResult("intercom", nth, options);

/** The asks that the broker knows of a session: those to it, or those it sent. */
export async function asksOf(rig, pi, sent = false) {
	const { records = [] } = await rig.broker.call("MessageService/ListMessages", { sessionId: pi.sessionId, pageSize: 200 });
	return records.filter(({ envelope, sender }) => {
		return envelope.kind === "ENVELOPE_KIND_ASK" && (sender.sessionId === pi.sessionId) === sent;
	});
}

/** The steps of a model that calls `intercom` once. */
export const intercom = (args, more = {}) => ({ tool: "intercom", args, ...more });
