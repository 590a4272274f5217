#include "worker-agent/watch/watch_order.h"

#include "broker/base/error.h"
#include "broker/domain/fence.h"

namespace intercom {
namespace {

constexpr size_t kMaxArgumentCharacters = 24'000;

absl::Status Invalid(const std::string& why) {
  return Error(absl::StatusCode::kInvalidArgument, "ARGUMENT_INVALID",
               "intercom_watch: " + why + "; nothing was started");
}

bool HasNul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

}  // namespace

absl::StatusOr<WatchOrder> WatchOrderOf(const Json& arguments) {
  WatchOrder order;
  order.command = StringOr(arguments, "command", "");
  order.args = StringsField(arguments, "args");
  if (order.command.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Invalid("arm needs a command: the program, without its arguments");
  }
  if (HasNul(order.command)) return Invalid("the command holds a zero byte");
  size_t characters = 0;
  for (const std::string& word : order.args) {
    if (HasNul(word)) return Invalid("an argument holds a zero byte");
    characters += CountCharacters(word).value_or(word.size());
  }
  if (characters > kMaxArgumentCharacters) {
    return Invalid("the arguments have " + std::to_string(characters) +
                   " characters together; they may have " +
                   std::to_string(kMaxArgumentCharacters) +
                   ". Put the text into a file and name that");
  }
  const std::string label = StringOr(arguments, "label", "");
  order.label = SafeLabel(label.empty() ? order.command : label, 120);
  if (StringOr(arguments, "mode", "output") == "exit") {
    order.mode = WatchOrder::Mode::kExit;
  }
  if (const auto seconds = IntegerField(arguments, "timeoutSeconds")) {
    order.deadline = absl::Seconds(*seconds);
  }
  if (const auto most = IntegerField(arguments, "maxEvents")) {
    order.max_events = static_cast<int>(*most);
  }
  return order;
}

}  // namespace intercom
