/** Another program that started this session as its child, and what the child is to it. */
export interface Supervisor {
	/** Name or id of the session that leads it. */
	readonly target: string;
	readonly sessionId?: string;
	readonly runId: string;
	readonly agent: string;
	readonly index: string;
}

/** Programs of the same kind on different hosts use one or the other; the first counts where both are there. */
const PREFIXES = ["PI_SUBAGENT_", "SELESAI_SUBAGENT_"];

/** Undefined unless target, run, agent and index are all named. */
export function supervisorOf(env: NodeJS.ProcessEnv): Supervisor | undefined {
	const target = value(env, "ORCHESTRATOR_TARGET");
	const runId = value(env, "RUN_ID");
	const agent = value(env, "CHILD_AGENT");
	const index = value(env, "CHILD_INDEX");
	if (target === undefined || runId === undefined || agent === undefined || index === undefined) return undefined;
	return { target, sessionId: value(env, "ORCHESTRATOR_SESSION_ID"), runId, agent, index };
}

/** What such a program calls the session, where the session itself has no name. */
export function givenName(env: NodeJS.ProcessEnv): string | undefined {
	return value(env, "INTERCOM_SESSION_NAME");
}

function value(env: NodeJS.ProcessEnv, name: string): string | undefined {
	return PREFIXES.map((prefix) => env[prefix + name]?.trim()).find((text) => text !== undefined && text !== "");
}
