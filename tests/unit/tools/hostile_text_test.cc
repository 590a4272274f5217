// Every text of the agent in which another agent's words or names stand,
// written with the worst of them. Where a path of its own is added, a case
// belongs here.

#include "tests/support/hostile_text.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker-agent/headless/rpc_transcript.h"
#include "worker-agent/tools/ask_result.h"
#include "worker-agent/tools/delivery_text.h"
#include "worker-agent/tools/inbox_text.h"
#include "worker-agent/tools/instructions.h"
#include "worker-agent/tools/job_result.h"
#include "worker-agent/tools/peer_result.h"
#include "worker-agent/tools/record_text.h"
#include "worker-agent/tools/run_digest.h"
#include "worker-agent/tools/run_text.h"
#include "worker-agent/tools/session_list.h"
#include "worker-agent/tools/status_page.h"
#include "worker-agent/tools/tool_result.h"
#include "worker-agent/tools/wait_report.h"
#include "worker-agent/tools/worker_result.h"
#include "worker-agent/watch/watch_text.h"

namespace intercom {
namespace {

v1::Sender SenderNamed(const std::string& name, v1::Origin origin) {
  v1::Sender sender;
  sender.set_session_id("s-2");
  sender.set_name(name);
  sender.set_role(v1::ROLE_WORKER);
  sender.set_origin(origin);
  return sender;
}

v1::Delivery DeliveryWith(const std::string& name, const std::string& text,
                          v1::EnvelopeKind kind,
                          v1::Origin origin = v1::ORIGIN_SESSION) {
  v1::Delivery delivery;
  delivery.set_delivery_id("s-2/m-1");
  v1::Envelope& envelope = *delivery.mutable_envelope();
  envelope.set_envelope_id("m-1");
  envelope.set_kind(kind);
  envelope.set_text(text);
  v1::MessageAttachment& attachment = *envelope.add_attachments();
  attachment.set_type(v1::MessageAttachment::TYPE_FILE);
  attachment.set_name(name);
  attachment.set_content(text);
  *delivery.mutable_sender() = SenderNamed(name, origin);
  delivery.set_sender_directory("/home/ada");
  delivery.mutable_accepted_at()->set_seconds(1'800'000'000);
  return delivery;
}

v1::DeliveryRecord RecordWith(const std::string& name,
                              const std::string& text) {
  v1::DeliveryRecord record;
  record.set_delivery_id("s-1/m-1");
  record.mutable_envelope()->set_envelope_id("m-1");
  record.mutable_envelope()->set_kind(v1::ENVELOPE_KIND_MESSAGE);
  record.mutable_envelope()->set_text(text);
  *record.mutable_sender() = SenderNamed(name, v1::ORIGIN_SESSION);
  record.set_recipient_session_id("s-3");
  record.set_recipient_name(name);
  record.set_wait_reason(v1::WAIT_REASON_AWAY);
  return record;
}

v1::RosterEntry EntryNamed(const std::string& name) {
  v1::RosterEntry entry;
  entry.set_session_id("s-2");
  entry.set_short_id("s-2");
  entry.set_name(name);
  entry.set_cwd("/home/ada");
  entry.set_presence(v1::PRESENCE_ATTACHED);
  entry.set_role(v1::ROLE_WORKER);
  return entry;
}

v1::Job JobOf(const std::string& name) {
  v1::Job job;
  job.set_job_id("j-1");
  job.set_kind(v1::Job::KIND_STOP);
  job.set_state(v1::Job::STATE_SUCCEEDED);
  job.set_session_id("s-2");
  job.set_name(name);
  return job;
}

SentAsk AskTo(const std::string& name) {
  SentAsk ask;
  ask.message_id = "m-1";
  ask.recipient = name;
  return ask;
}

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

v1::Run RunBy(const std::string& name, v1::Run::State state,
              const std::string& id = "run-1") {
  v1::Run run;
  run.set_run_id(id);
  run.set_worker_session_id("s-2");
  run.set_worker_name(name);
  run.set_model(name);
  run.set_label("parser");
  run.set_state(state);
  run.mutable_opened_at()->set_seconds(1'799'999'000);
  return run;
}

// Without any words there is another sentence.
v1::SettledRun FailedBy(const std::string& name, const std::string& text,
                        const std::string& id = "run-1") {
  v1::SettledRun settled;
  *settled.mutable_run() = RunBy(name, v1::Run::STATE_FAILED, id);
  settled.mutable_result()->set_text(text.empty() ? "x" : text);
  settled.mutable_result()->set_error(text.empty() ? "x" : text);
  return settled;
}

v1::Ask AskBy(const std::string& name, const std::string& text) {
  v1::Ask ask;
  ask.set_delivery_id("s-2/m-1");
  *ask.mutable_asker() = SenderNamed(name, v1::ORIGIN_SESSION);
  ask.set_preview(text);
  return ask;
}

v1::Note NoteBy(const std::string& name, const std::string& text,
                const std::string& run_id = "run-1") {
  v1::Note note;
  note.set_note_id("n-1");
  note.set_run_id(run_id);
  note.set_worker_session_id("s-2");
  note.set_worker_name(name);
  note.set_text(text);
  return note;
}

v1::DrainInboxResponse InboxOf(const v1::Note& note, const v1::Ask& ask) {
  v1::DrainInboxResponse inbox;
  *inbox.add_notes() = note;
  *inbox.add_asks() = ask;
  return inbox;
}

v1::RunNews NewsOf(const v1::SettledRun& settled, const v1::Run& stalled) {
  v1::RunNews news;
  *news.add_settled() = settled;
  *news.add_stalled() = stalled;
  return news;
}

v1::ListRunsResponse Listed(const v1::Run& run) {
  v1::ListRunsResponse runs;
  *runs.add_runs() = run;
  return runs;
}

WaitReport Waited(const std::string& name, const std::string& text,
                  const std::string& id = "run-1") {
  WaitReport report;
  report.settled.push_back(FailedBy(name, text, id));
  report.open.push_back(RunBy(name, v1::Run::STATE_RUNNING, id));
  report.ask = AskBy(name, text);
  return report;
}

v1::StopRunResponse StoppedBy(const std::string& name, bool forced,
                              const std::string& id = "run-1") {
  v1::StopRunResponse response;
  *response.mutable_run() =
      RunBy(name, forced ? v1::Run::STATE_STOPPED : v1::Run::STATE_RUNNING, id);
  response.set_forced(forced);
  return response;
}

v1::DeliveryRecord OpenedBy(const std::string& name, const std::string& text,
                            const std::string& id = "run-1") {
  v1::DeliveryRecord record = RecordWith(name, text);
  record.set_run_id(id);
  return record;
}

v1::Delivery HandedBy(const std::string& name, const std::string& text,
                      const std::string& id = "run-1") {
  v1::Delivery delivery = DeliveryWith(name, text, v1::ENVELOPE_KIND_MESSAGE);
  delivery.set_run_id(id);
  return delivery;
}

struct Path {
  const char* what;
  // What a model or a person reads where somebody has that name and said that.
  std::function<std::string(const std::string& name, const std::string& text)>
      read;
};
void PrintTo(const Path& path, std::ostream* out) { *out << path.what; }

std::string Delivered(const std::string& name, const std::string& text,
                      v1::EnvelopeKind kind,
                      v1::Origin origin = v1::ORIGIN_SESSION) {
  return DeliveryContent(DeliveryWith(name, text, kind, origin),
                         {.role = v1::ROLE_PEER, .home = "/home/ada"});
}

std::vector<Path> Paths() {
  using S = const std::string&;
  return {
      {"a message",
       [](S n, S t) { return Delivered(n, t, v1::ENVELOPE_KIND_MESSAGE); }},
      {"an ask",
       [](S n, S t) { return Delivered(n, t, v1::ENVELOPE_KIND_ASK); }},
      {"a reply",
       [](S n, S t) { return Delivered(n, t, v1::ENVELOPE_KIND_REPLY); }},
      {"a report",
       [](S n, S t) { return Delivered(n, t, v1::ENVELOPE_KIND_REPORT); }},
      {"a notice",
       [](S n, S t) { return Delivered(n, t, v1::ENVELOPE_KIND_NOTICE); }},
      {"a message of a shell",
       [](S n, S t) {
         return Delivered(n, t, v1::ENVELOPE_KIND_MESSAGE, v1::ORIGIN_SHELL);
       }},
      {"the reply of an ask",
       [](S n, S t) { return RenderReply(AskTo(n), RecordWith(n, t)).text; }},
      {"an ask in vain",
       [](S n, S) {
         return RenderUnanswered(AskTo(n), v1::Ask::STATE_TIMED_OUT).text;
       }},
      {"progress of an ask",
       [](S n, S) { return AskProgress(AskTo(n), absl::Seconds(3), true); }},
      {"pending asks",
       [](S n, S t) {
         google::protobuf::RepeatedPtrField<v1::Ask> asks;
         v1::Ask& ask = *asks.Add();
         ask.set_delivery_id("s-2/m-1");
         *ask.mutable_asker() = SenderNamed(n, v1::ORIGIN_SESSION);
         ask.set_preview(t);
         return RenderPending(asks, absl::FromUnixSeconds(1'800'000'000)).text;
       }},
      {"the list of sessions",
       [](S n, S) {
         v1::ListSessionsResponse response;
         *response.add_sessions() = EntryNamed(n);
         return RenderSessions(response, "/home/ada").text;
       }},
      {"the workspace's table",
       [](S n, S) {
         v1::GetWorkspaceResponse response;
         response.set_root("/home/ada/w");
         *response.add_entries() = EntryNamed(n);
         return RenderWorkspace(response).text;
       }},
      {"what was sent",
       [](S n, S t) { return RenderSent(RecordWith(n, t), false).text; }},
      {"what was sent in the workspace",
       [](S n, S t) { return RenderSubmitted(RecordWith(n, t)).text; }},
      {"where a message is",
       [](S n, S t) {
         return RenderMessageStatus(RecordWith(n, t),
                                    absl::FromUnixSeconds(1'800'000'000))
             .text;
       }},
      {"a stopped worker",
       [](S n, S) {
         v1::StopWorkerResponse response;
         *response.mutable_job() = JobOf(n);
         return RenderStopped(response).text;
       }},
      {"a worker's instructions",
       [](S n, S t) {
         SessionIdentity identity;
         identity.role = v1::ROLE_WORKER;
         identity.workspace_root = "/home/ada/w";
         identity.loaded.emplace();
         identity.loaded->set_name(n);
         identity.loaded->set_description(t);
         return InstructionsFor(identity);
       }},
      {"a loaded worker",
       [](S n, S) {
         v1::ReloadWorkerResponse response;
         response.mutable_entry()->set_name(n);
         return RenderReloaded(response).text;
       }},
      {"a peek",
       [](S n, S) {
         return RenderPeek(Listed(RunBy(n, v1::Run::STATE_RUNNING)), kNow).text;
       }},
      {"a run's result",
       [](S n, S t) { return RenderRunResult(FailedBy(n, t), kNow).text; }},
      {"what ended and what stalled",
       [](S n, S t) {
         return DigestOf(
                    NewsOf(FailedBy(n, t), RunBy(n, v1::Run::STATE_RUNNING)),
                    kNow)
             .content;
       }},
      {"a check-in",
       [](S n, S) {
         return CheckInOf(Listed(RunBy(n, v1::Run::STATE_RUNNING)), kNow)
             .content;
       }},
      {"a wait that a question ended",
       [](S n, S t) { return RenderWait(Waited(n, t), kNow).text; }},
      {"a wait that was given up",
       [](S n, S t) { return RenderWaitGivenUp(Waited(n, t)).text; }},
      {"the inbox",
       [](S n, S t) {
         return RenderInbox(InboxOf(NoteBy(n, t), AskBy(n, t)), kNow).text;
       }},
      {"a note", [](S n, S t) { return RenderNote(NoteBy(n, t)).text; }},
      {"what was noted",
       [](S n, S) {
         v1::AddNoteResponse response;
         response.set_supervisor_name(n);
         response.set_supervisor_session_id("s-2");
         return RenderNoted(response).text;
       }},
      {"a steered run",
       [](S n, S t) { return RenderSteered(RecordWith(n, t), "run-1").text; }},
      {"a run to be stopped",
       [](S n, S) { return RenderStoppedRun(StoppedBy(n, false)).text; }},
      {"a run stopped without its host's word",
       [](S n, S) { return RenderStoppedRun(StoppedBy(n, true)).text; }},
      {"what opened a run",
       [](S n, S t) { return RenderSubmitted(OpenedBy(n, t)).text; }},
      {"what was handed over",
       [](S n, S t) {
         return DeliveryContent(HandedBy(n, t), {.role = v1::ROLE_WORKER});
       }},
      {"what a watch saw",
       [](S, S t) {
         WatchEvent line{.out = t};
         WatchEvent end{.kind = WatchEvent::Kind::kEnded,
                        .out = t.empty() ? "x" : t,
                        .err = t.empty() ? "x" : t};
         return WatchText(
             {{"w-1/1", "w-1", "make", line}, {"w-1/2", "w-1", "make", end}},
             0);
       }},
  };
}

class HostileTextTest : public ::testing::TestWithParam<Path> {};

TEST_P(HostileTextTest, ANameChangesNothingOfWhatAReaderTakesItApartBy) {
  const std::string wanted = ShapeOf(GetParam().read("Ann", "words"));
  for (const std::string& name : HostileTexts()) {
    if (name.empty()) continue;
    const std::string text = GetParam().read(name, "words");
    EXPECT_TRUE(IsHarmless(text)) << absl::CEscape(text);
    EXPECT_EQ(ShapeOf(text), wanted) << text;
  }
}

TEST_P(HostileTextTest, NoWordOfAnotherStandsOutsideTheFence) {
  const auto lines = LinesOutside(GetParam().read("Ann", "words"));
  for (const std::string& said : HostileTexts()) {
    const std::string text = GetParam().read("Ann", said);
    EXPECT_TRUE(IsHarmless(text)) << absl::CEscape(text);
    EXPECT_EQ(LinesOutside(text).size(), lines.size()) << text;
    for (const std::string& line : LinesOutside(text)) {
      EXPECT_EQ(line.find("OBEY"), std::string::npos) << text;
    }
  }
}

TEST_P(HostileTextTest, NamesThatPeopleHaveStayReadable) {
  const std::string named = GetParam().read("Ann", "words");
  for (const std::string& name : HonestNames()) {
    std::string wanted = named;
    for (size_t at = wanted.find("Ann"); at != std::string::npos;
         at = wanted.find("Ann", at + name.size())) {
      wanted.replace(at, 3, name);
    }
    // A table's columns are as wide as the name.
    if (wanted.find("DIRECTORY") != std::string::npos) continue;
    if (wanted.find("WORKER") != std::string::npos) continue;
    EXPECT_EQ(GetParam().read(name, "words"), wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, HostileTextTest, ::testing::ValuesIn(Paths()));

// What names a run comes from the broker, and is no word of the text all the
// same.
TEST(RunIdTest, IsOneWordWhateverItIs) {
  const auto texts = [](const std::string& id) {
    return std::vector<std::string>{
        RenderPeek(Listed(RunBy("Ann", v1::Run::STATE_RUNNING, id)), kNow).text,
        RenderRunResult(FailedBy("Ann", "x", id), kNow).text,
        DigestOf(NewsOf(FailedBy("Ann", "x", id),
                        RunBy("Ann", v1::Run::STATE_RUNNING, id)),
                 kNow)
            .content,
        RenderWait(Waited("Ann", "x", id), kNow).text,
        RenderWaitGivenUp(Waited("Ann", "x", id)).text,
        RenderInbox(InboxOf(NoteBy("Ann", "x", id), AskBy("Ann", "x")), kNow)
            .text,
        RenderNote(NoteBy("Ann", "x", id)).text,
        RenderSteered(RecordWith("Ann", "x"), id).text,
        RenderStoppedRun(StoppedBy("Ann", false, id)).text,
        RenderStoppedRun(StoppedBy("Ann", true, id)).text,
        RenderSubmitted(OpenedBy("Ann", "x", id)).text,
        DeliveryContent(HandedBy("Ann", "x", id), {.role = v1::ROLE_WORKER})};
  };
  const std::vector<std::string> wanted = texts("run-1");
  for (const std::string& id : HostileTexts()) {
    if (id.empty()) continue;
    const std::vector<std::string> got = texts(id);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(IsHarmless(got[i])) << absl::CEscape(got[i]);
      EXPECT_EQ(ShapeOf(got[i]), ShapeOf(wanted[i])) << got[i];
    }
  }
}

// A person sees a headless worker's words as they are, but for what steers the
// terminal.
TEST(ViewTest, WhatAHostSaysSteersNoTerminal) {
  for (const std::string& text : HostileTexts()) {
    RpcTranscript transcript;
    std::string shown = transcript.Error(text) + transcript.Note(text);
    for (const Json& event : std::vector<Json>{
             {{"type", "message_update"},
              {"assistantMessageEvent",
               {{"type", "text_delta"}, {"delta", text}}}},
             {{"type", "message_start"},
              {"message", {{"role", "user"}, {"content", text}}}},
             {{"type", "message_end"},
              {"message",
               {{"role", "assistant"},
                {"stopReason", "error"},
                {"errorMessage", text}}}},
             {{"type", "tool_execution_start"},
              {"toolName", text},
              {"args", {{"path", text}}}},
             {{"type", "tool_execution_end"},
              {"toolName", text},
              {"isError", true},
              {"result", {{"content", {{{"type", "text"}, {"text", text}}}}}}},
             {{"type", "extension_ui_request"},
              {"id", "1"},
              {"method", "notify"},
              {"message", text}}}) {
      shown += transcript.Take(ToLine(event)).text;
    }
    EXPECT_TRUE(IsHarmless(shown)) << absl::CEscape(shown);
  }
}

TEST(AttributionTest, IsBoundedWhoeverItIs) {
  for (const v1::Origin origin :
       {v1::ORIGIN_SESSION, v1::ORIGIN_SHELL, v1::ORIGIN_PERSON,
        v1::ORIGIN_BROKER, v1::ORIGIN_CLIENT}) {
    v1::Sender sender = SenderNamed(std::string(400, 'x'), origin);
    sender.set_role(v1::ROLE_COORDINATOR);
    sender.set_session_id(std::string(256, 'y'));
    EXPECT_LE(*CountCharacters(SenderLabel(sender)), kMaxAttributionCharacters);
  }
}

TEST(AttributionTest, AHintNamesWhatCanBeAddressed) {
  v1::Delivery delivery =
      DeliveryWith("Ann (coordinator)", "x", v1::ENVELOPE_KIND_MESSAGE);
  EXPECT_THAT(DeliveryContent(delivery, {.role = v1::ROLE_WORKER}),
              ::testing::HasSubstr("intercom_send with to \"s-2\""));
}

TEST(SummaryTest, IsOneHarmlessLine) {
  for (const std::string& text : HostileTexts()) {
    const std::string summary =
        DeliverySummary(DeliveryWith(text, text, v1::ENVELOPE_KIND_MESSAGE));
    EXPECT_TRUE(IsHarmless(summary)) << absl::CEscape(summary);
    EXPECT_EQ(summary.find('\n'), std::string::npos);
  }
}

TEST(SummaryTest, OfWhatConcernsARunIsOneHarmlessLine) {
  for (const std::string& text : HostileTexts()) {
    WatchEvent line{.out = text};
    for (const std::string& summary :
         {RenderPeek(Listed(RunBy(text, v1::Run::STATE_RUNNING, text)), kNow)
              .summary,
          RenderRunResult(FailedBy(text, text, text), kNow).summary,
          DigestOf(NewsOf(FailedBy(text, text, text),
                          RunBy(text, v1::Run::STATE_RUNNING, text)),
                   kNow)
              .summary,
          RenderWait(Waited(text, text, text), kNow).summary,
          RenderNote(NoteBy(text, text, text)).summary,
          RenderSteered(RecordWith(text, text), text).summary,
          RenderStoppedRun(StoppedBy(text, false, text)).summary,
          RenderSubmitted(OpenedBy(text, text, text)).summary,
          WaitProgress(Waited(text, text, text), absl::Minutes(1), true),
          WatchSummary({{"w-1/1", "w-1", text, line}}, 0)}) {
      EXPECT_TRUE(IsHarmless(summary)) << absl::CEscape(summary);
      EXPECT_EQ(summary.find('\n'), std::string::npos);
    }
  }
}

TEST(StatusPageTest, AnotherAgentsWordsAreStringsOfTheJson) {
  for (const std::string& text : HostileTexts()) {
    v1::GetWorkerStatusResponse response;
    response.set_total_in_snapshot(1);
    v1::WorkerStatus& worker = *response.add_workers();
    worker.set_session_id("s-2");
    worker.set_name(text);
    worker.set_last_activity(text);
    worker.mutable_report()->set_status(v1::Report::STATUS_BLOCKED);
    worker.mutable_report()->set_summary(text);
    worker.mutable_handoff()->set_summary(text);
    const std::string page = RenderStatusPage(response, false).text;
    EXPECT_TRUE(IsHarmless(page)) << absl::CEscape(page);
    EXPECT_EQ(page.find('\n'), std::string::npos);
    EXPECT_TRUE(Json::accept(page));
  }
}

}  // namespace
}  // namespace intercom
