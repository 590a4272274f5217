#ifndef PI_INTERCOM_TESTS_SUPPORT_SAMPLE_TEAM_H_
#define PI_INTERCOM_TESTS_SUPPORT_SAMPLE_TEAM_H_

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "broker/base/proto_time.h"
#include "intercom/v1/inspect.pb.h"
#include "intercom/v1/message.pb.h"

namespace intercom {

// A coordinator and its workers as a broker would tell of them, always the
// same: every state that a row can be in is there. Ages are half a minute from
// where they read differently, so that a slow test sees the same screen.
class SampleTeam {
 public:
  static absl::Time Now() { return absl::FromUnixSeconds(1'800'000'000); }
  static google::protobuf::Timestamp Ago(absl::Duration age) {
    return ToProto(Now() - age);
  }

  static v1::SessionOverview Session(const std::string& id,
                                     const std::string& name, v1::Role role,
                                     absl::Duration activity_age,
                                     v1::ActivityPhase phase,
                                     const std::string& label) {
    v1::SessionOverview session;
    v1::RosterEntry& entry = *session.mutable_entry();
    entry.set_session_id(id);
    entry.set_name(name);
    entry.set_role(role);
    entry.set_presence(v1::PRESENCE_ATTACHED);
    *entry.mutable_presence_since() = Ago(absl::Minutes(190));
    entry.set_workspace_root("/proj/ann/shop");
    entry.set_project_directory(".");
    entry.set_responsibility_loaded(true);
    v1::Activity& activity = *session.mutable_last_activity();
    activity.set_phase(phase);
    activity.set_label(label);
    activity.set_model("anthropic/claude-opus-4");
    activity.set_turns(12);
    *activity.mutable_at() = Ago(activity_age);
    *entry.mutable_activity() = activity;
    *session.mutable_last_seen_at() = Ago(activity_age);
    return session;
  }

  static v1::WatchOverviewResponse Overview() {
    v1::WatchOverviewResponse overview;
    *overview.mutable_at() = ToProto(Now());
    overview.set_broker_version(INTERCOM_VERSION);
    v1::WorkspaceOverview& workspace = *overview.add_workspaces();
    workspace.set_root("/proj/ann/shop");
    workspace.set_coordinator_session_id("coordinator-1");
    for (v1::SessionOverview& session : Sessions()) {
      *workspace.add_sessions() = std::move(session);
    }
    AddWait(overview, v1::WaitEdge::KIND_RUN, "coordinator-1", "Coordinator",
            "builder-1", "Builder", absl::Seconds(270));
    AddWait(overview, v1::WaitEdge::KIND_ASK, "tester-1", "Tester", "builder-1",
            "Builder", absl::Seconds(150));
    for (int minute = 0; minute < 60; ++minute) {
      v1::TrafficMinute& traffic = *overview.add_minutes();
      const double wave = 1 + std::sin(minute * 0.35);
      traffic.set_messages(static_cast<int>(std::lround(wave * 9)));
      if (traffic.messages() == 0) continue;
      const int milliseconds = 120 + static_cast<int>(wave * 400);
      *traffic.mutable_median_latency() =
          ToProtoDuration(absl::Milliseconds(milliseconds));
    }
    return overview;
  }

  static std::vector<v1::SessionOverview> Sessions() {
    std::vector<v1::SessionOverview> sessions;
    const absl::Duration old = absl::Seconds(270);
    sessions.push_back(Session("coordinator-1", "Coordinator",
                               v1::ROLE_COORDINATOR, absl::Seconds(30),
                               v1::ACTIVITY_PHASE_THINKING, "Thinking"));
    sessions.push_back(Session("builder-1", "Builder", v1::ROLE_WORKER,
                               absl::Seconds(35), v1::ACTIVITY_PHASE_TOOL,
                               "Running command"));
    v1::SessionOverview& builder = sessions.back();
    builder.mutable_last_activity()->set_context_percent(43);
    builder.mutable_run()->set_run_id("run-12");
    builder.mutable_run()->set_label("checkout form");
    builder.mutable_run()->set_state(v1::Run::STATE_RUNNING);
    *builder.mutable_run()->mutable_started_at() = Ago(absl::Seconds(270));
    builder.set_asked(1);
    builder.mutable_entry()->set_waiting(2);
    sessions.push_back(Session("reviewer-1", "Reviewer", v1::ROLE_WORKER, old,
                               v1::ACTIVITY_PHASE_IDLE, "Reading files"));
    SetReport(sessions.back(), v1::Report::STATUS_NEEDS_DECISION,
              absl::Seconds(1290), /*overdue=*/true);
    sessions.push_back(Session("tester-1", "Tester", v1::ROLE_WORKER,
                               absl::Seconds(40), v1::ACTIVITY_PHASE_RESPONDING,
                               "Writing response"));
    sessions.back().mutable_last_activity()->set_context_percent(81);
    SetReport(sessions.back(), v1::Report::STATUS_READY_FOR_REVIEW,
              absl::Seconds(390), /*overdue=*/false);
    sessions.push_back(Session("translator-1", "翻訳 担当", v1::ROLE_WORKER,
                               old, v1::ACTIVITY_PHASE_IDLE, "Editing files"));
    SetReport(sessions.back(), v1::Report::STATUS_BLOCKED, absl::Seconds(210),
              /*overdue=*/false);
    sessions.push_back(Session("writer-1", "Writer", v1::ROLE_WORKER,
                               absl::Minutes(190), v1::ACTIVITY_PHASE_IDLE,
                               "Writing response"));
    v1::RosterEntry& writer = *sessions.back().mutable_entry();
    writer.set_presence(v1::PRESENCE_AWAY);
    writer.clear_activity();
    writer.set_waiting(3);
    sessions.push_back(Session("5b7e01c2-4d4e-4f7e-8f6c-0123456789ab", "",
                               v1::ROLE_ANONYMOUS, absl::Seconds(45),
                               v1::ACTIVITY_PHASE_IDLE, ""));
    sessions.back().mutable_entry()->set_runtime_name("session-5b7e01c2");
    return sessions;
  }

  static v1::ListDeliveriesResponse Deliveries() {
    v1::ListDeliveriesResponse list;
    Add(list, "d12", v1::ENVELOPE_KIND_ASK, "Tester", "Builder",
        v1::DELIVERY_STATE_INJECTED, absl::Seconds(150), 340);
    Add(list, "d11", v1::ENVELOPE_KIND_REPORT, "翻訳 担当", "Coordinator",
        v1::DELIVERY_STATE_SEEN, absl::Seconds(205), 1900);
    Add(list, "d10", v1::ENVELOPE_KIND_MESSAGE, "Coordinator", "Builder",
        v1::DELIVERY_STATE_SEEN, absl::Seconds(268), 2400);
    Add(list, "d9", v1::ENVELOPE_KIND_MESSAGE, "Coordinator", "Writer",
        v1::DELIVERY_STATE_ACCEPTED, absl::Seconds(300), 0);
    list.mutable_deliveries(3)->set_wait_reason(v1::WAIT_REASON_AWAY);
    Add(list, "d8", v1::ENVELOPE_KIND_REPLY, "Reviewer", "Tester",
        v1::DELIVERY_STATE_REPLIED, absl::Seconds(360), 48000);
    Add(list, "d7", v1::ENVELOPE_KIND_NOTICE, "", "Coordinator",
        v1::DELIVERY_STATE_SEEN, absl::Seconds(420), 80);
    list.mutable_deliveries(5)->mutable_sender()->set_origin(v1::ORIGIN_BROKER);
    Add(list, "d6", v1::ENVELOPE_KIND_MESSAGE, "Builder", "Writer",
        v1::DELIVERY_STATE_ACCEPTED, absl::Seconds(600), 7200000);
    list.mutable_deliveries(6)->set_end(v1::DELIVERY_END_EXPIRED);
    return list;
  }

  static v1::GetSessionResponse Reviewer() {
    v1::GetSessionResponse session;
    *session.mutable_entry() = Sessions()[2].entry();
    v1::RosterEntry& entry = *session.mutable_entry();
    entry.set_host_pid(4242);
    entry.set_description(
        "Reviews every change before it is merged: correctness first, then "
        "names, then tests. Writes no code.");
    entry.mutable_report()->set_summary(
        "The checkout form posts the card number twice. Keep the old endpoint "
        "until the shop is updated, or break it now?");
    session.mutable_handoff()->set_summary(
        "Reviewed everything up to the basket. The checkout is next.");
    *session.mutable_handoff()->mutable_updated_at() = Ago(absl::Minutes(90));
    v1::Run& run = *session.add_working_on();
    run.set_run_id("run-9");
    run.set_label("review checkout");
    run.set_supervisor_name("Coordinator");
    run.set_state(v1::Run::STATE_RUNNING);
    run.set_turns(3);
    *run.mutable_started_at() = Ago(absl::Seconds(1350));
    const v1::ListDeliveriesResponse deliveries = Deliveries();
    *session.add_deliveries() = deliveries.deliveries(4);
    return session;
  }

  static v1::DeliveryRecord Record(const std::string& id,
                                   const std::string& text) {
    v1::DeliveryRecord record;
    record.set_delivery_id(id);
    record.mutable_envelope()->set_envelope_id("e-" + id);
    record.mutable_envelope()->set_kind(v1::ENVELOPE_KIND_ASK);
    record.mutable_envelope()->set_text(text);
    record.mutable_sender()->set_name("Tester");
    record.mutable_sender()->set_role(v1::ROLE_WORKER);
    record.mutable_sender()->set_origin(v1::ORIGIN_SESSION);
    record.set_recipient_name("Builder");
    v1::DeliveryMark& mark = *record.add_marks();
    mark.set_state(v1::DELIVERY_STATE_ACCEPTED);
    *mark.mutable_at() = Ago(absl::Seconds(150));
    return record;
  }

 private:
  static void SetReport(v1::SessionOverview& session, v1::Report::Status status,
                        absl::Duration age, bool overdue) {
    v1::Report& report = *session.mutable_entry()->mutable_report();
    report.set_status(status);
    report.set_overdue(overdue);
    *report.mutable_reported_at() = Ago(age);
  }

  static void AddWait(v1::WatchOverviewResponse& overview,
                      v1::WaitEdge::Kind kind, const std::string& waiting_id,
                      const std::string& waiting, const std::string& for_id,
                      const std::string& for_name, absl::Duration age) {
    v1::WaitEdge& edge = *overview.add_waits();
    edge.set_kind(kind);
    edge.set_waiting_session_id(waiting_id);
    edge.set_waiting_name(waiting);
    edge.set_for_session_id(for_id);
    edge.set_for_name(for_name);
    *edge.mutable_since() = Ago(age);
  }

  static void Add(v1::ListDeliveriesResponse& list, const std::string& id,
                  v1::EnvelopeKind kind, const std::string& from,
                  const std::string& to, v1::DeliveryState state,
                  absl::Duration age, int64_t latency_ms) {
    v1::DeliverySummary& delivery = *list.add_deliveries();
    delivery.set_delivery_id(id);
    delivery.set_kind(kind);
    delivery.mutable_sender()->set_name(from);
    delivery.mutable_sender()->set_origin(v1::ORIGIN_SESSION);
    delivery.set_recipient_name(to);
    delivery.set_state(state);
    *delivery.mutable_changed_at() = Ago(age);
    *delivery.mutable_accepted_at() = Ago(age + absl::Milliseconds(latency_ms));
  }
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_SAMPLE_TEAM_H_
