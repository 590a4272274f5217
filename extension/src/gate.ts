import type { Delivery, WaitReason } from "./contract.ts";
import type { InboundTrigger } from "./settings.ts";
import type { Timers } from "./timers.ts";
import { maySpeakUp } from "./turn-policy.ts";

const INPUT_GRACE_MS = 2_000;

/** When something may be handed to the host, what of it, and whether that may start a turn. Reports nothing by itself. */
export class Gate {
	readonly #isHostIdle: () => boolean;
	readonly #timers: Timers;
	readonly #inboundTrigger: InboundTrigger;
	#runIsActive = false;
	#isCompacting = false;
	/** A stop is under way: nothing of ours may start a run. */
	#isPaused = false;
	/** A close is under way: nothing but this envelope may reach the model. */
	#onlyEnvelopeId: string | undefined;
	/** What was accepted until then starts no turn. */
	#stoppedAtMs = Number.NEGATIVE_INFINITY;
	#waitUntil: number;

	/** Nothing starts a run for `startGraceMs`: the host may have a first prompt of its own. */
	constructor(isHostIdle: () => boolean, timers: Timers, inboundTrigger: InboundTrigger, startGraceMs: number) {
		this.#isHostIdle = isHostIdle;
		this.#timers = timers;
		this.#inboundTrigger = inboundTrigger;
		this.#waitUntil = timers.now() + startGraceMs;
	}

	get runIsActive(): boolean {
		return this.#runIsActive;
	}

	get isCompacting(): boolean {
		return this.#isCompacting;
	}

	get isPaused(): boolean {
		return this.#isPaused;
	}

	get isClosing(): boolean {
		return this.#onlyEnvelopeId !== undefined;
	}

	/** What was accepted until `requestedAtMs` starts no turn, ever. */
	pause(requestedAtMs: number): void {
		this.#isPaused = true;
		this.#stoppedAtMs = Math.max(this.#stoppedAtMs, requestedAtMs);
	}

	resume(): void {
		this.#isPaused = false;
	}

	holdAllBut(envelopeId: string | undefined): void {
		this.#onlyEnvelopeId = envelopeId;
	}

	/** A person or program typed: a run may be about to start, and must not meet one of ours. */
	inputArrived(): void {
		if (!this.#runIsActive) this.#waitUntil = Math.max(this.#waitUntil, this.#timers.now() + INPUT_GRACE_MS);
	}

	runStarted(): void {
		this.#runIsActive = true;
		this.#waitUntil = 0;
	}

	/** A turn has ended, after which the run may go on. */
	turnEnded(): void {
		this.#runIsActive = true;
	}

	settled(): void {
		this.#runIsActive = false;
		this.#isCompacting = false;
	}

	compacting(isCompacting: boolean): void {
		this.#isCompacting = isCompacting;
	}

	/** Why nothing may start a run now; undefined where something may. */
	reasonToWait(): WaitReason | undefined {
		if (this.#isCompacting && !this.#runIsActive && this.#isHostIdle()) this.#isCompacting = false;
		if (this.#isCompacting) return "compaction";
		if (this.#runIsActive) return "busy";
		if (this.#timers.now() < this.#waitUntil) return "starting";
		return this.#isHostIdle() ? undefined : "busy";
	}

	/** Whether a close lets the delivery pass, if there is one. */
	mayPass({ envelopeId }: Delivery): boolean {
		return this.#onlyEnvelopeId === undefined || envelopeId === this.#onlyEnvelopeId;
	}

	mayTriggerTurn(delivery: Delivery): boolean {
		if (delivery.quiet || this.isFromBeforeStop(delivery)) return false;
		return delivery.envelopeId === this.#onlyEnvelopeId || maySpeakUp(delivery, this.#inboundTrigger);
	}

	isFromBeforeStop({ acceptedAtMs }: Delivery): boolean {
		return acceptedAtMs !== undefined && acceptedAtMs <= this.#stoppedAtMs;
	}
}
