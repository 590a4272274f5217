import { existsSync, readFileSync } from "node:fs";
import type { JsonObject } from "../../src/contract.ts";

/** The objects in a file that another process appends to, none if it does not exist yet. What has no end yet is being written. */
export function jsonLines<Line = JsonObject>(path: string): Line[] {
	const text = existsSync(path) ? readFileSync(path, "utf8") : "";
	return text.split("\n").slice(0, -1).filter((line) => line !== "").map((line) => JSON.parse(line));
}
