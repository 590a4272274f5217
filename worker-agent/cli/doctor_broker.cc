#include "worker-agent/cli/doctor_broker.h"

#include <algorithm>
#include <cstdint>

#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/lock_file.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/job.h"
#include "worker-agent/cli/doctor_state.h"
#include "worker-agent/tools/labels.h"

namespace intercom {
namespace {

// As the broker bounds a mailbox.
constexpr int64_t kMostEnvelopes = 10'000;
constexpr int64_t kMostBytes = 64 << 20;
constexpr absl::Duration kLongWait = absl::Hours(24);
// For jobs without a deadline, and past one.
constexpr absl::Duration kLongJob = absl::Minutes(30);
constexpr absl::Duration kLate = absl::Minutes(1);

const v1::RosterEntry* EntryOf(const BrokerFacts& facts,
                               const std::string& session_id) {
  if (facts.attachments.ok()) {
    for (const v1::RosterEntry& entry : facts.attachments->entries()) {
      if (entry.session_id() == session_id) return &entry;
    }
  }
  if (facts.sessions.ok()) {
    for (const v1::RosterEntry& entry : facts.sessions->sessions()) {
      if (entry.session_id() == session_id) return &entry;
    }
  }
  return nullptr;
}

std::string NameOf(const BrokerFacts& facts, const std::string& session_id) {
  const v1::RosterEntry* entry = EntryOf(facts, session_id);
  if (entry == nullptr) return IdLabel(session_id);
  return NameOr(entry->name().empty() ? entry->runtime_name() : entry->name(),
                session_id);
}

std::string Counted(int64_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

// Says why a part of what the broker knows is missing.
bool IsMissing(const absl::Status& status, const std::string& check,
               DoctorFindings& findings) {
  if (status.ok()) return false;
  findings.Warning(
      check, "the broker did not tell: " + MessageOf(status),
      ReasonOf(status) == "BROKER_HUNG" || ReasonOf(status) == "OUTCOME_UNKNOWN"
          ? "intercom broker restart"
          : "run intercom doctor again at a shell of your own");
  return true;
}

void CheckStore(const BrokerFacts& facts, DoctorFindings& findings) {
  if (IsMissing(facts.store.status(), "store", findings)) return;
  const v1::CheckStoreResponse& store = *facts.store;
  for (const std::string& finding : store.findings()) {
    findings.Error("store", "SQLite finds the store damaged: " + finding,
                   "intercom broker restart repairs it, or saves what can be "
                   "saved into a new one and keeps the old file");
  }
  if (!store.findings().empty()) return;
  const std::string figures = BytesLabel(store.file_bytes()) + ", schema " +
                              std::to_string(store.schema_version());
  if (store.complete()) {
    findings.Ok("store", "SQLite finds the store whole: " + figures);
  } else {
    findings.Note("store",
                  "SQLite found nothing wrong in the part of the "
                  "store that it could check in its time: " +
                      figures);
  }
}

void CheckConfig(const BrokerFacts& facts, DoctorFindings& findings) {
  if (ReasonOf(facts.config.status()) == "NO_WORKSPACE") {
    findings.Note("config", MessageOf(facts.config.status()));
    return;
  }
  if (IsMissing(facts.config.status(), "config", findings)) return;
  bool is_clean = true;
  for (const v1::ConfigFinding& one : facts.config->findings()) {
    const std::string& what = one.message();
    if (one.severity() == v1::ConfigFinding::SEVERITY_ERROR) {
      findings.Error("config", what, one.remedy());
    } else if (one.severity() == v1::ConfigFinding::SEVERITY_WARNING) {
      findings.Warning("config", what, one.remedy());
    } else {
      findings.Note("config", what, one.remedy());
      continue;
    }
    is_clean = false;
  }
  if (is_clean) {
    findings.Ok("config", "the config of " + facts.config->root() +
                              " is valid, with " +
                              Counted(facts.config->agents(), "agent"));
  }
}

void CheckJobs(const BrokerFacts& facts, absl::Time now,
               DoctorFindings& findings) {
  if (IsMissing(facts.jobs.status(), "jobs", findings)) return;
  bool is_clean = true;
  for (const v1::Job& job : facts.jobs->jobs()) {
    const std::string id = IdLabel(job.job_id());
    const std::string what = "the job " + id + ", to " +
                             std::string(JobKindName(job.kind())) + " " +
                             (job.name().empty() && job.session_id().empty()
                                  ? "a new session"
                                  : NameOr(job.name(), job.session_id()));
    const std::string show = "intercom job show " + id;
    if (job.state() == v1::Job::STATE_UNCERTAIN) {
      is_clean = false;
      findings.Error("jobs",
                     what + ", is uncertain" +
                         (job.fences() ? " and fences its worker" : "") +
                         (job.detail().empty() ? "" : ": " + job.detail()),
                     show + "; then, by your word: intercom job resolve " + id);
      continue;
    }
    if (!IsPending(job.state())) continue;
    const absl::Duration age = now - ToTime(job.created_at());
    const bool is_late = job.has_deadline_at()
                             ? now - ToTime(job.deadline_at()) > kLate
                             : age > kLongJob;
    if (!is_late) continue;
    is_clean = false;
    findings.Warning("jobs",
                     what + ", has been pending for " + AgeLabel(age) + " (" +
                         std::string(JobStateName(job.state())) + ")",
                     show +
                         "; a launch that never attached ends with: "
                         "intercom job resolve " +
                         id);
  }
  if (is_clean) findings.Ok("jobs", "no job is stuck");
}

void CheckMailboxes(const BrokerFacts& facts, absl::Time now,
                    DoctorFindings& findings) {
  if (IsMissing(facts.mailboxes.status(), "mailboxes", findings)) return;
  bool is_clean = true;
  for (const v1::MailboxSummary& box : facts.mailboxes->mailboxes()) {
    const std::string& id = box.recipient_session_id();
    const bool is_persons = IsPersonSessionId(id);
    const std::string whose =
        is_persons ? "your mailbox" : "the mailbox of " + NameOf(facts, id);
    const std::string holds = whose + " holds " +
                              Counted(box.envelopes(), "envelope") + ", " +
                              BytesLabel(box.bytes());
    const std::string remedy =
        is_persons ? "read it: intercom inbox"
                   : "open that session again; what waits is listed by: "
                     "intercom deliveries --waiting --session " +
                         IdLabel(id);
    if (box.envelopes() >= kMostEnvelopes || box.bytes() >= kMostBytes) {
      findings.Error("mailboxes", holds + ": it is full and takes no more",
                     remedy);
    } else if (box.envelopes() >= kMostEnvelopes / 10 * 8 ||
               box.bytes() >= kMostBytes / 10 * 8) {
      findings.Warning("mailboxes",
                       holds +
                           ": at 10000 envelopes or 64 MiB it takes no "
                           "more",
                       remedy);
    } else if (!is_persons && box.has_oldest_at() &&
               now - ToTime(box.oldest_at()) > kLongWait) {
      findings.Note("mailboxes",
                    holds + "; the oldest has waited for " +
                        AgeLabel(now - ToTime(box.oldest_at())),
                    remedy);
    } else {
      continue;
    }
    is_clean = false;
  }
  if (is_clean) findings.Ok("mailboxes", "no mailbox is nearly full");
}

void CheckHosts(const BrokerFacts& facts, const std::string& version,
                DoctorFindings& findings) {
  if (IsMissing(facts.attachments.status(), "hosts", findings)) return;
  for (const v1::AttachedHost& host : facts.attachments->hosts()) {
    const std::string name = NameOf(facts, host.session_id());
    std::string missing;
    for (const char* capability : {"stop", "close"}) {
      const auto& known = host.capabilities();
      if (std::find(known.begin(), known.end(), capability) != known.end()) {
        continue;
      }
      missing += (missing.empty() ? "" : " and ") + std::string(capability);
    }
    if (!missing.empty()) {
      findings.Warning("hosts",
                       name + " runs in " + NameLabel(host.kind(), 32) + " " +
                           NameLabel(host.version(), 32) +
                           ", which is not known to " + missing + " safely",
                       "a stop or close of it is refused: do it in its "
                       "terminal, or open it in a known version of Pi");
    }
    if (!host.agent_version().empty() && host.agent_version() != version) {
      findings.Warning("hosts",
                       "the agent of " + name + " is version " +
                           host.agent_version() + ", this program " + version,
                       "open that session anew");
    }
  }
  const int attached = facts.attachments->entries_size();
  findings.Ok("hosts", Counted(attached, "session") +
                           (attached == 1 ? " is attached" : " are attached"));
}

void CheckInbox(const BrokerFacts& facts, DoctorFindings& findings) {
  // A session's shell has none.
  if (!facts.inbox.ok()) return;
  const int64_t unread = facts.inbox->left_out() + facts.inbox->records_size();
  if (unread == 0) return;
  findings.Note("inbox", std::to_string(unread) + " unread for you",
                "intercom inbox");
}

}  // namespace

BrokerFacts AskBroker(BrokerClient& client, const std::string& home,
                      const std::string& directory) {
  BrokerFacts facts;
  facts.lock_holder = LockFile::Holder(BrokerLockPath(home));
  facts.broker = client.GetBroker();
  if (!facts.broker.ok()) return facts;
  facts.store = client.CheckStore();
  v1::CheckConfigRequest config;
  config.set_directory(directory);
  facts.config = client.CheckConfig(config);
  v1::ListJobsRequest jobs;
  jobs.set_limit(200);
  facts.jobs = client.ListJobs(jobs);
  facts.mailboxes = client.ListMailboxes();
  facts.attachments = client.ListAttachments();
  v1::ListSessionsRequest sessions;
  sessions.set_with_away(true);
  facts.sessions = client.ListSessions(sessions);
  v1::ListInboxRequest inbox;
  inbox.set_limit(1);
  facts.inbox = client.ListInbox(inbox);
  if (facts.inbox.ok()) {
    for (v1::DeliveryRecord& record : *facts.inbox->mutable_records()) {
      record.Clear();
    }
  }
  return facts;
}

void CheckBroker(const BrokerFacts& facts, const std::string& version,
                 absl::Time now, DoctorFindings& findings) {
  if (!facts.broker.ok()) {
    const bool is_absent =
        ReasonOf(facts.broker.status()) == "BROKER_NOT_RUNNING";
    if (is_absent && facts.lock_holder != 0) {
      findings.Error("broker",
                     "a broker runs (process " +
                         std::to_string(facts.lock_holder) +
                         "), but its socket can't be reached from here",
                     "try it outside of a sandbox, which may block sockets; if "
                     "it is the same there: intercom broker restart");
    } else if (is_absent) {
      findings.Note("broker", "no broker runs: the next session starts one",
                    "intercom broker start, to have the rest looked at");
    } else {
      findings.Error("broker", MessageOf(facts.broker.status()),
                     "intercom broker restart");
    }
    return;
  }
  const v1::GetBrokerResponse& broker = *facts.broker;
  const std::string process = "process " + std::to_string(broker.pid());
  if (broker.version() != version) {
    findings.Warning("broker",
                     "the broker (" + process + ") is version " +
                         broker.version() + ", this program " + version,
                     "intercom broker restart");
  } else {
    findings.Ok("broker", "the broker (" + process + ") answers; up " +
                              AgeLabel(now - ToTime(broker.started_at())) +
                              ", port " + std::to_string(broker.port()));
  }
  for (const std::string& notice : broker.notices()) {
    findings.Warning("broker", notice, "it is said until the broker ends");
  }
  CheckStore(facts, findings);
  CheckConfig(facts, findings);
  CheckJobs(facts, now, findings);
  CheckMailboxes(facts, now, findings);
  CheckHosts(facts, version, findings);
  CheckInbox(facts, findings);
}

}  // namespace intercom
