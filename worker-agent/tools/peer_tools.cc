// Tools for talking to any session of the account.

#include <utility>

#include "worker-agent/tools/peer_actions.h"
#include "worker-agent/tools/tool.h"

namespace intercom {
namespace {

Json AttachmentsSchema() {
  return ArraySchema(
      "What goes with the message, with its content: the recipient can't "
      "follow a reference into your session.",
      0, 16,
      ObjectSchema(
          {{"type",
            ChoiceSchema("file: a file or a part of one; snippet: code; "
                         "context: what the recipient should know.",
                         {"file", "snippet", "context"})},
           {"name", TextSchema("A path or a title, one line.", 1, 255)},
           {"content", TextSchema("The content itself.", 0, 200000)},
           {"language", TextSchema("Of code: its language.", 0, 64)}},
          {"type", "name", "content"}));
}

Json IdSchema(std::string_view description) {
  return TextSchema(description, 0, 64);
}

Json InterviewSchema() {
  Json question = ObjectSchema(
      {{"id", TextSchema("Names the question in the answer; unique.", 1, 64)},
       {"type",
        ChoiceSchema("single and multi choose from options; text and image "
                     "are answered freely; info needs no answer.",
                     {"single", "multi", "text", "image", "info"})},
       {"question", TextSchema("The question itself.", 1, 2000)},
       {"options", ArraySchema("What single and multi choose from.", 0, 50,
                               TextSchema("An option.", 1, 200))},
       {"context", TextSchema("What helps to decide it.", 0, 4000)}},
      {"id", "type", "question"});
  Json interview = ObjectSchema(
      {{"title", TextSchema("A title.", 0, 200)},
       {"description", TextSchema("What it is about.", 0, 4000)},
       {"questions",
        ArraySchema("The questions, in order.", 1, 32, std::move(question))}},
      {"questions"});
  interview["description"] =
      "The questions of an interview_request, which it requires.";
  return interview;
}

constexpr char kRunDescription[] =
    " A send with run opens a run: work whose end you are told of by itself, "
    "and whose result is the last text that the worker writes for it, captured "
    "only for runs. Only to a worker of your workspace, or to a headless "
    "session that you opened. Of your runs peek shows how they go, without "
    "anything that a worker said; result gives the whole of one that ended; "
    "wait blocks until they have ended and returns a bounded report; steer "
    "sends a hint to a running one, which it may ignore; stop cancels one, and "
    "done twice ends it whatever its host says; inbox empties what workers "
    "noted for you and lists what they ask; message gives one note of the "
    "inbox whole.";

constexpr const char* kRunGuidelines[] = {
    "Hand work out with intercom or intercom_send and run: true, complete in "
    "itself, with what the final text has to contain; open several before you "
    "wait for any.",
    "The end of a run is announced to you by itself: after opening runs go on "
    "with other work or end your turn. Use intercom wait only when nothing "
    "else can be done before, and never peek in a loop.",
    "When intercom wait returns with a question, answer it with reply, then "
    "wait again.",
    "What a run is said to have done is its worker's word, not a fact: check "
    "what matters. Retry a failed one once at most, then tell the person.",
    "Use intercom steer for a change of course; stop only what must not go on: "
    "what it has done already is not undone."};

// Where a new session opens, and what a message opens with it.
Json TalkProperties(bool supervises) {
  return {
      {"action", ChoiceSchema("What to do.", IntercomActionNames(supervises))},
      {"to",
       TextSchema("The session: a name, a session id, or at least 6 "
                  "characters of its beginning, or Name@directory; person "
                  "is the mailbox of the person, which takes no ask. For "
                  "reply only where several asks are pending.",
                  0, 4352)},
      {"message",
       TextSchema("The text, complete in itself: the recipient does not "
                  "see your session.",
                  0, 48000)},
      {"attachments", AttachmentsSchema()},
      {"replyTo",
       TextSchema("The id of the message that this one answers.", 0, 330)},
      {"messageId",
       TextSchema("send, ask, reply: an id of your own choice for the new "
                  "message. status: the message to look up. cancel: the "
                  "message to take back.",
                  0, 330)},
      {"supersedes",
       IdSchema("The id of an earlier message of yours to the same "
                "session, which this one replaces.")},
      {"retryOf", IdSchema("The id of an earlier message of yours, of "
                           "which this is another attempt.")},
      {"cwd", TextSchema("A directory. list-cwd: whose sessions to list; "
                         "default: your own. send, ask: the recipient is "
                         "there; without to, the only session there.",
                         0, 4096)},
      {"openProjectPaneIfMissing",
       FlagSchema("send, ask with cwd: open a session in that directory "
                  "if none is there. Only when the person wants one.")},
      {"focus", FlagSchema("Whether the opened pane gets the focus. "
                           "Default: true.")},
      {"launcher",
       ChoiceSchema("Where to open it. headless has no terminal: a worker "
                    "of yours, followed with runs.",
                    {"herdr", "tmux", "headless"})},
      {"timeoutMs", NumberSchema("ask: how long to wait for the reply, in "
                                 "milliseconds. Default: 10 minutes, or "
                                 "what the person set.",
                                 0, kMostMilliseconds)},
      {"run", FlagSchema("send: opens a run, to a headless session of "
                         "yours or a worker of your workspace.")},
      {"label", TextSchema("send: opens a run called so; one line.", 0,
                           kMostLabelCharacters)}};
}

// What only supervisors need beside that.
void AddRunProperties(Json& properties) {
  properties["messageId"]["description"] =
      "send, ask, reply: an id of your own choice for the new message. status: "
      "the message to look up. cancel: the message to take back. message: the "
      "note, by the id that inbox shows.";
  properties["timeoutMs"]["description"] =
      "ask, wait: how long to wait, in milliseconds. Default: 10 minutes. A "
      "wait takes from 1000 to 600000; less or more counts as these.";
  properties["runId"] = TextSchema(
      "peek, result, wait, steer, stop: the run, such as run-12. peek and wait "
      "without one: all that are open, or ended and not told yet.",
      0, kMostIdCharacters);
  properties["askId"] =
      TextSchema("reply: the same as replyTo.", 0, kMostIdCharacters);
  properties["idleMs"] = NumberSchema(
      "send with run: cancel the run when it has not advanced for so many "
      "milliseconds. Default: never.",
      1000, 86'400'000);
  properties["maxMs"] = NumberSchema(
      "send with run: cancel the run so many milliseconds after it started. "
      "Default: never.",
      1000, 604'800'000);
}

}  // namespace

Tool IntercomTool(bool supervises) {
  Json parameters = TalkProperties(supervises);
  if (supervises) AddRunProperties(parameters);
  std::string description =
      "Talk to any agent session of this account, in any directory. "
      "Actions: list and list-cwd show who is there; send is one-way and "
      "returns once the message is on disk; ask waits for the reply and "
      "returns it; reply answers the ask or message that started this "
      "turn, else the single pending ask; pending lists asks that wait for "
      "your answer; status tells your own connection, or with messageId "
      "where a message is; cancel takes a message of yours back. A message "
      "to an absent session is kept until it returns, an ask needs an "
      "attached one.";
  std::vector<std::string> guidelines = {
      "Use intercom with send for notifications and for results; use ask "
      "only when you can't go on without the answer.",
      "After intercom send end your turn when nothing else is to do: an "
      "answer starts a new one. Don't poll with list, pending or status.",
      "Answer an ask with intercom and action reply, before anything "
      "long: its sender waits.",
      "Never intercom ask a session that waits for your answer: reply to "
      "it, with your question if need be.",
      "An intercom ask that timed out is still there, and a late reply "
      "arrives as a message: don't ask again, cancel it if it no longer "
      "matters."};
  if (supervises) {
    description += kRunDescription;
    for (const char* line : kRunGuidelines) guidelines.emplace_back(line);
  }
  return {.name = "intercom",
          .label = "Intercom",
          .description = std::move(description),
          .prompt_snippet =
              supervises
                  ? "List, message, ask and answer other agent sessions on "
                    "this machine, and follow the work that you hand out"
                  : "List, message, ask and answer other agent sessions on "
                    "this machine",
          .prompt_guidelines = std::move(guidelines),
          .parameters = ObjectSchema(std::move(parameters), {"action"}),
          .operation = "peer.send",
          .effect = "mail"};
}

Tool ContactSupervisorTool() {
  return {
      .name = "contact_supervisor",
      .label = "Contact supervisor",
      .description =
          "Reach the session that delegated this task to you. need_decision "
          "and interview_request wait for its answer and return it; "
          "progress_update does not wait, and the supervisor of a run reads it "
          "when it looks into its inbox. Not for the result of the task, "
          "which is your final answer.",
      .prompt_snippet =
          "Ask the session that delegated this task, or tell it what changes "
          "the plan",
      .prompt_guidelines =
          {"Use contact_supervisor with need_decision when you are blocked or "
           "the answer changes the task, and with interview_request for "
           "several answers at once.",
           "Use contact_supervisor with progress_update only for what changes "
           "the plan, never for routine progress or completion."},
      .parameters = ObjectSchema(
          {{"reason",
            ChoiceSchema("Why you call.", {"need_decision", "interview_request",
                                           "progress_update"})},
           {"message",
            TextSchema("What to decide, what happened, or a note to the "
                       "interview. Required, but for an interview_request. To "
                       "the supervisor of a run at most 8000 characters, an "
                       "interview's questions included.",
                       1, 40000)},
           {"interview", InterviewSchema()}},
          {"reason"}),
      .operation = "peer.send",
      .effect = "mail",
      .need = ToolNeed::kSupervisor};
}

Tool ContactPeerTool() {
  return {
      .name = "contact_peer",
      .label = "Contact peer",
      .description =
          "Send a one-way message to another worker of the same supervisor, by "
          "its name, or by the id or label of its run. At most 20 for each run "
          "of yours; no reply comes back by this way.",
      .prompt_snippet = "Tell another worker of the same supervisor something",
      .prompt_guidelines =
          {"Use contact_peer only for what another worker needs for its part, "
           "such as an interface that changed. What has to be decided goes to "
           "contact_supervisor."},
      .parameters = ObjectSchema(
          {{"to", TextSchema("The worker: its name, or the id or label of its "
                             "run.",
                             1, kMostIdCharacters)},
           {"message", TextSchema("The text, complete in itself.", 1,
                                  kMostBodyCharacters)}},
          {"to", "message"}),
      .operation = "peer.send",
      .effect = "mail",
      .need = ToolNeed::kFellows};
}

Tool ModelsTool() {
  return {.name = "intercom_models",
          .label = "List models",
          .description =
              "List models that this host can use, by provider/id; those of "
              "this session's own provider come first, with a star. At most 40 "
              "rows, and how many there are.",
          .prompt_snippet = "See which models this host can use",
          .prompt_guidelines =
              {"Use intercom_models with a query before you name a model for "
               "other work: ids change."},
          .parameters = ObjectSchema(
              {{"query", TextSchema("Part of a model's id or name. Default: "
                                    "all.",
                                    0, 200)}},
              {}),
          .operation = "peer.send",
          .effect = "nothing",
          .host = true};
}

}  // namespace intercom
