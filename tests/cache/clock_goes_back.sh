#!/usr/bin/env bash
# clock_goes_back.sh TEST_CACHE: the torture of the disk store under a clock that jumps years back and forth while it
# runs. Nothing of the store may depend on a clock; this shows it from outside.
set -euo pipefail
library=$(find /usr/lib -name 'libfaketime*.so.1' -path '*faketime*' 2>/dev/null | grep -m 1 'MT' || true)
[ -n "$library" ] || { echo "no libfaketime: nothing is shown"; exit 77; }
offset=$(mktemp)
trap 'rm -f "$offset"; kill "$jumps" 2>/dev/null || true' EXIT
echo +0 >"$offset"
while :; do
  for jump in +2d -3y +40y -1d; do
    echo "$jump" >"$offset"
    sleep 0.05
  done
done &
jumps=$!
LD_PRELOAD=$library FAKETIME_TIMESTAMP_FILE=$offset FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 \
  "$1" --gtest_filter='Torture*'
