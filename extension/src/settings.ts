import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "./contract.ts";
import { jsonErrorPosition } from "./json-position.ts";

export type WorkspaceMode = "auto" | "existing" | "never";

/** What the person set in `<agentDir>/intercom/config.json`. */
export interface Settings {
	readonly enabled: boolean;
	readonly workspace: WorkspaceMode;
	readonly rpc: boolean;
}

export const DEFAULT_SETTINGS: Settings = { enabled: true, workspace: "auto", rpc: false };

/** What is wrong, for the person who wrote the file. */
export class SettingsError extends Error {}

export function settingsPath(agentDir: string): string {
	return join(agentDir, "intercom", "config.json");
}

/** The settings, or the defaults where there is no file. Throws SettingsError. */
export function readSettings(path: string): Settings {
	let text: string;
	try {
		text = readFileSync(path, "utf8");
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === "ENOENT") return DEFAULT_SETTINGS;
		throw new SettingsError(`${path} can't be read: ${error instanceof Error ? error.message : String(error)}`);
	}
	return parseSettings(text, path);
}

export function parseSettings(text: string, path: string): Settings {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		const { line, column } = jsonErrorPosition(text);
		throw new SettingsError(`${path}, line ${line}, column ${column}: not JSON.`);
	}
	if (!isObject(value)) throw new SettingsError(`${path}: must hold one JSON object.`);
	const { enabled = DEFAULT_SETTINGS.enabled, workspace = DEFAULT_SETTINGS.workspace, rpc = DEFAULT_SETTINGS.rpc, ...unknown } = value;
	const [stray] = Object.keys(unknown);
	if (stray !== undefined) throw new SettingsError(`${path}: "${stray}" is no setting; there are enabled, workspace and rpc.`);
	if (typeof enabled !== "boolean") throw new SettingsError(`${path}: "enabled" must be true or false.`);
	if (typeof rpc !== "boolean") throw new SettingsError(`${path}: "rpc" must be true or false.`);
	if (workspace !== "auto" && workspace !== "existing" && workspace !== "never") {
		throw new SettingsError(`${path}: "workspace" must be "auto", "existing" or "never".`);
	}
	return { enabled, workspace, rpc };
}
