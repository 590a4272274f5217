#include "broker/work/observations.h"

#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/activity.h"
#include "broker/domain/fence.h"
#include "broker/domain/job.h"
#include "broker/domain/permissions.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr char kActivity[] = "activity";

// "stop" for KIND_STOP.
std::string KindName(v1::Control::Kind kind) {
  return absl::AsciiStrToLower(
      absl::StripPrefix(v1::Control::Kind_Name(kind), "KIND_"));
}

}  // namespace

void Observations::Record(std::string_view root, std::string_view session_id,
                          std::string_view name, std::string_view kind,
                          std::string_view phase, std::string_view label,
                          std::string_view outcome) {
  if (buffer_.size() >= kMaxBuffered) return Drop(1, "BUFFER_FULL");
  v1::Observation& added = buffer_.emplace_back();
  *added.mutable_at() = ToProto(clock_.Now());
  added.set_workspace_root(std::string(root));
  added.set_session_id(std::string(session_id));
  added.set_name(std::string(name));
  added.set_kind(std::string(kind));
  added.set_phase(std::string(phase));
  added.set_label(std::string(label));
  added.set_outcome(std::string(outcome));
  if (buffer_.size() == kFlushAt) {
    runner_.PostTask([this] { Flush(); });
  } else if (!flush_is_due_) {
    flush_is_due_ = true;
    runner_.PostDelayedTask(
        [this] {
          flush_is_due_ = false;
          Flush();
        },
        kFlushEvery);
  }
}

void Observations::Drop(int64_t count, std::string_view reason) {
  dropped_ += count;
  drop_reason_ = std::string(reason);
}

void Observations::Flush() {
  if (dropped_ > 0) {
    const std::string label = std::to_string(dropped_) + " records";
    dropped_ = 0;
    // There is always room for this one.
    v1::Observation& gap = buffer_.emplace_back();
    *gap.mutable_at() = ToProto(clock_.Now());
    gap.set_kind("dropped");
    gap.set_label(label);
    gap.set_outcome(drop_reason_);
  }
  if (buffer_.empty()) return;
  auto rows = std::make_shared<const std::vector<v1::Observation>>(
      std::exchange(buffer_, {}));
  runner_.PostCommand({[this, rows](Effects& effects) -> absl::Status {
                         int64_t bytes = 0;
                         for (const v1::Observation& row : *rows) {
                           INTERCOM_RETURN_IF_ERROR(store_.Add(row));
                           bytes += ObservationStore::BytesOf(row);
                         }
                         effects.AfterCommit([this, bytes] {
                           if (stored_bytes_.has_value())
                             *stored_bytes_ += bytes;
                         });
                         return absl::OkStatus();
                       },
                       [this, rows](const absl::Status& status) {
                         spdlog::warn("{} observations were not stored: {}",
                                      rows->size(), MessageOf(status));
                         stored_bytes_.reset();
                         Drop(static_cast<int64_t>(rows->size()), "NOT_STORED");
                       }});
}

absl::StatusOr<std::optional<v1::Observation>> Observations::LastActivity(
    std::string_view session_id) {
  for (auto row = buffer_.rbegin(); row != buffer_.rend(); ++row) {
    if (row->kind() == kActivity && row->session_id() == session_id) {
      return *row;
    }
  }
  return store_.LastActivity(session_id);
}

absl::StatusOr<bool> Observations::PruneStep() {
  if (!stored_bytes_.has_value()) {
    INTERCOM_ASSIGN_OR_RETURN(stored_bytes_, store_.Bytes());
  }
  const absl::StatusOr<ObservationStore::Pruned> pruned = store_.Prune(
      clock_.Now() - kKept, *stored_bytes_ - kMaxBytes, kPruneStep);
  if (!pruned.ok()) {
    stored_bytes_.reset();
    return pruned.status();
  }
  *stored_bytes_ -= pruned->bytes;
  return pruned->rows == kPruneStep;
}

void Observations::PruneAll() {
  runner_.PostCommand(
      {[this](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(const bool more, PruneStep());
         if (more) effects.AfterCommit([this] { PruneAll(); });
         return absl::OkStatus();
       },
       [this](const absl::Status& status) {
         stored_bytes_.reset();
         spdlog::warn("observations were not pruned: {}", MessageOf(status));
       }});
}

void Observations::RecordOf(const Attachment& attachment, std::string_view kind,
                            std::string_view phase, std::string_view label,
                            std::string_view outcome) {
  const std::string& name = attachment.entry.has_value()
                                ? attachment.entry->name()
                                : attachment.session_name;
  Record(attachment.root, attachment.session_id,
         name.empty() ? "" : NameOr(name, attachment.session_id), kind, phase,
         label, outcome);
}

void Observations::OnAttached(Attachment& attachment) {
  RecordOf(attachment, "attached", "", RoleName(attachment.role));
}

void Observations::OnDetached(const Attachment& attachment, bool restarting) {
  RecordOf(attachment, "detached", "", restarting ? "restarting" : "");
}

void Observations::OnActivity(const Attachment& attachment,
                              const v1::Activity& before) {
  const v1::Activity& now = attachment.activity;
  if (now.phase() == before.phase() && now.label() == before.label()) return;
  RecordOf(attachment, kActivity, PhaseName(now.phase()),
           IsPublicLabel(now.label()) ? now.label() : "");
}

void Observations::OnControl(const std::string& session_id,
                             v1::Control::Kind kind,
                             const absl::Status& status) {
  // A host that answers a probe says nothing new.
  if (kind == v1::Control::KIND_PROBE && status.ok()) return;
  const std::string outcome = status.ok() ? "ok" : ReasonOf(status);
  if (const Attachment* attachment = roster_.Find(session_id)) {
    return RecordOf(*attachment, "control", KindName(kind), "", outcome);
  }
  Record("", session_id, "", "control", KindName(kind), "", outcome);
}

void Observations::OnJob(const JobRow& job) {
  Record(job.root, job.session_id, job.name, "job", JobStateName(job.state),
         JobKindName(job.kind), job.reason.empty() ? "ok" : job.reason);
}

}  // namespace intercom
