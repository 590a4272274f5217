// The public record of a close job and of the handoff that it brought.
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/config/config_edit.h"
#include "broker/config/config_splice.h"
#include "broker/domain/job.h"

namespace intercom {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// Puts the member `key` of `entry`: of an object with the same keys only what
// changes, else the object as a whole. Where there is none, `added` gets what
// belongs behind the last member, in the way in which that is written.
absl::Status PutObject(std::string_view bytes, const EntryText& entry,
                       const std::string& key, const ordered_json& wanted,
                       std::vector<Splice>& splices, std::string& added) {
  const std::vector<MemberSpan> members = MemberSpans(bytes, entry.span);
  for (const MemberSpan& member : members) {
    if (member.key != key) continue;
    const json& value = entry.value.at(key);
    const std::vector<MemberSpan> parts = MemberSpans(bytes, member.value);
    bool same_keys = parts.size() == wanted.size();
    for (const MemberSpan& part : parts) {
      same_keys = same_keys && wanted.contains(part.key);
    }
    if (!same_keys) {
      const std::string_view indent = LineIndent(bytes, member.whole.begin);
      INTERCOM_ASSIGN_OR_RETURN(
          std::string text,
          DumpAs(bytes, indent, HasManyLines(bytes, member.value), wanted));
      splices.push_back({member.value, std::move(text)});
      return absl::OkStatus();
    }
    for (const MemberSpan& part : parts) {
      const ordered_json& want = wanted.at(part.key);
      if (json(want) == value.at(part.key)) continue;
      INTERCOM_ASSIGN_OR_RETURN(std::string text, Dump(want, -1));
      splices.push_back({part.value, std::move(text)});
    }
    return absl::OkStatus();
  }
  const MemberSpan& last = members.back();
  const std::string_view indent = LineIndent(bytes, last.whole.begin);
  const bool own_line = indent.data() != nullptr;
  INTERCOM_ASSIGN_OR_RETURN(const std::string text,
                            DumpAs(bytes, indent, own_line, wanted));
  absl::StrAppend(&added, NextOf(bytes, indent), "\"", key, "\": ", text);
  return absl::OkStatus();
}

std::string PublicTime(const google::protobuf::Timestamp& time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", FromProto(time),
                          absl::UTCTimeZone());
}

// The file's word: a close that succeeded is "closed" there.
std::string_view PublicState(v1::Job::State state) {
  return state == v1::Job::STATE_SUCCEEDED ? "closed" : JobStateName(state);
}

ordered_json ToJson(const v1::Job& job) {
  ordered_json object = {{"jobId", job.job_id()},
                         {"state", PublicState(job.state())},
                         {"createdAt", PublicTime(job.created_at())},
                         {"updatedAt", PublicTime(job.updated_at())},
                         {"deadlineAt", PublicTime(job.deadline_at())}};
  if (!job.reason().empty()) object["reason"] = job.reason();
  return object;
}

ordered_json ToJson(const v1::Handoff& handoff) {
  return {{"version", 1},
          {"jobId", handoff.job_id()},
          {"summary", handoff.summary()},
          {"updatedAt", PublicTime(handoff.updated_at())}};
}

}  // namespace

absl::StatusOr<std::string> SetCloseJob(std::string_view bytes,
                                        const v1::Job& job,
                                        const v1::Handoff* handoff) {
  INTERCOM_ASSIGN_OR_RETURN(const std::vector<EntryText> entries,
                            Entries(bytes));
  for (const EntryText& entry : entries) {
    if (entry.value["sessionId"].get<std::string>() != job.session_id()) {
      continue;
    }
    std::vector<Splice> splices;
    std::string added;
    if (handoff != nullptr) {
      INTERCOM_RETURN_IF_ERROR(
          PutObject(bytes, entry, "handoff", ToJson(*handoff), splices, added));
    }
    INTERCOM_RETURN_IF_ERROR(
        PutObject(bytes, entry, "closeJob", ToJson(job), splices, added));
    const size_t end = MemberSpans(bytes, entry.span).back().whole.end;
    if (!added.empty()) splices.push_back({{end, end}, std::move(added)});
    return Checked(ApplySplices(bytes, std::move(splices)));
  }
  return Error(absl::StatusCode::kNotFound, "NO_ENTRY",
               "no agent with session id " + job.session_id());
}

}  // namespace intercom
