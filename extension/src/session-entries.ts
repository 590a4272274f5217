import { type BulletinMark, type MessageAttachment, type Delivery, isObject, type JsonObject } from "./contract.ts";

/** The customType of every entry that intercom puts into a session. */
export const CUSTOM_TYPE = "intercom";

/** The tool with which sessions talk, whatever their roles. */
export const PEER_TOOL = "intercom";

/** What the entry of a delivery carries in its details, under the key `intercom`. */
export interface EntryDetails {
	readonly deliveryId: string;
	readonly envelopeId: string;
	readonly from: Delivery["from"];
	readonly summary: string;
	/** Empty in entries of earlier versions, as is all that follows. */
	readonly kind: string;
	/** Milliseconds since 1970. */
	readonly acceptedAtMs?: number;
	readonly replyTo?: string;
	/** The run that it opens. */
	readonly runId?: string;
	readonly hint?: string;
	readonly attachments: readonly MessageAttachment[];
	/** Where it is a bulletin. */
	readonly bulletin?: BulletinMark;
}

export function entryDetails({ deliveryId, envelopeId, from, summary, kind, acceptedAtMs, replyTo, runId, hint, attachments }: Delivery, bulletin?: BulletinMark): EntryDetails {
	const details = { deliveryId, envelopeId, from, summary, kind, acceptedAtMs, replyTo, hint, attachments };
	return { ...details, ...(runId === undefined ? {} : { runId }), ...(bulletin === undefined ? {} : { bulletin }) };
}

export function intercomDetails(message: unknown): EntryDetails | undefined {
	if (!isObject(message) || message.customType !== CUSTOM_TYPE || !isObject(message.details)) return undefined;
	const details = message.details.intercom;
	if (!isObject(details) || typeof details.deliveryId !== "string") return undefined;
	const from = isObject(details.from) ? details.from : {};
	return {
		deliveryId: details.deliveryId,
		envelopeId: typeof details.envelopeId === "string" ? details.envelopeId : "",
		from: {
			sessionId: typeof from.sessionId === "string" ? from.sessionId : "",
			name: typeof from.name === "string" ? from.name : "",
			role: typeof from.role === "string" ? from.role : "",
			origin: typeof from.origin === "string" ? from.origin : "",
			directory: optionalText(from.directory),
		},
		summary: typeof details.summary === "string" ? details.summary : "",
		kind: typeof details.kind === "string" ? details.kind : "",
		acceptedAtMs: typeof details.acceptedAtMs === "number" ? details.acceptedAtMs : undefined,
		replyTo: optionalText(details.replyTo),
		runId: optionalText(details.runId),
		hint: optionalText(details.hint),
		attachments: (Array.isArray(details.attachments) ? details.attachments : []).flatMap(attachmentOf),
	};
}

function optionalText(value: unknown): string | undefined {
	return typeof value === "string" ? value : undefined;
}

function attachmentOf(value: unknown): MessageAttachment[] {
	if (!isObject(value) || typeof value.type !== "string" || typeof value.name !== "string") return [];
	return [{ type: value.type, name: value.name, language: optionalText(value.language), characters: typeof value.characters === "number" ? value.characters : undefined }];
}

/** The delivery that the result of a tool call is, if it is one. */
export function resultDeliveryId(message: unknown): string | undefined {
	if (!isObject(message) || message.role !== "toolResult" || !isObject(message.details) || !isObject(message.details.intercom)) return undefined;
	const { deliveryId } = message.details.intercom;
	return typeof deliveryId === "string" ? deliveryId : undefined;
}

/** What the bulletin that an entry is tells. */
function bulletinIds(entry: JsonObject): readonly unknown[] {
	if (entry.type !== "custom_message" || entry.customType !== CUSTOM_TYPE) return [];
	const bulletin = detailsOf(entry)?.bulletin;
	return isObject(bulletin) && Array.isArray(bulletin.ids) ? bulletin.ids : [];
}

/** What the result of a tool call that an entry is tells, so that nothing needs to tell it again. */
function resultIds(entry: JsonObject): readonly unknown[] {
	if (entry.type !== "message" || !isObject(entry.message) || entry.message.role !== "toolResult") return [];
	const ids = detailsOf(entry.message)?.ids;
	return Array.isArray(ids) ? ids : [];
}

function detailsOf(message: JsonObject): JsonObject | undefined {
	const details = isObject(message.details) ? message.details.intercom : undefined;
	return isObject(details) ? details : undefined;
}

/** Whether the session was shown a delivery before, or called the tool `intercom`. */
export function showsUse(entries: readonly unknown[]): boolean {
	return entries.some((entry) => {
		if (!isObject(entry)) return false;
		if (entry.type === "custom_message") return intercomDetails(entry) !== undefined;
		return entry.type === "message" && isObject(entry.message) && entry.message.role === "toolResult" && entry.message.toolName === PEER_TOOL;
	});
}

/** The deliveries among a session's own entries, messages and results of tool calls, and what those tell, as of the last refresh. Each entry is looked at once. */
export class SessionEntries {
	readonly #entries: () => readonly unknown[];
	/** Delivery id to entry id. */
	readonly #present = new Map<string, string>();
	readonly #inBulletins = new Set<unknown>();
	readonly #inResults = new Set<unknown>();
	#scanned = 0;

	/** `entries` gives all entries, oldest first; it only grows. */
	constructor(entries: () => readonly unknown[]) {
		this.#entries = entries;
	}

	has(deliveryId: string): boolean {
		return this.#present.has(deliveryId);
	}

	entryId(deliveryId: string): string | undefined {
		return this.#present.get(deliveryId);
	}

	/** Whether a bulletin, or a call's result, tells of `id`. */
	tells(id: string): boolean {
		return this.#inBulletins.has(id) || this.#inResults.has(id);
	}

	/** Whether a call's result tells of `id`. */
	resultTells(id: string): boolean {
		return this.#inResults.has(id);
	}

	refresh(): void {
		const entries = this.#entries();
		if (entries.length < this.#scanned) this.#scanned = 0;
		for (const entry of entries.slice(this.#scanned)) {
			if (!isObject(entry)) continue;
			const deliveryId = entry.type === "message" ? resultDeliveryId(entry.message) : entry.type === "custom_message" ? intercomDetails(entry)?.deliveryId : undefined;
			for (const id of bulletinIds(entry)) this.#inBulletins.add(id);
			for (const id of resultIds(entry)) this.#inResults.add(id);
			if (deliveryId !== undefined) this.#present.set(deliveryId, typeof entry.id === "string" ? entry.id : "?");
		}
		this.#scanned = entries.length;
	}
}
