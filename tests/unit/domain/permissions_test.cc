#include "broker/domain/permissions.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// Who may do what, written out: a letter for each that may. C coordinator, W
// worker, A anonymous, P peer.
struct Expected {
  const char* session;
  const char* shell;
  bool person;
  bool client;
};

const std::map<std::string, Expected>& Table() {
  static const auto& table = *new std::map<std::string, Expected>{
      {"message.send", {"CW", "CW", true, true}},
      {"message.read", {"CWAP", "CWAP", true, true}},
      {"message.withdraw", {"CWAP", "CWAP", true, true}},
      {"peer.list", {"CWAP", "CWAP", true, true}},
      {"peer.send", {"CWAP", "CWAP", true, true}},
      {"peer.open", {"CWAP", "", false, false}},
      {"channel.use", {"CWAP", "", false, false}},
      {"run.supervise", {"CWAP", "", false, false}},
      {"run.work", {"CWAP", "", false, false}},
      {"roster.list", {"CW", "CW", true, true}},
      {"status.read", {"CW", "CW", true, true}},
      {"status.report", {"WA", "", false, false}},
      {"status.request", {"C", "", false, false}},
      {"work.report", {"W", "", false, false}},
      {"handoff.report", {"W", "", false, false}},
      {"registration.repeat", {"A", "", false, false}},
      {"worker.create", {"C", "", false, false}},
      {"worker.configure", {"C", "", false, false}},
      {"worker.reload", {"C", "", false, false}},
      {"worker.stop", {"C", "", false, false}},
      {"worker.close", {"C", "", false, false}},
      {"worker.resume", {"C", "", false, false}},
      {"worker.remove", {"C", "", false, false}},
      {"workspace.multiplexer", {"C", "", false, false}},
      {"workspace.coordinator", {"", "", true, false}},
      {"job.read", {"CW", "CW", true, true}},
      {"job.resolve", {"", "", true, false}},
      {"inbox.read", {"", "", true, false}},
      {"monitor.pane", {"C", "", false, false}},
      {"inspect.read", {"CWAP", "CWAP", true, true}},
  };
  return table;
}

bool Has(const char* letters, v1::Role role) {
  constexpr char kLetters[] = "-CWAP";
  return role != v1::ROLE_UNSPECIFIED &&
         std::string(letters).find(kLetters[role]) != std::string::npos;
}

bool IsExpected(const Expected& expected, v1::Origin origin, v1::Role role) {
  switch (origin) {
    case v1::ORIGIN_SESSION:
      return Has(expected.session, role);
    case v1::ORIGIN_SHELL:
      return Has(expected.shell, role);
    case v1::ORIGIN_PERSON:
      return expected.person;
    case v1::ORIGIN_CLIENT:
      return expected.client;
    default:  // nobody, and the broker, which asks nothing of itself
      return false;
  }
}

TEST(PermissionsTest, EveryOperationHasARowAndANameOfItsOwn) {
  std::vector<std::string> names;
  for (const Operation operation : kAllOperations) {
    names.emplace_back(OperationName(operation));
  }
  std::sort(names.begin(), names.end());
  std::vector<std::string> expected;
  for (const auto& [name, row] : Table()) expected.push_back(name);
  EXPECT_THAT(names, ElementsAreArray(expected));
}

TEST(PermissionsTest, EveryCombinationIsAsTheTableSays) {
  for (const Operation operation : kAllOperations) {
    const std::string name(OperationName(operation));
    ASSERT_TRUE(Table().contains(name)) << name;
    for (int origin = 0; origin <= v1::Origin_MAX; ++origin) {
      for (int role = 0; role <= v1::Role_MAX; ++role) {
        const auto o = static_cast<v1::Origin>(origin);
        const auto r = static_cast<v1::Role>(role);
        const bool expected = IsExpected(Table().at(name), o, r);
        SCOPED_TRACE(name + " " + v1::Origin_Name(o) + " " + v1::Role_Name(r));
        EXPECT_EQ(IsPermitted(operation, o, r), expected);
        const absl::Status status = CheckPermitted(operation, o, r);
        EXPECT_EQ(status.ok(), expected);
        if (!expected) {
          EXPECT_THAT(status, HasCode(absl::StatusCode::kPermissionDenied));
          EXPECT_THAT(MessageOf(status), HasSubstr(name));
        }
      }
    }
  }
}

TEST(PermissionsTest, WhatAWorkerMayAnAnonymousSessionIsToldHowToGet) {
  const absl::Status status = CheckPermitted(
      Operation::kMessageSend, v1::ORIGIN_SESSION, v1::ROLE_ANONYMOUS);
  EXPECT_EQ(ReasonOf(status), "ANONYMOUS_SENDER");
  EXPECT_THAT(MessageOf(status), HasSubstr("intercom_configure_worker"));
}

TEST(PermissionsTest, OtherRefusalsAreNotPermitted) {
  EXPECT_EQ(ReasonOf(CheckPermitted(Operation::kWorkerConfigure,
                                    v1::ORIGIN_SESSION, v1::ROLE_WORKER)),
            "NOT_PERMITTED");
  EXPECT_EQ(ReasonOf(CheckPermitted(Operation::kWorkerConfigure,
                                    v1::ORIGIN_SESSION, v1::ROLE_ANONYMOUS)),
            "NOT_PERMITTED");
  EXPECT_THAT(MessageOf(CheckPermitted(Operation::kMessageSend,
                                       v1::ORIGIN_SESSION, v1::ROLE_PEER)),
              HasSubstr("needs a workspace"));
  EXPECT_THAT(MessageOf(CheckPermitted(Operation::kWorkerReload,
                                       v1::ORIGIN_SHELL, v1::ROLE_COORDINATOR)),
              HasSubstr("a shell"));
}

TEST(PermissionsTest, ASessionIsToldWhatItsRoleMay) {
  for (const v1::Role role : {v1::ROLE_COORDINATOR, v1::ROLE_WORKER,
                              v1::ROLE_ANONYMOUS, v1::ROLE_PEER}) {
    std::vector<std::string> expected;
    for (const Operation operation : kAllOperations) {
      const std::string name(OperationName(operation));
      if (Has(Table().at(name).session, role)) expected.push_back(name);
    }
    EXPECT_THAT(PermittedOperations(role), ElementsAreArray(expected))
        << RoleName(role);
  }
}

}  // namespace
}  // namespace intercom
