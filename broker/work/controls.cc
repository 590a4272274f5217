#include "broker/work/controls.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "broker/base/error.h"

namespace intercom {
namespace {

absl::Status Away(const std::string& session_id) {
  return Error(absl::StatusCode::kUnavailable, "SESSION_AWAY",
               "session " + session_id + " is not attached");
}

}  // namespace

void Controls::Send(const std::string& session_id, v1::Control control,
                    absl::Duration timeout, Answered answered) {
  const Attachment* attachment = roster_.Find(session_id);
  if (attachment == nullptr) return answered(Away(session_id));
  const auto waiting = std::count_if(
      pending_.begin(), pending_.end(),
      [&](const auto& entry) { return entry.second.session_id == session_id; });
  if (static_cast<size_t>(waiting) >= kMaxPerSession) {
    return answered(Error(absl::StatusCode::kResourceExhausted, "CONTROLS_FULL",
                          "32 controls wait for this session's host; try "
                          "again when it has answered some"));
  }
  const std::string id = NewUuid(random_);
  control.set_control_id(id);
  const int64_t ms = absl::ToInt64Milliseconds(timeout);
  control.mutable_timeout()->set_seconds(ms / 1000);
  control.mutable_timeout()->set_nanos(static_cast<int32_t>(ms % 1000) *
                                       1'000'000);
  pending_[id] = {session_id, attachment->epoch, control.kind(),
                  std::move(answered)};
  v1::AttachResponse frame;
  *frame.mutable_control() = std::move(control);
  attachment->link->Send(std::move(frame));
  runner_.PostDelayedTask(
      [this, id] {
        Resolve(id,
                Error(absl::StatusCode::kDeadlineExceeded, "OUTCOME_UNKNOWN",
                      "the session's host did not answer in time; whether "
                      "it acted is unknown"));
      },
      timeout);
}

void Controls::OnResult(SessionKey key, v1::ControlResult result) {
  runner_.PostTask([this, key = std::move(key), result = std::move(result)] {
    const auto found = pending_.find(result.control_id());
    if (found == pending_.end() || found->second.session_id != key.session_id ||
        found->second.epoch != key.epoch) {
      return;
    }
    Resolve(result.control_id(), result);
  });
}

void Controls::OnDetached(const Attachment& attachment, bool) {
  std::vector<std::string> lost;
  for (const auto& [id, pending] : pending_) {
    if (pending.session_id == attachment.session_id &&
        pending.epoch == attachment.epoch) {
      lost.push_back(id);
    }
  }
  for (const std::string& id : lost) Resolve(id, Away(attachment.session_id));
}

void Controls::Resolve(std::string_view control_id,
                       absl::StatusOr<v1::ControlResult> outcome) {
  const auto found =
      pending_.find(absl::string_view(control_id.data(), control_id.size()));
  if (found == pending_.end()) return;
  Pending pending = std::move(found->second);
  pending_.erase(found);
  if (on_resolved_) {
    on_resolved_(pending.session_id, pending.kind, outcome.status());
  }
  pending.answered(std::move(outcome));
}

}  // namespace intercom
