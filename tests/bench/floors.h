#ifndef PI_INTERCOM_TESTS_BENCH_FLOORS_H_
#define PI_INTERCOM_TESTS_BENCH_FLOORS_H_

#include <string>

#include "tests/bench/samples.h"

namespace intercom::bench {

// What the machine allows, beside which the broker's figures are read.

// Serves Attach on `socket` until killed: hands each submitted envelope to the
// session it names, answers the sender, and keeps, checks and records nothing.
// Writes a line to descriptor 3 when it serves.
[[noreturn]] void ServeRoutedFloor(const std::string& socket);

// Round trips of 256 bytes between two threads over a Unix socket.
Samples RawSocketRoundTrips(int count);

// Appends of 4 KiB to a file in `directory`, each with fdatasync.
Samples DiskSyncs(const std::string& directory, int count);

}  // namespace intercom::bench

#endif  // PI_INTERCOM_TESTS_BENCH_FLOORS_H_
