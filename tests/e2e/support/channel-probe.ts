// Another extension next to intercom. Writes what it hears to the file PROBE_LOG, and acts on the command /probe.
import { appendFileSync } from "node:fs";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { INTERCOM_EXTENSION_REGISTER_EVENT, INTERCOM_EXTENSION_REGISTRY_READY_EVENT, type IntercomExtensionChannel } from "pi-intercom/extension-api.ts";

export default function (pi: ExtensionAPI) {
	let channel: IntercomExtensionChannel | undefined;
	const log = (heard: object) => appendFileSync(process.env.PROBE_LOG ?? "/dev/null", `${JSON.stringify(heard)}\n`);
	// Never typed, so that it can only be where a channel brought it.
	const payload = { secret: ["carried", "by", "channel"].join("-") };

	pi.events.on(INTERCOM_EXTENSION_REGISTRY_READY_EVENT, () => {
		pi.events.emit(INTERCOM_EXTENSION_REGISTER_EVENT, {
			namespace: "probe/v1",
			ownerEligible: true,
			onReady: (value: IntercomExtensionChannel) => {
				channel = value;
			},
			onEvent: log,
		});
		// One that can't be registered must harm nobody.
		pi.events.emit(INTERCOM_EXTENSION_REGISTER_EVENT, { namespace: "no good" });
	});
	for (const event of ["example/v1", "subagent:result-intercom-delivery"]) pi.events.on(event, (data) => log({ type: event, data }));

	pi.registerCommand("probe", {
		description: "Acts",
		handler: async (what, ctx) => {
			if (what === "publish") channel?.publish(payload);
			if (what === "commit") channel?.commitState(payload);
			if (what === "relay") pi.events.emit("subagent:result-intercom", { to: ctx.sessionManager.getSessionId(), message: "child is done", requestId: "r1" });
		},
	});
}
