// One attached copy of the extension for each Pi process. /reload evaluates the modules anew and two installed copies
// have each their own, so the mark stands on globalThis.

const CLAIM = Symbol.for("pi-intercom.claim");

type Scope = { [CLAIM]?: object };

/** Held by the copy that attaches, from session_start to session_shutdown. */
export class Claim {
	readonly #scope: Scope;

	private constructor(scope: Scope) {
		this.#scope = scope;
	}

	/** Undefined where another copy holds it. */
	static take(scope: object = globalThis): Claim | undefined {
		const shared: Scope = scope;
		if (shared[CLAIM] !== undefined) return undefined;
		const claim = new Claim(shared);
		shared[CLAIM] = claim;
		return claim;
	}

	release(): void {
		if (this.#scope[CLAIM] === this) delete this.#scope[CLAIM];
	}
}
