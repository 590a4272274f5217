// The permission table at the real service boundary: every caller times every
// call.

#include "broker/domain/permissions.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/integration/boundary_calls.h"
#include "tests/integration/broker_fixture.h"
#include "tests/integration/child_program.h"

namespace intercom {
namespace {

// Who may do what, written anew. A letter stands for each that may:
// C coordinator, W worker, A anonymous, P peer, each as session and, in small
// letters, as shell; H a person, T a client on the TCP port.
const std::map<std::string, std::string>& Expected() {
  static const auto& table = *new std::map<std::string, std::string>{
      {"message.send", "CW cw HT"},
      {"message.read", "CWAP cwap HT"},
      {"message.withdraw", "CWAP cwap HT"},
      {"peer.list", "CWAP cwap HT"},
      {"peer.send", "CWAP cwap HT"},
      {"peer.open", "CWAP"},
      {"run.supervise", "CWAP"},
      {"run.work", "CWAP"},
      {"roster.list", "CW cw HT"},
      {"status.read", "CW cw HT"},
      {"status.report", "WA"},
      {"status.request", "C"},
      {"work.report", "W"},
      {"handoff.report", "W"},
      {"registration.repeat", "A"},
      {"worker.create", "C"},
      {"worker.configure", "C"},
      {"worker.reload", "C"},
      {"worker.stop", "C"},
      {"worker.close", "C"},
      {"worker.resume", "C"},
      {"worker.remove", "C"},
      {"workspace.multiplexer", "C"},
      {"workspace.coordinator", "H"},
      {"job.read", "CW cw HT"},
      {"job.resolve", "H"},
      {"inbox.read", "H"},
      {"monitor.pane", "C"},
      {"inspect.read", "CWAP cwap HT"},
  };
  return table;
}

class PermissionsOverTheWireTest : public BrokerFixture {
 protected:
  PermissionsOverTheWireTest() {
    StartBroker();
    for (const char* id : {"c-1", "w-1", "x-1"}) {
      sessions_[id] = Attach(id);
    }
    v1::Hello peer = HelloOf("p-1");
    peer.set_workspace_mode(v1::WORKSPACE_MODE_NEVER);
    sessions_["p-1"] = std::make_unique<AttachClient>(Tcp());
    EXPECT_TRUE(sessions_["p-1"]->SayHello(peer));
    sessions_["p-1"]->StartReading();
    sessions_["p-1"]->frames.WaitFor(Frame::kReconcile);
  }

  using Verdicts = std::map<std::string, std::string>;
  // By method, of calls made by this process.
  Verdicts VerdictsOf(BrokerClient& client) {
    Verdicts verdicts;
    for (const BoundaryCall& call : BoundaryCalls()) {
      verdicts[call.method] = Verdict(call.call(client, root_));
    }
    return verdicts;
  }
  Verdicts VerdictsOfSession(const std::string& id) {
    const auto client = Tcp();
    client->ActAs(sessions_[id]->frames.welcome().session_token());
    return VerdictsOf(*client);
  }
  // The same of a program, which is a shell if its environment says so.
  Verdicts VerdictsOfProgram(std::vector<std::string> environment) {
    ChildProgram program({"--boundary", home_, root_}, std::move(environment));
    Verdicts verdicts;
    for (const BoundaryCall& call : BoundaryCalls()) {
      verdicts[call.method] = program.ReadLine();
    }
    return verdicts;
  }
  static void Check(const Verdicts& verdicts, char letter) {
    for (const BoundaryCall& call : BoundaryCalls()) {
      const std::string& who = Expected().at(call.operation);
      EXPECT_EQ(verdicts.at(call.method),
                who.find(letter) == std::string::npos ? "no" : "yes")
          << call.method << " by " << letter;
    }
  }

  std::map<std::string, std::unique_ptr<AttachClient>> sessions_;
};

TEST_F(PermissionsOverTheWireTest, TheCoordinatorMayWhatTheTableSays) {
  Check(VerdictsOfSession("c-1"), 'C');
}

TEST_F(PermissionsOverTheWireTest, AWorkerMayWhatTheTableSays) {
  Check(VerdictsOfSession("w-1"), 'W');
}

TEST_F(PermissionsOverTheWireTest, AnAnonymousSessionMayWhatTheTableSays) {
  Check(VerdictsOfSession("x-1"), 'A');
}

TEST_F(PermissionsOverTheWireTest, APeerMayWhatTheTableSays) {
  Check(VerdictsOfSession("p-1"), 'P');
}

TEST_F(PermissionsOverTheWireTest, AShellOfEachRoleMayWhatTheTableSays) {
  for (const auto& [id, letter] : std::map<std::string, char>{
           {"c-1", 'c'}, {"w-1", 'w'}, {"x-1", 'a'}, {"p-1", 'p'}}) {
    Check(VerdictsOfProgram({"PI_INTERCOM_SESSION=" + id}), letter);
  }
}

TEST_F(PermissionsOverTheWireTest, APersonMayWhatTheTableSays) {
  Check(VerdictsOfProgram({}), 'H');
}

TEST_F(PermissionsOverTheWireTest, AClientMayWhatTheTableSays) {
  Check(VerdictsOf(*Tcp()), 'T');
}

TEST(PermissionCoverageTest, NoOperationIsLeftOut) {
  // A frame of Attach, where nobody but a session comes.
  std::set<std::string> covered = {"channel.use"};
  for (const BoundaryCall& call : BoundaryCalls()) {
    covered.insert(call.operation);
    EXPECT_TRUE(Expected().contains(call.operation)) << call.operation;
  }
  std::set<std::string> all;
  for (const Operation operation : kAllOperations) {
    all.emplace(OperationName(operation));
  }
  EXPECT_EQ(covered, all);
}

TEST(PermissionCoverageTest, NoCallIsLeftOut) {
  std::set<std::string> covered = {"SessionService.Attach",
                                   "WorkService.AwaitLaunch"};
  for (const BoundaryCall& call : BoundaryCalls()) {
    const std::string method = call.method;
    covered.insert(method.substr(0, method.find(' ')));
  }
  std::set<std::string> all;
  for (const auto* file :
       {v1::SendRequest::descriptor()->file(), v1::Hello::descriptor()->file(),
        v1::ListSessionsRequest::descriptor()->file(),
        v1::ListAsksRequest::descriptor()->file(),
        v1::ListChannelsRequest::descriptor()->file(),
        v1::ClaimMonitorPaneRequest::descriptor()->file(),
        v1::ListRunsRequest::descriptor()->file(),
        v1::GetWorkspaceRequest::descriptor()->file(),
        v1::GetJobRequest::descriptor()->file(),
        v1::GetBrokerRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      const auto* service = file->service(s);
      for (int m = 0; m < service->method_count(); ++m) {
        all.insert(service->name() + "." + service->method(m)->name());
      }
    }
  }
  EXPECT_EQ(covered, all);
}

}  // namespace
}  // namespace intercom
