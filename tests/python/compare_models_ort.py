#!/usr/bin/env python3
"""Whole models of random weights (models.py) against ONNX Runtime: compiled once, run at several batches. Agreement is
max|difference| / rms(ONNX Runtime's output) <= 1e-4. Small sizes; in full (./test --full) the sizes of the papers. A model that does not
compile is a failure, and says what is missing. Run by ctest in build/venv."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

import models
from compare_ort import compare

TOLERANCE = 1e-4


def check(name, size, batches, options, work):
    model, make_inputs = models.MAKERS[name](size)
    path = work / f"{name}_{size}.onnx"
    onnx.save(model, path)
    rng = np.random.default_rng(options.seed)
    cases = {}
    for batch in batches:
        folder = work / f"{name}_{size}" / f"batch_{batch}"
        folder.mkdir(parents=True)
        cases[folder] = make_inputs(rng, batch)
        for key, value in cases[folder].items():
            np.save(folder / f"{key}.npy", value)
    served = subprocess.run([options.serve, path, work / f"{name}_{size}", "0"], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    if served.returncode != 0:
        print(f"{name} {size}: does not run\n{served.stderr}", flush=True)
        return 1
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    failures = 0
    for folder, inputs in cases.items():
        error = compare(session, folder, inputs)
        verdict = "ok" if error <= TOLERANCE else "FAILED"
        failures += verdict != "ok"
        print(f"{name:10} {size:5} {folder.name:9} max|d|/rms {error:.2e} {verdict}", flush=True)
    print(f"{name} {size}: {json.loads(served.stdout)}", flush=True)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", required=True, help="the serve_shapes program")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", choices=models.MAKERS, action="append", help="only these")
    options = parser.parse_args()
    print(f"onnxruntime {onnxruntime.__version__}, numpy {np.__version__}")
    sizes = {"small": (1, 3, 2)}
    if os.environ.get("TENON_TEST_FULL"):
        sizes["full"] = (1, 2)
    failures = 0
    with tempfile.TemporaryDirectory() as work:
        for size, batches in sizes.items():
            for name in options.model or models.MAKERS:
                failures += check(name, size, batches, options, pathlib.Path(work))
    print("all agree" if failures == 0 else f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
