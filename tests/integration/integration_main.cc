// The tests, and the programs that they start: this one again, with an
// argument.

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "broker/base/lock_file.h"
#include "gtest/gtest.h"
#include "tests/integration/boundary_calls.h"
#include "tests/support/broker_client.h"

namespace intercom {
namespace {

// `--send HOME TO DIRECTORY ENVELOPE`: sends over the Unix socket and says how
// the broker saw the caller.
int Send(char** arguments) {
  v1::Envelope envelope;
  envelope.set_envelope_id(arguments[3]);
  envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
  envelope.set_text("from a program");
  v1::DeliveryRecord record;
  const CallEnd end = BrokerClient::OverUnix(arguments[0])
                          ->Send(arguments[1], envelope, arguments[2], &record);
  std::printf("%s %s\n",
              end.ok() ? v1::Origin_Name(record.sender().origin()).c_str()
                       : end.reason.c_str(),
              record.sender().session_id().c_str());
  return 0;
}

// `--boundary HOME DIRECTORY`: makes each boundary call over the Unix socket
// and says a line of what came of it.
int Boundary(char** arguments) {
  const auto client = BrokerClient::OverUnix(arguments[0]);
  for (const BoundaryCall& call : BoundaryCalls()) {
    std::printf("%s\n", Verdict(call.call(*client, arguments[1])).c_str());
  }
  return 0;
}

// `--attach HOME SESSION DIRECTORY`: an agent that attaches over the Unix
// socket, says `attached`, and stays until its standard input ends.
int Attach(char** arguments) {
  AttachClient agent(BrokerClient::OverUnix(arguments[0]));
  v1::Hello hello;
  hello.set_protocol_version(1);
  hello.set_session_id(arguments[1]);
  hello.set_host_kind("test");
  hello.set_host_pid(getpid());
  hello.set_cwd(arguments[2]);
  hello.set_workspace_mode(v1::WORKSPACE_MODE_EXISTING);
  agent.SayHello(hello);
  agent.StartReading();
  agent.frames.WaitFor(v1::AttachResponse::kReconcile);
  std::printf("attached\n");
  std::fflush(stdout);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}

// `--lock PATH`: holds the lock until its standard input ends.
int Lock(char** arguments) {
  const auto lock = LockFile::TryAcquire(arguments[0]);
  std::printf("%d\n", lock.ok() ? getpid() : 0);
  std::fflush(stdout);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}

}  // namespace
}  // namespace intercom

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--send" && argc == 6) return intercom::Send(argv + 2);
  if (first == "--boundary" && argc == 4) return intercom::Boundary(argv + 2);
  if (first == "--attach" && argc == 5) return intercom::Attach(argv + 2);
  if (first == "--lock" && argc == 3) return intercom::Lock(argv + 2);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
