import { CallResults, type TellResults } from "./call-results.ts";
import { type BulletinMark, type Delivery, isObject, type Receipt, type WaitReason } from "./contract.ts";
import { Evidence, type EvidencedSession } from "./evidence.ts";
import { Gate } from "./gate.ts";
import { isLocal, type LocalMessage, LocalMessages, type LocalOutcome } from "./local-messages.ts";
import { CUSTOM_TYPE, type EntryDetails, entryDetails, intercomDetails, resultDeliveryId } from "./session-entries.ts";
import type { InboundTrigger } from "./settings.ts";
import type { Timers } from "./timers.ts";
import { RunOrigin } from "./turn-policy.ts";

const HELD_LIMIT = 256;
const LOST_SEND_MS = 5_000;
const RETRY_LOOK_MS = 250;
const HAND_OVER_LIMIT = 3;
/** How long a host that threw is left alone, after the first failure and after the second. */
const FAILURE_PAUSES_MS = [1_000, 4_000];

export interface HostMessage {
	readonly customType: string;
	readonly content: string;
	readonly display: boolean;
	readonly details: { readonly intercom: EntryDetails };
}

/** The host session, as far as delivery needs it. `send` may throw; the others answer about this very moment. */
export interface HostSession extends EvidencedSession {
	isIdle(): boolean;
	send(message: HostMessage, options: { readonly triggerTurn: boolean; readonly deliverAs?: "steer" }): void;
}

export interface InboxOptions {
	/** Nothing starts a run for so long: the host may have a first prompt of its own. */
	readonly startGraceMs?: number;
	/** Which deliveries start a turn. All are shown. */
	readonly inboundTrigger?: InboundTrigger;
	/** Called before a delivery is handed to the host. */
	readonly onHandOver?: () => void;
	/** Called as a delivery comes into the session. `startsTurn` is false where it came from before a stop. */
	readonly onShown?: (delivery: Delivery, startsTurn: boolean) => void;
	/** Called with the deliveries that a model request is built with. */
	readonly onRequested?: (deliveryIds: ReadonlySet<string>) => void;
	/** Called with what became of what results of tool calls tell. */
	readonly tellResults?: TellResults;
}

interface Held {
	readonly delivery: Delivery;
	readonly bulletin?: BulletinMark;
	handOvers: number;
	notBefore: number;
	announced: WaitReason | undefined;
}

/**
 * Brings deliveries into the host session, in order, one at a time, and reports with evidence what became of each.
 *
 * Idle: the message starts a run. During a run it waits here and goes over inside the turn_end handler, so that nothing
 * rests in the host's own queues, which Escape empties. At any other moment it waits. What was handed over and never
 * appeared is held again. A reply that is the result of a tool call is not handed over unless that result never appears.
 */
export class Inbox {
	readonly #host: HostSession;
	readonly #timers: Timers;
	readonly #receipt: (receipt: Receipt) => void;
	readonly #held: Held[] = [];
	/** Deliveries that are results of tool calls and no entries yet, with what the broker sent again of them. */
	readonly #results = new Map<string, Held | undefined>();
	/** What other results tell. */
	readonly #told: CallResults;
	readonly #local = new LocalMessages();
	readonly #evidence: Evidence;
	readonly #origin = new RunOrigin();
	readonly #gate: Gate;
	readonly #onHandOver: () => void;
	readonly #onShown: (delivery: Delivery, startsTurn: boolean) => void;
	readonly #onRequested: (deliveryIds: ReadonlySet<string>) => void;
	#handed: Held | undefined;
	#isClosed = false;
	#cancelPump: (() => void) | undefined;
	#cancelLook: (() => void) | undefined;
	#cancelLost: (() => void) | undefined;

	constructor(host: HostSession, timers: Timers, receipt: (receipt: Receipt) => void, options: InboxOptions = {}) {
		this.#host = host;
		this.#receipt = (event) => (isLocal(event.deliveryId) ? this.#local.received(event) : receipt(event));
		this.#evidence = new Evidence(host, this.#receipt);
		this.#told = new CallResults((ids) => this.#evidence.toldByResults(ids), options.tellResults ?? (() => true));
		this.#timers = timers;
		this.#gate = new Gate(() => host.isIdle(), timers, options.inboundTrigger ?? "always", options.startGraceMs ?? 0);
		this.#onHandOver = options.onHandOver ?? (() => undefined);
		this.#onShown = options.onShown ?? (() => undefined);
		this.#onRequested = options.onRequested ?? (() => undefined);
	}

	get runIsActive(): boolean {
		return this.#gate.runIsActive;
	}

	/** The broker's delivery that started the present run, if one did. */
	get trigger(): string | undefined {
		const id = this.#origin.deliveryId;
		return id === undefined || isLocal(id) ? undefined : id;
	}

	deliver(delivery: Delivery): void {
		if (this.#isClosed) return;
		const id = delivery.deliveryId;
		const waiting = this.#handed?.delivery.deliveryId === id ? this.#handed : this.#held.find((held) => held.delivery.deliveryId === id);
		if (waiting !== undefined) {
			this.#announce(waiting, waiting.announced ?? "busy", true);
			return;
		}
		this.#look();
		if (this.#results.has(id)) {
			const result = newlyHeld(delivery);
			this.#results.set(id, result);
			this.#announce(result, "busy");
			return;
		}
		if (this.#evidence.isShown(id)) {
			this.#evidence.repeat(id);
			return;
		}
		if (this.#held.length >= HELD_LIMIT) {
			this.#receipt({ deliveryId: id, event: "failed", evidence: `the host holds ${HELD_LIMIT} deliveries already` });
			return;
		}
		this.#held.push(newlyHeld(delivery));
		this.#pump();
	}

	/** A tool call's result, which the host is about to save, tells these. */
	resultTells(ids: readonly string[]): void {
		if (!this.#isClosed) this.#told.returned(ids);
	}

	/** The delivery is the result of a tool call, which the host is about to save. It may have come as a delivery, too. */
	resultReturned(deliveryId: string): void {
		if (this.#isClosed || this.#handed?.delivery.deliveryId === deliveryId || this.#evidence.isShown(deliveryId)) return;
		const at = this.#held.findIndex((held) => held.delivery.deliveryId === deliveryId);
		const [held] = at < 0 ? [] : this.#held.splice(at, 1);
		this.#results.set(deliveryId, held);
		this.#evidence.shown(deliveryId);
	}

	/**
	 * Shows what this Pi itself has to say, in its turn among the deliveries; it starts a turn unless it is quiet. Resolves
	 * once it is an entry of the session. Not durable: only this process knows of it, and its end takes what still waits.
	 */
	local(message: LocalMessage): Promise<void> {
		return new Promise((resolve, reject) => {
			if (this.#isClosed) reject(new Error("the session is over"));
			else this.deliver(this.#local.open(message, { shown: resolve, failed: (problem) => reject(new Error(problem)) }));
		});
	}

	/**
	 * Hands over what the agent has to say now, or not at all: false where the session is not idle, or something else waits
	 * or is under way. What fails is not held again.
	 */
	showNow(message: LocalMessage, bulletin: BulletinMark, outcome: LocalOutcome): boolean {
		this.#look();
		const isTaken = this.#handed !== undefined || this.#held.length > 0;
		if (this.#isClosed || this.#gate.isPaused || this.#gate.isClosing || isTaken || this.#gate.reasonToWait() !== undefined) return false;
		const delivery = this.#local.open(message, outcome);
		// A host that seemed to have lost it may have kept it.
		if (this.#evidence.isShown(delivery.deliveryId)) this.#evidence.repeat(delivery.deliveryId);
		else this.#handOver({ ...newlyHeld(delivery), bulletin });
		return true;
	}

	/** Those of `ids` of which an entry of the session tells already. */
	told(ids: readonly string[]): string[] {
		return this.#evidence.told(ids);
	}

	/** Those of which the result of a tool call tells. */
	toldByResults(ids: readonly string[]): string[] {
		return this.#evidence.toldByResults(ids);
	}

	withdraw(deliveryId: string): "withdrawn" | "tooLate" {
		if (this.#handed?.delivery.deliveryId === deliveryId || this.#evidence.isShown(deliveryId)) return "tooLate";
		const at = this.#held.findIndex((held) => held.delivery.deliveryId === deliveryId);
		if (at >= 0) this.#held.splice(at, 1);
		return "withdrawn";
	}

	/** Those of `deliveryIds` that are in the session, on disk where it is saved at all. */
	reconcile(deliveryIds: readonly string[]): string[] {
		return this.#evidence.present(deliveryIds);
	}

	/** Deliveries that wait here. */
	get waitingCount(): number {
		return this.#held.length;
	}

	/** An agent is there that may not have heard of every result. */
	linkUp(): void {
		this.#told.look();
	}

	/** The agent is gone. What waits here is still in the broker, which offers it again. */
	linkLost(): void {
		this.#dropHeld((held) => !isLocal(held.delivery.deliveryId));
		for (const id of this.#results.keys()) this.#results.set(id, undefined);
	}

	/** The session is being stopped: nothing is handed over until `resume`, and what was accepted until then starts no turn, ever. */
	pause(requestedAtMs: number): void {
		this.#gate.pause(requestedAtMs);
	}

	resume(): void {
		this.#gate.resume();
		this.#pumpIn(0);
	}

	/** The session is being closed: until `release` only `envelopeId` is handed over, ahead of what waits. */
	holdAllBut(envelopeId: string): void {
		this.#gate.holdAllBut(envelopeId);
		this.#pumpIn(0);
	}

	release(): void {
		if (!this.#gate.isClosing) return;
		this.#gate.holdAllBut(undefined);
		this.#pumpIn(0);
	}

	/** A person or program typed: a run may be about to start, and must not meet one of ours. */
	inputArrived(): void {
		this.#gate.inputArrived();
	}

	runStarted(): void {
		this.#origin.runStarted(this.#gate.runIsActive);
		this.#gate.runStarted();
	}

	/** Called inside the turn_end handler. `completed` is false where the turn was aborted or failed. */
	turnEnded(completed: boolean): void {
		this.#gate.turnEnded();
		this.#look();
		this.#lookSoon();
		const next = this.#next();
		if (!completed || this.#isClosed || this.#gate.isCompacting || this.#handed !== undefined || next === undefined || this.#failedLately(next)) return;
		this.#handOver(next);
	}

	settled(): void {
		this.#gate.settled();
		this.#origin.settled();
		this.#evidence.requestEnded(false);
		this.#look();
		this.#told.giveUp();
		this.#giveUpResults();
		this.#holdAgain(false);
		this.#pumpIn(0);
	}

	compactionStarted(): void {
		this.#gate.compacting(true);
		for (const held of this.#held) this.#announce(held, "compaction");
	}

	compactionEnded(): void {
		this.#gate.compacting(false);
		this.#pumpIn(0);
	}

	/** A message is final. Its entry is saved only after this event's handlers, so the look at it comes later. */
	messageEnded(message: unknown): void {
		if (!isObject(message)) return;
		const details = intercomDetails(message);
		const handedId = this.#handed?.delivery.deliveryId;
		this.#origin.messageEnded(message, handedId === details?.deliveryId ? handedId : undefined);
		if (details !== undefined) this.#appeared(details.deliveryId);
		if (message.role === "assistant") this.#evidence.requestEnded(message.stopReason !== "error" && message.stopReason !== "aborted");
		this.#lookSoon();
	}

	/**
	 * A model request is being built from `messages`. Returns them without the second copy of a delivery, which a host
	 * that kept a steered message over an abort would show; undefined where there is none. A result stays with its call.
	 */
	contextBuilt<T>(messages: readonly T[]): T[] | undefined {
		const inRequest = new Set(messages.flatMap((message) => resultDeliveryId(message) ?? []));
		const once = messages.filter((message) => {
			const details = intercomDetails(message);
			if (details === undefined) return true;
			const isFirst = !inRequest.has(details.deliveryId);
			inRequest.add(details.deliveryId);
			return isFirst;
		});
		for (const id of inRequest) this.#appeared(id);
		this.#evidence.requestBuilt(inRequest);
		this.#look();
		this.#onRequested(inRequest);
		return once.length < messages.length ? once : undefined;
	}

	/** Ends every timer; nothing is shown or reported after it. */
	close(): void {
		this.#isClosed = true;
		this.#dropHeld(() => true);
		this.#results.clear();
		this.#told.close();
		this.#handed = undefined;
		this.#local.close();
		this.#cancelPump?.();
		this.#cancelLook?.();
		this.#cancelLost?.();
	}

	#dropHeld(isDropped: (held: Held) => boolean): void {
		const kept = this.#held.filter((held) => !isDropped(held));
		this.#held.splice(0, this.#held.length, ...kept);
	}

	#pump(): void {
		if (this.#isClosed) return;
		this.#cancelPump?.();
		while (this.#handed === undefined) {
			const next = this.#next();
			if (next === undefined || this.#reasonToWait(next) !== undefined) break;
			this.#handOver(next);
		}
		if (this.#held.length === 0) return;
		const next = this.#next();
		const reason = this.#reasonToWait(next) ?? "busy";
		for (const held of this.#held) this.#announce(held, this.#gate.mayPass(held.delivery) ? reason : "closing");
		if (next !== undefined && this.#handed === undefined && !this.#gate.runIsActive) this.#pumpIn(RETRY_LOOK_MS);
	}

	/** What is handed over next: the oldest that may be. */
	#next(): Held | undefined {
		return this.#gate.isPaused ? undefined : this.#held.find(({ delivery }) => this.#gate.mayPass(delivery));
	}

	#reasonToWait(next: Held | undefined): WaitReason | undefined {
		return this.#gate.reasonToWait() ?? (next !== undefined && this.#failedLately(next) ? "busy" : undefined);
	}

	#failedLately(next: Held): boolean {
		return this.#timers.now() < next.notBefore;
	}

	#pumpIn(delayMs: number): void {
		if (this.#isClosed) return;
		this.#cancelPump?.();
		this.#cancelPump = this.#timers.after(delayMs, () => this.#pump());
	}

	#handOver(held: Held): void {
		const options = this.#gate.mayTriggerTurn(held.delivery) ? ({ triggerTurn: true, deliverAs: "steer" } as const) : { triggerTurn: false };
		this.#dropHeld((other) => other === held);
		this.#handed = held;
		held.announced = undefined;
		try {
			this.#onHandOver();
			this.#host.send({ customType: CUSTOM_TYPE, content: held.delivery.content, display: true, details: { intercom: entryDetails(held.delivery, held.bulletin) } }, options);
		} catch (error) {
			held.notBefore = this.#timers.now() + (FAILURE_PAUSES_MS[held.handOvers] ?? 0);
			this.#holdAgain(true, error instanceof Error ? error.message : String(error));
			return;
		}
		this.#look();
		if (this.#handed !== undefined && !this.#gate.runIsActive) this.#expectRun();
	}

	/** The run is over without these results, as where it was aborted: they are shown as messages after all, nothing overtaking them. */
	#giveUpResults(): void {
		for (const [deliveryId, held] of [...this.#results].reverse()) {
			this.#evidence.notShown(deliveryId);
			if (held !== undefined) this.#held.unshift(held);
			// The broker offers it as mail.
			else this.#receipt({ deliveryId, event: "notTaken", evidence: "the result of the tool call that got it did not come into the session" });
		}
		this.#results.clear();
	}

	/** An idle send that starts no run is lost. A host that is busy, as with compaction before the run, gets more time. */
	#expectRun(): void {
		this.#cancelLost?.();
		this.#cancelLost = this.#timers.after(LOST_SEND_MS, () => {
			if (this.#handed === undefined || this.#gate.runIsActive || this.#isClosed) return;
			this.#look();
			if (!this.#host.isIdle()) this.#expectRun();
			else {
				this.#holdAgain(true);
				this.#pump();
			}
		});
	}

	/** Puts what was handed over back in front, so that nothing overtakes it. A host that fails with it three times is given up. */
	#holdAgain(hostFailed: boolean, problem = "the host started no run for it"): void {
		const lost = this.#handed;
		if (lost === undefined) return;
		this.#handed = undefined;
		if (lost.bulletin !== undefined) {
			this.#receipt({ deliveryId: lost.delivery.deliveryId, event: "failed", evidence: problem });
			return;
		}
		if (hostFailed) lost.handOvers++;
		if (lost.handOvers >= HAND_OVER_LIMIT) {
			this.#receipt({ deliveryId: lost.delivery.deliveryId, event: "failed", evidence: `${HAND_OVER_LIMIT} attempts, the last: ${problem}` });
			return;
		}
		this.#held.unshift(lost);
	}

	#appeared(deliveryId: string): void {
		const handed = this.#handed;
		if (handed?.delivery.deliveryId !== deliveryId) return;
		this.#handed = undefined;
		this.#cancelLost?.();
		this.#evidence.shown(deliveryId);
		this.#onShown(handed.delivery, !this.#gate.isFromBeforeStop(handed.delivery));
	}

	#lookSoon(): void {
		if (this.#isClosed || !this.#isAwaited) return;
		this.#cancelLook?.();
		this.#cancelLook = this.#timers.after(0, () => this.#look());
	}

	/** Looks what has come of that which was handed over or shown. */
	#look(): void {
		if (this.#isClosed || !this.#isAwaited) return;
		const handedId = this.#handed?.delivery.deliveryId;
		if (handedId !== undefined && this.#evidence.isEntry(handedId)) this.#appeared(handedId);
		for (const id of this.#results.keys()) if (this.#evidence.isEntry(id)) this.#results.delete(id);
		this.#told.look();
		this.#evidence.report();
	}

	get #isAwaited(): boolean {
		return this.#handed !== undefined || this.#told.isAwaited || this.#evidence.isAwaited;
	}

	#announce(held: Held, reason: WaitReason, again = false): void {
		if (held.announced === reason && !again) return;
		held.announced = reason;
		this.#receipt({ deliveryId: held.delivery.deliveryId, event: "held", waitReason: reason });
	}
}

function newlyHeld(delivery: Delivery): Held {
	return { delivery, handOvers: 0, notBefore: 0, announced: undefined };
}
