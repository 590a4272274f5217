#ifndef PI_INTERCOM_BROKER_BASE_PROCESS_H_
#define PI_INTERCOM_BROKER_BASE_PROCESS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace intercom {

// What /proc says of processes. Each call reads files and may see a process
// end meanwhile: missing facts are empty.
//
// Thread-safe.

// `pid` and its ancestors, nearest first, without pid 1. At most 64.
std::vector<int64_t> Ancestry(int64_t pid);

// The parent of `pid`, 0 if there is no such process.
int64_t ParentOf(int64_t pid);

// The value of one variable of the environment with which `pid` was started.
// Empty if it is not set or can't be read.
std::string EnvironmentOf(int64_t pid, std::string_view name);

// When `pid` started, in clock ticks since boot: with the pid it names one
// process for as long as the machine runs. 0 if there is no such process, or it
// is a zombie: it has ended.
int64_t StartTicksOf(int64_t pid);

// Processes of this user that hold the local end of the loopback TCP
// connection from `port`: the program that calls. 0 if none is found.
int64_t OwnerOfTcpPort(int port);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_BASE_PROCESS_H_
