// Tools for talking to any session of the account.

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

}  // namespace

Tool IntercomTool() {
  return {
      .name = "intercom",
      .label = "Intercom",
      .description =
          "Talk to any agent session of this account, in any directory. "
          "Actions: list and list-cwd show who is there; send is one-way and "
          "returns once the message is on disk; ask waits for the reply and "
          "returns it; reply answers the ask or message that started this "
          "turn, else the single pending ask; pending lists asks that wait for "
          "your answer; status tells your own connection, or with messageId "
          "where a message is; cancel takes a message of yours back. A message "
          "to an absent session is kept until it returns, an ask needs an "
          "attached one.",
      .prompt_snippet =
          "List, message, ask and answer other agent sessions on this machine",
      .prompt_guidelines =
          {"Use intercom with send for notifications and for results; use ask "
           "only when you can't go on without the answer.",
           "After intercom send end your turn when nothing else is to do: an "
           "answer starts a new one. Don't poll with list, pending or status.",
           "Answer an ask with intercom and action reply, before anything "
           "long: its sender waits.",
           "Never intercom ask a session that waits for your answer: reply to "
           "it, with your question if need be.",
           "An intercom ask that timed out is still there, and a late reply "
           "arrives as a message: don't ask again, cancel it if it no longer "
           "matters."},
      .parameters = ObjectSchema(
          {{"action", ChoiceSchema("What to do.", PeerActionNames())},
           {"to",
            TextSchema("The session: a name, a session id, or at least 6 "
                       "characters of its beginning, or Name@directory. For "
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
           {"launcher", ChoiceSchema("Where to open it.", {"herdr", "tmux"})},
           {"timeoutMs", NumberSchema("ask: how long to wait for the reply, in "
                                      "milliseconds. Default: 10 minutes, or "
                                      "what the person set.",
                                      1000, 86400000)}},
          {"action"}),
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
          "progress_update does not wait. Not for the result of the task, "
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
                       "interview. Required, but for an interview_request.",
                       1, 40000)},
           {"interview", InterviewSchema()}},
          {"reason"}),
      .operation = "peer.send",
      .effect = "mail",
      .needs_supervisor = true};
}

}  // namespace intercom
