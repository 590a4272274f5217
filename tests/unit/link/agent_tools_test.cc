// The other tools of workers and coordinators, through a whole agent.

#include <string>

#include "broker/base/error.h"
#include "broker/domain/permissions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/boundary_calls.h"
#include "tests/unit/link/agent_rig.h"
#include "worker-agent/tools/catalogue.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using AgentToolsTest = AgentRig;

v1::Job CloseJob(v1::Job::State state) {
  v1::Job job;
  job.set_job_id("job-1");
  job.set_kind(v1::Job::KIND_CLOSE);
  job.set_name("Builder");
  job.set_state(state);
  job.mutable_deadline_at()->set_seconds(1'800'000'120);
  return job;
}

struct PlainCall {
  const char* tool;
  const char* arguments;
  const char* call;
};
void PrintTo(const PlainCall& call, std::ostream* out) { *out << call.tool; }

class PlainCallTest : public AgentRig,
                      public ::testing::WithParamInterface<PlainCall> {};

TEST_P(PlainCallTest, ReachesTheBrokerWithItsArguments) {
  Initialize();
  Call("call-1", GetParam().tool, ParseJson(GetParam().arguments));
  const Json result = Result("call-1");
  EXPECT_FALSE(result["text"].get<std::string>().empty());
  EXPECT_FALSE(result["summary"].get<std::string>().empty());
  EXPECT_THAT(broker_.seen().calls, ElementsAre(HasSubstr(GetParam().call)));
}

TEST_P(PlainCallTest, ARefusalKeepsItsReason) {
  broker_.Refuse(absl::OkStatus());
  Initialize();
  broker_.Refuse(
      Error(absl::StatusCode::kFailedPrecondition, "WORKER_FENCED", "job-9"));
  Call("call-1", GetParam().tool, ParseJson(GetParam().arguments));
  const Json result = Result("call-1");
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["reason"], "WORKER_FENCED");
  EXPECT_EQ(result["code"], "FAILED_PRECONDITION");
}

INSTANTIATE_TEST_SUITE_P(
    All, PlainCallTest,
    ::testing::Values(
        PlainCall{"intercom_worker_status",
                  R"({"name":"Ann","offset":3,"limit":5,"probe":true})",
                  "GetWorkerStatus name: \"Ann\" offset: 3 limit: 5 "
                  "probe: true"},
        PlainCall{"intercom_report_work",
                  R"({"status":"blocked","summary":"no key"})",
                  "ReportWork status: STATUS_BLOCKED summary: \"no key\""},
        PlainCall{"intercom_report_work", R"({"status":"clear"})",
                  "ReportWork status: STATUS_CLEAR"},
        PlainCall{"intercom_stop_worker", R"({"to":"Ann"})",
                  "StopWorker to: \"Ann\""},
        PlainCall{"intercom_close_worker", R"({"to":"Ann"})",
                  "CloseWorker to: \"Ann\""},
        PlainCall{"intercom_report_handoff",
                  R"({"jobId":"job-1","summary":"all done"})",
                  "ReportHandoff job_id: \"job-1\" summary: \"all done\""},
        PlainCall{"intercom_remove_worker", R"({"to":"Ann"})",
                  "RemoveWorker to: \"Ann\""},
        PlainCall{"intercom_set_multiplexer", R"({"multiplexer":"tmux"})",
                  "SetMultiplexer multiplexer: \"tmux\""},
        PlainCall{"intercom_register", "{}", "Register"}));

TEST_F(AgentToolsTest, AChangeThatMayHaveHappenedIsUnknown) {
  Initialize();
  for (const auto& [tool, arguments] :
       std::vector<std::pair<std::string, Json>>{
           {"intercom_stop_worker", {{"to", "Ann"}}},
           {"intercom_close_worker", {{"to", "Ann"}}},
           {"intercom_remove_worker", {{"to", "Ann"}}},
           {"intercom_set_multiplexer", {{"multiplexer", "tmux"}}},
           {"intercom_report_work", {{"status", "clear"}}},
           {"intercom_report_handoff", {{"jobId", "j"}, {"summary", "s"}}},
           {"intercom_register", Json::object()}}) {
    broker_.BreakCalls(1);
    Call("call-1", tool, arguments);
    EXPECT_EQ(Result("call-1")["reason"], "OUTCOME_UNKNOWN") << tool;
  }
}

TEST_F(AgentToolsTest, ACloseReturnsTheJobAndSaysThatItGoesOn) {
  v1::CloseWorkerResponse response;
  *response.mutable_job() = CloseJob(v1::Job::STATE_REQUESTED);
  broker_.AddAnswer("CloseWorker", response);
  Initialize();
  Call("call-1", "intercom_close_worker", {{"to", "Builder"}});
  const Json result = Result("call-1");
  EXPECT_THAT(result["text"].get<std::string>(),
              AllOf(HasSubstr("close of Builder has begun"),
                    HasSubstr("08:02:00Z"), HasSubstr("don't poll")));
  EXPECT_EQ(result["details"]["jobId"], "job-1");
}

TEST_F(AgentToolsTest, AStatusPageThatIsTooLargeIsAskedForAgainSmaller) {
  const auto page = [](int workers, int next) {
    v1::GetWorkerStatusResponse response;
    for (int i = 0; i < workers; ++i) {
      v1::WorkerStatus& worker = *response.add_workers();
      worker.set_name("W" + std::to_string(i));
      worker.mutable_handoff()->set_summary(std::string(4000, 'x'));
    }
    response.set_total_in_snapshot(20);
    if (next > 0) response.set_next_offset(next);
    return response;
  };
  broker_.AddAnswer("GetWorkerStatus", page(20, 0));
  broker_.AddAnswer("GetWorkerStatus", page(9, 9));
  Initialize();
  Call("call-1", "intercom_worker_status", {{"limit", 20}});
  const Json result = Result("call-1");
  const Json shown = ParseJson(result["text"].get<std::string>());
  EXPECT_EQ(shown["workers"].size(), 9);
  EXPECT_EQ(shown["nextOffset"], 9);
  EXPECT_EQ(shown["truncated"], true);
  EXPECT_THAT(broker_.seen().calls, ElementsAre("GetWorkerStatus limit: 20",
                                                "GetWorkerStatus limit: 9"));
}

// Arguments that a tool takes: of each that it requires, the least.
Json LeastArguments(const Tool& tool) {
  if (tool.name == "intercom") {
    return {{"action", "send"}, {"to", "x"}, {"message", "x"}};
  }
  if (tool.name == "contact_supervisor") {
    return {{"reason", "progress_update"}, {"message", "x"}};
  }
  Json arguments = Json::object();
  for (const std::string& key : StringsField(tool.parameters, "required")) {
    const Json& schema = tool.parameters["properties"][key];
    arguments[key] = schema.contains("enum")      ? schema["enum"][0]
                     : schema["type"] == "string" ? Json("x")
                                                  : Json(true);
  }
  return arguments;
}

// What the broker checks `call` as, which its own test proves of each.
std::string OperationOf(const std::string& call) {
  for (const BoundaryCall& known : BoundaryCalls()) {
    const std::string method = known.method;
    if (method.substr(method.find('.') + 1) == call) return known.operation;
  }
  return "no operation of " + call;
}

class CataloguedToolTest : public AgentRig,
                           public ::testing::WithParamInterface<std::string> {};

// A tool that names another operation than its call would be shown to sessions
// that may not call it, or hidden from those that may.
TEST_P(CataloguedToolTest, NamesTheOperationThatItsCallIsCheckedAs) {
  const Tool& tool = *FindTool(GetParam());
  v1::BeginLaunchResponse begun;
  begun.mutable_job()->set_state(v1::Job::STATE_SUBMITTED);
  broker_.AddAnswer("BeginLaunch", begun);
  Initialize(
      {{"launch",
        {{"argv", {"/bin/node", "/lib/pi.js"}},
         {"extension", "/ext/index.ts"},
         {"agentDir", "/home/ada/.pi"}}},
       {"supervisor", {{"target", "x"}, {"runId", "r"}, {"agent", "a"}}}});
  Call("call-1", tool.name, LeastArguments(tool));
  Result("call-1");
  const FakeBroker::Seen seen = broker_.seen();
  std::string call;
  if (seen.Count(v1::AttachRequest::kSubmit) == 1) {
    // The same, on the stream: to all sessions it is an operation of its own.
    if (seen.Submits()[0].reach() == v1::REACH_ACCOUNT) {
      EXPECT_EQ(tool.operation, OperationName(Operation::kPeerSend));
      return;
    }
    call = "Send";
  } else {
    ASSERT_EQ(seen.calls.size(), 1u);
    call = seen.calls[0].substr(0, seen.calls[0].find(' '));
    if (seen.calls[0].find("resume:") != std::string::npos) call += " resume";
  }
  EXPECT_EQ(OperationOf(call), tool.operation);
}

std::vector<std::string> CallingToolNames() {
  std::vector<std::string> names;
  for (const Tool& tool : AllTools()) {
    // Those of the host, and those without an operation, call nobody.
    if (!tool.host && !tool.operation.empty()) names.push_back(tool.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, CataloguedToolTest,
                         ::testing::ValuesIn(CallingToolNames()),
                         [](const auto& info) { return info.param; });

TEST_F(AgentToolsTest, ToolsSayWhatTheirCallsChange) {
  const Json session = Initialize();
  for (const Json& tool : session["tools"]) {
    EXPECT_EQ(tool["effect"] == "config",
              tool["name"] == "intercom_configure_worker")
        << tool["name"];
  }
}

}  // namespace
}  // namespace intercom
