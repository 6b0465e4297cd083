#!/usr/bin/env bash
# clang-tidy over the sources that differ from origin/main (without that branch: from the commit before), --all: over
# all. Uses the compile commands of the release build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
commands=build/release
[ -f $commands/compile_commands.json ] || {
  echo "no $commands/compile_commands.json: run cmake --preset release first"
  exit 1
}

changed() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD~1 2>/dev/null || true)
  [ "$base" = "$(git rev-parse HEAD)" ] && base=$(git rev-parse HEAD~1)
  [ -n "$base" ] && git diff --name-only --diff-filter=d "$base" -- '*.cpp'
  git ls-files --others --exclude-standard -- '*.cpp'
}

if [ "${1:-}" = --all ]; then
  files=$(git ls-files --cached --others --exclude-standard -- '*.cpp')
else
  files=$(changed | sort -u)
fi
# Files that the release build does not compile (fuzz targets) have no command to check them with.
compiled() {
  while read -r file; do
    if [ -f "$file" ] && grep -qF "$PWD/$file" $commands/compile_commands.json; then printf '%s\0' "$file"; fi
  done
}
# clang does not know this flag of g++.
mkdir -p build/tidy
sed 's/ -fno-reorder-blocks-and-partition//' $commands/compile_commands.json > build/tidy/compile_commands.json
printf '%s\n' "$files" | compiled |
  xargs -0 -r -n 2 -P "$(nproc)" clang-tidy-19 --quiet --warnings-as-errors='*' -p build/tidy
