#!/usr/bin/env bash
# Installs, builds and tests everything; `bash tests/run.sh --help` says how.
set -uo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT" || exit 1
# shellcheck source=broker/install.sh
. "$ROOT/broker/install.sh"
# shellcheck source=tests/check/report.sh
. "$ROOT/tests/check/report.sh"

usage() {
  cat <<'HELP'
Usage: bash tests/run.sh [--quick] [--filter REGEX] [--long] [--no-install]

Installs what is missing, builds, runs every check and test, and ends with
"N passed, N failed". Exit code 1 if anything failed.

  --quick         leave out the tests with real Pi sessions
  --filter REGEX  only the checks whose name, as printed, matches: 'layering',
                  'C\+\+ ', 'e2e main', 'faults'. The builds they need are made.
  --long          the fault tests with more messages, more deaths and new seeds
  --no-install    install nothing
HELP
}

quick=0 filter=. install=1
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    --filter) filter=${2:?--filter needs a pattern}; shift ;;
    --filter=*) filter=${1#*=} ;;
    --long) export INTERCOM_TEST_LONG=1 ;;
    --no-install) install=0 ;;
    --help | -h) usage; exit 0 ;;
    *) echo "Unknown argument: $1 (see --help)" >&2; exit 2 ;;
  esac
  shift
done
if [ "$install" = 1 ]; then
  intercom_install "$ROOT" tests || { count 0 1; finish; }
fi

MODULES=$ROOT/extension/node_modules
NODE=$MODULES/node/bin/node
BUF=$MODULES/.bin/buf
export PATH=$MODULES/node/bin:$PATH

wanted() { [[ $1 =~ $filter ]]; }

# Configures a preset's tree, unless it is.
configure() {
  local preset=$1
  shift
  [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" "$@"
}
build() { configure "$@" && cmake --build "build/$1"; }
build_release() {
  configure release -DINTERCOM_TESTS=OFF &&
    cmake --build build/release --target intercom-broker intercom-agent intercom
}

check_format() {
  local wrong
  wrong=$(git ls-files -- '*.h' '*.cc' | while read -r path; do [ ! -f "$path" ] || echo "$path"; done |
    xargs clang-format --dry-run -Werror 2>&1 | sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: .*/\1/p' | sort -u)
  [ -z "$wrong" ] || { echo "To mend: clang-format -i" $wrong; return 1; }
}
check_scripts() {
  local script
  for script in broker/*.sh tests/*.sh tests/*/*.sh .ci/run; do bash -n "$script" || return 1; done
}

# tests/e2e/main-flow.test.mjs is "e2e main-flow".
suite() { echo "$(basename "$(dirname "$1")") $(basename "$1" .test.mjs)"; }

check "committed files" "$NODE" tests/check/committed.mjs
check "layering" "$NODE" tests/check/layering.mjs
check "shell scripts" check_scripts
check "clang-format" check_format
check "protos: buf lint" "$BUF" lint protos
check "protos: buf format" "$BUF" format -d --exit-code protos

check "extension: types" "$MODULES/.bin/tsc" -p extension --noEmit
node_tests "extension: tests" extension 'test/*.test.ts'

# The C++ tests, with sanitizers, two programs at a time. Configured first, so
# that the filter knows their names.
configure debug >/dev/null 2>&1
if wanted "C++ build" || [ -n "$(cpp_names "C++ " build/debug)" ]; then
  if must "C++ build (ASan, UBSan)" build debug; then
    cpp_tests "C++ " build/debug
  fi
fi
check "clang: thread safety" build clang -DINTERCOM_TESTS=OFF

# The programs that users run, on real Pi sessions.
if [ "$quick" = 0 ]; then
  node_tests "extension: live" extension 'test/live/*.test.ts'
  files=()
  for file in tests/e2e/*.test.mjs tests/faults/*.test.mjs; do
    ! wanted "$(suite "$file")" || files+=("$file")
  done
  if { [ "${#files[@]}" -gt 0 ] || wanted "release build"; } && must "release build" build_release; then
    for file in "${files[@]}"; do node_tests "$(suite "$file")" . "$file"; done
  fi
fi
finish
