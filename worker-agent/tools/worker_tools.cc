// Tools of the coordinator that open, change and end workers.

#include "worker-agent/tools/tool.h"

namespace intercom {
namespace {

Json Worker() { return TextSchema("The worker's name or session id.", 1, 256); }

Json Directory() {
  return TextSchema(
      "Directory relative to the workspace root. Default: the root.", 1, 4096);
}

Json Launcher() {
  return ChoiceSchema(
      "Launcher for this one call instead of the config's. headless has no "
      "terminal; a person follows it with intercom view.",
      {"herdr", "tmux", "headless"});
}

}  // namespace

Tool CreateWorkerTool() {
  return {
      .name = "intercom_create_worker",
      .label = "Create worker",
      .description =
          "Open one more session of this host in a terminal tab or window of "
          "its own, or without one (headless), as an anonymous worker. "
          "Returns when the launcher took the "
          "launch, which does not mean that the session is ready: its "
          "registration follows as a notice that names this launch, with the "
          "session id to configure. A launcher that is missing is an error; no "
          "other is used instead.",
      .prompt_snippet = "Open a new worker session in a terminal of its own",
      .prompt_guidelines =
          {"A new worker takes four steps: intercom_create_worker, wait for "
           "its registration notice, intercom_configure_worker with that "
           "session id, intercom_reload_worker; then intercom_send gives it "
           "work.",
           "After intercom_create_worker end your turn: the registration "
           "starts a new one. Don't list or launch again meanwhile."},
      .parameters = ObjectSchema(
          {{"projectDirectory", Directory()}, {"launcher", Launcher()}}, {}),
      .operation = "worker.create",
      .effect = "worker"};
}

Tool ConfigureWorkerTool() {
  return {
      .name = "intercom_configure_worker",
      .label = "Configure worker",
      .description =
          "Write one worker's entry into the workspace's config: its name and "
          "responsibility, for the session id that its registration named. "
          "Writes only that entry and tells nobody: call "
          "intercom_reload_worker afterwards so that the worker takes it on. "
          "Repeating it is harmless.",
      .prompt_snippet = "Give a registered session a name and a responsibility",
      .prompt_guidelines =
          {"After intercom_configure_worker call intercom_reload_worker, then "
           "send the first assignment with intercom_send."},
      .parameters = ObjectSchema(
          {{"sessionId", TextSchema("The session id from the registration or "
                                    "from intercom_list.",
                                    1, 256)},
           {"name", TextSchema("Name to address it by, unique in the "
                               "workspace; not Coordinator.",
                               1, 128)},
           {"description", TextSchema("Its lasting responsibility. Not an "
                                      "assignment: send those.",
                                      1, 4096)},
           {"projectDirectory",
            TextSchema("Directory relative to the workspace root. Default: "
                       "that of its entry, else where the session is.",
                       1, 4096)},
           {"port", NumberSchema("Port to record. Leave it out to keep the "
                                 "entry's, or to take the broker's.",
                                 1, 65535)}},
          {"sessionId", "name", "description"}),
      .operation = "worker.configure",
      .effect = "config"};
}

Tool ReloadWorkerTool() {
  return {.name = "intercom_reload_worker",
          .label = "Reload worker",
          .description =
              "Let an attached worker take its name and responsibility from "
              "the config. Starts no turn there and restarts nothing. OK means "
              "that the worker's host said that it did.",
          .prompt_snippet =
              "Let a worker load its configured name and responsibility",
          .prompt_guidelines =
              {"Call intercom_reload_worker after each "
               "intercom_configure_worker of an attached worker, and before "
               "you send it work: it starts no turn there. One that is away "
               "loads its entry by itself when it returns."},
          .parameters = ObjectSchema({{"to", Worker()}}, {"to"}),
          .operation = "worker.reload",
          .effect = "worker"};
}

Tool StopWorkerTool() {
  return {
      .name = "intercom_stop_worker",
      .label = "Stop worker",
      .description =
          "Cancel what one worker is doing now. Its session, name and history "
          "stay, nothing restarts by itself, and text that a person there had "
          "queued is kept. Returns when the worker's host says that it stands "
          "still; if that takes longer, a notice tells the end.",
      .prompt_snippet = "Cancel a worker's current work and keep its session",
      .prompt_guidelines =
          {"Use intercom_stop_worker only when the person asks for it, or when "
           "going on would clearly do harm: it throws away work in progress. "
           "To change what a worker does, send it a message."},
      .parameters = ObjectSchema({{"to", Worker()}}, {"to"}),
      .operation = "worker.stop",
      .effect = "worker"};
}

Tool CloseWorkerTool() {
  return {
      .name = "intercom_close_worker",
      .label = "Close worker",
      .description =
          "Close one worker's session in good order: the worker is asked for a "
          "handoff, which is saved, then its host and its pane are closed. "
          "Returns once the job is on disk; a notice tells the end, within two "
          "minutes. Until then the job fences the worker: mail to it waits, it "
          "sends none, and it can't be configured, reloaded, resumed or "
          "removed. Repeating the call returns the same job.",
      .prompt_snippet =
          "Save a worker's handoff, then close its session and pane",
      .prompt_guidelines =
          {"Close a worker with intercom_close_worker, never by killing its "
           "process or pane. Then end your turn and wait for the notice; don't "
           "poll.",
           "Where a refusal names a job that fences a worker, wait for that "
           "job's notice. If the job is uncertain, tell the person: only a "
           "person ends it, with intercom job resolve and its id."},
      .parameters = ObjectSchema({{"to", Worker()}}, {"to"}),
      .operation = "worker.close",
      .effect = "config"};
}

Tool ResumeWorkerTool() {
  return {
      .name = "intercom_resume_worker",
      .label = "Resume worker",
      .description =
          "Open a closed worker's saved session again, with its history, in a "
          "terminal tab or window of its own, or without one. It takes its "
          "name and "
          "responsibility on and waits: no old work is restarted. Refused "
          "while the session is attached or its process still runs, and when "
          "its session file is missing.",
      .prompt_snippet = "Open a closed worker's saved session again",
      .prompt_guidelines =
          {"Use intercom_resume_worker only after you have seen that the "
           "session is closed: its close notice, or intercom_worker_status. "
           "Being away is no proof: two processes in one session damage it."},
      .parameters = ObjectSchema(
          {{"to", Worker()},
           {"confirmClosed",
            ConfirmationSchema("Your word that the session is closed; you have "
                               "checked it.")},
           {"launcher", Launcher()}},
          {"to", "confirmClosed"}),
      .operation = "worker.resume",
      .effect = "worker"};
}

Tool RemoveWorkerTool() {
  return {
      .name = "intercom_remove_worker",
      .label = "Remove worker",
      .description =
          "Take one worker's entry out of the workspace's config, and forget "
          "its report and handoff. Ends no process and deletes no session; "
          "mail that waits for it is refused to its senders. Refused while it "
          "is attached: close it first.",
      .prompt_snippet = "Forget a closed worker's entry",
      .prompt_guidelines =
          {"Use intercom_remove_worker only when the worker is not to come "
           "back: without its entry it can't be resumed."},
      .parameters = ObjectSchema({{"to", Worker()}}, {"to"}),
      .operation = "worker.remove",
      .effect = "config"};
}

Tool SetMultiplexerTool() {
  return {
      .name = "intercom_set_multiplexer",
      .label = "Set multiplexer",
      .description =
          "Write into the workspace's config where workers are launched from "
          "now on. Moves and restarts nothing.",
      .prompt_snippet = "Choose where new workers are launched",
      .prompt_guidelines =
          {"Use intercom_set_multiplexer only when the person asks for it; for "
           "one launch elsewhere use launcher of that call."},
      .parameters = ObjectSchema(
          {{"multiplexer",
            ChoiceSchema("herdr, tmux, none (launches are refused) or headless "
                         "(workers without a terminal).",
                         {"herdr", "tmux", "none", "headless"})}},
          {"multiplexer"}),
      .operation = "workspace.multiplexer",
      .effect = "config"};
}

}  // namespace intercom
