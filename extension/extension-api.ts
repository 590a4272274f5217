// What other extensions of the same Pi may use of intercom, over Pi's event bus (`pi.events`).
//
// A channel carries small JSON payloads between extensions of the sessions that registered the same namespace in the
// same scope. Nothing of it reaches a model, starts a turn or enters a session's transcript. One member owns the
// channel: the first that registered and may. A new epoch begins whenever the owner or its connection changes.

/** Emit it with an IntercomExtensionRegistration: in `session_start`, or whenever the registry is ready. */
export const INTERCOM_EXTENSION_REGISTER_EVENT = "intercom:extension-register";
/** Emitted with `{ version: 1 }` in each session that intercom serves, once it listens. */
export const INTERCOM_EXTENSION_REGISTRY_READY_EVENT = "intercom:extension-registry-ready";
/** Emit it with an IntercomExtensionSend to send a message to another session, as the tool `intercom` would. */
export const INTERCOM_EXTENSION_SEND_EVENT = "intercom:extension-send";
/** Emitted with an IntercomExtensionSendResult for each of those. */
export const INTERCOM_EXTENSION_SEND_RESULT_EVENT = "intercom:extension-send-result";

export interface IntercomExtensionOwner {
	sessionId: string;
	/** Opaque. */
	epoch: string;
}

export interface IntercomExtensionState {
	/** From 1, one more for each commit. */
	revision: number;
	payload: unknown;
}

/** A session, as far as it is known. */
export interface SessionInfo {
	id: string;
	name?: string;
	cwd: string;
	/** Empty where it was not told. */
	model: string;
	pid?: number;
	/** Milliseconds since 1970, like the next. */
	startedAt?: number;
	lastActivity?: number;
	/** Ready to show: "idle", "thinking", "tool:bash". */
	status?: string;
	contextPercent?: number;
	tokens?: number;
}

export type IntercomExtensionEvent =
	/** At first, and on each change. `supported`: whether the broker knows channels. */
	| { type: "connection"; connected: boolean; supported: boolean }
	/** Without an owner there is none now. */
	| { type: "owner"; owner?: IntercomExtensionOwner }
	/** A broadcast reaches its sender too: do not blindly publish again what comes in. */
	| { type: "message"; fromSessionId: string; owner?: IntercomExtensionOwner; payload: unknown }
	/** After the connection where there is one, and after each commit. */
	| { type: "state"; state: IntercomExtensionState }
	/** What became of a commitState. `revision` is the one in force. */
	| { type: "state_result"; committed: boolean; revision: number; reason?: string }
	/** Another session registered this namespace, or is gone. */
	| { type: "session_joined"; session: SessionInfo }
	| { type: "session_left"; sessionId: string }
	/** A listing shows that a session changed. Presence is not pushed: ask with listSessions() where it matters. */
	| { type: "presence_update"; session: SessionInfo };

export interface IntercomExtensionPublishOptions {
	/** All members, the sender too ("capable"), or the owner only. */
	audience?: "owner" | "capable";
	/** Refused unless this session owns the channel, in the epoch that it knows. */
	ownerOnly?: boolean;
}

/** Methods never throw. What could not be published is told to the person. */
export interface IntercomExtensionChannel {
	readonly namespace: string;
	snapshot(): { connected: boolean; supported: boolean; owner?: IntercomExtensionOwner; state?: IntercomExtensionState };
	/** JSON of 16 KiB at most. */
	publish(payload: unknown, options?: IntercomExtensionPublishOptions): void;
	/** JSON of 64 KiB at most, by the owner. Replaces `expectedRevision`, or the revision last seen; answered by `state_result`. */
	commitState(payload: unknown, expectedRevision?: number): void;
	/** All sessions of the scope, this one first. Rejects without a broker. */
	listSessions(): Promise<SessionInfo[]>;
}

/** Registering a namespace again replaces the earlier registration of this session. */
export interface IntercomExtensionRegistration {
	/** 1 to 64 visible ASCII characters; 32 of them a session. */
	namespace: string;
	ownerEligible: boolean;
	onEvent(event: IntercomExtensionEvent): void;
	/** Called once intercom serves the session. */
	onReady(channel: IntercomExtensionChannel): void;
}

export interface IntercomExtensionSend {
	/** As the tool's parameter: a name or id. */
	to: string;
	message: string;
	requestId?: string;
}

export interface IntercomExtensionSendResult {
	requestId?: string;
	/** Whether the broker accepted it. */
	delivered: boolean;
	reason?: string;
}
