#include "worker-agent/headless/view_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "worker-agent/headless/view_stream.h"
#include "worker-agent/launch/unix_socket.h"

namespace intercom {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

// A server over a small ring, which the test serves by hand.
class ViewServerTest : public ::testing::Test {
 protected:
  ViewServerTest() {
    std::filesystem::create_directory(directory_);
    auto server = ViewServer::Listen(path_, ring_);
    EXPECT_THAT(server, IsOk());
    server_.emplace(*std::move(server));
  }

  int Connect() {
    const auto fd = ConnectSocket(path_);
    EXPECT_THAT(fd, IsOk());
    return fd.value_or(-1);
  }
  // All that is there now.
  static std::string Received(int fd) {
    std::string text;
    char bytes[4096];
    ssize_t count = 0;
    while ((count = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
      text.append(bytes, static_cast<size_t>(count));
    }
    return text;
  }
  static bool IsClosed(int fd) {
    char byte = 0;
    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
  }

  TempDir folder_;
  // Longer than a socket's name may be.
  const std::string directory_ = folder_ / std::string(120, 'n');
  const std::string path_ = directory_ + "/x.sock";
  OutputRing ring_{size_t{256} << 10};
  std::optional<ViewServer> server_;
};

TEST_F(ViewServerTest, ALateViewerGetsWhatIsThereAndThenWhatFollows) {
  ring_.Append("before\n");
  const int viewer = Connect();
  server_->Serve();
  EXPECT_EQ(Received(viewer), "pi-intercom-view 1 7\nbefore\n");
  ring_.Append("after\n");
  EXPECT_FALSE(server_->IsCaughtUp());
  server_->Serve();
  EXPECT_EQ(Received(viewer), "after\n");
  EXPECT_TRUE(server_->IsCaughtUp());
  close(viewer);
}

TEST_F(ViewServerTest, WhatAViewerWritesIsIgnored) {
  const int viewer = Connect();
  ASSERT_EQ(send(viewer, "{\"type\":\"abort\"}\n", 17, 0), 17);
  shutdown(viewer, SHUT_WR);
  server_->Serve();
  ring_.Append("on\n");
  server_->Serve();
  EXPECT_THAT(Received(viewer), EndsWith("on\n"));
  close(viewer);
}

TEST_F(ViewServerTest, ASlowViewerIsLetGoAndTheOthersAreNot) {
  const int slow = Connect();
  const int quick = Connect();
  const std::string line = std::string(99, 'x') + "\n";
  std::string seen;
  for (int i = 0; i < 20'000; ++i) {
    ring_.Append(line);
    server_->Serve();
    seen += Received(quick);
  }
  ring_.Append("last\n");
  server_->Serve();
  seen += Received(quick);
  EXPECT_THAT(seen, EndsWith("last\n"));
  Received(slow);
  EXPECT_TRUE(IsClosed(slow));
  close(slow);
  close(quick);
}

TEST_F(ViewServerTest, TheSocketIsTheUsersOwnAndGoesWithTheServer) {
  struct stat facts;
  ASSERT_EQ(stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
  EXPECT_TRUE(SomebodyListens(path_));
  const int viewer = Connect();
  EXPECT_EQ(ListenerOf(viewer), getpid());
  server_.reset();
  EXPECT_NE(stat(path_.c_str(), &facts), 0);
  EXPECT_THAT(ConnectSocket(path_),
              FailsWith(absl::StatusCode::kNotFound, "SOCKET_ABSENT"));
  close(viewer);
}

TEST_F(ViewServerTest, AViewWithoutFollowingEndsWithWhatIsThere) {
  ring_.Append("all of it\n");
  std::atomic<bool> done = false;
  std::thread serving([&] {
    while (!done) {
      std::vector<pollfd> waiting;
      server_->AddTo(waiting);
      poll(waiting.data(), waiting.size(), 10);
      server_->Serve();
    }
  });
  std::string seen;
  const absl::Status viewed =
      View(path_, /*follow=*/false, [&seen](std::string_view text) {
        seen += text;
        return true;
      });
  done = true;
  serving.join();
  EXPECT_THAT(viewed, IsOk());
  EXPECT_EQ(seen, "all of it\n");
}

TEST_F(ViewServerTest, NobodyThereIsSaid) {
  EXPECT_THAT(View(folder_ / "none", true, [](auto) { return true; }),
              FailsWith(absl::StatusCode::kNotFound, "SOCKET_ABSENT"));
}

}  // namespace
}  // namespace intercom
