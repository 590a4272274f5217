#include "worker-agent/launch/tmux_commands.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom::tmux {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

v1::Pane PaneFive() {
  v1::Pane pane;
  pane.set_launcher("tmux");
  pane.set_server("/run/a b/tmux");
  pane.set_workspace("$1");
  pane.set_tab("@3");
  pane.set_pane("%5");
  pane.set_pid(77);
  return pane;
}

TEST(TmuxCommandsTest, APaneAboveAnotherLeavesTheFocusAndAsksNoShell) {
  const Argv argv = SplitAbove(PaneFive(), "/a #{b};", {"agent;", "x"});
  EXPECT_EQ(argv[3], "/run/a b/tmux");
  EXPECT_THAT(argv, IsSupersetOf({"split-window", "-d", "-b", "-v", "-l", "25%",
                                  "%5", "/a ##{b}\\;", "--", "agent\\;", "x"}));
}

TEST(TmuxCommandsTest, ASemicolonAtTheEndOfAWordIsNoSeparator) {
  EXPECT_EQ(Word("a;"), "a\\;");
  EXPECT_EQ(Word(";"), "\\;");
  EXPECT_EQ(Word("a;;"), "a;\\;");
  EXPECT_EQ(Word("a\\;"), "a\\\\;");
  EXPECT_EQ(Word("a;b"), "a;b");
  EXPECT_EQ(Word(""), "");
}

TEST(TmuxCommandsTest, FormatsInATextStayText) {
  EXPECT_EQ(Literal("#{pid} #(touch x) ##"), "##{pid} ##(touch x) ####");
  EXPECT_EQ(Literal("a"), "a");
  EXPECT_EQ(Literal(""), "");
}

TEST(TmuxCommandsTest, AStyleIsTextInAPathAndIsShownInAName) {
  EXPECT_EQ(Literal("a#[b] ##[c]"), "a#[b] ##[c]");
  EXPECT_EQ(Title("a#[b] ##[c]"), "a##[b] ####[c]");
}

TEST(TmuxCommandsTest, ASessionIsNamedAfterItsDirectoryInPlainCharacters) {
  EXPECT_EQ(SessionName("/home/me/my project/", 1), "intercom-my-project");
  EXPECT_EQ(SessionName("/x/$(touch a);#{b}:c.d", 1), "intercom-touch-a-b-c-d");
  EXPECT_EQ(SessionName("/x/--rm", 2), "intercom-rm-2");
  EXPECT_EQ(SessionName("/x/🛰", 1), "intercom");
  EXPECT_EQ(SessionName("/", 3), "intercom-3");
  EXPECT_THAT(SessionName("/x/" + std::string(300, 'a'), 1), SizeIs(40));
}

TEST(TmuxCommandsTest, TheServerIsReadFromTheVariableWhateverItsPathHolds) {
  EXPECT_EQ(SocketOf("/tmp/tmux-0/default,123,4"), "/tmp/tmux-0/default");
  EXPECT_EQ(SocketOf("/tmp/a,b c/x,1,0"), "/tmp/a,b c/x");
  EXPECT_EQ(SessionOf("/tmp/a,b c/x,1,7"), "$7");
  EXPECT_EQ(SocketOf(""), "");
  EXPECT_EQ(SocketOf("relative,1,0"), "");
  EXPECT_EQ(SocketOf("nonsense"), "");
  EXPECT_EQ(SessionOf("/x,1,%3"), "");
}

TEST(TmuxCommandsTest, AWindowRunsSeveralWordsAndItsNameIsLiteral) {
  EXPECT_THAT(NewWindow("/s;", "$2", "-n #{x};", {"/a;", "--launch", "/b c;"}),
              ElementsAre("tmux", "-u", "-S", "/s;", "new-window", "-d", "-P",
                          "-F", testing::_, "-t", "$2:", "-n", "-n ##{x}\\;",
                          "--", "/a\\;", "--launch", "/b c\\;"));
}

TEST(TmuxCommandsTest, AWindowStaysBehindUnlessItIsToBeInFront) {
  EXPECT_THAT(NewWindow("", "$1", "t", {"x", "y"}), Contains("-d"));
  EXPECT_THAT(NewWindow("", "$1", "t", {"x", "y"}, /*focus=*/true),
              Not(Contains("-d")));
}

TEST(TmuxCommandsTest, ASessionHasASizeAndADirectory) {
  EXPECT_THAT(NewSession("", "intercom", "/a#b;", "t", {"x", "y"}),
              ElementsAre("tmux", "-u", "new-session", "-d", "-P", "-F",
                          testing::_, "-s", "intercom", "-x", "200", "-y", "50",
                          "-c", "/a##b\\;", "-n", "t", "--", "x", "y"));
}

TEST(TmuxCommandsTest, ASessionIsLookedUpByItsWholeName) {
  EXPECT_THAT(HasSession("", "intercom"), Contains("=intercom"));
}

TEST(TmuxCommandsTest, TmuxItselfComparesThePaneThatItCloses) {
  const Argv argv = ClosePane(PaneFive());
  EXPECT_EQ(argv.back(), "kill-pane -t %5");
  EXPECT_EQ(argv[argv.size() - 2],
            "#{&&:#{==:#{pane_pid},77},#{==:#{window_id},@3}}");
}

TEST(TmuxCommandsTest, SeparatorsStandOnlyBetweenItsOwnCommands) {
  EXPECT_THAT(Settle(PaneFive(), "77.1;"), Contains("77.1\\;"));
  EXPECT_THAT(NameWindow(PaneFive(), "--;"), Contains("--\\;"));
  EXPECT_THAT(NewWindow("", "$1", ";", {";", ";"}), Not(Contains(";")));
}

TEST(TmuxCommandsTest, ReadsPanesWithWhatFollowsTheirMark) {
  const auto rows = ParsePanes(
      "%5 77 0 2 @3 $1 /dev/pts/4 77.900\n%6 78 1 1 @4 $2 /dev/pts/5 \n");
  ASSERT_THAT(rows, IsOk());
  ASSERT_THAT(*rows, SizeIs(2));
  EXPECT_EQ((*rows)[0].pane.pid(), 77);
  EXPECT_EQ((*rows)[0].pane.tab(), "@3");
  EXPECT_EQ((*rows)[0].pane.terminal(), "/dev/pts/4");
  EXPECT_EQ((*rows)[0].panes_in_window, 2);
  EXPECT_EQ((*rows)[0].mark, "77.900");
  EXPECT_TRUE((*rows)[1].dead);
  EXPECT_EQ((*rows)[1].mark, "");
}

TEST(TmuxCommandsTest, RefusesRowsOfAnotherForm) {
  for (const char* out :
       {"%5\n", "%5 x 0 1 @3 $1 /dev/pts/4 \n", "5 7 0 1 @3 $1 t \n",
        "%5 7 2 1 @3 $1 t \n", "%5 7 0 1 3 $1 t \n", "\n", "no server\n",
        "%5 9999999999999999999999 0 1 @3 $1 t \n"}) {
    EXPECT_THAT(ParsePanes(out),
                FailsWith(absl::StatusCode::kUnavailable, "TMUX_UNREADABLE"))
        << out;
  }
  EXPECT_THAT(*ParsePanes(""), SizeIs(0));
}

TEST(TmuxCommandsTest, ReadsWhatWasCreated) {
  const auto created =
      ParseCreated("%5 77 @3 $1 /dev/pts/4 12\n/run/a b/tmux\nmy work: 1\n");
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ(created->pane.server(), "/run/a b/tmux");
  EXPECT_EQ(created->pane.workspace(), "$1");
  EXPECT_EQ(created->session_name, "my work: 1");
  EXPECT_EQ(created->window_index, "12");
  for (const char* out :
       {"", "%5 77 @3 $1 /dev/pts/4 12\n", "%5 77 @3 $1 /dev/pts/4\n/s\nx\n",
        "%5 77 @3 $1 /dev/pts/4 12\nrelative\nx\n"}) {
    EXPECT_THAT(ParseCreated(out), HasCode(absl::StatusCode::kUnavailable))
        << out;
  }
}

}  // namespace
}  // namespace intercom::tmux
