#!/usr/bin/env bash
# clang-format over every C++ file of the repository, tracked or new. --fix rewrites them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=(--dry-run --Werror)
[ "${1:-}" = --fix ] && mode=(-i)
# Tables (.def) keep the columns that people gave them.
git ls-files -z --cached --others --exclude-standard -- '*.h' '*.cpp' |
  while IFS= read -r -d '' file; do [ -f "$file" ] && printf '%s\0' "$file"; done |
  xargs -0 -r -n 20 -P "$(nproc)" clang-format-19 "${mode[@]}"
