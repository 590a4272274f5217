import { readFileSync } from "node:fs";
import type { Capability } from "./contract.ts";

/** What a recipe relies on was seen to hold in exactly these versions of the host, and in no others. */
interface Verified {
	readonly versions: readonly string[];
	readonly capabilities: readonly Capability[];
	/** What was seen. test/live proves it on the installed host. */
	readonly because: string;
}

/** A file of its own, since the command line tells a person of it, too. */
const VERIFIED = JSON.parse(readFileSync(new URL("./verified-hosts.json", import.meta.url), "utf8")) as readonly Verified[];

/** The functions of the host that the recipes call, and which an extension can look for before it calls them. */
export interface HostFunctions {
	readonly pi: object;
	readonly ctx: object;
}

const ON_PI = ["registerCommand", "getCommands", "sendUserMessage"];
const ON_CTX = ["isIdle", "abort", "hasPendingMessages", "shutdown"];

/** The jobs that this host is known to do safely. */
export function capabilitiesOf(hostVersion: string, functions: HostFunctions): Capability[] {
	const entry = VERIFIED.find(({ versions }) => versions.includes(hostVersion));
	if (entry === undefined) return [];
	const areThere = hasAll(functions.pi, ON_PI) && hasAll(functions.ctx, ON_CTX);
	return areThere ? [...entry.capabilities] : [];
}

/** Why a host without `capability` does nothing of the kind. */
export function unverified(capability: Capability, hostVersion: string): string {
	const versions = VERIFIED.filter((entry) => entry.capabilities.includes(capability)).flatMap((entry) => entry.versions);
	return `this host is Pi ${hostVersion}, which is not known to ${capability} safely (verified: ${versions.join(", ")}); nothing was done. A person can verify another version with the extension's live tests (npm run test:live) and then add it to verified-hosts.json`;
}

function hasAll(holder: object, names: readonly string[]): boolean {
	return names.every((name) => typeof Reflect.get(holder, name) === "function");
}
