// Where one message is.
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/short_id.h"
#include "broker/work/mail.h"

namespace intercom {
namespace {

absl::Status UnknownEnvelope(const std::string& id) {
  return Error(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE",
               "no stored message has the id " + QuotedLine(id, 400) +
                   "; intercom history lists the latest");
}

}  // namespace

void Mail::Get(CallerEvidence evidence, std::string id, RecordDone done) {
  runner_.PostTask([this, evidence = std::move(evidence), id = std::move(id),
                    done = std::move(done)]() mutable {
    if (auto caller =
            workspaces_.callers().ResolveFor(Operation::kMessageRead, evidence);
        !caller.ok()) {
      return done(caller.status());
    }
    absl::StatusOr<v1::DeliveryRecord> record = FindOne(id);
    if (record.ok()) {
      dispatcher_.DescribeWait(*record);
      runs_.Describe(*record);
    }
    done(std::move(record));
  });
}

absl::StatusOr<v1::DeliveryRecord> Mail::FindOne(const std::string& id) {
  if (id.size() < kMinIdPrefix) {
    return Error(absl::StatusCode::kInvalidArgument, "ID_TOO_SHORT",
                 "an id needs at least 6 characters");
  }
  INTERCOM_ASSIGN_OR_RETURN(auto found, deliveries_.FindByIdPrefix(id, 6));
  if (found.empty()) return UnknownEnvelope(id);
  if (found.size() == 1) return std::move(found.front());
  for (v1::DeliveryRecord& record : found) {
    if (record.delivery_id() == id) return std::move(record);
  }
  std::string candidates;
  for (const v1::DeliveryRecord& record : found) {
    candidates += "\n  " + record.delivery_id();
  }
  return Error(absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_ID",
               "several messages have an id that begins so; give more of "
               "it:" +
                   candidates);
}

}  // namespace intercom
