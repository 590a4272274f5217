// A day of traffic and the two weeks after it, under a clock that the test
// moves: what must hold of mail, figures and events whatever happened.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "broker/work/retention.h"
#include "tests/support/watch_rig.h"

namespace intercom {
namespace {

constexpr absl::Duration kStep = absl::Minutes(5);
constexpr absl::Duration kDay = absl::Hours(26);
// What a person's id begins with.
constexpr char kPerson[] = "person";

// A host with its agent: takes what comes in order, and knows what it has.
struct Host {
  std::string id;
  std::string name;
  bool is_peer = false;
  bool attached = false;
  TestSession session = {};
  // How much of its present link it has dealt with.
  size_t taken = 0;
  // Deliveries in its session, whatever the broker knows of that.
  std::set<std::string> has = {};
  // The same in the order they came in, by sender.
  std::map<std::string, std::vector<int64_t>> came = {};
};

// What the store says of one delivery.
struct Row {
  int64_t sequence = 0;
  int kind = 0;
  std::string sender;
  std::string envelope_id;
  std::string recipient;
  int state = 0;
  int ended = 0;
  int64_t settled_at_us = 0;
  std::string text;

  std::string id() const { return sender + "/" + envelope_id; }
};

class DayTest : public WatchRig, public ::testing::WithParamInterface<int> {
 protected:
  static constexpr int64_t kMailbox = 150;

  DayTest() : WatchRig(Limits()), random_of_day_(Seed()) {
    WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                   {"w-1", "Builder"},
                                   {"w-2", "Tester"},
                                   {"w-3", "Writer"},
                                   {"w-4", "Planner"},
                                   {"w-5", "Archivist"}}));
    hosts_ = {{.id = "c-1", .name = "Coordinator"},
              {.id = "w-1", .name = "Builder"},
              {.id = "w-2", .name = "Tester"},
              {.id = "w-3", .name = "Writer"},
              {.id = "w-4", .name = "Planner"},
              {.id = "p-1", .name = "name of p-1", .is_peer = true},
              {.id = "p-2", .name = "name of p-2", .is_peer = true}};
  }
  ~DayTest() override { runner_->Stop(); }

  static MailLimits Limits() {
    MailLimits limits;
    limits.mailbox_envelopes = kMailbox;
    return limits;
  }

  // INTERCOM_DAY_SEED looks at another day.
  static uint64_t Seed() {
    const char* seed = std::getenv("INTERCOM_DAY_SEED");
    return seed == nullptr ? GetParam() : std::strtoull(seed, nullptr, 10);
  }
  size_t Below(size_t bound) { return random_of_day_() % bound; }
  bool OneIn(size_t times) { return Below(times) == 0; }
  Host& AnyHost() { return hosts_[Below(hosts_.size())]; }

  void Arrive(Host& host) {
    host.session = host.is_peer ? AttachSilent(host.id) : Attach(host.id);
    host.attached = true;
    host.taken = 0;
    std::vector<std::string> present;
    for (const auto& frame :
         host.session.link->Of(v1::AttachResponse::kReconcile)) {
      for (const std::string& id : frame.reconcile().delivery_ids()) {
        if (!host.has.contains(id)) continue;
        present.push_back(id);
        // It ended, but had arrived: the end is taken back.
        if (const auto end = RecordOf(id).end(); end != 0) ++revived_[end];
      }
    }
    SayPresent(host.session, present);
  }
  void Leave(Host& host) {
    // What it takes with it, without a word of it.
    Take(host, /*silent=*/true);
    Detach(host.session);
    host.attached = false;
  }
  // Deals with some of what came; in order.
  void Take(Host& host, bool silent) {
    const auto deliveries = host.session.link->deliveries();
    while (host.taken < deliveries.size() && !OneIn(silent ? 2 : 12)) {
      const v1::Delivery& delivery = deliveries[host.taken++];
      const std::string& id = delivery.delivery_id();
      if (!silent) SayReceipt(host.session, id, v1::Receipt::EVENT_DELIVERED);
      if (!silent && !host.has.contains(id) && OneIn(60)) {
        SayReceipt(host.session, id, v1::Receipt::EVENT_FAILED, "it can't");
        continue;
      }
      // A reply is set aside for who may wait for it, and comes later.
      const bool is_reply =
          delivery.envelope().kind() == v1::ENVELOPE_KIND_REPLY;
      if (host.has.insert(id).second && !is_reply) {
        host.came[id.substr(0, id.find('/'))].push_back(delivery.sequence());
      }
      if (silent) continue;
      SayReceipt(host.session, id, v1::Receipt::EVENT_INJECTED);
      if (!OneIn(3)) SayReceipt(host.session, id, v1::Receipt::EVENT_SEEN);
    }
  }

  // Sends, and keeps whether it was accepted or refused.
  void SendAs(const CallerEvidence& caller, const std::string& sender,
              const std::string& to, v1::Envelope envelope) {
    const std::string id = absl::StrCat(sender, "/", envelope.envelope_id());
    v1::SendRequest request;
    *request.mutable_envelope() = std::move(envelope);
    request.set_to(to);
    if (sender == kPerson) request.set_directory(root_);
    if (request.envelope().kind() != v1::ENVELOPE_KIND_REPLY) {
      request.set_reach(v1::REACH_ACCOUNT);
    }
    RecordAnswer answer;
    mail_.Send(caller, request, answer.Callback());
    const auto record = answer.Wait();
    Sync();
    if (record.ok()) {
      EXPECT_TRUE(accepted_.insert(record->delivery_id()).second);
    } else {
      refused_.insert(id);
      ++refusals_[ReasonOf(record.status())];
    }
  }
  std::string NextId() { return absl::StrCat("m-", ++envelopes_); }
  void SendSomething(Host& host, const std::string& to) {
    v1::Envelope envelope = OneIn(4) ? Question(NextId()) : Message(NextId());
    SendAs(CallOf(host.session), host.id, to, std::move(envelope));
  }
  void ReplyToSomething(Host& host) {
    v1::ListAsksRequest request;
    const auto asks =
        CallOn(asks_, &AskDesk::ListAsks, CallOf(host.session), request);
    ASSERT_THAT(asks, IsOk());
    if (asks->asks().empty()) return;
    v1::Envelope reply = Message(NextId());
    reply.set_kind(v1::ENVELOPE_KIND_REPLY);
    reply.set_reply_to(asks->asks(0).delivery_id());
    SendAs(CallOf(host.session), host.id, "", std::move(reply));
  }

  // One thing that a session does.
  void Act(Host& host) {
    if (!host.attached) {
      if (OneIn(6) && !retired_.contains(host.id)) Arrive(host);
      return;
    }
    Take(host, /*silent=*/false);
    if (OneIn(25)) return Leave(host);
    if (OneIn(3)) ReplyToSomething(host);
    if (OneIn(3)) SendSomething(host, AnyHost().name);
    if (!host.is_peer && host.id != "c-1" && OneIn(30)) {
      (void)ReportWork(host.session,
                       OneIn(2) ? v1::Report::STATUS_BLOCKED
                                : v1::Report::STATUS_READY_FOR_REVIEW,
                       absl::StrCat("report ", ++envelopes_));
    }
  }
  void Tick(absl::Duration by) {
    Pass(by);
    runner_->PostTask([this] {
      asks_.Tick();
      dispatcher_.ExpireDue();
    });
    Sync();
    Sync();  // What a page of expiry goes on with.
  }
  void Step(absl::Duration at) {
    // It never comes back: what it is sent expires.
    if (at == absl::Hours(1)) {
      if (hosts_[5].attached) Leave(hosts_[5]);
      retired_.insert("p-1");
    }
    if (at == absl::Hours(10)) clock_.Jump(absl::Hours(1));
    if (at == absl::Hours(14)) clock_.Jump(-absl::Hours(1));
    for (Host& host : hosts_) Act(host);
    // Who is never there has a mailbox that fills.
    if (at >= absl::Hours(5) && hosts_[0].attached) {
      SendAs(CallOf(hosts_[0].session), "c-1", "Archivist", Message(NextId()));
    }
    if (OneIn(6)) {
      SendAs(Person(), kPerson, "Builder", Message(NextId()));
    }
    Tick(kStep);
  }
  // Everybody who comes at all is there and has everything.
  void ComeTogether() {
    for (Host& host : hosts_) {
      if (!host.attached && !retired_.contains(host.id)) Arrive(host);
    }
    for (int i = 0; i < 400; ++i) {
      bool is_done = true;
      for (Host& host : hosts_) {
        if (!host.attached) continue;
        Take(host, /*silent=*/false);
        is_done &= host.taken == host.session.link->deliveries().size();
      }
      if (is_done) return;
    }
    FAIL() << "mail goes on for ever";
  }

  std::vector<Row> Rows() {
    return OnState([this] {
      std::vector<Row> rows;
      Statement read =
          runner_->database()
              .Prepare(
                  "SELECT e.sequence, e.kind, e.sender_session_id, "
                  "  e.envelope_id, d.recipient_session_id, d.state, d.ended, "
                  "  d.settled_at_us, e.text "
                  "FROM envelopes e JOIN deliveries d USING (sequence) "
                  "ORDER BY e.sequence")
              .value();
      read.Bind();
      while (read.Step().value()) {
        rows.push_back({read.Int64(0), read.Int(1), std::string(read.Text(2)),
                        std::string(read.Text(3)), std::string(read.Text(4)),
                        read.Int(5), read.Int(6), read.Int64(7),
                        std::string(read.Text(8))});
      }
      return rows;
    });
  }

  // --- What must hold

  void ExpectEachInOneState(const std::vector<Row>& rows) {
    std::map<std::string, int64_t> open;
    std::set<std::string> stored;
    for (const Row& row : rows) {
      const bool arrived = row.state >= v1::DELIVERY_STATE_INJECTED;
      EXPECT_FALSE(arrived && row.ended != 0) << row.id();
      EXPECT_EQ(row.settled_at_us == 0, !arrived && row.ended == 0) << row.id();
      if (!arrived && row.ended == 0) ++open[row.recipient];
      EXPECT_TRUE(stored.insert(row.id()).second) << row.id();
      EXPECT_FALSE(refused_.contains(row.id())) << row.id();
    }
    for (const std::string& id : accepted_) {
      EXPECT_TRUE(stored.contains(id)) << id;
    }
    for (const Host& host : hosts_) {
      EXPECT_EQ(MailboxOf(host.id).envelopes, open[host.id]) << host.id;
    }
    EXPECT_EQ(MailboxOf("w-5").envelopes, open["w-5"]);
  }
  void ExpectHostsHaveWhatIsSaid(const std::vector<Row>& rows) {
    for (const Host& host : hosts_) {
      for (const Row& row : rows) {
        if (row.recipient != host.id) continue;
        const bool is_said = row.state >= v1::DELIVERY_STATE_INJECTED;
        // One that is away may have what it has not said yet.
        if (host.attached) {
          EXPECT_EQ(is_said, host.has.contains(row.id())) << row.id();
        } else if (is_said) {
          EXPECT_TRUE(host.has.contains(row.id())) << row.id();
        }
      }
      for (const auto& [sender, sequences] : host.came) {
        const auto late =
            std::is_sorted_until(sequences.begin(), sequences.end());
        EXPECT_TRUE(late == sequences.end())
            << "from " << sender << " to " << host.id << ": "
            << Told(rows, *late) << " came after "
            << Told(rows, *std::prev(late));
      }
    }
  }
  static std::string Told(const std::vector<Row>& rows, int64_t sequence) {
    for (const Row& row : rows) {
      if (row.sequence != sequence) continue;
      return absl::StrCat(sequence, " (kind ", row.kind, ", ", row.id(),
                          ", state ", row.state, ", end ", row.ended, ", ",
                          row.text, ")");
    }
    return absl::StrCat(sequence);
  }
  void ExpectSendersWereTold(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      if (row.ended != v1::DELIVERY_END_EXPIRED &&
          row.ended != v1::DELIVERY_END_DEAD_LETTERED) {
        continue;
      }
      ++ends_[row.ended];
      if (row.kind == v1::ENVELOPE_KIND_NOTICE) continue;
      if (row.sender.starts_with(kPerson)) continue;
      const bool is_told =
          std::any_of(rows.begin(), rows.end(), [&row](const Row& notice) {
            return notice.kind == v1::ENVELOPE_KIND_NOTICE &&
                   notice.recipient == row.sender &&
                   notice.text.find(row.envelope_id) != std::string::npos;
          });
      EXPECT_TRUE(is_told) << row.id();
    }
  }
  void ExpectFiguresAreTheRows(const std::vector<Row>& rows) {
    std::map<int, int64_t> kinds, ended;
    std::array<int64_t, v1::DeliveryState_ARRAYSIZE> reached = {};
    for (const Row& row : rows) {
      ++kinds[row.kind];
      ++ended[row.ended];
      for (int state = 0; state <= row.state; ++state) ++reached[state];
    }
    for (const auto& [end, count] : revived_) ended[end] += count;
    for (const auto& [kind, word] :
         std::map<int, std::string>{{v1::ENVELOPE_KIND_MESSAGE, "message"},
                                    {v1::ENVELOPE_KIND_ASK, "ask"},
                                    {v1::ENVELOPE_KIND_REPLY, "reply"},
                                    {v1::ENVELOPE_KIND_REPORT, "report"},
                                    {v1::ENVELOPE_KIND_NOTICE, "notice"}}) {
      EXPECT_EQ(CounterOf("envelopes_accepted", "kind=" + word), kinds[kind])
          << word;
    }
    for (const auto& [state, word] :
         std::map<int, std::string>{{v1::DELIVERY_STATE_DELIVERED, "delivered"},
                                    {v1::DELIVERY_STATE_INJECTED, "injected"},
                                    {v1::DELIVERY_STATE_SEEN, "seen"}}) {
      EXPECT_EQ(CounterOf("deliveries_reached", "state=" + word),
                reached[state])
          << word;
    }
    for (const auto& [end, word] : std::map<int, std::string>{
             {v1::DELIVERY_END_SUPERSEDED, "superseded"},
             {v1::DELIVERY_END_EXPIRED, "expired"},
             {v1::DELIVERY_END_DEAD_LETTERED, "dead_lettered"}}) {
      EXPECT_EQ(CounterOf("deliveries_ended", "end=" + word), ended[end])
          << word;
    }
  }

  // Settled mail over two weeks old goes, as in the broker's idle step, and
  // nothing else does.
  void PruneAndLook() {
    const auto before = Rows();
    const int64_t cutoff =
        absl::ToUnixMicros(clock_.Now() - Retention::kSettledMailKept);
    bool more = true;
    while (more) {
      Answer<bool> answer;
      runner_->PostCommand(
          {[this, put = answer.Callback()](Effects& effects) -> absl::Status {
             INTERCOM_ASSIGN_OR_RETURN(const bool again, retention_.Step());
             effects.AfterCommit([put, again] { put(again); });
             return absl::OkStatus();
           },
           nullptr});
      more = answer.Wait();
    }
    std::set<int64_t> kept, should_be;
    for (const Row& row : before) {
      if (row.settled_at_us == 0 || row.settled_at_us >= cutoff ||
          row.sequence == before.back().sequence) {
        should_be.insert(row.sequence);
      }
    }
    for (const Row& row : Rows()) kept.insert(row.sequence);
    pruned_ += before.size() - kept.size();
    EXPECT_EQ(kept, should_be);
  }

  // Goes on reading from the last cursor, in a stream of its own.
  void ReadByCursor() {
    auto events = TryWatchEvents(cursor_);
    ASSERT_THAT(events, IsOk());
    for (auto& event : events->TakeAll()) {
      cursor_ = event.cursor();
      // The first response of a stream is only its place.
      if (event.has_start()) continue;
      read_.push_back(event.SerializeAsString());
    }
  }
  void ReadOn(Events& events) {
    for (const auto& event : events.TakeAll()) {
      if (event.has_start()) continue;
      streamed_.push_back(event.SerializeAsString());
    }
  }

  std::mt19937_64 random_of_day_;
  std::vector<Host> hosts_;
  std::set<std::string> retired_;
  std::set<std::string> accepted_, refused_;
  std::map<std::string, int> refusals_;
  std::map<int, int64_t> revived_, ends_;
  int envelopes_ = 0;
  size_t pruned_ = 0;
  DeliveryHistory history_{runner_->database()};
  Retention retention_{{history_, ask_store_, job_store_, run_store_,
                        note_store_, session_store_},
                       observations_,
                       abandoned_,
                       roster_,
                       clock_};
  std::string cursor_;
  std::vector<std::string> read_, streamed_;
};

TEST_P(DayTest, ADayOfTrafficLosesDoublesAndMisstatesNothing) {
  SCOPED_TRACE(absl::StrCat("INTERCOM_DAY_SEED=", Seed()));
  for (Host& host : hosts_) Arrive(host);
  const auto first = TryWatchEvents();
  ASSERT_THAT(first, IsOk());
  Events stream = *first;
  const std::string beginning = stream.TakeAll().front().cursor();
  cursor_ = beginning;

  int steps = 0;
  for (absl::Duration at; at < kDay; at += kStep) {
    Step(at);
    ReadOn(stream);
    if (++steps % 9 == 0) ReadByCursor();
    if (HasFatalFailure()) return;
  }
  ComeTogether();
  ReadOn(stream);
  ReadByCursor();

  const auto rows = Rows();
  ExpectEachInOneState(rows);
  ExpectHostsHaveWhatIsSaid(rows);
  ExpectSendersWereTold(rows);
  ExpectFiguresAreTheRows(rows);
  EXPECT_EQ(read_, streamed_);
  // Whoever never read has everything, or hears that it hasn't.
  if (const auto late = TryWatchEvents(beginning); late.ok()) {
    size_t events = 0;
    for (const auto& event : Events(*late).TakeAll()) {
      events += event.has_start() ? 0 : 1;
    }
    EXPECT_EQ(events, streamed_.size());
  } else {
    EXPECT_THAT(late,
                FailsWith(absl::StatusCode::kOutOfRange, "CURSOR_EXPIRED"));
    EXPECT_GT(streamed_.size(), EventLog::kKept);
  }
  // It was such a day.
  EXPECT_GT(accepted_.size(), 500u);
  EXPECT_GT(refusals_["MAILBOX_FULL"], 0);
  EXPECT_GT(ends_[v1::DELIVERY_END_EXPIRED], 0);
  EXPECT_GT(ends_[v1::DELIVERY_END_DEAD_LETTERED], 0);
  EXPECT_GT(CounterOf("asks_reached", "state=timed_out"), 0);
  EXPECT_GT(CounterOf("asks_reached", "state=answered"), 0);

  for (int half_days = 0; half_days < 32; ++half_days) {
    SendAs(CallOf(hosts_[1].session), "w-1", "Tester", Message(NextId()));
    Tick(absl::Hours(12));
    ComeTogether();
    PruneAndLook();
  }
  const auto later = Rows();
  EXPECT_GT(pruned_, 500u);
  // The Archivist's, and what is young.
  EXPECT_EQ(MailboxOf("w-5").envelopes, kMailbox);
  EXPECT_GT(later.size(), static_cast<size_t>(kMailbox) + 20);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DayTest, ::testing::Values(1, 2));

}  // namespace
}  // namespace intercom
