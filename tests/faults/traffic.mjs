// Four real Pi sessions that write to each other, and the proof that nothing of
// it was lost, doubled or disordered.
import assert from "node:assert/strict";
import { until } from "../e2e/support/until.mjs";

/** A generator of numbers from 0 up to 1 that a seed decides (mulberry32). */
export function seeded(seed) {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let t = Math.imul(state ^ (state >>> 15), state | 1);
		t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
	};
}

const NAMES = ["Coordinator", "Anna", "Bert", "Cleo"];

export class Traffic {
	#rig;
	#random;
	#total;
	/** Messages that the models have asked to send so far. */
	attempted = 0;

	constructor(rig, random, total) {
		this.#rig = rig;
		this.#random = random;
		this.#total = total;
	}

	/** Opens the four sessions and configures three of them. */
	async open() {
		const rig = this.#rig;
		this.sessions = new Map();
		for (const name of NAMES) {
			const pi = await rig.startPi({ name: name.toLowerCase() });
			await pi.ready(name === "Coordinator" ? /coordinator/i : /anonymous/i);
			this.sessions.set(name, pi);
		}
		const workers = NAMES.slice(1);
		const configure = workers.map((name) => [
			"intercom_configure_worker",
			{ sessionId: this.sessions.get(name).sessionId, name, description: `Writes letters as ${name}.` },
		]);
		// One at a time: they write one file.
		rig.model.on(
			"coordinator",
			/enlist them/,
			...configure.map((call) => ({ tools: [call] })),
			{ tools: workers.map((to) => ["intercom_reload_worker", { to }]) },
			{ say: "enlisted" },
		);
		const lead = this.sessions.get("Coordinator");
		await lead.prompt("enlist them");
		await lead.waitForScreen(/enlisted/);
		for (const name of NAMES) {
			rig.model.on(name.toLowerCase(), /write letters/, () => this.#nextStep(name));
		}
	}

	/** The next model answer of a session: one to three letters, or the end. */
	#nextStep(from) {
		const left = this.#total - this.attempted;
		if (left <= 0) return { say: "all written" };
		const others = NAMES.filter((name) => name !== from);
		const tools = Array.from({ length: Math.min(left, 1 + Math.floor(this.#random() * 3)) }, () => {
			const to = others[Math.floor(this.#random() * others.length)];
			return ["intercom_send", { to, message: `Letter ${this.attempted++} from ${from} to ${to}.` }];
		});
		return { tools };
	}

	/** Lets a session write; it goes on until all letters are written. */
	go(name) {
		return this.sessions.get(name).prompt("write letters");
	}

	get names() {
		return NAMES;
	}

	/** Every stored letter, in the order of acceptance. */
	async letters() {
		return (await this.#rig.broker.records()).filter((found) => /^Letter \d+ /.test(found.envelope.text));
	}

	/** Waits until every accepted letter is proved to be in its session. */
	async settled(timeoutMs) {
		const done = /INJECTED|SEEN|REPLIED/;
		let open = [];
		await until(
			"every accepted letter in its session",
			async () => {
				open = (await this.letters()).filter((found) => !done.test(found.state));
				return open.length === 0;
			},
			{ timeoutMs, everyMs: 500, detail: () => JSON.stringify(open.slice(0, 5), null, 1) },
		);
	}

	/** The proof. Reads the session files, not the broker's word. */
	async prove() {
		const letters = await this.letters();
		const texts = letters.map((found) => found.envelope.text);
		assert.equal(new Set(texts).size, texts.length, "a letter was accepted twice");
		const places = new Map();
		for (const pi of this.sessions.values()) {
			for (const message of pi.injected()) {
				const place = places.get(message.deliveryId) ?? [];
				places.set(message.deliveryId, [...place, pi.sessionId]);
			}
		}
		const wrong = letters.filter((found) => {
			const place = places.get(found.deliveryId) ?? [];
			return place.length !== 1 || place[0] !== found.recipientSessionId;
		});
		assert.deepEqual(
			wrong.map((found) => `${found.envelope.text} ${found.state}: in ${JSON.stringify(places.get(found.deliveryId) ?? [])}`),
			[],
			"each accepted letter is in its session exactly once",
		);
		this.#proveOrder(letters);
		this.#proveAnswers(texts);
		return letters.length;
	}

	#proveOrder(letters) {
		// Accepted in the order in which their sender wrote them,
		const written = new Map();
		for (const found of letters) {
			const [, number, pair] = /^Letter (\d+) (from \w+ to \w+)/.exec(found.envelope.text);
			assert.ok(Number(number) > (written.get(pair) ?? -1), `letter ${number} ${pair} was accepted after ${written.get(pair)}`);
			written.set(pair, Number(number));
		}
		// and injected in the order of acceptance.
		const sequences = new Map(letters.map((found) => [found.deliveryId, found]));
		for (const pi of this.sessions.values()) {
			const last = new Map();
			for (const { deliveryId } of pi.injected()) {
				const found = sequences.get(deliveryId);
				if (found === undefined) continue;
				const sender = found.sender.sessionId;
				const sequence = Number(found.sequence);
				assert.ok(sequence > (last.get(sender) ?? 0), `${found.envelope.text} is out of order in ${pi.name}`);
				last.set(sender, sequence);
			}
		}
	}

	/** What the sessions were told of letters that failed, for the reader of a report. */
	failures() {
		return [...this.sessions.values()].flatMap((pi) =>
			pi
				.toolResults()
				.filter((result) => result.tool === "intercom_send" && result.isError)
				.map((result) => `${pi.name}: ${result.text.replaceAll("\n", " ").slice(0, 200)}`),
		);
	}

	/** What a tool call was told is true: accepted letters are stored. */
	#proveAnswers(texts) {
		const stored = new Set(texts);
		for (const pi of this.sessions.values()) {
			const calls = new Map();
			for (const { message } of pi.entries()) {
				for (const part of message?.role === "assistant" ? message.content : []) {
					if (part.type === "toolCall" && part.name === "intercom_send") calls.set(part.id, part.arguments.message);
				}
				if (message?.role !== "toolResult" || message.isError || !calls.has(message.toolCallId)) continue;
				const text = calls.get(message.toolCallId);
				assert.ok(stored.has(text), `"${text}" was told accepted, but is not stored`);
			}
		}
	}
}
