import { Activity } from "./activity.ts";
import { type AgentOwner, AgentProcess } from "./agent-process.ts";
import type { AttachedHost, AttachFacts, AttachPolicy } from "./attached-host.ts";
import { Bulletins } from "./bulletins.ts";
import { Closer } from "./close.ts";
import type { TellResults } from "./call-results.ts";
import type { Channels } from "./channels.ts";
import { inConfigQueue, type MutateFile } from "./config-queue.ts";
import { isUnasked, refusedByPerson } from "./confirm-send.ts";
import { type AgentEntry, ContractError, type GoodbyeReason, isObject, type JobEvent, type JsonObject, type Notice, type Receipt, type SessionState, type ToolAnswer, type ToolSpec } from "./contract.ts";
import { parseAsks, parseBulletin, parseControl, parseDelivery, parseDeliveryId, parseDeliveryIds, parseIds, parseNotice, parseRuns, parseSession, parseToolProgress } from "./contract-parse.ts";
import { answerControl } from "./controls.ts";
import { Inbox } from "./inbox.ts";
import { answerModels, MODELS_TOOL } from "./models.ts";
import { parseSessionList, type SessionList } from "./peers.ts";
import { Relay, relayedText } from "./relay.ts";
import { Runs } from "./runs.ts";
import { PEER_TOOL, showsUse } from "./session-entries.ts";
import { Stopper } from "./stop.ts";
import type { Timers } from "./timers.ts";
import { remembered, RUNS_FACT, ToldFact } from "./told.ts";
import { HANDOFF_TOOL, type RunTool, ToolCalls, ToolSet } from "./tools.ts";
import { nameLabel, plainLine, plainLines } from "./ui/plain.ts";
import { Standing } from "./ui/standing.ts";

const FIRST_STATE_LIMIT_MS = 2_500;
const FIRST_PROMPT_GRACE_MS = 1_000;
const STOP_OUTCOMES_LIMIT = 8;

/** One session's presence in intercom, from session_start to session_shutdown: the link and all that hangs on it. */
export class Attachment {
	readonly inbox: Inbox;
	readonly activity: Activity;
	readonly stopper: Stopper;
	readonly closer: Closer;
	readonly standing: Standing;
	/** What other extensions of this host hand on. */
	readonly relay: Relay;
	/** The work that others handed to this session. */
	readonly runs: Runs;
	readonly #bulletins: Bulletins;
	readonly #refusesRuns: ToldFact;
	readonly #programs: ToldFact;
	readonly #host: AttachedHost;
	readonly #facts: AttachFacts;
	readonly #policy: AttachPolicy;
	readonly #timers: Timers;
	readonly #link: AgentProcess;
	readonly #calls: ToolCalls;
	readonly #mutateFile: MutateFile | undefined;
	readonly #channels: Channels | undefined;
	readonly #tools: ToolSet;
	readonly #awaitingState = new Set<() => void>();
	#state: SessionState | undefined;
	/** Whether the tool `intercom` is shown from now on. */
	#isUsed: boolean;
	#runsRefused: boolean;
	#instructions = "";
	#shownError = "";
	/** The latest, told again after a lost connection: the broker drops what it knows already. */
	readonly #stopOutcomes: JobEvent[] = [];

	/** `mutateFile` is the host's queue of file changes, where it has one; `channels` are those of its other extensions. */
	constructor(host: AttachedHost, facts: AttachFacts, policy: AttachPolicy, timers: Timers, mintId: () => string, mutateFile?: MutateFile, channels?: Channels) {
		this.#host = host;
		this.#facts = facts;
		this.#policy = policy;
		this.#isUsed = policy.toolVisibility === "always" || showsUse(host.entries());
		this.#timers = timers;
		this.#mutateFile = mutateFile;
		this.#channels = channels;
		this.#link = new AgentProcess(this.#owner(), timers);
		this.runs = new Runs(host, timers, (event) => void this.#link.notify("run", { ...event }));
		const receipt = (params: Receipt): void => {
			this.#link.notify("receipt", { ...params });
			if (params.event === "injected") this.runs.injected(params.deliveryId, this.inbox.runIsActive);
			this.standing.refresh();
		};
		const tellResults: TellResults = (event, ids) => this.#link.notify(`results/${event}`, { ids });
		this.#calls = new ToolCalls(this.#link, timers, mintId, ({ deliveryId, ids }) => {
			if (deliveryId !== undefined) receipt({ deliveryId, event: "notTaken", evidence: "it came as the answer to a call that was cancelled" });
			if (ids.length > 0) tellResults("lost", ids);
		});
		this.standing = new Standing(host, timers, Date.now, () => this.inbox.waitingCount);
		this.#tools = new ToolSet((tool, isVisible) => host.registerTool(tool, isVisible, this.#runTool));
		this.inbox = new Inbox(host, timers, receipt, {
			startGraceMs: facts.startReason === "startup" ? FIRST_PROMPT_GRACE_MS : 0,
			inboundTrigger: policy.inboundTrigger,
			onHandOver: () => this.used(),
			onShown: ({ deliveryId, runId }, startsTurn) => {
				if (runId !== undefined || this.runs.isOpen(deliveryId)) this.runs.begun(deliveryId, startsTurn);
			},
			onRequested: (deliveryIds) => this.runs.requested(deliveryIds),
			tellResults,
		});
		const news = { collected: (ids: readonly string[]) => void tellResults("shown", ids), shown: (params: JsonObject) => void this.#link.notify("bulletin/shown", params), notify: (notice: Notice) => host.notify(notice) };
		this.#bulletins = new Bulletins(this.inbox, news, timers, mintId, Date.now);
		this.#runsRefused = remembered(host.entries(), RUNS_FACT).refused === true;
		this.#refusesRuns = new ToldFact(() => this.#runsRefused, (refused) => this.#link.notify("runs/policy", { refused }));
		this.#programs = new ToldFact(() => host.runsPrograms(), (allowed) => this.#link.notify("programs", { allowed }));
		this.activity = new Activity(
			(activity) => this.#link.notify("activity", activity),
			() => host.figures(),
			policy.note,
		);
		const report = (event: JobEvent): void => void this.#link.notify("job", { ...event });
		const reportStop = (event: JobEvent): void => {
			this.#stopOutcomes.push(event);
			if (this.#stopOutcomes.length > STOP_OUTCOMES_LIMIT) this.#stopOutcomes.shift();
			report(event);
			// A run that was shown and had started no turn has no settlement of its own.
			if (event.event === "stopped") this.runs.settled(true);
		};
		this.stopper = new Stopper((ticket) => host.enterCommand(ticket), this.inbox, timers, reportStop);
		this.closer = new Closer(host, this.inbox, timers, report);
		this.relay = new Relay({
			sessionId: () => facts.sessionId,
			names: () => [host.sessionName(), this.#state?.entry?.name, this.#state?.stableId],
			showHere: (text, kind) => {
				const from = { sessionId: "", name: kind, role: "", origin: "extension" };
				return this.inbox.local({ id: mintId(), kind: "relay", quiet: false, from, content: relayedText(text, kind), summary: plainLine(text), acceptedAtMs: Date.now() });
			},
			send: (to, message) => this.#calls.run(PEER_TOOL, { action: "send", to, message }, undefined),
			emit: (event, data) => host.emit(event, data),
			notify: (notice) => host.notify(notice),
		});
	}

	/** The text for the model's system prompt. */
	get instructions(): string {
		return this.#instructions;
	}

	start(): void {
		// From the first moment: a shell of this session is never a person, whatever becomes of the link.
		this.#host.attached(true);
		this.standing.show({ kind: "starting" });
		this.#channels?.attach({ call: (method, params) => this.#link.call(method, params), notify: (notice) => this.#host.notify(notice) });
		this.#link.start();
	}

	/** Resolves once the session's role is known or will not be, so that a first prompt has its tools; 2.5 s at most. */
	whenKnown(): Promise<void> {
		if (this.#isKnown()) return Promise.resolve();
		return new Promise((resolve) => {
			const finish = (): void => {
				this.#awaitingState.delete(finish);
				cancel();
				resolve();
			};
			const cancel = this.#timers.after(FIRST_STATE_LIMIT_MS, finish);
			this.#awaitingState.add(finish);
		});
	}

	/** What others reach the session by, also once it was ended and resumed. */
	get target(): string {
		return this.#state?.stableId ?? this.#facts.sessionId;
	}

	/** Those that mail can be sent to now. Rejects where nobody can tell. */
	async sessions(): Promise<SessionList> {
		return parseSessionList(await this.#link.call("sessions/list", { withAway: false }));
	}

	/**
	 * Sends what a person wrote, as the tool would, and without a question whether to. What was sent stands in the session,
	 * so that its model knows what an answer is about; it starts no turn. Never rejects.
	 */
	async sendTo(to: string, text: string): Promise<ToolAnswer> {
		const answer = await this.#calls.run(PEER_TOOL, { action: "send", to, message: text }, undefined);
		if (!answer.isError) this.#noteSent(to, text, answer);
		return answer;
	}

	#noteSent(to: string, text: string, { details }: ToolAnswer): void {
		const sent = isObject(details) ? details : {};
		const whom = isObject(sent.to) ? sent.to : {};
		const name = typeof whom.name === "string" && whom.name !== "" ? whom.name : to;
		const id = typeof sent.messageId === "string" ? sent.messageId : "";
		const content = [`[intercom] sent by the person at this session to ${nameLabel(name) || "a session"} · id ${plainLine(id, 64)}`, ...plainLines(text).map((line) => `> ${line}`), "It starts nothing here; an answer arrives as a message."].join("\n");
		const from = { sessionId: typeof whom.sessionId === "string" ? whom.sessionId : "", name, role: "", origin: "person" };
		this.inbox.local({ id: `sent:${id}`, kind: "sent", quiet: true, from, content, summary: plainLine(text), acceptedAtMs: Date.now() }).catch(() => undefined);
	}

	/** Why the session is not connected, and what to do; undefined where it is. */
	whyOffline(): string | undefined {
		return this.standing.whyOffline();
	}

	/** The session has this name now, or none of its own any more. */
	renamed(name: string | undefined): void {
		this.#link.notify("session/renamed", { name: name ?? this.#policy.givenName ?? "" });
	}

	/** Whether the session takes no runs. */
	get runsRefused(): boolean {
		return this.#runsRefused;
	}

	/** The person's word, which is kept over restarts. Throws where the host can't keep it, and changes nothing then. */
	refuseRuns(refused: boolean): void {
		if (refused !== this.#runsRefused) this.#host.remember(RUNS_FACT, { refused });
		this.#runsRefused = refused;
		this.#refusesRuns.check();
	}

	/** What the session may do can have changed. */
	permissionsMayDiffer(): void {
		this.#programs.check();
	}

	/** Intercom was used in this session, so its model may see that it is there. */
	used(): void {
		if (this.#isUsed) return;
		this.#isUsed = true;
		this.#showTools();
	}

	/** Says goodbye and leaves no agent process behind. */
	async stop(reason: GoodbyeReason): Promise<void> {
		this.#bulletins.close();
		this.inbox.close();
		this.runs.close(reason === "reload");
		this.standing.close();
		this.stopper.close();
		this.closer.forget();
		this.#channels?.detach();
		this.#wake();
		this.#host.attached(false);
		await this.#link.stop(reason);
	}

	readonly #runTool: RunTool = async (tool, args, signal, toolCallId, onProgress) => {
		if (tool.host === true) return this.#answerHere(tool, args);
		// The run that the call is a part of, not one that began while the person was asked.
		const { trigger } = this.inbox;
		const refusal = this.#policy.confirmSend && isUnasked(tool, args) ? await refusedByPerson(this.#host, args, signal) : undefined;
		if (refusal !== undefined) return refusal;
		const call = (): Promise<ToolAnswer> => this.#calls.run(tool.name, args, signal, { trigger, onProgress });
		const answer = tool.effect === "config" ? await inConfigQueue(this.#mutateFile, this.#state?.workspaceRoot, call) : await call();
		if (answer.deliveryId !== undefined) this.inbox.resultReturned(answer.deliveryId);
		if (answer.ids !== undefined) this.inbox.resultTells(answer.ids);
		if (tool.name === HANDOFF_TOOL && !answer.isError && isObject(args) && typeof args.jobId === "string") this.closer.handoffReported(args.jobId, toolCallId);
		return answer;
	};

	#answerHere({ name }: ToolSpec, args: unknown): ToolAnswer {
		if (name === MODELS_TOOL) return answerModels(args, this.#host.models());
		const text = `This extension does not know the tool ${name}: it and the intercom agent are of different releases. Install both from one.`;
		return { text, summary: "unknown to this extension", isError: true, code: "UNIMPLEMENTED", reason: "HOST_TOOL_UNKNOWN" };
	}

	#showTools(): void {
		const tools = this.#state?.tools ?? [];
		this.#tools.show(this.#isUsed ? tools : tools.filter(({ name }) => name !== PEER_TOOL));
	}

	#isKnown(): boolean {
		return this.#link.isFinal || (this.#state !== undefined && this.#state.connection !== "connecting");
	}

	#wake(): void {
		for (const finish of [...this.#awaitingState]) finish();
	}

	#owner(): AgentOwner {
		return {
			spawn: () => this.#host.spawnAgent(),
			initialize: (again) => this.#initializeParams(again),
			onUp: () => {
				this.activity.report();
				this.inbox.linkUp();
				this.#refusesRuns.check();
				this.#programs.check();
			},
			onDown: () => {
				this.#linkLost();
				this.standing.show({ kind: "restarting" });
			},
			onGaveUp: (problem) => {
				this.#linkLost();
				this.#state = undefined;
				this.#showTools();
				this.#instructions = "";
				this.#wake();
				this.standing.show({ kind: "stopped" });
				this.#host.notify({ level: "error", text: problem });
			},
			onNotification: (method, params) => this.#notified(method, params),
			onRequest: (method, params) => this.#requested(method, params),
		};
	}

	/** What waits here is still in the broker, and a close that it had begun is over. */
	#linkLost(): void {
		this.inbox.linkLost();
		this.closer.forget();
		this.standing.setAsks([]);
		this.#channels?.agentLost();
	}

	#initializeParams(again: boolean): JsonObject {
		const { hostVersion, mode, startReason, ...facts } = this.#facts;
		const sessionName = this.#host.sessionName() ?? this.#policy.givenName;
		const { model } = this.#host.figures();
		return {
			...facts,
			...(sessionName === undefined ? {} : { sessionName }),
			...(model === undefined ? {} : { model }),
			host: { kind: "pi", version: hostVersion, pid: process.pid, mode },
			capabilities: this.#host.capabilities(),
			startReason: again ? "reconnect" : startReason,
			refusesRuns: this.#refusesRuns.begin(),
			programs: this.#programs.begin(),
		};
	}

	#notified(method: string, params: unknown): void {
		switch (method) {
			case "session":
				this.#sessionChanged(parseSession(params));
				break;
			case "deliver":
				this.#delivered(params);
				break;
			case "tools/progress":
				this.#calls.progressed(parseToolProgress(params));
				break;
			case "runs":
				this.runs.opened(parseRuns(params));
				break;
			case "bulletin":
				// What a watch saw must not be the first to tell that watching is over.
				this.permissionsMayDiffer();
				this.#bulletins.set(parseBulletin(params));
				break;
			case "channel/event":
				this.#channels?.received(params);
				break;
			case "notice":
				this.#host.notify(parseNotice(params));
				break;
			case "asks":
				this.standing.setAsks(parseAsks(params));
				break;
		}
	}

	/** A delivery that can't be read has failed: without a word of it the broker would wait for ever. */
	#delivered(params: unknown): void {
		try {
			this.inbox.deliver(parseDelivery(params));
		} catch (error) {
			if (!(error instanceof ContractError) || !isObject(params) || typeof params.deliveryId !== "string") throw error;
			this.#link.notify("receipt", { deliveryId: params.deliveryId, event: "failed", evidence: error.message });
		}
	}

	async #requested(method: string, params: unknown): Promise<JsonObject> {
		switch (method) {
			case "withdraw": {
				const outcome = this.inbox.withdraw(parseDeliveryId(params));
				this.standing.refresh();
				return { outcome };
			}
			case "reconcile":
				return { present: this.inbox.reconcile(parseDeliveryIds(params)) };
			case "told":
				return { told: this.inbox.told(parseIds(params)) };
			case "control": {
				const { stopper, closer } = this;
				const reload = (entry: AgentEntry, instructions: string | undefined): string | undefined => {
					if (instructions !== undefined) this.#instructions = instructions;
					return this.#takeName(entry);
				};
				return answerControl(parseControl(params), { host: this.#host, stopper, closer, hostVersion: this.#facts.hostVersion, reload, isUnderWay: (runId) => this.runs.isUnderWay(runId) });
			}
			default:
				throw new ContractError(`the host knows no request ${method}`);
		}
	}

	#sessionChanged(state: SessionState): void {
		const isBack = state.connection === "connected" && this.#state?.connection !== "connected";
		this.#state = state;
		if (isBack) for (const event of this.#stopOutcomes) this.#link.notify("job", { ...event });
		this.#instructions = state.instructions;
		this.#showTools();
		this.standing.show({ kind: "session", state });
		// Some refusals are for the present only, as that of a broken config: the agent goes on trying, and brings again what is dropped here.
		this.#link.setRetired(state.final);
		if (state.connection === "refused" || state.connection === "ended") this.inbox.linkLost();
		// Another host has the session, and its agent says there what there is to say.
		if (state.connection === "ended") this.#bulletins.close();
		// A broker that lost the session has interrupted its close.
		if (state.connection !== "connected") {
			this.closer.forget();
			// They are told again with the next connection.
			this.standing.setAsks([]);
		}
		this.#channels?.connectionChanged(state.connection === "connected", state.features.includes("channels"));
		const problem = state.error === undefined ? "" : `${state.error.message} (${state.error.reason})`;
		if (problem !== "" && problem !== this.#shownError) this.#host.notify({ level: "error", text: `Intercom: ${problem}` });
		this.#shownError = problem;
		if (state.connection === "connected" && state.entry !== undefined && state.loaded === false && !state.awaitReload) {
			const warning = this.#takeName(state.entry);
			this.#link.notify("responsibility/loaded", { entryHash: state.entry.hash });
			if (warning !== undefined) this.#host.notify({ level: "warning", text: `Intercom: ${warning}` });
		}
		if (this.#isKnown()) this.#wake();
	}

	/** A worker bears its entry's name, a coordinator its own. Returns what went wrong; the session works all the same. */
	#takeName(entry: AgentEntry): string | undefined {
		if (entry.coordinator || this.#host.sessionName() === entry.name) return undefined;
		try {
			this.#host.setSessionName(entry.name);
			return undefined;
		} catch (error) {
			return `the session could not be named ${entry.name}: ${error instanceof Error ? error.message : String(error)}`;
		}
	}
}
