import { join } from "node:path";

/** The host's queue of changes to one file: runs `change` when those before it are done. */
export type MutateFile = <T>(path: string, change: () => Promise<T>) => Promise<T>;

/**
 * Runs a call that changes the workspace's config among the host's own edits of that file. A host without such a queue, or whose
 * queue can't take the path, gets the call as it is. `call` runs once and must not reject.
 */
export async function inConfigQueue<T>(mutateFile: MutateFile | undefined, workspaceRoot: string | undefined, call: () => Promise<T>): Promise<T> {
	if (mutateFile === undefined || workspaceRoot === undefined) return call();
	let running: Promise<T> | undefined;
	try {
		return await mutateFile(join(workspaceRoot, ".pi-intercom", "config.json"), () => (running = call()));
	} catch {
		return running ?? call();
	}
}
