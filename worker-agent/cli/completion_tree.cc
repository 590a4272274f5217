#include "worker-agent/cli/completion_tree.h"

#include "CLI/CLI.hpp"
#include "absl/strings/str_join.h"
#include "worker-agent/cli/command_options.h"

namespace intercom {
namespace {

// Operands of one option that takes any number.
constexpr int kMostRepeats = 2;

bool IsShown(const CLI::App* app) { return !app->get_group().empty(); }

// First words of all commands, and second ones.
std::string CommandWords(const CLI::App& parser) {
  std::vector<std::string> words;
  for (const CLI::App* app : parser.get_subcommands(IsShown)) {
    words.push_back(app->get_name());
    for (const CLI::App* below : app->get_subcommands(IsShown)) {
      words.push_back(below->get_name());
    }
  }
  return absl::StrJoin(words, ",");
}

std::string ValueOf(const CLI::Option& option, const std::string& commands) {
  const std::string type = option.get_type_name();
  if (type.starts_with(kSessionType)) return kSessions;
  if (type.starts_with(kDirectoryType)) return kDirectories;
  if (type.starts_with(kCommandType)) return commands;
  // So does CLI11 describe what must be one of some: TEXT:{a,b}.
  const size_t open = type.find(":{");
  if (open == std::string::npos || !type.ends_with('}')) return kAnything;
  return type.substr(open + 2, type.size() - open - 3);
}

class Tree {
 public:
  explicit Tree(const CLI::App& parser)
      : program_(parser), words_(CommandWords(parser)) {
    Add(parser, "");
  }

  std::vector<TypedCommand> Take() { return std::move(all_); }

 private:
  void AddOptions(const CLI::App& app, TypedCommand& command) const {
    for (const CLI::Option* option : app.get_options()) {
      const std::string value = ValueOf(*option, words_);
      if (option->get_positional()) {
        const int times =
            option->get_items_expected_max() > 1 ? kMostRepeats : 1;
        command.operands.insert(command.operands.end(), times, value);
        continue;
      }
      TypedOption typed;
      typed.summary = option->get_description();
      for (const std::string& name : option->get_snames()) {
        typed.names.push_back("-" + name);
      }
      for (const std::string& name : option->get_lnames()) {
        typed.names.push_back("--" + name);
      }
      if (option->get_items_expected_max() > 0) typed.value = value;
      if (Knows(command, typed.names.back())) continue;
      command.options.push_back(typed);
    }
  }

  static bool Knows(const TypedCommand& command, const std::string& name) {
    for (const TypedOption& option : command.options) {
      if (option.names.back() == name) return true;
    }
    return false;
  }

  void Add(const CLI::App& app, const std::string& path) {
    TypedCommand command;
    command.path = path;
    command.summary = app.get_description();
    AddOptions(app, command);
    const auto below = app.get_subcommands(IsShown);
    for (const CLI::App* one : below) {
      command.commands.push_back(one->get_name());
    }
    // Of --version there is one, and it comes first.
    if (&app != &program_) {
      for (const char* name : {"--json", "--home"}) {
        const CLI::Option& option = *program_.get_option(name);
        command.options.push_back({.names = {name},
                                   .summary = option.get_description(),
                                   .value = option.get_items_expected_max() > 0
                                                ? ValueOf(option, words_)
                                                : ""});
      }
    }
    all_.push_back(std::move(command));
    for (const CLI::App* one : below) {
      Add(*one, path.empty() ? one->get_name() : path + " " + one->get_name());
    }
  }

  const CLI::App& program_;
  const std::string words_;
  std::vector<TypedCommand> all_;
};

}  // namespace

std::vector<TypedCommand> TypedCommands(const CLI::App& parser) {
  return Tree(parser).Take();
}

}  // namespace intercom
