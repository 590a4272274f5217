#!/usr/bin/env bash
# Installs what is missing, builds, starts the broker and proves that it works.
# `bash broker/start.sh --help` says how to use it.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BIN=$ROOT/build/release/bin
# shellcheck source=broker/install.sh
. "$ROOT/broker/install.sh"

usage() {
  cat <<'HELP'
Usage: bash broker/start.sh [--no-install] [--workspace DIR]

Installs what is missing (Debian and npm packages), builds pi-intercom,
starts the broker of this user account, and proves itself with a round trip
between two sessions in a directory of their own, which is removed again.
Run again, it takes seconds.

  --workspace DIR  the project to open; default: the current directory. Nothing
                   is written into it: a coordinator session creates its config.
  --no-install     install nothing; fail where something is missing.
  --help           this text.

The broker's state is in $PI_INTERCOM_HOME, by default
~/.local/state/pi-intercom. The broker leaves by itself when nothing has been
attached for a minute, and the next session starts it again.
HELP
}

# fail WHAT LOG WHAT_TO_DO
fail() {
  printf '\n%s\n' "Failed: $1" >&2
  [ -n "$2" ] && printf '%s\n' "Log:    $2" >&2
  printf '%s\n' "Do:     $3" >&2
  exit 1
}

install=1
workspace=$PWD
while [ $# -gt 0 ]; do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --no-install) install=0 ;;
    --workspace)
      [ $# -ge 2 ] || { echo "--workspace needs a directory" >&2; exit 2; }
      workspace=$2
      shift
      ;;
    --workspace=*) workspace=${1#*=} ;;
    *) echo "Unknown argument: $1 (see --help)" >&2; exit 2 ;;
  esac
  shift
done
[ -d "$workspace" ] || fail "$workspace is no directory" "" \
  "name an existing directory with --workspace"
workspace=$(cd "$workspace" && pwd -P)

if [ "$install" = 1 ]; then
  intercom_install "$ROOT" build || fail "installing what is missing" "" \
    "read the lines above; with everything installed by hand, use --no-install"
fi
NODE=$ROOT/extension/node_modules/node/bin/node
[ -x "$NODE" ] || NODE=$(command -v node) || fail "there is no Node" "" \
  "run this without --no-install"

build() {
  local log=$ROOT/build/start.log
  mkdir -p "$ROOT/build"
  if [ ! -f "$ROOT/build/release/build.ninja" ]; then
    intercom_say "Configuring"
    (cd "$ROOT" && cmake --preset release -DINTERCOM_TESTS=OFF) \
      >"$log" 2>&1 || { tail -n 15 "$log" >&2; fail "cmake" "$log" \
      "run this without --no-install; if it stays, remove $ROOT/build/release"; }
  fi
  intercom_say "Building (minutes the first time, seconds afterwards)"
  # Not into a log: on a terminal ninja keeps its progress on one line.
  cmake --build "$ROOT/build/release" \
    --target intercom-broker intercom-agent intercom >&2 ||
    fail "the build" "" "read the compiler's message above; after a git pull \
it may help to remove $ROOT/build/release"
}

build

home=${PI_INTERCOM_HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)/.local/state/pi-intercom}
intercom_say "Starting the broker for $workspace"
"$BIN/intercom" broker start --workspace "$workspace" ||
  fail "the broker did not start" "$home/logs/broker.log" \
    "read its last lines: tail $home/logs/broker.log"

intercom_say "Proving it: two sessions attach, register, configure, reload and talk"
"$NODE" "$ROOT/broker/round-trip.mjs" --bin "$BIN" ||
  fail "the round trip" "shown above" \
    "if it stays after running this again, report it with the lines above"

# The number behind a key of endpoint.json.
endpoint() { sed -n "s/.*\"$1\"[: ]*\([0-9]*\).*/\1/p" "$home/endpoint.json" | head -n 1; }
port=$(endpoint port)
q() { printf '%q' "$1"; }

cat <<TEXT

pi-intercom works.

Your broker
  endpoint   127.0.0.1:$port (gRPC, with the token in $home/token)
             $home/broker.sock (gRPC on a Unix socket)
  log        $home/logs/broker.log

Open Pi with the extension
  export PATH=$(q "$ROOT/extension/node_modules/node/bin"):$(q "$ROOT/extension/node_modules/.bin"):\$PATH
  cd $(q "$workspace")
  pi -e $(q "$ROOT/extension/src/index.ts")
The first session in a directory becomes its coordinator. Open another terminal
there and do the same for a worker: the coordinator is told of it.

Look from a shell
  export PATH=$(q "$BIN"):\$PATH
  intercom list          who is there
  intercom history       what was sent
  intercom status ID     where a message is, and since when

Look with grpcurl (https://github.com/fullstorydev/grpcurl)
  grpcurl -plaintext 127.0.0.1:$port list
  grpcurl -plaintext 127.0.0.1:$port grpc.health.v1.Health/Check
  grpcurl -plaintext -H "authorization: Bearer \$(cat $(q "$home/token"))" \\
    127.0.0.1:$port intercom.v1.InspectionService/GetBroker
  grpcurl -plaintext -unix $(q "$home/broker.sock") \\
    intercom.v1.InspectionService/ListAttachments
TEXT
