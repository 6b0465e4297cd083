#!/usr/bin/env python3
"""Writes docs/ops.md (the ops of the tensor IR, from src/graph/ops/*.def) and docs/onnx_ops.md (the ONNX ops that are read,
from src/import/onnx/ops/*.def, with the node cases that each passes).

  scripts/make_op_pages.py            writes docs/ops.md; keeps the counts that stand in docs/onnx_ops.md
  scripts/make_op_pages.py --cases    counts anew: runs the node cases (needs build/release and its onnx_data)
  scripts/make_op_pages.py --check    says what is out of date, writes nothing
"""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OP = re.compile(r"^OP\((\w+), \w+, \w+,(.*?)\)(?:\s*//\s*(.*))?$")
ATTRIBUTE = re.compile(r'^\s*ATTRIBUTE\((\w+), "(\w+)", (\w+), (\w+)\)')
IMPORT = re.compile(r'^IMPORT\("([^"]*)",\s*(\w+),\s*(\d+),')
COUNTED = re.compile(r"^\| (\S+) \| \d+ \| (\d+) \| (\d+) \|$")


def families(index):
    """The family files that an index file includes, in its order."""
    folder = ROOT / "src"
    return [folder / path for path in re.findall(r'#include "([^"]+/ops/\w+\.def)"', (ROOT / index).read_text())]


def title(path):
    return re.match(r"// (.*?)\. ", path.read_text()).group(1)


def field(text, name, otherwise):
    found = re.search(rf"\.{name} = ([^,]+)", text)
    return found.group(1).strip() if found else otherwise


def operands(row):
    least, most = field(row, "least", "0"), field(row, "most", "0")
    return least if least == most else f"{least} or more" if most == "-1" else f"{least} to {most}"


def graph_page():
    lines = ["# Ops of the tensor IR", "",
             "Made by scripts/make_op_pages.py from `src/graph/ops/*.def`. *Kind*: a fused op has a kernel of its own and can become",
             "primitives; a rewritten one becomes other ops before fusion; all others are primitives.", ""]
    kinds = {}
    for kind, macro, table in (("fused", "FUSED", "fused_decompositions"), ("rewritten", "DECOMPOSE", "decompositions")):
        text = (ROOT / f"src/legalize/{table}.def").read_text()
        kinds.update({name: kind for name in re.findall(rf"^{macro}\((\w+),", text, re.M)})
    for path in families("src/graph/ops.def"):
        rows, attributes = [], collections.defaultdict(list)
        for line in path.read_text().splitlines():
            if found := OP.match(line):
                rows.append(found.groups())
            if found := ATTRIBUTE.match(line):
                attributes[found.group(1)].append(found.group(2) + ("" if found.group(4) == "Required" else "?"))
        lines += [f"## {title(path)}", "", "| op | operands | attributes | kind | notes |", "|---|---|---|---|---|"]
        for name, row, note in rows:
            text = field(row, "text", "").strip('"')
            kind = kinds.get(name, "primitive")
            lines.append(f"| {text} | {operands(row)} | {', '.join(attributes[name])} | {kind} | {note or ''} |")
        lines.append("")
    return "\n".join(lines)


def imported():
    """Qualified name and first opset of every row, by family."""
    for path in families("src/import/onnx/importers.def"):
        rows = [found.groups() for line in path.read_text().splitlines() if (found := IMPORT.match(line))]
        yield title(path), [(f"{domain}.{name}" if domain else name, since) for domain, name, since in rows]


def counted_before(page):
    found = (COUNTED.match(line) for line in (page.read_text().splitlines() if page.exists() else []))
    return {row.group(1): (int(row.group(2)), int(row.group(3))) for row in found if row}


def count_cases():
    """Per op: node cases passed, and of these those that were compiled."""
    import onnx

    data = ROOT / "build/release/onnx_data/node"
    done = subprocess.run([ROOT / "build/release/bin/tenon", "onnx-test", "--device", "cpu", "--verbose", "--skip",
                           ROOT / "tests/conformance/skipped.txt", data], capture_output=True, text=True)
    passed = re.findall(r"^passed (\S+) \((compiled|interpreted)", done.stdout, re.MULTILINE)
    counts = collections.defaultdict(lambda: [0, 0])
    for name, how in passed:
        nodes = onnx.load(data / name / "model.onnx").graph.node
        for op in {f"{node.domain}.{node.op_type}" if node.domain else node.op_type for node in nodes}:
            counts[op][0] += 1
            counts[op][1] += how == "compiled"
    return {op: tuple(pair) for op, pair in counts.items()}


def onnx_page(counts):
    lines = ["# ONNX ops that are read", "",
             "Made by scripts/make_op_pages.py from `src/import/onnx/ops/*.def` and a run of the node cases of the onnx",
             "package; [onnx.md](onnx.md) says what else there is to know. *Since*: the oldest opset whose meaning is known.", ""]
    for family, rows in imported():
        lines += [f"## {family}", "", "| op | since | cases passed | of these compiled |", "|---|---|---|---|"]
        for name, since in rows:
            passed, compiled = counts.get(name, (0, 0))
            lines.append(f"| {name} | {since} | {passed} | {compiled} |")
        lines.append("")
    return "\n".join(lines)


def main():
    page = ROOT / "docs/onnx_ops.md"
    counts = count_cases() if "--cases" in sys.argv else counted_before(page)
    stale = []
    for path, text in ((ROOT / "docs/ops.md", graph_page()), (page, onnx_page(counts))):
        if path.exists() and path.read_text() == text:
            continue
        stale.append(path.name)
        if "--check" not in sys.argv:
            path.write_text(text)
    if stale and "--check" in sys.argv:
        sys.exit(f"out of date: {', '.join(stale)}; run scripts/make_op_pages.py")


if __name__ == "__main__":
    main()
