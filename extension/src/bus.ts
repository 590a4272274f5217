import { INTERCOM_EXTENSION_REGISTER_EVENT, INTERCOM_EXTENSION_REGISTRY_READY_EVENT, INTERCOM_EXTENSION_SEND_EVENT, INTERCOM_EXTENSION_SEND_RESULT_EVENT } from "../extension-api.ts";
import type { Channels } from "./channels.ts";
import { isObject } from "./contract.ts";
import { RELAY_CONTROL_EVENT, RELAY_DELIVERY_EVENT, RELAY_RESULT_EVENT, type Relay } from "./relay.ts";

const OFF = "intercom is off in this session";

/** Pi's event bus, which all its extensions share. */
export interface EventBus {
	emit(event: string, data: unknown): void;
	on(event: string, handler: (data: unknown) => void): () => void;
}

/** Listens to the other extensions from now on; `relay` is that of the session, while there is one. Returns what ends it. */
export function listen(bus: EventBus, channels: Channels, relay: () => Relay | undefined): () => void {
	const answerOff = (event: string, data: unknown, answer: object): void => {
		if (isObject(data) && typeof data.requestId === "string") bus.emit(event, { requestId: data.requestId, delivered: false, ...answer });
	};
	const ends = [
		bus.on(INTERCOM_EXTENSION_REGISTER_EVENT, (data) => channels.register(data)),
		bus.on(RELAY_CONTROL_EVENT, (data) => void relay()?.control(data)),
		bus.on(RELAY_RESULT_EVENT, (data) => {
			const present = relay();
			if (present === undefined) answerOff(RELAY_DELIVERY_EVENT, data, { error: OFF });
			else void present.result(data);
		}),
		bus.on(INTERCOM_EXTENSION_SEND_EVENT, (data) => {
			const present = relay();
			if (present === undefined) answerOff(INTERCOM_EXTENSION_SEND_RESULT_EVENT, data, { reason: OFF });
			else void present.send(data);
		}),
	];
	return () => {
		for (const end of ends) end();
	};
}

/** Tells the other extensions that a session is served now. */
export function announce(bus: EventBus): void {
	bus.emit(INTERCOM_EXTENSION_REGISTRY_READY_EVENT, { version: 1 });
}
