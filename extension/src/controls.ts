import type { Closer } from "./close.ts";
import { unverified } from "./compatibility.ts";
import type { AgentEntry, Capability, Control, JsonObject } from "./contract.ts";
import type { Stopper } from "./stop.ts";

/** The stop of a run bears the run's id instead of a job's. */
const RUN_ID = /^run-\d+$/;

/** The host, as far as controls ask about it. */
export interface ControlledHost {
	sessionId(): string;
	isIdle(): boolean;
	/** Path of the session's file; undefined while it does not exist. */
	sessionFile(): string | undefined;
	/** The jobs that this host is known to do safely, now. */
	capabilities(): readonly Capability[];
}

export interface ControlParts {
	readonly host: ControlledHost;
	readonly stopper: Stopper;
	readonly closer: Closer;
	readonly hostVersion: string;
	/** Whether this run is open and the session not done with it. */
	isUnderWay(runId: string): boolean;
	/** Shows the entry's responsibility from now on; returns what went wrong on the way. */
	reload(entry: AgentEntry, instructions: string | undefined): string | undefined;
}

/** Answers the agent's controls. What takes longer goes on with job events. */
export async function answerControl(control: Control, parts: ControlParts): Promise<JsonObject> {
	const { host, stopper, closer } = parts;
	switch (control.kind) {
		case "probe":
		case "reportStatus":
			return { ok: true, busy: !host.isIdle(), sessionId: host.sessionId() };
		case "reloadResponsibility": {
			if (control.entry === undefined) return refused("the control carries no entry");
			const warning = parts.reload(control.entry, control.instructions);
			return warning === undefined ? { ok: true } : { ok: true, warning };
		}
		case "stop": {
			if (control.jobId === undefined || control.requestedAtMs === undefined) return refused("the control names no job and time");
			if (!host.capabilities().includes("stop")) return refused(unverified("stop", parts.hostVersion));
			// A run may end while the wish to stop it is on its way: what the session does now is something else.
			if (RUN_ID.test(control.jobId) && !parts.isUnderWay(control.jobId)) return { ok: true };
			stopper.stop(control.jobId, control.requestedAtMs);
			return { ok: true };
		}
		case "prepareClose": {
			if (control.jobId === undefined || control.handoffEnvelopeId === undefined) return refused("the control names no job and envelope");
			if (!host.capabilities().includes("close")) return refused(unverified("close", parts.hostVersion));
			closer.prepare(control.jobId, control.handoffEnvelopeId);
			const sessionFile = host.sessionFile();
			return sessionFile === undefined ? { ok: true } : { ok: true, sessionFile };
		}
		case "commitClose": {
			if (control.jobId === undefined || control.nonce === undefined) return refused("the control names no job and nonce");
			const problem = await closer.commit(control.jobId);
			return problem === undefined ? { ok: true, nonce: control.nonce } : refused(problem);
		}
		case "endClose":
			if (control.jobId === undefined) return refused("the control names no job");
			closer.end(control.jobId);
			return { ok: true };
		default:
			return refused(`this host knows no control ${control.kind}`);
	}
}

function refused(error: string): JsonObject {
	return { ok: false, error };
}
