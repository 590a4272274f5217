import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { isExecutableFile } from "./find-agent.ts";
import { readSettingsFile, SettingsError, type SettingsFile } from "./settings-file.ts";

export { SettingsError } from "./settings-file.ts";

export type WorkspaceMode = "auto" | "existing" | "never";
/** What starts a turn in this session; `replies` are answers to what it sent. */
export type InboundTrigger = "always" | "replies" | "never";
export type ToolVisibility = "always" | "after-first-use";

export interface Settings {
	readonly enabled: boolean;
	readonly workspace: WorkspaceMode;
	readonly rpc: boolean;
	readonly confirmSend: boolean;
	readonly inboundTrigger: InboundTrigger;
	readonly toolVisibility: ToolVisibility;
	readonly replyHint: boolean;
	/** Whether a coordinator has the monitor in a pane above its own. */
	readonly monitor: boolean;
	/** Shown behind what the session does; empty for none. */
	readonly status: string;
	readonly stableId?: string;
	/** Absolute path of the intercom-broker binary. */
	readonly brokerPath?: string;
	readonly askTimeoutMs?: number;
	readonly livenessIntervalMs?: number;
	readonly livenessTimeoutMs?: number;
	/** How many settled runs are kept for this session as their supervisor. */
	readonly runsKept?: number;
	/** How many headless workers this session may have. */
	readonly mostHeadless?: number;
}

export const DEFAULT_SETTINGS: Settings = {
	enabled: true,
	workspace: "auto",
	rpc: false,
	confirmSend: false,
	inboundTrigger: "always",
	toolVisibility: "always",
	replyHint: true,
	monitor: true,
	status: "",
};

/** Where settings come from, besides the files that are found from here. */
export interface SettingsSources {
	readonly env: NodeJS.ProcessEnv;
	readonly agentDir: string;
	readonly cwd: string;
	/** The workspace that a launcher named. */
	readonly workspaceRoot?: string;
}

/** What is known of one setting. A source that a setting lacks can't set it. */
export interface Field<T> {
	readonly must: string;
	/** The value, or undefined where it must not be that. */
	readonly accept: (value: unknown) => T | undefined;
	readonly inFile: "user" | "workspace" | "none";
	readonly variable?: string;
	/** What the text of a variable stands for. */
	readonly fromText?: (text: string) => unknown;
}

type Draft = { -readonly [K in keyof Settings]?: Settings[K] };

const MAX_MS = 86_400_000;
const DEFAULT_LIVENESS = { intervalMs: 5_000, timeoutMs: 4_000 };
const REPLACED_KEYS: ReadonlySet<string> = new Set(["brokerCommand", "brokerArgs"]);

export const FIELDS: { readonly [K in keyof Settings]-?: Field<Exclude<Settings[K], undefined>> } = {
	enabled: flag("user", "PI_INTERCOM_ENABLED"),
	workspace: choice("user", "PI_INTERCOM_WORKSPACE_MODE", ["auto", "existing", "never"]),
	rpc: flag("user", "PI_INTERCOM_RPC"),
	confirmSend: flag("workspace", "PI_INTERCOM_CONFIRM_SEND"),
	inboundTrigger: choice("workspace", "PI_INTERCOM_INBOUND_TRIGGER", ["always", "replies", "never"]),
	toolVisibility: choice("workspace", "PI_INTERCOM_TOOL_VISIBILITY", ["always", "after-first-use"]),
	replyHint: flag("workspace", "PI_INTERCOM_REPLY_HINT"),
	// How terminals are divided is the person's own.
	monitor: flag("user", "PI_INTERCOM_MONITOR"),
	status: text("workspace", "PI_INTERCOM_STATUS", "one line of at most 80 characters", (value) => /^\P{Cc}*$/u.test(value) && [...value].length <= 80),
	stableId: text("user", "PI_INTERCOM_STABLE_ID", "1 to 64 letters, digits, dots, hyphens and underscores", (value) => /^[A-Za-z0-9._-]{1,64}$/.test(value)),
	// The agent reads PI_INTERCOM_BROKER itself, so that is no variable of this setting.
	brokerPath: text("user", undefined, "the absolute path of an executable file", (value) => isAbsolute(value) && isExecutableFile(value)),
	askTimeoutMs: milliseconds("workspace", "PI_INTERCOM_ASK_TIMEOUT_MS", 1_000),
	livenessIntervalMs: milliseconds("none", "PI_INTERCOM_LIVENESS_INTERVAL_MS", 100),
	livenessTimeoutMs: milliseconds("none", "PI_INTERCOM_LIVENESS_TIMEOUT_MS", 100),
	runsKept: wholeNumber("workspace", "PI_INTERCOM_RUNS_KEPT", "", 1, 1_000),
	// What the machine bears is no matter of a project's.
	mostHeadless: wholeNumber("user", "PI_INTERCOM_MOST_HEADLESS", "", 1, 64),
};

/**
 * The settings of a session: environment before workspace before user. Throws SettingsError. The workspace's file is
 * that of the project, so this is called where the project is trusted only.
 */
export function readSettings({ env, agentDir, cwd, workspaceRoot }: SettingsSources): Settings {
	const userPath = join(agentDir, "intercom", "config.json");
	const user = readSettingsFile(userPath);
	const own = { ...DEFAULT_SETTINGS, ...(user === undefined ? {} : usersOwn(user)) };
	const fromEnvironment = environment(env);
	const { enabled, workspace } = { ...own, ...fromEnvironment };
	// A session that is to have no workspace has no settings of one.
	const folder = enabled && workspace !== "never" ? workspaceFolder(cwd, workspaceRoot) : undefined;
	const shared = folder === undefined ? undefined : readSettingsFile(join(folder, "settings.json"));
	return withLiveness({ ...own, ...(shared === undefined ? {} : workspaces(shared, userPath)), ...fromEnvironment });
}

function usersOwn(file: SettingsFile): Draft {
	return fromFile(file, (key) => {
		if (REPLACED_KEYS.has(key)) return `is replaced: set "brokerPath" to the absolute path of the intercom-broker binary instead.`;
		return keysOf("user", "workspace").some((known) => known === key) ? undefined : `is no setting; there are ${keysOf("user", "workspace").join(", ")}.`;
	});
}

function workspaces(file: SettingsFile, userPath: string): Draft {
	return fromFile(file, (key) => {
		if (keysOf("workspace").some((known) => known === key)) return undefined;
		const isUsers = REPLACED_KEYS.has(key) || keysOf("user").some((known) => known === key);
		const where = isUsers ? `belongs to the user, in ${userPath}` : "is no setting";
		return `${where}; a workspace may set ${keysOf("workspace").join(", ")}.`;
	});
}

/** `objection` says why a key may not stand in this file. */
function fromFile(file: SettingsFile, objection: (key: string) => string | undefined): Draft {
	const draft: Draft = {};
	for (const [key, value] of Object.entries(file.values)) {
		const why = objection(key);
		if (why !== undefined) throw file.error(key, why);
		take(draft, key as keyof Settings, value, (must) => file.error(key, `must be ${must}.`));
	}
	return draft;
}

function environment(env: NodeJS.ProcessEnv): Draft {
	const draft: Draft = {};
	for (const key of allKeys()) {
		const { variable, fromText = (text: string) => text } = FIELDS[key];
		const text = variable === undefined ? undefined : env[variable];
		if (text === undefined || text === "") continue;
		take(draft, key, fromText(text), (must) => new SettingsError(`The environment's ${variable} is "${text.slice(0, 100)}", which must be ${must}.`));
	}
	return draft;
}

function take<K extends keyof Settings>(draft: Draft, key: K, value: unknown, refusal: (must: string) => SettingsError): void {
	const field = FIELDS[key];
	const accepted = field.accept(value);
	if (accepted === undefined) throw refusal(field.must);
	draft[key] = accepted as Settings[K];
}

/** A ping that may take longer than the time to the next one would hide a dead link, so the timeout is the interval at most. */
function withLiveness(settings: Settings): Settings {
	const { livenessIntervalMs, livenessTimeoutMs } = settings;
	if (livenessIntervalMs === undefined && livenessTimeoutMs === undefined) return settings;
	const intervalMs = livenessIntervalMs ?? DEFAULT_LIVENESS.intervalMs;
	return { ...settings, livenessIntervalMs: intervalMs, livenessTimeoutMs: Math.min(livenessTimeoutMs ?? DEFAULT_LIVENESS.timeoutMs, intervalMs) };
}

/** The folder of the workspace's config, the nearest at or above `cwd` unless a launcher named the root. */
function workspaceFolder(cwd: string, workspaceRoot: string | undefined): string | undefined {
	if (workspaceRoot !== undefined) return join(workspaceRoot, ".pi-intercom");
	for (let directory = realPath(cwd); ; directory = dirname(directory)) {
		const folder = join(directory, ".pi-intercom");
		if (exists(join(folder, "config.json"))) return folder;
		if (dirname(directory) === directory) return undefined;
	}
}

/** What can't be looked at counts as absent: the agent says what is wrong with a workspace. */
function exists(path: string): boolean {
	try {
		return statSync(path, { throwIfNoEntry: false }) !== undefined;
	} catch {
		return false;
	}
}

function realPath(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}

function allKeys(): (keyof Settings)[] {
	return Object.keys(FIELDS) as (keyof Settings)[];
}

function keysOf(...files: Field<unknown>["inFile"][]): string[] {
	return allKeys().filter((key) => files.includes(FIELDS[key].inFile));
}

function flag(inFile: Field<boolean>["inFile"], variable: string): Field<boolean> {
	const words: ReadonlyMap<string, boolean> = new Map([...["true", "1"].map((word) => [word, true] as const), ...["false", "0"].map((word) => [word, false] as const)]);
	return { must: "true or false", accept: (value) => (typeof value === "boolean" ? value : undefined), inFile, variable, fromText: (word) => words.get(word) };
}

function choice<T extends string>(inFile: Field<T>["inFile"], variable: string, allowed: readonly T[]): Field<T> {
	const must = `one of ${allowed.map((word) => `"${word}"`).join(", ")}`;
	return { must, accept: (value) => allowed.find((word) => word === value), inFile, variable };
}

function text(inFile: Field<string>["inFile"], variable: string | undefined, must: string, fits: (value: string) => boolean): Field<string> {
	return { must, accept: (value) => (typeof value === "string" && fits(value) ? value : undefined), inFile, variable };
}

function milliseconds(inFile: Field<number>["inFile"], variable: string, least: number): Field<number> {
	return wholeNumber(inFile, variable, " of milliseconds", least, MAX_MS);
}

function wholeNumber(inFile: Field<number>["inFile"], variable: string, ofWhat: string, least: number, most: number): Field<number> {
	const fits = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
	const must = `a whole number${ofWhat} from ${least} to ${most}`;
	return { must, accept: (value) => (fits(value) ? value : undefined), inFile, variable, fromText: (digits) => (/^\d+$/.test(digits) ? Number(digits) : undefined) };
}
