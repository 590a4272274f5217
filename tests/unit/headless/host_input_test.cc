#include "worker-agent/headless/host_input.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"

namespace intercom {
namespace {

// The hosted Pi's end is `ends_[0]`.
class HostInputTest : public ::testing::Test {
 protected:
  HostInputTest() { EXPECT_EQ(pipe2(ends_, O_CLOEXEC | O_NONBLOCK), 0); }
  ~HostInputTest() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  std::string ReadAll() {
    std::string all;
    char bytes[4096];
    for (ssize_t count; (count = read(ends_[0], bytes, sizeof(bytes))) > 0;) {
      all.append(bytes, static_cast<size_t>(count));
    }
    return all;
  }

  int ends_[2];
  HostInput input_;
};

TEST_F(HostInputTest, LinesArriveWholeAndInOrderHoweverLateTheyAreRead) {
  std::string wanted;
  for (int i = 0; i < 100; ++i) {
    const std::string line = std::to_string(i) + std::string(1000, 'x');
    ASSERT_TRUE(input_.Add(line));
    wanted += line + "\n";
  }
  std::string got;
  while (!input_.empty()) {
    ASSERT_TRUE(input_.Write(ends_[1]));
    got += ReadAll();
  }
  EXPECT_EQ(got, wanted);
}

TEST_F(HostInputTest, WhatAHostDoesNotReadIsBoundedAndRefusedWhole) {
  const std::string line(1023, 'x');
  size_t added = 0;
  while (input_.Add(line)) ASSERT_LE(++added * 1024, HostInput::kMostBytes);
  EXPECT_EQ(added, HostInput::kMostBytes / 1024);
  EXPECT_FALSE(input_.Add(line));
  ASSERT_TRUE(input_.Write(ends_[1]));
  ReadAll();
  EXPECT_TRUE(input_.Add(line));
}

TEST_F(HostInputTest, AnEndThatIsGoneTakesNothingEver) {
  signal(SIGPIPE, SIG_IGN);
  close(ends_[0]);
  ASSERT_TRUE(input_.Add("x"));
  EXPECT_FALSE(input_.Write(ends_[1]));
  ends_[0] = dup(ends_[1]);
}

}  // namespace
}  // namespace intercom
