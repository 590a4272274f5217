import type { BeforeAgentStartEvent, BeforeAgentStartEventResult } from "@earendil-works/pi-coding-agent";

const SECTION = "intercom";

/**
 * Puts the session's identity and standing rules into the system prompt of the run that is starting. Called for every
 * run, so they hold after a reload, a compaction and a resume. They are a section of the prompt of their own, which the
 * host replaces when they change; a host without sections gets them behind the whole prompt.
 */
export function addInstructions(event: BeforeAgentStartEvent, instructions: string): BeforeAgentStartEventResult | undefined {
	const sections: Record<string, string> | undefined = event.systemPromptOptions?.sections;
	if (sections !== undefined) {
		if (instructions === "") delete sections[SECTION];
		else sections[SECTION] = instructions;
		return undefined;
	}
	return instructions === "" ? undefined : { systemPrompt: `${event.systemPrompt}\n\n${instructions}` };
}
