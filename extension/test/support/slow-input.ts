import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** An extension whose input hook takes its time. */
export default function (pi: ExtensionAPI): void {
	pi.on("input", async () => {
		await new Promise((resolve) => setTimeout(resolve, 1_500));
	});
}
