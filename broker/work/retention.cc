#include "broker/work/retention.h"

#include "broker/base/status_macros.h"

namespace intercom {
namespace {

constexpr int kStep = 200;

}  // namespace

absl::StatusOr<bool> Retention::Step() {
  const absl::Time now = clock_.Now();
  INTERCOM_ASSIGN_OR_RETURN(
      const int mail,
      stores_.history.Prune(now - kSettledMailKept, kSettledMailBytes, kStep));
  INTERCOM_ASSIGN_OR_RETURN(const int jobs,
                            stores_.jobs.Prune(now - kEndedJobsKept, kStep));
  INTERCOM_ASSIGN_OR_RETURN(const int asks,
                            stores_.asks.Prune(now - kSettledMailKept, kStep));
  INTERCOM_ASSIGN_OR_RETURN(const int runs,
                            stores_.runs.Prune(now - kSettledRunsKept, kStep));
  INTERCOM_ASSIGN_OR_RETURN(const int notes,
                            stores_.notes.Prune(now - kSettledRunsKept, kStep));
  INTERCOM_ASSIGN_OR_RETURN(const bool observations, observations_.PruneStep());
  INTERCOM_ASSIGN_OR_RETURN(const bool unknown, ForgetUnknown());
  return mail == kStep || jobs == kStep || asks == kStep || runs == kStep ||
         notes == kStep || observations || unknown;
}

absl::StatusOr<bool> Retention::ForgetUnknown() {
  if (clock_.Steady() < forget_at_) return false;
  INTERCOM_ASSIGN_OR_RETURN(
      const int forgotten,
      stores_.sessions.Forget(
          clock_.Now() - kUnknownSessionsKept, kStep,
          [this](std::string_view id) { return roster_.Find(id) != nullptr; }));
  if (forgotten == kStep) return true;
  INTERCOM_RETURN_IF_ERROR(workspaces_.Look());
  forget_at_ = clock_.Steady() + kForgetEvery;
  return false;
}

}  // namespace intercom
