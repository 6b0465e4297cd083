#!/usr/bin/env python3
"""Checks every #include of src/ against layers.txt: a folder includes itself, the folders its row names, and the
public headers that are its vocabulary (VOCABULARY; compiled, lazy and api may include all). LLVM headers stay in src/codegen/llvm. Includes are
spelled from src/, so that each line says which layer it reaches into."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VOCABULARY = {f"tenon/{name}.h" for name in (
    "active_extent", "custom_function", "error", "dtype", "dim", "shape", "hir_options", "dispatch", "fusion_options",
    "fusion_report", "plan_options", "precision", "log", "optimizer", "receipt", "trace", "dim_binding", "tuning")} | {"tenon/dtypes.def"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def read_layers():
    layers = {}
    for line in (ROOT / "layers.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            name, _, allowed = line.partition(":")
            layers[name.strip()] = set(allowed.split())
    return layers


def complaint(layer, path, quote, header, layers):
    first = header.split("/")[0]
    if first in ("llvm", "llvm-c"):
        return None if path.startswith("src/codegen/llvm/") else "LLVM headers belong in src/codegen/llvm only"
    if first == "tenon":
        return None if layer in ("compiled", "lazy", "api") or header in VOCABULARY else "only compiled, lazy and api include the public API"
    if quote == "<" and first not in layers:
        return None
    if first not in layers:
        return "not spelled from src/ (write \"layer/file.h\")"
    if first == layer or first in layers[layer]:
        return None
    return f"layers.txt does not let {layer} include {first}"


def main():
    layers, complaints, count = read_layers(), [], 0
    for file in sorted((ROOT / "src").rglob("*")):
        if file.suffix not in (".h", ".cpp", ".def"):
            continue
        path = file.relative_to(ROOT).as_posix()
        layer = path.split("/")[1]
        if layer not in layers:
            complaints.append(f"{path}: folder {layer} has no row in layers.txt")
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            count += 1
            problem = complaint(layer, path, match[1], match[2], layers)
            if problem:
                complaints.append(f"{path}:{number}: {match[2]}: {problem}")
    print("\n".join(complaints) if complaints else f"{count} includes follow layers.txt")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
