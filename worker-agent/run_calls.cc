#include "worker-agent/run_calls.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "broker/base/error.h"
#include "broker/domain/fence.h"
#include "worker-agent/not_connected.h"
#include "worker-agent/tools/inbox_text.h"
#include "worker-agent/tools/peer_actions.h"
#include "worker-agent/tools/run_text.h"

namespace intercom {
namespace {

// The next call is another stop: it would force this one.
absl::Status StopUnknown(const std::string& run_id, const std::string& why) {
  return Error(absl::StatusCode::kUnavailable, "OUTCOME_UNKNOWN",
               why + ", so whether " + IdLabel(run_id, 40) +
                   " was told to stop is not known: peek shows it. A second "
                   "stop settles the run at once, whatever its host says");
}

}  // namespace

RunCalls::RunCalls(BrokerLink& link, Setting setting, Answer answer)
    : link_(link),
      setting_(std::move(setting)),
      answer_(std::move(answer)),
      waits_(
          setting_.pace, link, setting_.runner, setting_.clock,
          [this](const std::string& call_id, const ToolResult& result) {
            Conclude(call_id, result);
          },
          setting_.progress,
          [this](const v1::SettledRun& run) { return Charged(run); }),
      inbox_(link, setting_.clock, setting_.told, answer_) {}

struct RunCalls::Row {
  const char* action;
  Make make;
  static const Row kTable[];
};

const RunCalls::Row RunCalls::Row::kTable[] = {
    {"peek", &RunCalls::Peek},   {"result", &RunCalls::Result},
    {"wait", &RunCalls::Wait},   {"stop", &RunCalls::Stop},
    {"inbox", &RunCalls::Inbox}, {"message", &RunCalls::Note},
};

bool RunCalls::Handles(const std::string& action) {
  return std::any_of(std::begin(Row::kTable), std::end(Row::kTable),
                     [&](const Row& row) { return action == row.action; });
}

void RunCalls::Call(const Json& arguments, const std::string& call_id) {
  const std::string action = StringOr(arguments, "action", "");
  for (const Row& row : Row::kTable) {
    if (action == row.action) return (this->*row.make)(arguments, call_id);
  }
}

template <typename Response, typename Request, typename Render>
void RunCalls::Ask(Request request, const std::string& call_id, Render render) {
  SessionCalls* const calls = link_.calls();
  if (calls == nullptr) return Conclude(call_id, RenderError(NotConnected()));
  calls->Call<Response>(
      std::move(request), [this, call_id, render = std::move(render)](
                              const absl::StatusOr<Response>& response) {
        Conclude(call_id, response.ok() ? render(*response)
                                        : RenderError(response.status()));
      });
}

void RunCalls::Peek(const Json& arguments, const std::string& call_id) {
  v1::ListRunsRequest request;
  if (const auto id = StringField(arguments, "runId"); id.has_value()) {
    request.add_run_ids(*id);
  }
  Ask<v1::ListRunsResponse>(std::move(request), call_id,
                            [this](const v1::ListRunsResponse& runs) {
                              return RenderPeek(runs, setting_.clock.Now());
                            });
}

void RunCalls::Result(const Json& arguments, const std::string& call_id) {
  v1::GetRunRequest request;
  request.set_run_id(StringOr(arguments, "runId", ""));
  Ask<v1::GetRunResponse>(std::move(request), call_id,
                          [this](const v1::GetRunResponse& response) {
                            return RenderRunResult(Charged(response.settled()),
                                                   setting_.clock.Now());
                          });
}

void RunCalls::Wait(const Json& arguments, const std::string& call_id) {
  std::vector<std::string> run_ids;
  if (const auto id = StringField(arguments, "runId"); id.has_value()) {
    run_ids.push_back(*id);
  }
  waits_.Wait(call_id, std::move(run_ids), WaitTimeOf(arguments));
}

void RunCalls::Stop(const Json& arguments, const std::string& call_id) {
  SessionCalls* const calls = link_.calls();
  if (calls == nullptr) return Conclude(call_id, RenderError(NotConnected()));
  v1::StopRunRequest request;
  request.set_run_id(StringOr(arguments, "runId", ""));
  request.set_request_id(call_id);
  calls->Call<v1::StopRunResponse>(
      request, [this, call_id, run_id = request.run_id()](
                   const absl::StatusOr<v1::StopRunResponse>& response) {
        if (response.ok())
          return Conclude(call_id, RenderStoppedRun(*response));
        const absl::Status& status = response.status();
        Conclude(call_id,
                 RenderError(ReasonOf(status) == "OUTCOME_UNKNOWN"
                                 ? StopUnknown(run_id,
                                               "the connection broke before "
                                               "the broker answered")
                                 : status));
      });
}

void RunCalls::Inbox(const Json& arguments, const std::string& call_id) {
  inbox_.Call(call_id);
}

void RunCalls::Note(const Json& arguments, const std::string& call_id) {
  v1::GetNoteRequest request;
  request.set_note_id(StringOr(arguments, "messageId", ""));
  Ask<v1::GetNoteResponse>(std::move(request), call_id,
                           [](const v1::GetNoteResponse& response) {
                             return RenderNote(response.note());
                           });
}

bool RunCalls::Cancel(const std::string& call_id) {
  const auto result = waits_.Cancel(call_id);
  if (!result.has_value()) return false;
  answer_(call_id, *result);
  return true;
}

v1::SettledRun RunCalls::Charged(v1::SettledRun settled) const {
  if (given_.Has(settled.run().run_id())) {
    settled.mutable_run()->set_collected(true);
  }
  return settled;
}

void RunCalls::Conclude(const std::string& call_id, const ToolResult& result) {
  if (!answer_(call_id, result)) return;
  for (const std::string& id : result.ids) given_.Add(id);
}

void RunCalls::HandleShown(const std::vector<std::string>& ids) {
  std::vector<std::string> run_ids;
  for (const std::string& id : ids) {
    if (!inbox_.Settled(id)) run_ids.push_back(id);
  }
  if (!run_ids.empty()) setting_.collected(run_ids);
}

void RunCalls::HandleLost(const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    if (!inbox_.Settled(id)) given_.Remove(id);
  }
}

}  // namespace intercom
