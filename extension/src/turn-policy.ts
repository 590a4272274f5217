import { type Delivery, isObject } from "./contract.ts";
import type { InboundTrigger } from "./settings.ts";

/** What other sessions say. The rest are facts and requests of intercom itself, which inboundTrigger is not about. */
const WORDS_OF_SESSIONS: ReadonlySet<string> = new Set(["message", "ask", "reply"]);

/** Whether the person's setting lets a delivery start a turn. It is shown in any case. */
export function maySpeakUp({ kind, replyTo }: Pick<Delivery, "kind" | "replyTo">, inboundTrigger: InboundTrigger): boolean {
	if (inboundTrigger === "always" || !WORDS_OF_SESSIONS.has(kind)) return true;
	return inboundTrigger === "replies" && (kind === "reply" || replyTo !== undefined);
}

/** Whose words come into a run after which it has begun for somebody. */
const ROLES_OF_A_RUN: ReadonlySet<unknown> = new Set(["user", "assistant", "toolResult"]);

/** Follows which delivery the host's present run began with. What is steered into a run changes nothing. */
export class RunOrigin {
	/** From a run's begin until there are words in it. */
	#isFresh = false;
	#deliveryId: string | undefined;

	/** Undefined where the run is none of a delivery's, and between runs. */
	get deliveryId(): string | undefined {
		return this.#deliveryId;
	}

	/** `isRetry` where the run goes on. */
	runStarted(isRetry: boolean): void {
		if (!isRetry) this.#isFresh = true;
	}

	/** A message is final; `handedId` is the delivery that was handed over, if this message is it. */
	messageEnded(message: unknown, handedId: string | undefined): void {
		if (this.#isFresh && handedId !== undefined) this.#deliveryId = handedId;
		if (handedId !== undefined || (isObject(message) && ROLES_OF_A_RUN.has(message.role))) this.#isFresh = false;
	}

	settled(): void {
		this.#isFresh = false;
		this.#deliveryId = undefined;
	}
}
