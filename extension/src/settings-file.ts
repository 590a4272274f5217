import { readFileSync, statSync } from "node:fs";
import { isObject, type JsonObject } from "./contract.ts";
import { jsonErrorPosition, keyPosition } from "./json-position.ts";

const FILE_LIMIT_BYTES = 64 * 1024;

/** What is wrong, for the person who wrote it. */
export class SettingsError extends Error {}

/** One file of settings, which is JSON. Whether its keys and values are right is for its reader to say. */
export interface SettingsFile {
	readonly values: JsonObject;
	/** Says of `key` what is wrong with it, with file and line. */
	error(key: string, problem: string): SettingsError;
}

/** Undefined where there is no file. Throws SettingsError. */
export function readSettingsFile(path: string): SettingsFile | undefined {
	const text = readText(path);
	if (text === undefined) return undefined;
	let values: unknown;
	try {
		values = JSON.parse(text);
	} catch {
		const { line, column } = jsonErrorPosition(text);
		throw new SettingsError(`${path}, line ${line}, column ${column}: not JSON.`);
	}
	if (!isObject(values)) throw new SettingsError(`${path}, line 1: must hold one JSON object.`);
	return { values, error: (key, problem) => new SettingsError(`${path}, line ${keyPosition(text, key).line}: "${key}" ${problem}`) };
}

function readText(path: string): string | undefined {
	try {
		const file = statSync(path, { throwIfNoEntry: false });
		if (file === undefined) return undefined;
		// A device or a huge file would hold up the session's start for ever.
		if (!file.isFile() || file.size > FILE_LIMIT_BYTES) throw new Error(`it is no file of at most ${FILE_LIMIT_BYTES / 1024} KiB`);
		return readFileSync(path, "utf8");
	} catch (error) {
		throw new SettingsError(`${path} can't be read: ${error instanceof Error ? error.message : String(error)}`);
	}
}
