// intercom_bench DIRECTORY PROGRAMS: measures the programs in PROGRAMS with
// state in DIRECTORY, and prints a table. `intercom_bench --floor SOCKET` is
// the server beside which it does so.

#include <signal.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/bench/agent_host.h"
#include "tests/bench/floors.h"
#include "tests/bench/measure.h"
#include "tests/bench/process.h"
#include "tests/bench/progress.h"
#include "tests/bench/report.h"

namespace intercom::bench {
namespace {

constexpr int kSessions = 200;
// Of a sender in one go: within the burst that the broker allows a session.
constexpr int kBurst = 200;
constexpr int kPort = 4711;

struct Setting {
  std::string directory;
  std::string programs;

  std::string home() const { return directory + "/home"; }
  std::string workspace() const { return directory + "/workspace"; }
  std::string log() const { return directory + "/programs.log"; }
};

std::vector<std::string> SessionIds() {
  std::vector<std::string> ids;
  for (int i = 0; i < kSessions; ++i)
    ids.push_back("bench-" + std::to_string(i));
  return ids;
}

// A coordinator, a worker for each other session, and two for real agents.
void WriteWorkspace(const std::string& root) {
  std::vector<std::string> ids = SessionIds();
  ids.insert(ids.end(), {"agent-a", "agent-b"});
  nlohmann::ordered_json agents = nlohmann::ordered_json::array();
  for (const std::string& id : ids) {
    const bool leads = agents.empty();
    agents.push_back({{"sessionId", id},
                      {"name", leads ? "Coordinator" : "Worker " + id},
                      {"coordinator", leads},
                      {"description", "Takes part in a measurement."},
                      {"port", kPort},
                      {"projectDirectory", "."}});
  }
  const nlohmann::ordered_json config = {
      {"version", 1}, {"multiplexer", "none"}, {"agents", agents}};
  std::filesystem::create_directories(root + "/.pi-intercom");
  std::ofstream(root + "/.pi-intercom/config.json") << config.dump(2) << "\n";
}

std::unique_ptr<Process> StartBroker(const Setting& setting,
                                     const std::string& home) {
  auto broker =
      Process::Start({setting.programs + "/intercom-broker", "--home", home,
                      "--workspace", setting.workspace(), "--port", "0",
                      "--idle-exit", "0", "--ready-fd", "3"},
                     {}, setting.log());
  const std::string line = broker->WaitUntilReady();
  if (line.rfind("ready", 0) != 0) Die("the broker says: " + line);
  return broker;
}

std::string SocketOf(const std::string& home) { return home + "/broker.sock"; }

// Each start has a state directory of its own, as on a new machine.
void MeasureStarts(const Setting& setting, Report& report) {
  Samples ready;
  Samples registered;
  for (int i = 0; i < 10; ++i) {
    const std::string home = setting.directory + "/start" + std::to_string(i);
    const TimePoint start = SteadyClock::now();
    const auto broker = StartBroker(setting, home);
    ready.Add(SteadyClock::now() - start);
    Fleet first(SocketOf(home), setting.workspace(), {"bench-0"});
    first.Attach();
    registered.Add(SteadyClock::now() - start);
  }
  Samples agents;
  for (int i = 0; i < 10; ++i) {
    const std::string home = setting.directory + "/agent" + std::to_string(i);
    const TimePoint start = SteadyClock::now();
    pid_t broker = 0;
    {
      AgentHost agent({setting.programs + "/intercom-agent", home, "bench-0",
                       setting.workspace(), setting.log()});
      agent.WaitUntilConnected();
      agents.Add(SteadyClock::now() - start);
      broker = agent.broker_pid();
    }
    EndStranger(broker);
  }
  report.AddMilliseconds("broker start until it serves", ready, nullptr);
  report.AddMilliseconds("broker start until the first session is registered",
                         registered, nullptr);
  report.AddMilliseconds(
      "start of an agent that starts the broker, until it is attached", agents,
      nullptr);
}

// The coordinator's first attach writes the port into the config. For 2 s after
// a change the broker trusts no file times.
void MeasureAttach(Fleet& broker, Fleet& floor, Report& report) {
  Samples after_change;
  after_change.Add(broker.Attach());
  floor.Attach();
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  Samples ours;
  Samples floors;
  for (int i = 0; i < 5; ++i) {
    broker.Leave();
    floor.Leave();
    ours.Add(broker.Attach());
    floors.Add(floor.Attach());
  }
  report.AddMilliseconds("200 sessions attach at once", ours, &floors);
  report.AddMilliseconds("200 sessions attach at once, config just changed",
                         after_change, &floors);
}

// The broker's turn and the floor's alternate, so that both meet the same
// noise.
void MeasureLatency(const Setting& setting, Fleet& broker, Fleet& floor,
                    Report& report) {
  Fleet::Latencies ours;
  Fleet::Latencies floors;
  Samples round_trips;
  Samples floor_round_trips;
  Samples raw;
  Samples syncs;
  for (int i = 0; i < 5; ++i) {
    const auto add = [](const Fleet::Latencies& from, Fleet::Latencies& to) {
      to.one_way.Append(from.one_way);
      to.accepted.Append(from.accepted);
    };
    add(broker.OneWay(4, kBurst), ours);
    add(floor.OneWay(4, kBurst), floors);
    round_trips.Append(broker.RoundTrips(4, kBurst));
    floor_round_trips.Append(floor.RoundTrips(4, kBurst));
    raw.Append(RawSocketRoundTrips(4000));
    syncs.Append(DiskSyncs(setting.directory, 200));
  }
  report.AddLatency("one way, beside routed gRPC without storage", ours.one_way,
                    floors.one_way);
  report.AddLatency("round trip, beside routed gRPC without storage",
                    round_trips, floor_round_trips);
  report.AddLatency("one way, beside a raw Unix socket's round trip",
                    ours.one_way, raw);
  report.AddLatency("accepted and durable, beside routed gRPC without storage",
                    ours.accepted, floors.accepted);
  report.AddLatency("accepted and durable, beside fdatasync of 4 KiB",
                    ours.accepted, syncs);
}

// Medians of repetitions.
Fleet::Rates Throughput(Fleet& fleet, int senders, int in_flight, int times) {
  std::vector<double> accepted;
  std::vector<double> routed;
  for (int i = 0; i < times; ++i) {
    const Fleet::Rates rates = fleet.Throughput(senders, kBurst, in_flight);
    accepted.push_back(rates.accepted);
    routed.push_back(rates.routed);
  }
  std::sort(accepted.begin(), accepted.end());
  std::sort(routed.begin(), routed.end());
  return {accepted[times / 2], routed[times / 2]};
}

void MeasureThroughput(pid_t broker_pid, Fleet& broker, Fleet& floor,
                       Report& report) {
  struct Load {
    int senders;
    int in_flight;
    int times;
  };
  for (const Load& load : {Load{1, 1, 15}, Load{8, 1, 9}, Load{64, 1, 5},
                           Load{1, 16, 15}, Load{8, 16, 9}, Load{64, 16, 5}}) {
    const double cpu = CpuSeconds(broker_pid);
    const Fleet::Rates ours =
        Throughput(broker, load.senders, load.in_flight, load.times);
    const double spent = CpuSeconds(broker_pid) - cpu;
    const Fleet::Rates floors =
        Throughput(floor, load.senders, load.in_flight, load.times);
    const std::string who = std::to_string(load.senders) + " sender" +
                            (load.senders == 1 ? "" : "s") + ", " +
                            std::to_string(load.in_flight) + " in flight: ";
    report.AddRate(who + "accepted and durable", ours.accepted,
                   floors.accepted);
    report.AddRate(who + "routed", ours.routed, floors.routed);
    report.AddText(
        who + "broker's CPU a message",
        Thousands(spent * 1e6 / (load.senders * load.times * kBurst)) + " µs");
  }
}

void MeasureMemory(const std::string& when, pid_t pid, Report& report) {
  const auto mib = [pid](const char* key) {
    return Decimal(static_cast<double>(MemoryKib(pid, key)) / 1024, 1);
  };
  report.AddText("resident memory, " + when,
                 mib("VmRSS") + " MiB (" + mib("RssAnon") + " its own)");
}

// From the line that calls intercom_send to the line that delivers.
void MeasureAgents(const Setting& setting, Report& report) {
  const auto options = [&setting](const std::string& id) {
    return AgentHost::Options{setting.programs + "/intercom-agent",
                              setting.home(), id, setting.workspace(),
                              setting.log()};
  };
  AgentHost a(options("agent-a"));
  AgentHost b(options("agent-b"));
  a.WaitUntilConnected();
  b.WaitUntilConnected();
  const std::string text(256, 'm');
  Samples one_way;
  for (int round = 0; round < 4; ++round) {
    Progress delivered;
    a.SetOnDelivery([&] { delivered.Count(); });
    b.SetOnDelivery([&] { delivered.Count(); });
    for (int n = 1; n <= 2 * kBurst; ++n) {
      AgentHost& from = n % 2 == 0 ? a : b;
      const TimePoint start = SteadyClock::now();
      from.Send(n % 2 == 0 ? "agent-b" : "agent-a", text);
      one_way.Add(delivered.WaitFor(n, "deliver line") - start);
    }
    a.SetOnDelivery(nullptr);
    b.SetOnDelivery(nullptr);
    std::this_thread::sleep_for(
        std::chrono::duration<double>(kBurst / Session::kSendsPerSecond));
  }
  report.AddText(
      "one way through two agents, from the tools/call line to the deliver "
      "line",
      Thousands(one_way.p50()) + " / " + Thousands(one_way.p99()) + " µs");
  MeasureMemory("an agent", a.pid(), report);
}

int Main(const Setting& setting, const std::string& self) {
  std::filesystem::create_directories(setting.directory);
  WriteWorkspace(setting.workspace());
  Report report;
  MeasureStarts(setting, report);
  std::fprintf(stderr, "starts measured\n");

  const std::string floor_socket = setting.directory + "/floor.sock";
  const auto floor_server =
      Process::Start({self, "--floor", floor_socket}, {}, setting.log());
  floor_server->WaitUntilReady();
  const auto broker_server = StartBroker(setting, setting.home());
  std::this_thread::sleep_for(std::chrono::seconds(1));
  MeasureMemory("the broker idle", broker_server->pid(), report);

  Fleet broker(SocketOf(setting.home()), setting.workspace(), SessionIds());
  Fleet floor(floor_socket, setting.workspace(), SessionIds());
  MeasureAttach(broker, floor, report);
  MeasureMemory("the broker with 200 sessions", broker_server->pid(), report);
  std::fprintf(stderr, "attach measured\n");
  MeasureLatency(setting, broker, floor, report);
  std::fprintf(stderr, "latency measured\n");
  MeasureThroughput(broker_server->pid(), broker, floor, report);
  std::fprintf(stderr, "throughput measured\n");
  MeasureMemory("the broker with 200 sessions, after all messages",
                broker_server->pid(), report);
  MeasureAgents(setting, report);
  report.Print();
  return 0;
}

}  // namespace
}  // namespace intercom::bench

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  const std::string self = "/proc/self/exe";
  if (argc == 3 && std::string(argv[1]) == "--floor") {
    intercom::bench::ServeRoutedFloor(argv[2]);
  }
  if (argc != 3) {
    std::fprintf(stderr, "usage: intercom_bench DIRECTORY PROGRAMS\n");
    return 2;
  }
  return intercom::bench::Main({argv[1], argv[2]},
                               std::filesystem::read_symlink(self).string());
}
