// Tools that send, ask and report.

#include <utility>

#include "worker-agent/tools/peer_actions.h"
#include "worker-agent/tools/tool.h"

namespace intercom {
namespace {

Json Worker() { return TextSchema("The worker's name or session id.", 1, 256); }

}  // namespace

Tool SendTool(bool supervises) {
  Json properties = {
      {"to", TextSchema("The recipient's name, Coordinator, or a session id; "
                        "person is the mailbox of the person.",
                        1, 256)},
      {"message", TextSchema("The text, complete in itself: the recipient does "
                             "not see your session.",
                             1, 48000)}};
  std::string description =
      "Send text to one session of the workspace, by name. One-way: it "
      "returns once the message is on disk, and says whether it waits and "
      "why; an answer comes later as a message of its own. A message to an "
      "absent session is kept and delivered when that session returns, so "
      "don't send it again. Mail to person waits until the person looks into "
      "it at a terminal: for what need not be read in this session.";
  if (supervises) {
    description +=
        " With run it hands out a run: its end is announced by itself, and the "
        "worker's last text for it is its result, which is captured only for "
        "runs; intercom follows it.";
    properties["run"] = FlagSchema("Opens a run. Default: false.");
    properties["label"] =
        TextSchema("Opens a run called so; one line.", 0, kMostLabelCharacters);
  }
  return {.name = "intercom_send",
          .label = "Send message",
          .description = std::move(description),
          .prompt_snippet = "Send a message to another session by name",
          .prompt_guidelines =
              {"Don't wait or poll for an answer after intercom_send: end your "
               "turn, and the answer starts a new one.",
               "A worker sends its results with intercom_send to whoever asked "
               "for them; but the result of a run is the last text that you "
               "write for it, and is not sent."},
          .parameters = ObjectSchema(std::move(properties), {"to", "message"}),
          .operation = "message.send",
          .effect = "mail"};
}

Tool ListTool() {
  return {.name = "intercom_list",
          .label = "List sessions",
          .description =
              "List the workspace's sessions: name, role, whether they are "
              "attached, what they are doing, their report, a job that is "
              "under way, waiting mail, and their responsibility. Disturbs "
              "nobody.",
          .prompt_snippet = "See who is in the workspace and what they do",
          .prompt_guidelines =
              {"Use intercom_list to see who is there and what all of them do; "
               "how far such facts can be relied on is in "
               "intercom_worker_status."},
          .parameters = ObjectSchema(Json::object(), {}),
          .operation = "roster.list",
          .effect = "nothing"};
}

Tool WorkerStatusTool() {
  return {
      .name = "intercom_worker_status",
      .label = "Worker status",
      .description =
          "Get a JSON page of what is known of the workers: observed status "
          "and how far it can be relied on, connection, last activity, report, "
          "handoff and close job, each with its age. Disconnected ones come "
          "last; nextOffset leads to the next page. Starts no turn anywhere.",
      .prompt_snippet =
          "See how reliable facts about workers are, page by "
          "page",
      .prompt_guidelines =
          {"Don't poll intercom_worker_status: workers report by themselves. "
           "Use it when a decision needs facts, such as before resuming, and "
           "set probe only if the recorded connection is not enough.",
           "In intercom_worker_status a disconnected, stale or unanswered "
           "worker is no proof that its process ended."},
      .parameters = ObjectSchema(
          {{"name",
            TextSchema("Only this worker: its name or session id.", 1, 256)},
           {"offset", NumberSchema("Workers to skip. Default: 0.", 0, 1000000)},
           {"limit", NumberSchema("Most workers. Default: 10.", 1, 20)},
           {"probe", FlagSchema("Ask each attached one on the spot whether it "
                                "answers. Default: false.")}},
          {}),
      .operation = "status.read",
      .effect = "nothing"};
}

Tool RequestStatusTool() {
  return {.name = "intercom_request_status",
          .label = "Request status",
          .description =
              "See what one worker is doing, and have its extension report for "
              "itself. Starts no turn there and interrupts nothing.",
          .prompt_snippet = "See what one worker is doing",
          .prompt_guidelines =
              {"Use intercom_request_status for one worker at this moment, "
               "intercom_list for all of them, and intercom_worker_status "
               "before a decision that needs reliable facts. The worker's own "
               "report starts no turn: don't wait for it."},
          .parameters = ObjectSchema({{"to", Worker()}}, {"to"}),
          .operation = "status.request",
          .effect = "worker"};
}

Tool ReportStatusTool() {
  return {.name = "intercom_report_status",
          .label = "Report status",
          .description =
              "Tell the coordinator your session id, port and whether you are "
              "busy. A fact, not a result: send results with intercom_send.",
          .prompt_snippet = "Tell the coordinator that you are there",
          .prompt_guidelines =
              {"intercom_report_status wakes nobody and brings no answer: call "
               "it only when somebody asks where you are."},
          .parameters = ObjectSchema(Json::object(), {}),
          .operation = "status.report",
          .effect = "mail"};
}

Tool ReportWorkTool() {
  return {
      .name = "intercom_report_work",
      .label = "Report work",
      .description =
          "Publish the state of your work: blocked, needs_decision or "
          "ready_for_review, with a summary, or clear to take the last one "
          "back. The latest report replaces the one before, is saved, shown in "
          "every list, and told to the coordinator. It approves nothing and "
          "carries no result: send results with intercom_send.",
      .prompt_snippet =
          "Publish that you are blocked, need a decision or want a review",
      .prompt_guidelines =
          {"Report once with intercom_report_work when you can't go on "
           "(blocked), when somebody has to choose (needs_decision) or when "
           "you are done (ready_for_review). Then end your turn and wait: the "
           "answer arrives as a message.",
           "Report clear with intercom_report_work when your last report no "
           "longer holds."},
      .parameters = ObjectSchema(
          {{"status",
            ChoiceSchema("What holds now.", {"blocked", "needs_decision",
                                             "ready_for_review", "clear"})},
           {"summary",
            TextSchema("What it is about, in one paragraph without line breaks "
                       "that stands alone. Required, but for clear, which has "
                       "none.",
                       0, 2000)}},
          {"status"}),
      .operation = "work.report",
      .effect = "mail"};
}

Tool ReportHandoffTool() {
  return {
      .name = "intercom_report_handoff",
      .label = "Report handoff",
      .description =
          "Save the handoff that a close job asked you for: what is completed, "
          "unfinished and blocked, how it was validated, and which files "
          "matter. No secrets. Only for a handoff request that names the job. "
          "After it your session is closed.",
      .prompt_snippet = "Save the handoff that a close job asked for",
      .prompt_guidelines =
          {"Call intercom_report_handoff once, only after a handoff request "
           "and with the job id that it names, and as the last tool of the "
           "turn. Then end the turn at once and wait."},
      .parameters = ObjectSchema(
          {{"jobId",
            TextSchema("The job id from the handoff request.", 1, 128)},
           {"summary",
            TextSchema("The handoff, complete in itself.", 1, 4000)}},
          {"jobId", "summary"}),
      .operation = "handoff.report",
      .effect = "config"};
}

Tool RegisterTool() {
  return {
      .name = "intercom_register",
      .label = "Register",
      .description =
          "Announce this anonymous session to the workspace's coordinator "
          "again. It was announced when it attached; more is not needed "
          "unless the coordinator seems not to know it.",
      .prompt_snippet = "Announce this session to the coordinator again",
      .prompt_guidelines =
          {"Call intercom_register only when the person asks for it; then wait "
           "to be configured."},
      .parameters = ObjectSchema(Json::object(), {}),
      .operation = "registration.repeat",
      .effect = "mail"};
}

}  // namespace intercom
