import type { Delivery } from "../../src/contract.ts";
import type { HostMessage, HostSession } from "../../src/inbox.ts";

/** A host session as HOST.md describes Pi's: entries are saved after message_end, the file comes with the first answer. */
export class FakeSession implements HostSession {
	readonly sent: { readonly message: HostMessage; readonly options: { readonly triggerTurn: boolean; readonly deliverAs?: "steer" } }[] = [];
	readonly saved: object[] = [];
	idle = true;
	fileState: "present" | "absent" | "memory" = "present";
	sendError: Error | undefined;

	isIdle(): boolean {
		return this.idle;
	}

	send(message: HostMessage, options: { readonly triggerTurn: boolean; readonly deliverAs?: "steer" }): void {
		if (this.sendError !== undefined) throw this.sendError;
		this.sent.push({ message, options });
		if (options.triggerTurn) this.idle = false;
		else if (this.idle) this.save(message);
	}

	entries(): readonly unknown[] {
		return this.saved;
	}

	file(): "present" | "absent" | "memory" {
		return this.fileState;
	}

	/** Appends the message's entry, as the host does after message_end. */
	save(message: HostMessage): void {
		this.saved.push({ type: "custom_message", id: `e${this.saved.length + 1}`, ...message });
	}

	get sentIds(): string[] {
		return this.sent.map(({ message }) => message.details.intercom.envelopeId);
	}
}

export function delivery(envelopeId: string, overrides: Partial<Delivery> = {}): Delivery {
	return {
		deliveryId: `alice/${envelopeId}`,
		envelopeId,
		kind: "message",
		quiet: false,
		redelivered: false,
		from: { sessionId: "alice", name: "Alice", role: "worker", origin: "session" },
		content: `Message from Alice\n> text of ${envelopeId}`,
		summary: `text of ${envelopeId}`,
		attachments: [],
		...overrides,
	};
}
