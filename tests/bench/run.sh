#!/usr/bin/env bash
# Measures the release programs beside what the machine allows, and prints a
# table: bash tests/bench/run.sh. By hand; takes about a minute after the build.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$ROOT"
[ -f build/release/build.ninja ] || cmake --preset release -DINTERCOM_TESTS=OFF
cmake --build build/release --target intercom-broker intercom-agent
[ -f build/bench/build.ninja ] ||
  cmake -S . -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DINTERCOM_STATIC=ON
cmake --build build/bench --target intercom_bench

# On a disk, as the state directory of a user is: /tmp may be memory.
directory=$(mktemp -d /var/tmp/intercom-bench.XXXXXX)
# Without its directory a broker leaves by itself.
trap 'rm -rf "$directory"' EXIT

load() { cut -d ' ' -f 1-3 /proc/loadavg; }
echo
echo "Machine: $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)," \
  "$(df --output=fstype "$directory" | tail -n 1) on $(df --output=source "$directory" | tail -n 1)"
echo "Load (1, 5, 15 min) before: $(load). Compare ratios: figures move by a fifth from run to run."
echo "Texts of 256 bytes, 200 sessions attached, each over a connection of its own; p50 / p99."
echo "A session may send 240 messages at once and 120 a second: senders send 200, then others take their place."
echo
build/bench/bin/intercom_bench "$directory" "$ROOT/build/release/bin"
echo
echo "Load after: $(load)"
