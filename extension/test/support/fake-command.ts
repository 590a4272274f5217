import type { CommandContext } from "../../src/command-door.ts";

/** The context of a host's command, whose effects a test plays. */
export class FakeCommand implements CommandContext {
	idle = true;
	pending = false;
	editor = "";
	aborts = 0;
	shutdowns = 0;
	onAbort: () => void = () => undefined;
	#waiting: (() => void)[] = [];

	isIdle(): boolean {
		return this.idle;
	}

	abort(): void {
		this.aborts++;
		this.onAbort();
	}

	waitForIdle(): Promise<void> {
		if (this.idle) return Promise.resolve();
		return new Promise((resolve) => this.#waiting.push(resolve));
	}

	becomesIdle(): void {
		this.idle = true;
		for (const resolve of this.#waiting.splice(0)) resolve();
	}

	shutdown(): void {
		this.shutdowns++;
	}

	hasPendingMessages(): boolean {
		return this.pending;
	}

	editorText(): string {
		return this.editor;
	}
}
