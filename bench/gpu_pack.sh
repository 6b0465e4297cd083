#!/usr/bin/env bash
# What a machine with a GPU but without packages or network needs, as archives of at most 60 MB each:
#   FOLDER/programs.tar.xz   the command line, the GPU benchmarks and the suite of devices, built with the preset `portable`
#   FOLDER/cases-N.tar.xz    conformance cases and skipped.txt
#   FOLDER/gpu_check.sh      runs there: see its first lines
#
# usage: gpu_pack.sh FOLDER [CASES...]     CASES: folders of the ONNX backend suites (default: those of build/release)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${1:?usage: gpu_pack.sh FOLDER [CASES...]}
shift
[ $# -gt 0 ] || set -- "$root"/build/release/onnx_data/{node,simple,pytorch-converted,pytorch-operator}
most=$((60 * 1000 * 1000))
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
rm -f "$folder"/programs.tar.xz "$folder"/cases-*.tar.xz

cmake -S "$root" --preset portable -DTENON_TESTS=ON >/dev/null
programs=(tenon bench_gpu bench_gpu_encoder bench_gpu_pipelined bench_decoder)
ninja -C "$root/build/portable" "${programs[@]}" test_device
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/programs" "$work/batch"
for program in "${programs[@]}"; do
  strip -o "$work/programs/$program" "$root/build/portable/bin/$program"
done
strip -o "$work/programs/test_device" "$root/build/portable/tests/conformance/test_device"
# The programs share most of their code: a large window finds it.
tar -C "$work" -c programs | xz --lzma2=preset=0,dict=192MiB >"$folder/programs.tar.xz"

# Batches by size as it is, which is far above what is left of it.
number=0 size=0
flush() {
  [ "$size" -gt 0 ] || return 0
  cp "$root/tests/conformance/skipped.txt" "$work/batch/"
  tar -C "$work" -c batch | xz -0 >"$folder/cases-$number.tar.xz"
  rm -rf "$work/batch" && mkdir "$work/batch"
  number=$((number + 1)) size=0
}
for suite in "$@"; do
  for item in "$suite"/*; do
    bytes=$(du -sb "$item" | cut -f1)
    [ $((size + bytes)) -le $((most * 2)) ] || flush
    mkdir -p "$work/batch/$(basename "$suite")"
    cp -r "$item" "$work/batch/$(basename "$suite")/"
    size=$((size + bytes))
  done
done
flush
cp "$root/bench/gpu_check.sh" "$folder/"
for archive in "$folder"/*.tar.xz; do
  bytes=$(stat -c %s "$archive")
  echo "$archive $bytes"
  [ "$bytes" -le "$most" ] || { echo "gpu_pack: $archive is above $most bytes" >&2; exit 1; }
done
