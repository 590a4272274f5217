// The tool that watches a program for the session.

#include "worker-agent/tools/tool.h"

namespace intercom {

Tool WatchTool() {
  return {
      .name = "intercom_watch",
      .label = "Watch a program",
      .description =
          "Have a program watched while you do something else, and be woken by "
          "what it writes: a build, a test run, tail -f of a log. arm starts "
          "it, list shows those that are active, cancel ends one and takes "
          "back "
          "what it has not told yet. In mode output each distinct line of its "
          "standard output that is not blank is told, and the maxEvents-th one "
          "ends it; in mode exit you hear once, when it ends, with the last of "
          "both outputs. No shell reads the command: name one program, its "
          "arguments in args; standard input is closed. It is ended with all "
          "that it started at its deadline, at cancel, and when this session "
          "ends.",
      .prompt_snippet = "Watch a program and be told what it writes",
      .prompt_guidelines =
          {"Don't poll or sleep for a program that takes long: arm "
           "intercom_watch and end your turn; what it sees starts a new one.",
           "For pipes and patterns, arm intercom_watch with sh and the args "
           "-c and your script."},
      .parameters = ObjectSchema(
          {{"action", ChoiceSchema("What to do.", {"arm", "list", "cancel"})},
           {"command",
            TextSchema("arm: the program, by name or path.", 1, 4096)},
           {"args", ArraySchema("arm: its arguments, each as it is; 24,000 "
                                "characters together at most.",
                                0, 64, TextSchema("One argument.", 0, 8192))},
           {"label", TextSchema("arm: what you call it.", 1, 120)},
           {"mode", ChoiceSchema("arm: told by line (output, the default) or "
                                 "once at its end (exit).",
                                 {"output", "exit"})},
           {"timeoutSeconds",
            NumberSchema(
                "arm: when it is ended at the latest; 600 if left out.", 1,
                86400)},
           {"maxEvents",
            NumberSchema(
                "arm, mode output: after how many lines it is ended; 1 "
                "if left out.",
                1, 20)},
           {"id", TextSchema("cancel: the watch.", 1, 64)}},
          {"action"}),
      .operation = "",
      .effect = "programs",
      .need = ToolNeed::kPrograms};
}

}  // namespace intercom
