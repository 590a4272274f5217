import { isAbsolute } from "node:path";
import { SettingsError } from "./settings-file.ts";

/** What a launcher said about this session in the environment. */
export interface LaunchFacts {
	readonly workspaceRoot?: string;
	readonly scope?: string;
	readonly launchToken?: string;
	readonly jobId?: string;
	/** Whether the process was launched by intercom, also where this session is a later one of it. */
	readonly wasLaunched: boolean;
}

const TICKET = Symbol.for("pi-intercom.launch");

interface Ticket {
	readonly launchToken?: string;
	readonly jobId?: string;
	readonly sessionId: string;
}

type Scope = { [TICKET]?: Ticket };

/**
 * Reads the launcher's variables. Token and job belong to the first session of this process alone, so they leave the
 * environment, which every shell of the model inherits, and stand on `scope`: they outlive /reload, and a session that
 * /new or /fork makes does not show them. Throws SettingsError where PI_INTERCOM_WORKSPACE is not absolute.
 */
export function takeLaunchFacts(env: NodeJS.ProcessEnv, sessionId: string, scope: object = globalThis): LaunchFacts {
	const workspaceRoot = nonEmpty(env.PI_INTERCOM_WORKSPACE);
	if (workspaceRoot !== undefined && !isAbsolute(workspaceRoot)) {
		throw new SettingsError(`PI_INTERCOM_WORKSPACE is "${workspaceRoot}", which is no absolute path.`);
	}
	const shared: Scope = scope;
	const launchToken = nonEmpty(env.PI_INTERCOM_LAUNCH_TOKEN);
	const jobId = nonEmpty(env.PI_INTERCOM_JOB_ID);
	if (launchToken !== undefined || jobId !== undefined) {
		shared[TICKET] = { launchToken, jobId, sessionId };
		delete env.PI_INTERCOM_LAUNCH_TOKEN;
		delete env.PI_INTERCOM_JOB_ID;
	}
	const ticket = shared[TICKET];
	const facts = { workspaceRoot, scope: nonEmpty(env.PI_INTERCOM_SCOPE_ID), wasLaunched: ticket?.launchToken !== undefined };
	return ticket?.sessionId === sessionId ? { ...facts, launchToken: ticket.launchToken, jobId: ticket.jobId } : facts;
}

function nonEmpty(value: string | undefined): string | undefined {
	return value === undefined || value === "" ? undefined : value;
}
