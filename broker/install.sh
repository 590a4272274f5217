# Installs what pi-intercom needs, when it is missing. Sourced by
# broker/start.sh and tests/run.sh, never run alone.
#
#   intercom_install ROOT build|tests
#
# `build` is what users need: compilers, libraries, Node and Pi. `tests` adds
# what the test suite needs. When nothing is missing this takes milliseconds,
# touches no network and needs no privileges.

INTERCOM_BUILD_PACKAGES=(
  g++ cmake ninja-build ccache ca-certificates
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  libabsl-dev libsqlite3-dev libutf8proc-dev libncurses-dev grpc-proto
  nlohmann-json3-dev libspdlog-dev libcli11-dev libarchive-dev
)
INTERCOM_TEST_PACKAGES=(
  libgtest-dev libgmock-dev clang clang-format tmux git sqlite3 procps zsh fish
)

intercom_say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }

# Prints each of the named Debian packages that is not installed.
intercom_missing_packages() {
  local installed package
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" \
    2>/dev/null || true)
  for package in "$@"; do
    grep -qxF "$package installed" <<<"$installed" || echo "$package"
  done
}

# Installs Debian packages; says what to do where it cannot.
intercom_install_packages() {
  local as_root=() log
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "These Debian packages are missing: $*" >&2
      echo "You are not root and there is no sudo. As root, run:" >&2
      echo "  apt-get install --no-install-recommends $*" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  intercom_say "Installing Debian packages: $*"
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update -q &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -q --no-install-recommends "$@"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "Installing failed; everything apt said is in $log." >&2
    echo "Repair that (network? another apt running?), then run this again." >&2
    return 1
  fi
  rm -f "$log"
}

# Installs the extension's npm packages when its lock file changed.
intercom_install_node_modules() {
  local extension=$1/extension wanted stamp log
  stamp=$extension/node_modules/.intercom-installed
  wanted=$(sha256sum "$extension/package.json" "$extension/package-lock.json" |
    sha256sum)
  if [ -x "$extension/node_modules/node/bin/node" ] &&
    [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    return 0
  fi
  intercom_say "Installing npm packages: Pi and a Node that it accepts (300 MB)"
  log=$(mktemp)
  # Only the `node` package needs its install script: it fetches the binary.
  # Pi is newer than the system's Node may like, which matters only at run time.
  if ! (cd "$extension" &&
    npm ci --ignore-scripts --no-audit --no-fund --engine-strict=false &&
    npm rebuild node --no-audit --no-fund) >"$log" 2>&1 ||
    ! "$extension/node_modules/node/bin/node" --version >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "npm failed in $extension; everything it said is in $log." >&2
    return 1
  fi
  rm -f "$log"
  echo "$wanted" >"$stamp"
}

intercom_install() {
  local root=$1 packages=("${INTERCOM_BUILD_PACKAGES[@]}") missing
  [ "$2" = tests ] && packages+=("${INTERCOM_TEST_PACKAGES[@]}")
  if ! command -v dpkg-query >/dev/null; then
    echo "This is no Debian system (there is no dpkg-query)." >&2
    echo "Install by hand: ${packages[*]} nodejs npm; then use --no-install." >&2
    return 1
  fi
  # Node may come from elsewhere than Debian: what counts is the command.
  mapfile -t missing < <(intercom_missing_packages "${packages[@]}")
  command -v node >/dev/null || missing+=(nodejs)
  command -v npm >/dev/null || missing+=(npm)
  if [ "${#missing[@]}" -gt 0 ]; then
    intercom_install_packages "${missing[@]}" || return 1
  fi
  intercom_install_node_modules "$root"
}
