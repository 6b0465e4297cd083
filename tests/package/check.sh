#!/bin/bash
# check.sh BUILD: what a release build installs works from anywhere: with CMake, with pkg-config, from C, and the source
# tree works as a folder of another project. Nothing but Tenon's own names is visible in the libraries.
set -euo pipefail
build=$(realpath "$1")
source=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'package: %s\n' "$*" >&2
  exit 1
}
quietly() { "$@" >"$work/log" 2>&1 || { tail -n 30 "$work/log" >&2; fail "failed: $*"; }; }

quietly cmake --install "$build" --prefix "$work/first" --strip
mv "$work/first" "$work/moved"
prefix=$work/moved
libraries=$(dirname "$(find "$prefix" -name libtenon.so)")
! grep -rqF "$work/first" "$prefix" --include='*.cmake' --include='*.pc' || fail "a path of the first place was installed"
for file in bin/tenon include/tenon/tenon.h share/doc/tenon/LICENSE share/doc/tenon/THIRD_PARTY_NOTICES; do
  [ -f "$prefix/$file" ] || fail "$file is not installed"
done

# The libraries: size, visible names, what they need.
size=$(stat -Lc %s "$libraries/libtenon_runtime.so")
[ "$size" -lt 5000000 ] || fail "libtenon_runtime.so has $size bytes"
for library in libtenon libtenon_runtime; do
  names=$(nm -D --defined-only "$libraries/$library.so" | awk '{print $3}' | c++filt)
  foreign=$(grep -vE '^(tenon_|tenon::|(typeinfo|typeinfo name|vtable) for tenon::)' <<<"$names" || true)
  [ -z "$foreign" ] || fail "$library exports: $(head -n 3 <<<"$foreign")"
  grep -q 'tenon::CompiledGraph::load' <<<"$names" || fail "$library lacks its API"
done
needed=$(readelf -d "$libraries/libtenon_runtime.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
  grep -vE '^(libc|libm|libgcc_s|libstdc\+\+|ld-linux-x86-64)\.so' || true)
[ -z "$needed" ] || fail "libtenon_runtime needs $needed"
! ldd "$prefix/bin/tenon" | grep -qi llvm || fail "tenon needs libLLVM"

# Each public header stands alone; the C API is C.
for header in "$prefix"/include/tenon/*.h; do
  quietly c++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I "$prefix/include" -include "$header" -x c++ /dev/null
done
quietly cc -std=c99 -Wall -Wextra -pedantic -Werror -fsyntax-only -I "$prefix/include" -include tenon/c_api.h -x c /dev/null

# CMake: compiles a graph and saves it; a C program runs that.
quietly cmake -S "$source/tests/package/installed" -B "$work/installed" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$source/examples"
quietly cmake --build "$work/installed"
[ "$("$work/installed/consumer" "$work/model.tenon")" = "4 6" ] || fail "the consumer's numbers are wrong"
expected="y: 3 2, begins with 4"
[ "$("$work/installed/run_artifact" "$work/model.tenon" 3)" = "$expected" ] || fail "the artifact's numbers are wrong"
"$prefix/bin/tenon" run "$work/model.tenon" --input x=3x2:ones 2>"$work/log" | grep -q '^y f32\[3, 2\]  4 ' || fail "tenon run: wrong numbers"
for example in blocks decoder devices pipeline precision reports runs save_and_load symbolic; do
  quietly "$work/installed/$example" "$work/saved.tenon"
done

# pkg-config.
export PKG_CONFIG_PATH=$libraries/pkgconfig
read -ra flags < <(pkg-config --cflags --libs tenon_runtime)
quietly cc -Wall -Werror "$source/examples/run_artifact.c" -o "$work/by_pkg_config" "${flags[@]}"
[ "$(LD_LIBRARY_PATH=$libraries "$work/by_pkg_config" "$work/model.tenon" 3)" = "$expected" ] || fail "pkg-config: wrong numbers"
read -ra flags < <(pkg-config --cflags --libs tenon)
quietly c++ -std=c++20 "$source/tests/package/installed/main.cpp" -o "$work/compiles" "${flags[@]}"
[ "$(LD_LIBRARY_PATH=$libraries "$work/compiles" "$work/again.tenon")" = "4 6" ] || fail "pkg-config: wrong numbers"

# As a folder of another project: what runs models, and with --full what compiles them, a build of everything.
quietly cmake -S "$source/tests/package/as_folder" -B "$work/as_folder" -G Ninja -DTENON="$source" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS_RELEASE="-O0"
quietly cmake --build "$work/as_folder" --target consumer
[ "$("$work/as_folder/consumer" "$work/model.tenon" 3)" = "$expected" ] || fail "as a folder: wrong numbers"
if [ -n "${TENON_TEST_FULL:-}" ]; then
  quietly cmake --build "$work/as_folder" --target compiles
  [ "$("$work/as_folder/compiles" "$work/folder.tenon")" = "4 6" ] || fail "as a folder: wrong numbers"
fi
echo "package: fine; libtenon_runtime.so has $size bytes, libtenon.so $(stat -Lc %s "$libraries/libtenon.so")"
