#!/usr/bin/env python3
"""Whether the differential fuzzer would see a broken compiler: breaks it, one place at a time, and demands that random
graphs notice. Each row is a file, a text that stands in it once, what to put there, and what that breaks.

The tree is copied into FOLDER (a build folder, kept: the next run builds little), every row is applied alone, built and
run. A row whose text is no longer found once is an error, and so is one that no graph catches: then the fuzzer is to be
made better, not the row easier.

usage: mutations.py FOLDER [--graphs N] [--only WORD] [--jobs N]
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path("build/release")  # as deep as in the original: a compiler cache then knows the files
COPIED = ["CMakeLists.txt", "CMakePresets.json", "bench", "cmake", "examples", "include", "layers.txt", "scripts", "src",
          "tests", "tools"]


class Mutation(NamedTuple):
    what: str
    file: str
    old: str
    new: str


MUTATIONS = [
    Mutation("a rule of algebra swaps a sign", "src/simplify/algebra.cpp",
             "x - (-y),                             x + y}", "x - (-y),                             x - y}"),
    Mutation("a rule takes the other branch of a where", "src/simplify/algebra.cpp",
             "of(Op::Where, x, z, y)}", "of(Op::Where, x, y, z)}"),
    Mutation("layer norm forgets epsilon", "src/fuse/fuse_layer_norm.cpp",
             "return Statistics{x, centred, *eps,", "return Statistics{x, centred, 0,"),
    Mutation("a slice forgets its steps", "src/lower/index_map.cpp",
             "index[i] * attributes.integers(\"steps\")[i];", "index[i];"),
    Mutation("keys past the end count", "src/lower/attention.cpp",
             "select(in_range(inside.index, inside.bound), number(0), number(-kInf))", "number(0)"),
    Mutation("a window's guard has a wrong bound", "src/lower/window.cpp",
             "result.push_back({at[i], image[i]});", "result.push_back({at[i], image[i] + 1});"),
    Mutation("the identity of a maximum is 0", "src/kernel/expr.cpp",
             "return constant(dtype, -std::numeric_limits<double>::infinity());", "return constant(dtype, 0);"),
    Mutation("a cast to bf16 truncates", "src/kernel/expand_cast.cpp",
             "shift_right(bits + number(bits, 0x7fff) + bit_and(top, 1), 16)", "top"),
    Mutation("a narrow integer loses its sign", "src/kernel/expand_cast.cpp",
             "return bit_cast(shift_right(shift_left(low, unused), unused), to);",
             "return bit_cast(bit_and(low, (1 << info(to).bits) - 1), to);"),
    Mutation("the tail of a row is stored unmasked", "src/schedule/lanes.cpp",
             "copy.value = guarded(s->value, lanes, guard);\n      copy.guards.push_back(guard);",
             "copy.value = guarded(s->value, lanes, guard);"),
    Mutation("the tail of a reduction counts", "src/schedule/reductions.cpp",
             "value = select(in_range(at, extent), value, start);", ""),
    Mutation("a transpose writes rows for columns", "src/schedule/transpose.cpp",
             "load(block, turned.dtype, Dim(out_lane) * kLaneCount + out)",
             "load(block, turned.dtype, Dim(out) * kLaneCount + out_lane)"),
    Mutation("the last chunk of a contraction is a whole one", "src/schedule/serial_reductions.cpp",
             "min(e.bound - first, kContractionChunk)", "min(e.bound - first + 1, kContractionChunk)"),
    Mutation("the last tile stores all its columns", "src/schedule/tile.cpp",
             "s.guards.push_back({column, c.columns});", ""),
    Mutation("a step writes where it reads", "src/plan/plan_arena.cpp",
             "std::prev(next)->second < life.begin", "std::prev(next)->second <= life.begin"),
    Mutation("unsigned numbers are compared as signed ones", "src/codegen/llvm/emit_pointwise.cpp",
             "compare(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT)", "compare(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_SLT)"),
    Mutation("a negative index is taken as it is", "src/codegen/llvm/emit_stmt.cpp",
             "Value* safe = builder_.CreateSelect(good, wrapped, zero);",
             "Value* safe = builder_.CreateSelect(good, value, zero);"),
]


def copy_tree(folder: pathlib.Path) -> None:
    """The copy has the times of the original: what did not change is not built again."""
    for name in COPIED:
        source, target = ROOT / name, folder / name
        if source.is_file():
            copy_file(source, target)
        for path in source.rglob("*") if source.is_dir() else []:
            if path.is_file() and "__pycache__" not in path.parts:
                copy_file(path, folder / path.relative_to(ROOT))


def copy_file(source: pathlib.Path, target: pathlib.Path) -> None:
    if target.exists() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(source.stat().st_mode)


def build(folder: pathlib.Path, jobs: int) -> None:
    binary = folder / BUILD
    steps = [["ninja", "-j", str(jobs), "-C", str(binary), "test_differential"]]
    if not (binary / "build.ninja").exists():
        steps.insert(0, ["cmake", "--preset", "release", "-B", str(binary)])
    for step in steps:
        done = subprocess.run(step, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(step)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def passes(folder: pathlib.Path, graphs: int) -> bool:
    """A crash is noticed as well as a number that differs. One failure is enough, and need not be small."""
    settings = {"TENON_FUZZ_COUNT": str(graphs), "TENON_FUZZ_FAILURES": "1", "TENON_FUZZ_SHRINK": "0"}
    command = [str(folder / BUILD / "tests/test_differential"), "--gtest_filter=RandomGraphs.*", "--gtest_brief=1"]
    try:
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=3600)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def check_texts() -> None:
    for row in MUTATIONS:
        count = (ROOT / row.file).read_text().count(row.old)
        if count != 1:
            sys.exit(f"{row.file}: the text of \"{row.what}\" stands there {count} times")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--graphs", type=int, default=1500)
    arguments.add_argument("--only", default="", help="rows whose description has this word")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    options = arguments.parse_args()
    check_texts()
    folder = options.folder.resolve()
    copy_tree(folder)
    build(folder, options.jobs)
    if not passes(folder, options.graphs):
        sys.exit("without any mutation the random graphs fail already")
    chosen = [row for row in MUTATIONS if options.only in row.what]
    missed = []
    for row in chosen:
        path = folder / row.file
        text = path.read_text()
        path.write_text(text.replace(row.old, row.new))
        try:
            build(folder, options.jobs)
            caught = not passes(folder, options.graphs)
        finally:
            path.write_text(text)
        print(f"{'caught' if caught else 'MISSED'}: {row.what} ({row.file})", flush=True)
        if not caught:
            missed.append(row)
    print(f"{len(chosen) - len(missed)} of {len(chosen)} caught")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
