// An extension as users of channels have it: it registers in session_start, and keeps its channel.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { INTERCOM_EXTENSION_REGISTER_EVENT, type IntercomExtensionChannel } from "pi-intercom/extension-api.ts";

export default function (pi: ExtensionAPI) {
	let channel: IntercomExtensionChannel | undefined;

	pi.on("session_start", () => {
		pi.events.emit(INTERCOM_EXTENSION_REGISTER_EVENT, {
			namespace: "example/v1",
			ownerEligible: true,
			onReady: (value: IntercomExtensionChannel) => {
				channel = value;
			},
			onEvent: (event: unknown) => {
				void event;
			},
		});
	});
	pi.registerCommand("sample", {
		description: "Publishes",
		handler: async () => channel?.publish({ from: "the sample" }),
	});
}
