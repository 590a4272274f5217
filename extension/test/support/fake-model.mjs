// A model without a mind: an OpenAI chat-completions server on 127.0.0.1 whose script is the last user text.
//
// The text is cut into steps at ";;"; step N answers the Nth request after that text, and the last step repeats.
//   SAY text              answers with the text
//   TOOL name {json}      calls one tool
//   TOOLS name {json} && name {json}   calls several at once
//   SLOW seconds text     streams for so long, then says the text
//   ERR status [body]     fails with the HTTP status
//   HANG                  answers with headers only
//   DROP                  cuts the connection in the middle
// A message of intercom's quotes its sender's text with "> ": where such lines hold a script, they are the script.
//
// `control`: failNext (statuses of the next requests), failBody, compactDelayMs, compactFail (how many), usage.
// `requests`: what was asked, newest last; `nextRequest(match)` waits for one.
import http from "node:http";
import { fileURLToPath } from "node:url";

const STEP = /^(SAY|TOOL|TOOLS|SLOW|ERR|HANG|DROP)\b/;
const DEFAULT_USAGE = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 };
const KEPT_REQUESTS = 1000;

function textOf(content) {
	if (typeof content === "string") return content;
	return Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : "";
}

/** The steps that `text` scripts. */
export function scriptOf(text) {
	const quoted = text.split("\n").flatMap((line) => (/^\s*> ?/.test(line) ? [line.replace(/^\s*> ?/, "")] : []));
	const fenced = quoted.join("\n").trim();
	const script = STEP.test(fenced) ? fenced : text;
	return script.split(";;").map((step) => step.trim());
}

/** Starts the server on `port`, 0 for any. */
export async function startFakeModel({ port = 0 } = {}) {
	const control = { failNext: [], failBody: undefined, compactDelayMs: 0, compactFail: 0, usage: undefined };
	const requests = [];
	const waiting = new Set();
	let served = 0;

	const server = http.createServer((request, response) => {
		const chunks = [];
		request.on("data", (chunk) => chunks.push(chunk));
		request.on("end", () => {
			if (request.url.endsWith("/models")) {
				response.setHeader("content-type", "application/json");
				response.end(JSON.stringify({ data: [{ id: "fake-1" }] }));
			} else if (request.url === "/control") {
				Object.assign(control, JSON.parse(Buffer.concat(chunks).toString() || "{}"));
				response.end(JSON.stringify(control));
			} else if (request.url === "/requests") {
				response.end(JSON.stringify(requests));
			} else if (request.url.endsWith("/chat/completions")) {
				void answer(JSON.parse(Buffer.concat(chunks).toString()), request, response);
			} else {
				response.statusCode = 404;
				response.end();
			}
		});
	});

	function keep(payload, id) {
		const system = payload.messages.filter(({ role }) => role === "system" || role === "developer").map(({ content }) => textOf(content)).join("\n");
		const talk = payload.messages.filter(({ role }) => role !== "system" && role !== "developer");
		const last = talk.findLastIndex(({ role }) => role === "user");
		const userText = last < 0 ? "" : textOf(talk[last].content);
		const answered = talk.slice(last + 1).filter(({ role }) => role === "assistant").length;
		const steps = scriptOf(userText);
		const seen = {
			id,
			isCompaction: /summar/i.test(system.slice(0, 400)) || /^<conversation>|create a .*summary/i.test(userText.slice(0, 200)),
			system,
			users: talk.filter(({ role }) => role === "user").map(({ content }) => textOf(content)),
			roles: talk.map(({ role }) => role[0]).join(""),
			tools: (payload.tools ?? []).map((tool) => tool.function?.name),
			step: steps[Math.min(answered, steps.length - 1)] ?? "",
			toolResult: talk.at(-1)?.role === "tool" ? textOf(talk.at(-1).content) : undefined,
		};
		requests.push(seen);
		if (requests.length > KEPT_REQUESTS) requests.shift();
		for (const look of waiting) look(seen);
		return { ...seen, userText };
	}

	async function answer(payload, request, response) {
		const id = ++served;
		const { isCompaction, step, userText, toolResult } = keep(payload, id);
		const [, word = "", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(step);
		const scripted = !isCompaction && word === "ERR" ? Number.parseInt(rest, 10) : 0;
		const forced = isCompaction ? (control.compactFail-- > 0 ? 529 : 0) : (control.failNext.shift() ?? 0);
		if (forced || scripted) {
			response.statusCode = forced || scripted;
			response.setHeader("content-type", "application/json");
			const message = control.failBody ?? (forced ? "Overloaded" : rest.replace(/^\d+\s*/, "") || "Overloaded");
			response.end(JSON.stringify({ error: { type: response.statusCode === 529 ? "overloaded_error" : "some_error", message } }));
			return;
		}
		const send = (fields) => response.write(`data: ${JSON.stringify({ id: `c${id}`, object: "chat.completion.chunk", created: 1, model: "fake-1", ...fields })}\n\n`);
		const delta = (part, finish = null) => send({ choices: [{ index: 0, delta: part, finish_reason: finish }] });
		const say = (text) => {
			delta({ content: text });
			finish("stop");
		};
		const finish = (reason) => {
			delta({}, reason);
			send({ choices: [], usage: control.usage ?? DEFAULT_USAGE });
			response.end("data: [DONE]\n\n");
		};
		const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.flushHeaders();
		delta({ role: "assistant", content: "" });
		if (isCompaction) {
			await pause(control.compactDelayMs);
			if (!response.destroyed) say("SUMMARY OF EVERYTHING");
			return;
		}
		switch (word) {
			case "TOOL":
			case "TOOLS":
				for (const [index, call] of rest.split("&&").map((part) => part.trim()).entries()) {
					const [, name, json = "{}"] = /^(\S+)\s*([\s\S]*)$/.exec(call);
					delta({ tool_calls: [{ index, id: `call_${id}_${index}`, type: "function", function: { name, arguments: json || "{}" } }] });
				}
				finish("tool_calls");
				return;
			case "SLOW": {
				const [, seconds, text = ""] = /^([\d.]+)\s*([\s\S]*)$/.exec(rest);
				for (let tick = 0; tick < Number(seconds) * 5; tick++) {
					if (response.destroyed) return;
					delta({ content: `tok${tick} ` });
					await pause(200);
				}
				say(text);
				return;
			}
			case "HANG":
				return;
			case "DROP":
				delta({ content: "partial" });
				await pause(50);
				request.socket.destroy();
				return;
			default: {
				const text = word === "SAY" ? rest : `echo: ${userText.slice(0, 60)}`;
				say(toolResult === undefined ? text : `${text} | toolresult=${toolResult.slice(0, 120)}`);
			}
		}
	}

	await new Promise((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, "127.0.0.1", resolve);
	});
	const { port: actualPort } = server.address();
	return {
		port: actualPort,
		control,
		requests,
		/** Resolves with the first request, past ones included, that `match` accepts. */
		nextRequest(match) {
			const past = requests.find(match);
			if (past !== undefined) return Promise.resolve(past);
			return new Promise((resolve) => {
				const look = (seen) => {
					if (!match(seen)) return;
					waiting.delete(look);
					resolve(seen);
				};
				waiting.add(look);
			});
		},
		/** The two files of a Pi agent folder that make this the only model, by name. */
		piFiles: () => ({
			"models.json": JSON.stringify({
				providers: { fake: { baseUrl: `http://127.0.0.1:${actualPort}/v1`, api: "openai-completions", apiKey: "dummy", models: [{ id: "fake-1", contextWindow: 128000, maxTokens: 4096 }] } },
			}),
			"settings.json": JSON.stringify({ defaultProvider: "fake", defaultModel: "fake-1", enableInstallTelemetry: false }),
		}),
		close: () =>
			new Promise((resolve) => {
				server.close(resolve);
				server.closeAllConnections();
			}),
	};
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const model = await startFakeModel({ port: Number(process.argv[2] ?? 0) });
	console.log(`fake model on ${model.port}`);
}
