import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

const BINARY = "intercom-agent";

export type FoundAgent = { readonly path: string } | { readonly problem: string };

export function isExecutableFile(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}

/**
 * Looks for the agent binary: PI_INTERCOM_AGENT alone where it is set, else beside the extension, in the build tree
 * of the repository that holds it, and on PATH, in this order. `extensionRoot` is the folder of package.json.
 */
export function findAgent(env: NodeJS.ProcessEnv, extensionRoot: string, isExecutable: (path: string) => boolean = isExecutableFile): FoundAgent {
	const named = env.PI_INTERCOM_AGENT;
	if (named !== undefined && named !== "") {
		if (isExecutable(named)) return { path: named };
		return { problem: `PI_INTERCOM_AGENT names ${named}, which is no executable file.` };
	}
	const repository = join(extensionRoot, "..");
	const beside = [
		join(extensionRoot, "bin", BINARY),
		join(repository, "bin", BINARY),
		join(repository, "build", "release", "bin", BINARY),
		join(repository, "build", "debug", "bin", BINARY),
	];
	const onPath = (env.PATH ?? "").split(delimiter).filter(isAbsolute);
	for (const path of [...beside, ...onPath.map((folder) => join(folder, BINARY))]) {
		if (isExecutable(path)) return { path };
	}
	return {
		problem: `${BINARY} was not found: not in ${beside.map((path) => join(path, "..")).join(", ")} and not on PATH. Build it, or set PI_INTERCOM_AGENT to its path.`,
	};
}
