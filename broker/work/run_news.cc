#include "broker/work/run_news.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/text_rules.h"
#include "broker/work/run_text.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

// What a worker is told of a run: how far it has come it knows itself.
std::string HashOf(v1::OpenRuns told) {
  for (v1::Run& run : *told.mutable_runs()) {
    run.clear_turns();
    run.clear_usage();
    run.clear_model();
    run.clear_last_advance_at();
    run.clear_stalled();
    run.clear_detail();
  }
  return ContentHash(told.SerializeAsString());
}

}  // namespace

RunTeller::RunTeller(StateRunner& runner, Roster& roster, Runs& runs,
                     RunStore& store, NoteStore& notes,
                     const HeadlessWorkers& headless, const Clock& clock)
    : runner_(runner),
      roster_(roster),
      runs_(runs),
      store_(store),
      notes_(notes),
      headless_(headless),
      clock_(clock) {
  runs_.AddOnChanged([this](const RunRow& run, Runs::News news) {
    if (news == Runs::News::kNone) return;
    Changed(run.supervisor_session_id);
    Changed(run.worker_session_id);
  });
}

void RunTeller::Changed(const std::string& session_id) {
  if (changed_.empty()) {
    runner_.PostTask([this] { TellChanges(); });
  }
  changed_.insert(session_id);
}

void RunTeller::TellChanges() {
  for (const std::string& session_id : std::exchange(changed_, {})) {
    if (Attachment* attachment = roster_.Find(session_id)) Tell(*attachment);
  }
}

void RunTeller::OnAttached(Attachment& attachment) {
  last_.erase(attachment.session_id);
  runs_.SetKept(attachment.session_id, attachment.hello.runs_kept());
  Tell(attachment);
}

void RunTeller::OnDetached(const Attachment& attachment, bool) {
  last_.erase(attachment.session_id);
}

void RunTeller::Tell(Attachment& attachment) {
  const std::string& session_id = attachment.session_id;
  const auto open = Describe(session_id);
  const auto news = DescribeNews(session_id);
  if (!open.ok() || !news.ok()) {
    absl::Status status = open.status();
    status.Update(news.status());
    spdlog::error("can't read the runs of {}: {}", session_id,
                  MessageOf(status));
    return;
  }
  Last& last = last_[session_id];
  if (std::string hash = HashOf(*open); hash != last.open_runs) {
    last.open_runs = std::move(hash);
    v1::AttachResponse frame;
    *frame.mutable_open_runs() = *open;
    attachment.link->Send(std::move(frame));
  }
  const std::string bytes = news->SerializeAsString();
  const bool is_nothing = bytes.empty() && last.news.empty();
  if (std::string hash = ContentHash(bytes); !is_nothing && hash != last.news) {
    last.news = std::move(hash);
    v1::AttachResponse frame;
    *frame.mutable_run_news() = *news;
    attachment.link->Send(std::move(frame));
  }
}

absl::StatusOr<v1::OpenRuns> RunTeller::Describe(
    const std::string& worker) const {
  v1::OpenRuns told;
  for (const RunRow& run : runs_.OfWorker(worker)) {
    *told.add_runs() = ToProto(run, clock_.Now());
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto launched_by,
                            headless_.SupervisorOf(worker));
  if (launched_by.has_value()) {
    told.set_supervisor_session_id(*launched_by);
    told.set_supervisor_name(headless_.NameOf(*launched_by));
  }
  return told;
}

absl::StatusOr<v1::RunNews> RunTeller::DescribeNews(
    const std::string& supervisor) const {
  v1::RunNews told;
  INTERCOM_ASSIGN_OR_RETURN(const auto untold,
                            store_.Untold(supervisor, kMaxTold));
  for (const RunRow& run : untold) {
    v1::SettledRun& settled = *told.add_settled();
    *settled.mutable_run() = ToProto(run, clock_.Now());
    INTERCOM_ASSIGN_OR_RETURN(v1::RunResult result, store_.Result(run.number));
    *settled.mutable_result() = Excerpt(std::move(result), kExcerptCharacters);
  }
  if (untold.size() == kMaxTold) {
    INTERCOM_ASSIGN_OR_RETURN(const int64_t all,
                              store_.CountUntold(supervisor));
    told.set_settled_left_out(all - kMaxTold);
  }
  const auto open = runs_.OfSupervisor(supervisor);
  for (const RunRow& run : open) {
    if (run.stalled_told || !IsStalled(run, clock_.Now())) continue;
    *told.add_stalled() = ToProto(run, clock_.Now());
  }
  told.set_open(static_cast<int32_t>(open.size()));
  INTERCOM_ASSIGN_OR_RETURN(const int notes, notes_.CountWaiting(supervisor));
  told.set_notes(notes);
  bool supervises = !open.empty();
  if (!supervises) {
    INTERCOM_ASSIGN_OR_RETURN(supervises, store_.HasSupervised(supervisor));
  }
  if (!supervises) {
    INTERCOM_ASSIGN_OR_RETURN(supervises, headless_.HasLaunched(supervisor));
  }
  told.set_supervises(supervises || notes > 0);
  return told;
}

}  // namespace intercom
