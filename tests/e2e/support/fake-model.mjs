// A scripted chat-completions server for real Pi sessions. Each session has its
// own address below it, so that a test sets its rules and reads its requests by
// the session's name.
//
//   model.on("lead", /configure it/, { tool: "intercom_list", args: {} }, { say: "done" });
//
// The newest user message that a rule of the session matches decides; its steps
// answer one request each, counted by the assistant messages that follow it. An
// unmatched message (a notice, say) thus does not disturb a plan, and what no
// rule covers is answered "ok".
//
// A step: { say } | { tool, args } | { tools: [[name, args], …] } | { status }
// (an error) | { hang: true }; with both, it says something before it calls. With `gate`, a promise, it waits for it first and
// keeps the answer streaming meanwhile; `usage` is what it says that it took. `args` and any step may be a function of
// the request; one in place of the first step gives each step.
import { createServer } from "node:http";
import { sleep } from "./until.mjs";

const textOf = (content) =>
	typeof content === "string" ? content : Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : "";

export class FakeModel {
	#server;
	#rules = new Map();
	#requests = [];
	#count = 0;
	/** Set to a promise to make compactions wait for it. */
	compactionGate = undefined;

	static async start() {
		const model = new FakeModel();
		model.#server = createServer((request, response) => {
			model.#serve(request, response).catch((error) => {
				model.#requests.push({ session: "?", error: error.stack });
				response.destroy();
			});
		});
		await new Promise((resolve) => model.#server.listen(0, "127.0.0.1", resolve));
		return model;
	}

	url(session) {
		return `http://127.0.0.1:${this.#server.address().port}/${session}/v1`;
	}

	/** Adds a rule; later rules go before earlier ones. */
	on(session, pattern, ...steps) {
		this.#rules.set(session, [{ pattern, steps }, ...(this.#rules.get(session) ?? [])]);
	}

	/** The requests of one session so far: {at, users, system, lastRole, lastText, toolNames, compaction, answered, aborted}. */
	requests(session) {
		return this.#requests.filter((request) => request.session === session);
	}

	async stop() {
		this.#server.closeAllConnections();
		await new Promise((resolve) => this.#server.close(resolve));
	}

	async #serve(request, response) {
		let body = "";
		for await (const chunk of request) body += chunk;
		const [, session, , ...rest] = request.url.split("/");
		if (rest.join("/") !== "chat/completions") {
			response.setHeader("content-type", "application/json");
			response.end(JSON.stringify({ data: [{ id: "fake-1" }] }));
			return;
		}
		const record = this.#record(session, JSON.parse(body));
		response.on("close", () => {
			if (!response.writableFinished) record.aborted = true;
		});
		response.on("finish", () => {
			record.answered = true;
		});
		if (record.compaction) {
			this.#begin(response);
			await this.#wait(response, this.compactionGate);
			this.#finish(response, { content: "SUMMARY OF EVERYTHING" }, "stop");
			return;
		}
		await this.#answer(response, record);
	}

	#record(session, parsed) {
		const system = [];
		const talk = [];
		for (const message of parsed.messages) {
			const text = textOf(message.content);
			(["system", "developer"].includes(message.role) ? system : talk).push({ role: message.role, text });
		}
		const users = talk.filter((message) => message.role === "user").map((message) => message.text);
		const record = {
			at: Date.now(),
			id: ++this.#count,
			session,
			talk,
			users,
			system: system.map((message) => message.text).join("\n"),
			lastRole: talk.at(-1)?.role,
			lastText: talk.at(-1)?.text ?? "",
			toolNames: (parsed.tools ?? []).map((tool) => tool.function?.name),
		};
		record.compaction =
			/summar/i.test(record.system.slice(0, 400)) || /^<conversation>|create a .*summary/i.test(users.at(-1) ?? "");
		this.#requests.push(record);
		return record;
	}

	/** The step for a request: see the top of the file. */
	#step(record) {
		const rules = this.#rules.get(record.session) ?? [];
		for (let index = record.talk.length - 1; index >= 0; index--) {
			const message = record.talk[index];
			if (message.role !== "user") continue;
			const rule = rules.find((candidate) => candidate.pattern.test(message.text));
			if (rule === undefined) continue;
			const answers = record.talk.slice(index).filter((later) => later.role === "assistant").length;
			record.rule = rule.pattern.source;
			if (typeof rule.steps[0] === "function") return rule.steps[0](record, answers) ?? { say: "ok" };
			const step = rule.steps[answers] ?? { say: "ok" };
			return typeof step === "function" ? step(record) : step;
		}
		return { say: "ok" };
	}

	async #answer(response, record) {
		const step = this.#step(record);
		if (step.status !== undefined) {
			response.statusCode = step.status;
			response.setHeader("content-type", "application/json");
			response.end(JSON.stringify({ error: { type: "overloaded_error", message: "Overloaded" } }));
			return;
		}
		this.#begin(response);
		if (step.hang) return;
		await this.#wait(response, step.gate);
		if (response.destroyed) return;
		const calls = step.tools ?? (step.tool ? [[step.tool, step.args ?? {}]] : []);
		if (calls.length === 0) {
			this.#finish(response, { content: step.say ?? "ok" }, "stop", step.usage);
			return;
		}
		if (step.say !== undefined) this.#chunk(response, { content: step.say });
		calls.forEach(([name, args], index) => {
			const value = typeof args === "function" ? args(record) : args;
			const call = { name, arguments: JSON.stringify(value) };
			this.#chunk(response, { tool_calls: [{ index, id: `call_${record.id}_${index}`, type: "function", function: call }] });
		});
		this.#finish(response, {}, "tool_calls", step.usage);
	}

	#begin(response) {
		response.writeHead(200, { "content-type": "text/event-stream" });
		this.#chunk(response, { role: "assistant", content: "" });
	}

	/** Streams a word now and then until `promise` settles or the client leaves. */
	async #wait(response, promise) {
		if (promise === undefined) return;
		let settled = false;
		promise.then(() => {
			settled = true;
		});
		while (!settled && !response.destroyed) {
			this.#chunk(response, { content: "… " });
			await Promise.race([promise, sleep(150)]);
		}
	}

	#chunk(response, delta, finish = null, extra = {}) {
		const choices = extra.usage ? [] : [{ index: 0, delta, finish_reason: finish }];
		const chunk = { id: "fake", object: "chat.completion.chunk", created: 1, model: "fake-1", choices, ...extra };
		response.write(`data: ${JSON.stringify(chunk)}\n\n`);
	}

	#finish(response, delta, reason, usage = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 }) {
		if (response.destroyed) return;
		this.#chunk(response, delta);
		this.#chunk(response, {}, reason);
		this.#chunk(response, {}, null, { usage });
		response.end("data: [DONE]\n\n");
	}
}
