#!/usr/bin/env bash
# On a machine with a GPU: checks and times what gpu_pack.sh packed. Prints JSON lines and the suites' closing lines;
# the exit code is 0 only where everything passed and every gate was met.
#
# usage: gpu_check.sh [--sanitize]     beside the archives; --sanitize: memcheck and racecheck over the encoder and 100
#                                      cases too (compute-sanitizer must be there)
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
for archive in "$here"/*.tar.xz; do  # tar may lack xz; Python does not
  tar -xJf "$archive" 2>/dev/null ||
    python3 -c "import sys, tarfile; tarfile.open(sys.argv[1]).extractall('.')" "$archive" || exit 1
done
export PATH=$work/programs:$PATH TENON_CUDA_CACHE=$work/cubins
mkdir -p "$TENON_CUDA_CACHE"
failed=0
note() { "$@" || failed=1; }

tenon devices
note test_device --gtest_brief=1
note bench_gpu
note bench_gpu_encoder
note bench_gpu_pipelined
note bench_decoder --device cuda

find batch -mindepth 2 -maxdepth 2 -type d | sort >cases.txt
split -n l/"$(nproc)" cases.txt part.
for part in part.*; do
  xargs -a "$part" tenon onnx-test --device cuda --verbose --skip batch/skipped.txt >"$part.log" 2>&1 &
done
wait
cat part.*.log >all.log
grep -h '^FAILED' all.log
# What was interpreted instead of compiled has not passed here.
echo "$(grep -c '^passed .*(compiled)' all.log) cases passed, $(grep -c '^FAILED' all.log) failed," \
  "$(grep -c '^passed .*(interpreted' all.log) interpreted"
if grep -q '^FAILED\|(interpreted' all.log || ! grep -q '^passed' all.log; then failed=1; fi

if [ "${1:-}" = --sanitize ]; then
  awk -v every=$(($(wc -l <cases.txt) / 110)) 'NR % every == 0' cases.txt >hundred.txt
  for tool in memcheck racecheck; do
    sanitized=(compute-sanitizer --tool "$tool" --error-exitcode 9)
    note "${sanitized[@]}" bench_gpu_encoder f32 bf16 --check
    note "${sanitized[@]}" bench_decoder --device cuda --check
    note xargs -a hundred.txt "${sanitized[@]}" tenon onnx-test --device cuda --skip batch/skipped.txt
  done
fi
exit $failed
