# Counting and showing checks for tests/run.sh, which sources this. One line a
# check; the output of a check is shown only when it failed.

passed=0 failed=0 failures=()
REPORT_DIR=$(mktemp -d)
trap 'rm -rf "$REPORT_DIR"' EXIT

count() { passed=$((passed + $1)) failed=$((failed + $2)); }

# say STATE NAME SECONDS DETAIL
say() {
  local colour=32
  [ "$1" = ok ] || colour=31
  if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    printf '\033[%sm%-4s\033[0m %s (%ss%s)\n' "$colour" "$1" "$2" "$3" "${4:+, $4}"
  else
    printf '%-4s %s (%ss%s)\n' "$1" "$2" "$3" "${4:+, $4}"
  fi
}

# verdict NAME PASSED FAILED SECONDS LOG
verdict() {
  count "$2" "$3"
  local detail=''
  [ $(($2 + $3)) -eq 1 ] || detail="$2 passed, $3 failed"
  if [ "$3" -eq 0 ]; then
    say ok "$1" "$4" "$detail"
    return 0
  fi
  say FAIL "$1" "$4" "$detail"
  failures+=("$1")
  tail -n 250 "$5" | sed 's/^/     | /'
  return 1
}

# must NAME COMMAND...: runs it as one check, whatever the filter says.
must() {
  local name=$1 log=$REPORT_DIR/log start=$SECONDS code=0
  shift
  "$@" >"$log" 2>&1 </dev/null || code=1
  verdict "$name" $((1 - code)) $code $((SECONDS - start)) "$log"
}

# check NAME COMMAND...: the same, if the filter wants it.
check() { ! wanted "$1" || must "$@"; }

# node_tests NAME DIRECTORY PATTERN: a run of node:test, counted by test.
node_tests() {
  wanted "$1" || return 0
  local log=$REPORT_DIR/log tap=$REPORT_DIR/tap start=$SECONDS code=0 ok bad
  : >"$tap"
  (cd "$2" && timeout 1200 "$NODE" --test --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=tap --test-reporter-destination="$tap" "$3") >"$log" 2>&1 </dev/null || code=$?
  ok=$(sed -n 's/^# pass \([0-9]*\)$/\1/p' "$tap" | tail -n 1)
  bad=$(sed -n -e 's/^# fail \([0-9]*\)$/\1/p' -e 's/^# cancelled \([0-9]*\)$/\1/p' "$tap" |
    awk '{ sum += $1 } END { print sum + 0 }')
  # No totals, or a bad end without a failed test: that is one failure.
  if [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  verdict "$1" "${ok:-0}" "$bad" $((SECONDS - start)) "$log"
}

# cpp_names PREFIX TREE: the wanted test programs of a configured tree.
cpp_names() {
  local name
  ctest --test-dir "$2" -N 2>/dev/null | sed -n 's/^ *Test *#[0-9]*: //p' |
    while read -r name; do ! wanted "$1$name" || echo "$name"; done
}

# failed_cases LOG: what a googletest run by ctest said of the cases that did
# not pass, and what came outside of any.
failed_cases() {
  sed 's/^[0-9]*: //' "$1" | awk '
    /^\[ RUN      \]/ { inside = 1; text = "" }
    inside { text = text $0 "\n" }
    !inside && !/^(Internal ctest|UpdateCTest|Constructing|Done constr|Updating test|Added 0|Checking test)/
    inside && /^\[       OK \]/ { inside = 0 }
    inside && /^\[  FAILED  \]/ { inside = 0; printf "%s", text }
    END { if (inside) printf "%s", text }'
}

# cpp_tests PREFIX TREE: every wanted program by a ctest of its own (the output
# of two in one ctest gets mixed up), two at a time, counted by its cases.
cpp_tests() {
  local tree=$2 logs=$REPORT_DIR/ctest log name ok bad seconds
  mkdir -p "$logs"
  cpp_names "$1" "$tree" | xargs -r -P 2 -I NAME sh -c \
    'ctest --test-dir "$1" -V --timeout 600 -R "^NAME\$" </dev/null >"$2/NAME" 2>&1; echo $? >>"$2/NAME"' \
    - "$tree" "$logs"
  for log in "$logs"/*; do
    [ -f "$log" ] || continue
    name=$(basename "$log")
    ok=$(sed -n 's/^[0-9]*: \[  PASSED  \] \([0-9]*\) tests\{0,1\}\.$/\1/p' "$log" | tail -n 1)
    bad=$(sed -n 's/^[0-9]*: *\([0-9]*\) FAILED TESTS\{0,1\}$/\1/p' "$log" | tail -n 1)
    seconds=$(sed -n 's/^Total Test time (real) = *\([0-9]*\).*/\1/p' "$log")
    if [ "$(tail -n 1 "$log")" != 0 ] && [ "${bad:-0}" -eq 0 ]; then bad=1; fi
    failed_cases "$log" >"$REPORT_DIR/log"
    verdict "$1$name" "${ok:-0}" "${bad:-0}" "${seconds:-?}" "$REPORT_DIR/log"
  done
}

finish() {
  if [ "$failed" -gt 0 ]; then
    echo
    echo "Failed: $(printf '%s; ' "${failures[@]:-installing}")"
  fi
  echo "$passed passed, $failed failed"
  if [ "$failed" -gt 0 ] || [ "$passed" -eq 0 ]; then exit 1; fi
  exit 0
}
