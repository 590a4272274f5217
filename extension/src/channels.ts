import type { IntercomExtensionChannel, IntercomExtensionEvent, IntercomExtensionPublishOptions, IntercomExtensionRegistration, SessionInfo } from "../extension-api.ts";
import { type ChannelEvent, type ChannelOwner, type ChannelState, isObject, type JsonObject, type Notice } from "./contract.ts";
import { parseChannelEvent, parseChannelResult } from "./contract-parse.ts";
import { parseSessionList, type PeerSession } from "./peers.ts";
import type { Timers } from "./timers.ts";

const REGISTRATIONS_LIMIT = 32;
const UNTOLD_LIMIT = 8;
const NAMESPACE = /^[!-~]{1,64}$/;
/** Half a surrogate pair, as JSON writes it: the agent reads no such text. */
const HALF_CHARACTER = /(?:^|[^\\])(?:\\\\)*\\ud[89a-f]/;
/** Those who join at about the same time are looked up together. */
const LOOK_UP_MS = 200;

/** The way to the session's agent, and to its person. */
export interface ChannelLink {
	call(method: string, params: JsonObject): Promise<unknown>;
	notify(notice: Notice): void;
}

interface Registered {
	readonly registration: IntercomExtensionRegistration;
	channel: IntercomExtensionChannel | undefined;
	joined: boolean;
	owner: ChannelOwner | undefined;
	state: ChannelState | undefined;
	/** The latest known, to commit over. */
	revision: number;
	/** Whether the state was told on this connection. */
	stateIsTold: boolean;
	/** Problems that the person was told of; each is told once until all is well again. */
	readonly told: Set<string>;
}

/**
 * The channels of other extensions in this Pi: takes their registrations at any time, joins them while the session is
 * connected, and brings them what happens there. Other extensions are callers and callees here: nothing that they do
 * wrong throws further.
 */
export class Channels {
	readonly #timers: Timers;
	readonly #registered = new Map<string, Registered>();
	readonly #untold: string[] = [];
	/** Names by session id of those that joined and were not told yet. */
	readonly #arrived = new Map<string, { readonly name: string; readonly namespaces: Set<string> }>();
	#known = new Map<string, string>();
	#link: ChannelLink | undefined;
	#isConnected = false;
	#isSupported = false;
	/** Rises with each agent: what an earlier one answers counts no more. */
	#life = 0;
	#cancelLookUp: (() => void) | undefined;

	constructor(timers: Timers) {
		this.#timers = timers;
	}

	/** Takes what an extension registers. What is wrong with it is told to the person. */
	register(value: unknown): void {
		const problem = registrationProblem(value);
		if (problem !== undefined) return this.#tell(`an extension's channel was not registered: ${problem}`);
		const registration = value as IntercomExtensionRegistration;
		const { namespace } = registration;
		const before = this.#registered.get(namespace);
		if (before === undefined && this.#registered.size >= REGISTRATIONS_LIMIT) {
			return this.#tell(`an extension's channel was not registered: there are ${REGISTRATIONS_LIMIT} already`);
		}
		const added: Registered = { registration, channel: undefined, joined: false, owner: undefined, state: undefined, revision: 0, stateIsTold: false, told: new Set() };
		this.#registered.set(namespace, added);
		if (this.#link === undefined) return;
		this.#joinIfConnected(added);
		this.#introduce(added);
	}

	/** The session has an agent from now on, if not a broker. */
	attach(link: ChannelLink): void {
		this.#link = link;
		for (const text of this.#untold.splice(0)) this.#tell(text);
		for (const registered of [...this.#registered.values()]) this.#introduce(registered);
	}

	/** The session is over: its extensions are no longer called. */
	detach(): void {
		this.#link = undefined;
		this.#isConnected = false;
		this.#life++;
		this.#registered.clear();
		this.#forgetArrived();
	}

	/** The agent says whether it is connected, and whether that broker knows channels. */
	connectionChanged(isConnected: boolean, isSupported: boolean): void {
		if (this.#link === undefined) return;
		const hasChanged = isConnected !== this.#isConnected || (isConnected && isSupported !== this.#isSupported);
		this.#isConnected = isConnected;
		if (isConnected) this.#isSupported = isSupported;
		if (!hasChanged) return;
		if (!isConnected) this.#forgetArrived();
		for (const registered of [...this.#registered.values()]) {
			registered.owner = undefined;
			registered.stateIsTold = false;
			// First: what the extension sends when it hears of it comes behind that.
			this.#joinIfConnected(registered);
			this.#emit(registered, { type: "connection", connected: isConnected, supported: this.#isSupported });
		}
	}

	/** The agent is gone; the next one knows of no channel. */
	agentLost(): void {
		this.#life++;
		for (const registered of this.#registered.values()) registered.joined = false;
		this.connectionChanged(false, this.#isSupported);
	}

	/** A `channel/event` of the agent. */
	received(params: unknown): void {
		const event = parseChannelEvent(params);
		const registered = this.#registered.get(event.namespace);
		if (registered !== undefined) this.#happened(registered, event);
	}

	#happened(registered: Registered, event: ChannelEvent): void {
		switch (event.type) {
			case "owner": {
				const isSame = event.owner?.sessionId === registered.owner?.sessionId && event.owner?.epoch === registered.owner?.epoch;
				registered.owner = event.owner;
				if (!isSame) this.#emit(registered, withOwner({ type: "owner" }, event.owner));
				break;
			}
			case "state": {
				// Joining tells a state that its commit may have told already.
				const isOld = registered.stateIsTold && event.state.revision <= registered.revision;
				registered.stateIsTold = true;
				registered.revision = event.state.revision;
				registered.state = event.state;
				if (!isOld) this.#emit(registered, { type: "state", state: { ...event.state } });
				break;
			}
			case "message":
				this.#emit(registered, withOwner({ type: "message", fromSessionId: event.fromSessionId, payload: event.payload }, event.owner));
				break;
			case "joined":
				this.#arrivedIn(event.namespace, event.sessionId, event.name);
				break;
			case "left":
				this.#arrived.get(event.sessionId)?.namespaces.delete(event.namespace);
				this.#emit(registered, { type: "session_left", sessionId: event.sessionId });
				break;
		}
	}

	#introduce(registered: Registered): void {
		const { registration } = registered;
		registered.channel ??= this.#channelOf(registered);
		const { channel } = registered;
		this.#guarded(registered, () => registration.onReady(channel));
		if (this.#isConnected) this.#emit(registered, { type: "connection", connected: true, supported: this.#isSupported });
	}

	#channelOf(registered: Registered): IntercomExtensionChannel {
		const { namespace } = registered.registration;
		return Object.freeze({
			namespace,
			snapshot: () => ({
				connected: this.#isCurrent(registered) && this.#isConnected,
				supported: this.#isSupported,
				...(registered.owner === undefined ? {} : { owner: { ...registered.owner } }),
				...(registered.state === undefined ? {} : { state: { ...registered.state } }),
			}),
			publish: (payload: unknown, options?: IntercomExtensionPublishOptions) => void this.#publish(registered, payload, isObject(options) ? options : {}),
			commitState: (payload: unknown, expectedRevision?: number) => void this.#commit(registered, payload, expectedRevision ?? registered.revision),
			listSessions: () => this.#listSessions(),
		});
	}

	#isCurrent(registered: Registered): boolean {
		return this.#link !== undefined && this.#registered.get(registered.registration.namespace) === registered;
	}

	#joinIfConnected(registered: Registered): void {
		if (this.#isConnected && this.#isSupported && !registered.joined) void this.#join(registered);
	}

	async #join(registered: Registered): Promise<void> {
		const { namespace, ownerEligible } = registered.registration;
		const life = this.#life;
		const result = await this.#request("channel/join", { namespace, ownerEligible });
		if (life !== this.#life) return;
		registered.joined = result.ok;
		if (result.ok) registered.told.clear();
		else if (result.reason !== "NOT_CONNECTED") this.#tellOnce(registered, `is not joined: ${result.message}`, result.reason);
	}

	async #publish(registered: Registered, payload: unknown, { audience, ownerOnly }: IntercomExtensionPublishOptions): Promise<void> {
		const json = jsonOf(payload);
		const refused = this.#refusal(registered, json);
		if (refused === "UNSUPPORTED_BROKER") return;
		if (refused !== undefined) return this.#tellOnce(registered, "could not be published to", refused);
		const { namespace } = registered.registration;
		const epoch = ownerOnly === true ? registered.owner?.epoch : undefined;
		const result = await this.#request("channel/publish", {
			...{ namespace, payload: json?.value },
			...(audience === undefined ? {} : { audience }),
			...(ownerOnly === true ? { ownerOnly } : {}),
			...(epoch === undefined ? {} : { epoch }),
		});
		if (result.ok) registered.told.clear();
		else this.#tellOnce(registered, `could not be published to: ${result.message}`, result.reason);
	}

	async #commit(registered: Registered, payload: unknown, expectedRevision: number): Promise<void> {
		const json = jsonOf(payload);
		const refused = this.#refusal(registered, json);
		// Never before the call that asked for it is over.
		await Promise.resolve();
		if (refused !== undefined) {
			this.#emit(registered, { type: "state_result", committed: false, revision: registered.revision, reason: refused });
			return;
		}
		const { namespace } = registered.registration;
		const result = await this.#request("channel/commit", { namespace, payload: json?.value, expectedRevision, epoch: registered.owner?.epoch ?? "" });
		const { ok, reason, revision = registered.revision } = result;
		if (ok || reason === "REVISION_CONFLICT") registered.revision = revision;
		this.#emit(registered, { type: "state_result", committed: ok, revision, ...(ok ? {} : { reason }) });
	}

	/** Why nothing can be sent, if so. */
	#refusal(registered: Registered, json: { readonly value: unknown } | undefined): string | undefined {
		if (!this.#isCurrent(registered)) return "REPLACED";
		if (!this.#isConnected) return "NOT_CONNECTED";
		if (!this.#isSupported) return "UNSUPPORTED_BROKER";
		return json === undefined ? "PAYLOAD_INVALID" : undefined;
	}

	/** Never rejects. */
	async #request(method: string, params: JsonObject): Promise<ReturnType<typeof parseChannelResult>> {
		try {
			if (this.#link === undefined) throw new Error("the session is over");
			return parseChannelResult(await this.#link.call(method, params));
		} catch (error) {
			return { ok: false, reason: reasonOf(error), message: error instanceof Error ? error.message : String(error) };
		}
	}

	async #listSessions(): Promise<SessionInfo[]> {
		if (this.#link === undefined || !this.#isConnected) throw new Error("this session is not connected to the intercom broker");
		const { self, sessions: others } = parseSessionList(await this.#link.call("sessions/list", {}));
		const sessions = [...(self === undefined ? [] : [self]), ...others].map(sessionInfo);
		const before = this.#known;
		this.#known = new Map(sessions.map((session) => [session.id, JSON.stringify(session)]));
		for (const session of sessions) {
			const known = before.get(session.id);
			if (known === undefined || known === this.#known.get(session.id)) continue;
			for (const registered of [...this.#registered.values()]) this.#emit(registered, { type: "presence_update", session: { ...session } });
		}
		return sessions;
	}

	#arrivedIn(namespace: string, sessionId: string, name: string): void {
		const arrived = this.#arrived.get(sessionId) ?? { name, namespaces: new Set() };
		arrived.namespaces.add(namespace);
		this.#arrived.set(sessionId, arrived);
		this.#cancelLookUp ??= this.#timers.after(LOOK_UP_MS, () => void this.#tellArrived());
	}

	async #tellArrived(): Promise<void> {
		this.#cancelLookUp = undefined;
		const arrived = new Map(this.#arrived);
		const sessions = await this.#listSessions().catch(() => []);
		for (const [id, who] of arrived) {
			// Whoever has left meanwhile, or came again, is not told here.
			if (this.#arrived.get(id) !== who) continue;
			this.#arrived.delete(id);
			const session = sessions.find((info) => info.id === id) ?? { id, ...(who.name === "" ? {} : { name: who.name }), cwd: "", model: "" };
			for (const namespace of who.namespaces) {
				const registered = this.#registered.get(namespace);
				if (registered !== undefined) this.#emit(registered, { type: "session_joined", session: { ...session } });
			}
		}
	}

	#forgetArrived(): void {
		this.#cancelLookUp?.();
		this.#cancelLookUp = undefined;
		this.#arrived.clear();
	}

	#emit(registered: Registered, event: IntercomExtensionEvent): void {
		if (this.#isCurrent(registered)) this.#guarded(registered, () => registered.registration.onEvent(event));
	}

	/** Calls another extension. Whatever it throws, at once or later, ends here. */
	#guarded(registered: Registered, run: () => unknown): void {
		const failed = (error: unknown): void => this.#tellOnce(registered, `its extension failed: ${error instanceof Error ? error.message : String(error)}`, "EXTENSION_FAILED");
		try {
			const result = run();
			if (result instanceof Promise) result.catch(failed);
		} catch (error) {
			failed(error);
		}
	}

	#tellOnce(registered: Registered, what: string, reason: string): void {
		if (registered.told.has(reason)) return;
		registered.told.add(reason);
		this.#tell(`channel ${registered.registration.namespace}: ${what} (${reason})`);
	}

	#tell(text: string): void {
		if (this.#link !== undefined) this.#link.notify({ level: "warning", text: `Intercom: ${text}` });
		else if (this.#untold.length < UNTOLD_LIMIT) this.#untold.push(text);
	}
}

function withOwner<T extends object>(event: T, owner: ChannelOwner | undefined): T & { owner?: ChannelOwner } {
	return owner === undefined ? event : { ...event, owner: { ...owner } };
}

function reasonOf(error: unknown): string {
	const hasReason = typeof error === "object" && error !== null && "reason" in error;
	return hasReason && typeof error.reason === "string" ? error.reason : "NOT_CONNECTED";
}

/** The payload as it is at this moment, whatever its owner does with it later; undefined where it can't be JSON. */
function jsonOf(payload: unknown): { readonly value: unknown } | undefined {
	try {
		const text: unknown = JSON.stringify(payload);
		return typeof text === "string" && !HALF_CHARACTER.test(text) ? { value: JSON.parse(text) } : undefined;
	} catch {
		return undefined;
	}
}

/** What is wrong with a registration, read from another extension's object: even that may throw. */
function registrationProblem(value: unknown): string | undefined {
	try {
		if (!isObject(value)) return "it is no object";
		if (typeof value.namespace !== "string" || !NAMESPACE.test(value.namespace)) return "its namespace is not 1 to 64 visible ASCII characters";
		if (typeof value.ownerEligible !== "boolean") return `${value.namespace} does not say whether it is ownerEligible`;
		if (typeof value.onEvent !== "function" || typeof value.onReady !== "function") return `${value.namespace} has no onEvent and onReady to call`;
		return undefined;
	} catch (error) {
		return error instanceof Error ? error.message : String(error);
	}
}

/** A session as other extensions know it. */
function sessionInfo({ sessionId, name, cwd, model, status, contextPercent, tokens }: PeerSession): SessionInfo {
	return {
		id: sessionId,
		...(name === "" ? {} : { name }),
		cwd,
		model,
		...(status === "" ? {} : { status }),
		...(contextPercent === undefined ? {} : { contextPercent }),
		...(tokens === undefined ? {} : { tokens }),
	};
}
