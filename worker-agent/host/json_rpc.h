#ifndef PI_INTERCOM_WORKER_AGENT_HOST_JSON_RPC_H_
#define PI_INTERCOM_WORKER_AGENT_HOST_JSON_RPC_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/statusor.h"
#include "broker/base/mutex.h"
#include "broker/base/task_runner.h"
#include "worker-agent/host/json_fields.h"
#include "worker-agent/host/line_writer.h"

namespace intercom {

// JSON-RPC 2.0 with the host over two descriptors, as README.md in this folder
// says. A thread reads, another writes; everything else, the events too,
// happens on `runner`, where every method has to be called.
class JsonRpc {
 public:
  // Answers a request: with its result or with an error. Called once, on the
  // runner; later calls and calls after the link's end do nothing.
  using Respond = std::function<void(absl::StatusOr<Json>)>;

  struct Events {
    std::function<void(const std::string& method, Json params)> notification;
    std::function<void(const std::string& method, Json params, Respond respond)>
        request;
    // The host does not read what is written, or does again.
    std::function<void(bool blocked)> blocked;
    // The host closed its end, or can't be written to. Called once; nothing is
    // called after it.
    std::function<void()> closed;
  };

  // The descriptors are neither owned nor closed. `runner` must outlive this
  // object, which must be destroyed on the runner or after it stopped.
  JsonRpc(int in, int out, TaskRunner& runner, Events events,
          LineWriter::Limits limits = {});
  ~JsonRpc();
  JsonRpc(const JsonRpc&) = delete;
  JsonRpc& operator=(const JsonRpc&) = delete;

  void Notify(std::string_view method, const Json& params);

  // Asks the host. `answer` gets the result, or the host's error, or CANCELLED
  // (HOST_GONE) when the host closes first.
  void Request(std::string_view method, const Json& params, Respond answer);

  // Waits until everything is written, at most `milliseconds`. Blocks.
  bool Flush(int milliseconds) { return writer_.Flush(milliseconds); }

 private:
  void Read() ABSL_LOCKS_EXCLUDED(mu_);
  // Parses one line on the reader's thread and posts it.
  void ReadLine(std::string_view line) ABSL_LOCKS_EXCLUDED(mu_);
  void Post(std::function<void()> task);
  void Handle(Json message);
  void HandleAnswer(const Json& message);
  void Send(const Json& message);
  void TellBlocked();
  void Close();

  const int in_;
  TaskRunner& runner_;
  const Events events_;
  const int stop_fd_;
  bool closed_ = false;
  bool told_blocked_ = false;
  int64_t next_id_ = 1;
  std::map<int64_t, Respond> open_;
  // Gone with this object, so that posted tasks know.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

  Mutex mu_;
  CondVar handled_;
  // Lines read and not yet handled: the reader waits at a limit.
  int unhandled_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;

  LineWriter writer_;
  std::thread reader_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_HOST_JSON_RPC_H_
