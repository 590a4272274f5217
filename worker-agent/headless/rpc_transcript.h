#ifndef PI_INTERCOM_WORKER_AGENT_HEADLESS_RPC_TRANSCRIPT_H_
#define PI_INTERCOM_WORKER_AGENT_HEADLESS_RPC_TRANSCRIPT_H_

#include <string>
#include <string_view>

#include "worker-agent/host/json_fields.h"

namespace intercom {

// Makes readable text of what Pi's RPC mode says, one line of JSON at a time.
// Nothing in the text can steer a terminal. Pure; not thread-safe.
class RpcTranscript {
 public:
  struct Heard {
    // To be shown; may be empty.
    std::string text = {};
    // To be sent back, a line without its end; may be empty.
    std::string reply = {};
    // The id of the command that was answered; empty for other lines.
    std::string answered = {};
  };
  Heard Take(std::string_view line);

  // A line that was too long to be read.
  std::string TooLong(size_t bytes);
  // What the host writes on standard error: whole lines.
  std::string Error(std::string_view line);
  // A remark of this process.
  std::string Note(std::string_view text);

 private:
  std::string Update(const Json& event);
  std::string MessageStart(const Json& message);
  std::string MessageEnd(const Json& message);
  Heard Ask(const Json& request);
  // `line` on a line of its own.
  std::string Line(std::string_view line);

  // The last thing shown is a line without its end.
  bool within_line_ = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_HEADLESS_RPC_TRANSCRIPT_H_
