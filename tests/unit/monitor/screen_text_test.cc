#include "worker-agent/monitor/screen_text.h"

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/hostile_text.h"
#include "tests/support/sample_team.h"
#include "worker-agent/monitor/ages.h"
#include "worker-agent/monitor/table_columns.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr absl::Duration kStart = absl::Hours(1);

class ScreenTextTest : public ::testing::Test {
 protected:
  void Apply(v1::WatchOverviewResponse overview) {
    model_.ApplyOverview(std::move(overview), kStart);
  }
  ScreenText Compose(size_t columns, size_t rows,
                     absl::Duration later = absl::ZeroDuration()) {
    return ComposeScreen(model_, model_.Now(kStart + later),
                         {.rows = rows, .columns = columns}, about_);
  }
  std::vector<std::string> Rows(size_t columns, size_t rows,
                                absl::Duration later = absl::ZeroDuration()) {
    std::vector<std::string> texts;
    for (const Line& line : Compose(columns, rows, later).lines) {
      texts.push_back(line.Text());
    }
    return texts;
  }
  void Press(MonitorKey key, int times = 1) {
    for (int i = 0; i < times; ++i) model_.Press(key, extent_);
  }
  // Every row fills the screen's width exactly, and every span has the columns
  // that it says.
  void ExpectWhole(const ScreenText& screen, size_t columns, size_t rows) {
    ASSERT_THAT(screen.lines, SizeIs(rows));
    for (const Line& line : screen.lines) {
      EXPECT_EQ(line.columns(), columns) << line.Text();
      size_t drawn = 0;
      for (const auto& span : line.spans()) drawn += ColumnsOf(span.text);
      EXPECT_EQ(drawn, columns) << line.Text();
      EXPECT_TRUE(IsHarmless(line.Text()));
    }
  }
  static Style StyleOf(const Line& line, std::string_view text) {
    for (const auto& span : line.spans()) {
      if (span.text.find(text) != std::string::npos) return span.style;
    }
    ADD_FAILURE() << "no " << text << " in " << line.Text();
    return Style::kPlain;
  }
  static v1::WatchOverviewResponse Crowd(int count) {
    v1::WatchOverviewResponse overview = SampleTeam::Overview();
    v1::WorkspaceOverview& workspace = *overview.mutable_workspaces(0);
    workspace.clear_sessions();
    for (int i = 1; i <= count; ++i) {
      *workspace.add_sessions() = SampleTeam::Session(
          "w" + std::to_string(i), "Worker " + std::to_string(i),
          v1::ROLE_WORKER, absl::Seconds(30), v1::ACTIVITY_PHASE_IDLE, "");
    }
    return overview;
  }

  MonitorModel model_{
      {.directory = "/proj/ann/shop"}, SampleTeam::Now(), kStart};
  ScreenAbout about_ = {
      .version = INTERCOM_VERSION, .person_home = "/proj/ann", .notes = {}};
  MonitorModel::Extent extent_ = {.page = 5, .most_scroll = 9};
};

std::vector<std::string> Shown(size_t width) {
  std::vector<std::string> shown;
  for (const ColumnWidth& column : TableColumns(width)) {
    shown.emplace_back(ColumnHeading(column.column));
  }
  return shown;
}

TEST(TableColumnsTest, ColumnsGiveWayAsTheWidthShrinks) {
  using ::testing::ElementsAre;
  EXPECT_THAT(Shown(120),
              ElementsAre("Worker", "Connection", "Mail", "Report", "Activity",
                          "Seen", "Run", "Last activity"));
  EXPECT_THAT(Shown(100), ElementsAre("Worker", "Connection", "Mail", "Report",
                                      "Activity", "Seen", "Last activity"));
  EXPECT_THAT(Shown(99), ElementsAre("Worker", "Connection", "Mail", "Report",
                                     "Activity", "Seen"));
  EXPECT_THAT(Shown(78), ElementsAre("Worker", "Connection", "Mail", "Report",
                                     "Activity", "Seen"));
  EXPECT_THAT(Shown(77), ElementsAre("Worker", "Connection", "Mail", "Report",
                                     "Activity"));
  EXPECT_THAT(Shown(60), ElementsAre("Worker", "Connection", "Mail", "Report",
                                     "Activity"));
  EXPECT_THAT(Shown(59), ElementsAre("Worker", "Mail", "Report", "Activity"));
  EXPECT_THAT(Shown(40), ElementsAre("Worker", "Report", "Activity"));
}

TEST(TableColumnsTest, FixedColumnsKeepTheirWidthAndAllFillTheScreen) {
  for (size_t width = 40; width <= 300; ++width) {
    size_t used = 0;
    for (const ColumnWidth& column : TableColumns(width)) {
      if (used > 0) used += kColumnGap;
      used += column.columns;
      switch (column.column) {
        case TableColumn::kWorker:
          EXPECT_GE(column.columns, 12u) << width;
          break;
        case TableColumn::kConnection:
          EXPECT_EQ(column.columns, 12u) << width;
          break;
        case TableColumn::kReport:
        case TableColumn::kSeen:
          EXPECT_EQ(column.columns, 16u) << width;
          break;
        case TableColumn::kActivity:
          EXPECT_EQ(column.columns, 8u) << width;
          break;
        case TableColumn::kLastActivity:
          EXPECT_GE(column.columns, 15u) << width;
          break;
        default:
          break;
      }
    }
    EXPECT_EQ(used, width);
  }
}

TEST(AgesTest, TellWhenTheFirstOfThemReadsDifferently) {
  Ages ages(SampleTeam::Now());
  EXPECT_EQ(ages.Of(SampleTeam::Now() - absl::Seconds(59.5)), "59s");
  EXPECT_EQ(ages.until_change(), absl::Seconds(0.5));
  Ages minutes(SampleTeam::Now());
  EXPECT_EQ(minutes.Of(SampleTeam::Now() - absl::Seconds(90)), "1m");
  EXPECT_EQ(minutes.Of(SampleTeam::Now() - absl::Hours(3)), "3h");
  EXPECT_EQ(minutes.until_change(), absl::Seconds(30));
  Ages future(SampleTeam::Now());
  EXPECT_EQ(future.Of(SampleTeam::Now() + absl::Seconds(5)), "0s");
  EXPECT_EQ(future.until_change(), absl::Seconds(6));
  EXPECT_EQ(Ages(SampleTeam::Now()).until_change(), absl::InfiniteDuration());
}

TEST_F(ScreenTextTest, EveryRowFillsEverySizeExactly) {
  Apply(SampleTeam::Overview());
  model_.ApplyDeliveries(SampleTeam::Deliveries());
  for (const size_t columns : {1, 5, 20, 39, 40, 59, 60, 77, 78, 80, 99, 100,
                               119, 120, 150, 200, 300}) {
    for (const size_t rows : {1, 2, 3, 5, 8, 10, 16, 24, 40, 80}) {
      SCOPED_TRACE(std::to_string(columns) + "x" + std::to_string(rows));
      ExpectWhole(Compose(columns, rows), columns, rows);
    }
  }
}

TEST_F(ScreenTextTest, NoNameBreaksARow) {
  v1::WatchOverviewResponse overview = SampleTeam::Overview();
  v1::WorkspaceOverview& workspace = *overview.mutable_workspaces(0);
  v1::ListDeliveriesResponse deliveries;
  std::vector<std::string> names = HostileTexts();
  names.insert(names.end(),
               {"👩\u200d👩\u200d👧\u200d👦 family", "🇩🇪🇫🇷", std::string(300, 'W'),
                "翻訳翻訳翻訳翻訳翻訳翻訳"});
  for (const std::string& name : names) {
    v1::SessionOverview& session = *workspace.add_sessions();
    session =
        SampleTeam::Session("id-" + name, name, v1::ROLE_WORKER,
                            absl::Seconds(30), v1::ACTIVITY_PHASE_TOOL, name);
    session.mutable_last_activity()->set_model(name);
    session.mutable_run()->set_run_id(name);
    session.mutable_run()->set_label(name);
    v1::WaitEdge& edge = *overview.add_waits();
    edge.set_waiting_name(name);
    edge.set_for_name(name);
    v1::DeliverySummary& delivery = *deliveries.add_deliveries();
    delivery.set_delivery_id(name);
    delivery.mutable_sender()->set_name(name);
    delivery.set_recipient_name(name);
    *overview.add_notices() = name;
  }
  workspace.set_root("/proj/" + names[0]);
  workspace.set_config_error(names[3]);
  Apply(overview);
  model_.ApplyDeliveries(deliveries);
  for (const size_t columns : {40, 80, 120, 220}) {
    ExpectWhole(Compose(columns, 60), columns, 60);
    Press(MonitorKey::kTimeline);
    ExpectWhole(Compose(columns, 60), columns, 60);
    Press(MonitorKey::kWaits);
    ExpectWhole(Compose(columns, 60), columns, 60);
    Press(MonitorKey::kWaits);
  }
}

TEST_F(ScreenTextTest, NoTextOfDetailsOrABodyBreaksARow) {
  Apply(SampleTeam::Overview());
  model_.ApplyDeliveries(SampleTeam::Deliveries());
  for (const std::string& text : HostileTexts()) {
    v1::GetSessionResponse session = SampleTeam::Reviewer();
    v1::RosterEntry& entry = *session.mutable_entry();
    entry.set_description(text);
    entry.set_cwd(text);
    entry.mutable_report()->set_summary(text);
    entry.mutable_activity()->set_note(text);
    entry.mutable_job()->set_reason(text);
    session.mutable_handoff()->set_summary(text);
    session.mutable_working_on(0)->set_label(text);
    session.add_asks()->set_recipient_name(text);
    Press(MonitorKey::kEnter);
    model_.ApplySession("coordinator-1", session);
    ExpectWhole(Compose(40, 60), 40, 60);
    ExpectWhole(Compose(100, 60), 100, 60);
    Press(MonitorKey::kEscape);
    Press(MonitorKey::kTimeline);
    Press(MonitorKey::kBody);
    model_.ApplyMessage("d12", v1::GetMessageResponse());
    v1::GetMessageResponse message;
    *message.mutable_record() = SampleTeam::Record("d12", text);
    message.mutable_record()->mutable_envelope()->add_attachments()->set_name(
        text);
    model_.ApplyMessage("d12", message);
    ExpectWhole(Compose(60, 60), 60, 60);
    Press(MonitorKey::kEscape, 2);
  }
}

TEST_F(ScreenTextTest, ColourHasAMeaning) {
  Apply(SampleTeam::Overview());
  const ScreenText screen = Compose(120, 24);
  // Header, an empty row, headings; then the sessions.
  EXPECT_EQ(StyleOf(screen.lines[0], "overdue"), Style::kBad);
  EXPECT_EQ(StyleOf(screen.lines[4], "working"), Style::kGood);
  EXPECT_EQ(StyleOf(screen.lines[5], "! needs decision"), Style::kBad);
  EXPECT_EQ(StyleOf(screen.lines[5], "(old)"), Style::kFaint);
  EXPECT_EQ(StyleOf(screen.lines[6], "ready for review"), Style::kWaiting);
  EXPECT_EQ(StyleOf(screen.lines[9], "away"), Style::kFaint);
}

TEST_F(ScreenTextTest, WhatIsForThePersonIsSaidAbove) {
  v1::WatchOverviewResponse overview = SampleTeam::Overview();
  overview.set_unread(2);
  Apply(overview);
  EXPECT_THAT(Rows(120, 24)[0], HasSubstr(" · 2 for you · "));
}

TEST_F(ScreenTextTest, OldEvidenceIsMarkedAndNeutral) {
  v1::WatchOverviewResponse overview = SampleTeam::Overview();
  v1::SessionOverview& builder =
      *overview.mutable_workspaces(0)->mutable_sessions(1);
  *builder.mutable_last_activity()->mutable_at() =
      SampleTeam::Ago(absl::Seconds(61));
  *builder.mutable_last_seen_at() = SampleTeam::Ago(absl::Seconds(61));
  Apply(overview);
  const ScreenText screen = Compose(80, 24);
  EXPECT_THAT(screen.lines[4].Text(), HasSubstr("1m ago (old)"));
  EXPECT_EQ(StyleOf(screen.lines[4], "working"), Style::kPlain);
}

TEST_F(ScreenTextTest, WithoutItsColumnTheActivitySaysWhoIsAway) {
  Apply(SampleTeam::Overview());
  EXPECT_THAT(Rows(40, 12),
              Contains(AllOf(StartsWith("Writer"), EndsWith("away"))));
  EXPECT_THAT(Rows(60, 12),
              Contains(AllOf(StartsWith("Writer"), HasSubstr("away 3h"))));
}

TEST_F(ScreenTextTest, WhatDoesNotFitIsCounted) {
  Apply(Crowd(256));
  EXPECT_THAT(Rows(80, 10), Contains("250 more · 1–6 of 256"));
  Press(MonitorKey::kEnd);
  EXPECT_THAT(Rows(80, 10), AllOf(Contains("250 more · 251–256 of 256"),
                                  Contains(StartsWith("Worker 256"))));
  Press(MonitorKey::kUp, 100);
  const ScreenText screen = Compose(80, 10);
  int selected = 0;
  for (const Line& line : screen.lines) {
    if (!line.selected) continue;
    ++selected;
    EXPECT_THAT(line.Text(), StartsWith("Worker 156"));
  }
  EXPECT_EQ(selected, 1);
}

TEST_F(ScreenTextTest, ALongTableLeavesRoomForTheTimeline) {
  Apply(Crowd(256));
  model_.ApplyDeliveries(SampleTeam::Deliveries());
  EXPECT_THAT(Rows(120, 40), AllOf(Contains(HasSubstr("more · 1–")),
                                   Contains(StartsWith("Timeline"))));
}

TEST_F(ScreenTextTest, WhatTheBrokerLeftOutIsSaid) {
  v1::WatchOverviewResponse overview = Crowd(3);
  overview.set_left_out(7);
  Apply(overview);
  EXPECT_THAT(Rows(80, 16), Contains("7 more sessions have no room"));
}

TEST_F(ScreenTextTest, DetailsNeedEightRows) {
  Apply(SampleTeam::Overview());
  Press(MonitorKey::kDown, 2);
  Press(MonitorKey::kEnter);
  model_.ApplySession("reviewer-1", SampleTeam::Reviewer());
  // Of 10 rows, the edges take 2.
  EXPECT_THAT(Rows(80, 10), Contains(StartsWith("Responsibility")));
  EXPECT_THAT(Rows(80, 9), Not(Contains(StartsWith("Responsibility"))));
  // With more there is a table above.
  EXPECT_THAT(Rows(80, 24), AllOf(Contains(StartsWith("Worker")),
                                  Contains(StartsWith("Responsibility"))));
}

TEST_F(ScreenTextTest, DetailsTellAllOfASession) {
  Apply(SampleTeam::Overview());
  Press(MonitorKey::kDown, 2);
  Press(MonitorKey::kEnter);
  EXPECT_THAT(Rows(120, 60), Contains("Reading …"));
  model_.ApplySession("reviewer-1", SampleTeam::Reviewer());
  EXPECT_THAT(
      Rows(120, 60),
      AllOf(Contains("Report          ! needs decision, 21m ago, overdue"),
            Contains("Handoff         1h ago"),
            Contains("Works on        run-9 \"review checkout\" for "
                     "Coordinator · running 22m · 3 turns"),
            Contains(HasSubstr("Reviewer                 → Tester"))));
  model_.ApplySession("reviewer-1",
                      Error(absl::StatusCode::kNotFound, "UNKNOWN_SESSION",
                            "there is no such session"));
  EXPECT_THAT(Rows(120, 60), Contains("there is no such session"));
}

TEST_F(ScreenTextTest, TheQuitHintIsNeverLostAndTheVersionIsFlushRight) {
  Apply(SampleTeam::Overview());
  for (const size_t columns : {10, 20, 40, 80, 300}) {
    EXPECT_THAT(Rows(columns, 10).back(), StartsWith("q quit")) << columns;
  }
  EXPECT_THAT(Rows(80, 10).back(), EndsWith("intercom " INTERCOM_VERSION));
  EXPECT_EQ(ColumnsOf(Rows(80, 10).back()), 80u);
  EXPECT_THAT(Rows(40, 10).back(), EndsWith("  v" INTERCOM_VERSION));
  EXPECT_EQ(Rows(10, 10).back(), "q quit");
}

TEST_F(ScreenTextTest, ALostBrokerFadesThePictureAndTellsItsAge) {
  Apply(SampleTeam::Overview());
  model_.ApplyLoss("No broker answers", kStart + absl::Seconds(3));
  const ScreenText screen = Compose(100, 24, absl::Seconds(15));
  EXPECT_THAT(screen.lines[0].Text(), EndsWith("away 12s"));
  EXPECT_EQ(screen.lines[1].Text(),
            "No broker answers; this is how things were 15s ago");
  EXPECT_EQ(StyleOf(screen.lines[1], "No broker"), Style::kBad);
  EXPECT_FALSE(screen.lines[1].faded);
  EXPECT_THAT(screen.lines[4].Text(), StartsWith("Coordinator"));
  EXPECT_TRUE(screen.lines[4].faded);
  EXPECT_FALSE(screen.lines.back().faded);
}

TEST_F(ScreenTextTest, BeforeTheFirstPictureItSaysWhatIsWrong) {
  EXPECT_THAT(Rows(80, 10), Contains("Asking the broker …"));
  model_.ApplyLoss("No broker answers", kStart);
  EXPECT_EQ(Rows(80, 10)[1], "No broker answers");
}

TEST_F(ScreenTextTest, AnInvalidConfigIsSaid) {
  v1::WatchOverviewResponse overview = SampleTeam::Overview();
  overview.mutable_workspaces(0)->set_stale(true);
  overview.mutable_workspaces(0)->set_config_error("line 3: no comma");
  Apply(overview);
  EXPECT_EQ(Rows(100, 24)[1],
            "The config is invalid, older facts are shown: line 3: no comma");
}

TEST_F(ScreenTextTest, AnotherVersionOfTheBrokerIsSaid) {
  v1::WatchOverviewResponse overview = SampleTeam::Overview();
  overview.set_broker_version("9.9.9");
  Apply(overview);
  EXPECT_EQ(Rows(100, 24)[1],
            "The broker is version 9.9.9, this monitor " INTERCOM_VERSION);
}

TEST_F(ScreenTextTest, SeveralWorkspacesHaveTheirRootsAbove) {
  v1::WatchOverviewResponse overview = SampleTeam::Overview();
  *overview.add_workspaces() = overview.workspaces(0);
  overview.mutable_workspaces(1)->set_root("");
  Apply(overview);
  Press(MonitorKey::kAll);
  EXPECT_THAT(Rows(100, 40),
              AllOf(Contains(StartsWith("/proj/ann/shop ──")),
                    Contains(StartsWith("without a workspace ──")),
                    Contains(StartsWith("Intercom  all workspaces"))));
}

TEST_F(ScreenTextTest, TheHomeDirectoryIsShort) {
  Apply(SampleTeam::Overview());
  EXPECT_THAT(Rows(100, 24)[0], StartsWith("Intercom  ~/shop "));
}

TEST_F(ScreenTextTest, TrafficIsDrawnToScale) {
  v1::WatchOverviewResponse overview = SampleTeam::Overview();
  overview.clear_minutes();
  for (const int messages : {0, 1, 4, 8}) {
    overview.add_minutes()->set_messages(messages);
  }
  Apply(overview);
  EXPECT_THAT(
      Rows(80, 24),
      Contains(AllOf(HasSubstr("▁▂▅█ 8/min, peak 8"),
                     EndsWith("Latency " + std::string(18, ' ') + "-"))));
}

TEST_F(ScreenTextTest, TrafficGoesOnWhileNoOverviewComes) {
  v1::WatchOverviewResponse overview = Crowd(0);
  overview.clear_minutes();
  for (int i = 0; i < 60; ++i) {
    overview.add_minutes()->set_messages(i == 59 ? 8 : 0);
  }
  Apply(overview);
  EXPECT_EQ(Compose(80, 24).until_change, absl::Minutes(1));
  EXPECT_THAT(Rows(80, 24, absl::Seconds(59)),
              Contains(HasSubstr("▁▁█ 8/min, peak 8")));
  EXPECT_THAT(Rows(80, 24, absl::Minutes(2)),
              Contains(HasSubstr("█▁▁ 0/min, peak 8")));
  EXPECT_THAT(Rows(80, 24, absl::Hours(2)),
              Contains(HasSubstr("▁▁▁ 0/min, peak 0")));
  // Then there is nothing to draw anew.
  overview.mutable_minutes(59)->clear_messages();
  Apply(overview);
  EXPECT_EQ(Compose(80, 24).until_change, absl::InfiniteDuration());
}

TEST_F(ScreenTextTest, AnEmptyWorkspaceIsSaid) {
  Apply(Crowd(0));
  EXPECT_THAT(Rows(80, 24), Contains("No sessions."));
}

TEST_F(ScreenTextTest, TheHelpNamesEveryKeyInTheSmallestScreen) {
  Apply(SampleTeam::Overview());
  Press(MonitorKey::kHelp);
  EXPECT_THAT(Rows(40, 10), Contains(StartsWith("Enter")));
  about_.notes = {"Characters: ASCII."};
  EXPECT_THAT(Rows(40, 24), AllOf(Contains(StartsWith("b ")),
                                  Contains(StartsWith("q  Ctrl-C")),
                                  Contains("Characters: ASCII.")));
}

}  // namespace
}  // namespace intercom
