# What ./run and ./test share: install what is missing, configure, build. Sourced, not run. Every step prints one line
# with its time on stderr (stdout belongs to the program), keeps its output in build/logs/, shows the end of it when it
# fails and says what to do then.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/logs
mkdir -p "$logs"
jobs=${TENON_JOBS:-$(nproc)}
failed_steps=()

# To build and run. zlib and zstd are what a static LLVM asks for.
run_packages=(g++ cmake ninja-build ccache lld-19 llvm-19-dev libzstd-dev zlib1g-dev pkg-config libprotozero-dev libfmt-dev
  libcli11-dev libb2-dev libflatbuffers-dev flatbuffers-compiler)
# To test, beside those: clang builds with sanitizers in a third of the time that g++ takes.
test_packages=(git libgtest-dev clang-19 libclang-rt-19-dev clang-format-19 clang-tidy-19 python3 python3-venv libfaketime)

say() { printf '%s\n' "$*" >&2; }

# step NAME ADVICE COMMAND...: runs it; one line with the time; on failure the end of the log and the advice.
step() {
  local name=$1 advice=$2 log begin status=0 seconds
  shift 2
  log=$logs/$(printf '%s' "$name" | tr -c 'a-zA-Z0-9_' '_').log
  begin=$(date +%s%N)
  "$@" >"$log" 2>&1 || status=$?
  seconds=$((($(date +%s%N) - begin) / 100000000))
  seconds=$((seconds / 10)).$((seconds % 10))
  if [ "$status" = 0 ]; then
    printf '%7ss  ok      %s\n' "$seconds" "$name" >&2
    return 0
  fi
  printf '%7ss  FAILED  %s\n' "$seconds" "$name" >&2
  tail -n "${TENON_LOG_LINES:-60}" "$log" >&2
  say "  what to do: $advice"
  say "  whole log:  $log"
  failed_steps+=("$name")
  return "$status"
}

missing_packages() {
  local package
  for package in "$@"; do
    case "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" in
      installed) ;;
      *) printf '%s\n' "$package" ;;
    esac
  done
}

install_packages() {
  local sudo=
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
      echo "neither root nor sudo: install by hand: $*"
      return 1
    }
    sudo=sudo
  fi
  export DEBIAN_FRONTEND=noninteractive
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# Installs what is absent, and does nothing but ask dpkg when nothing is.
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "         not a Debian system: the build needs the equivalents of $*"
    return 0
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} = 0 ] && return 0
  step "install ${missing[*]}" \
    "check the network and /etc/apt/sources.list (Debian 12, main), or run: apt-get install ${missing[*]}" \
    install_packages "${missing[@]}" && touch "$root/build/packages.stamp"
}

# Ninja runs cmake again by itself when a CMakeLists.txt changed; presets and new packages it does not watch.
configure() {
  local preset=$1 ninja=$root/build/$1/build.ninja
  [ -f "$ninja" ] && [ ! "$root/CMakePresets.json" -nt "$ninja" ] &&
    [ ! "$root/build/packages.stamp" -nt "$ninja" ] && return 0
  step "configure $preset" "the lines above name what cmake misses; rm -r $root/build/$preset starts afresh" \
    cmake -S "$root" --preset "$preset"
}

build() {
  local preset=$1
  shift
  step "build $preset" "fix the first error above; again with: ninja -C $root/build/$preset $*" \
    ninja -C "$root/build/$preset" -j "$jobs" "$@"
}
