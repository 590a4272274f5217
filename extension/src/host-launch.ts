import { realpathSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";

/** How the host was started, so that a worker's can be: the program with what comes before its own arguments. */
export interface HostLaunch {
	readonly argv: readonly string[];
	/** Real path of this extension's file. */
	readonly extension: string;
	readonly agentDir: string;
}

/** The part of `process` that tells. */
export interface HostProcess {
	readonly execPath: string;
	readonly execArgv: readonly string[];
	/** argv[1] is the script; in a single binary it is a name within the binary, or the binary itself. */
	readonly argv: readonly string[];
}

/** Flags of this one process: a debugger's port is taken, and a script given on the command line is not the host. */
const OWN_FLAGS = /^--(inspect|debug|watch|test|prof|cpu-prof|heap-prof|trace|report)|^(-e|--eval|-p|--print|-i|--interactive|-c|--check)$/;
const RUNTIMES = /^(node|nodejs|bun|deno)(\.exe)?$/i;

/** Undefined where it can't be told how to start this host again. */
export function hostLaunch(host: HostProcess, extensionPath: string, agentDir: string): HostLaunch | undefined {
	const program = realFile(host.execPath);
	const extension = realFile(extensionPath);
	if (program === undefined || extension === undefined) return undefined;
	const script = host.argv[1] === undefined ? undefined : realFile(host.argv[1]);
	const rest = { extension, agentDir: resolve(agentDir) };
	if (script !== undefined && script !== program) return { argv: [program, ...inheritedFlags(host.execArgv), script], ...rest };
	return RUNTIMES.test(basename(program)) ? undefined : { argv: [program], ...rest };
}

/** A worker starts in another directory, so paths that are relative to this one become absolute. */
function inheritedFlags(execArgv: readonly string[]): string[] {
	return execArgv
		.filter((flag) => !OWN_FLAGS.test(flag))
		.map((flag) => flag.replace(/^(--[\w-]+=)?(\.{1,2}\/.*)$/s, (_, name: string | undefined, path: string) => (name ?? "") + resolve(path)));
}

function realFile(path: string): string | undefined {
	try {
		const real = realpathSync(path);
		return statSync(real).isFile() ? real : undefined;
	} catch {
		return undefined;
	}
}
