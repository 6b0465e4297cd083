#!/usr/bin/env python3
"""The encoder against ONNX Runtime: every form that make_encoder writes, 20 random shapes each (in full 200), one compile per form.
Agreement is max|difference| / rms(ONNX Runtime's output) <= 1e-5. Run by ctest in build/venv."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

FORMS = ("decomposed", "opset17", "fused")
TOLERANCE = 1e-5
SHAPES = 200 if os.environ.get("TENON_TEST_FULL") else 20


def random_shapes(rng, max_seq):
    fixed = [(1, 1), (1, max_seq), (8, 128)]
    return fixed + [(int(rng.integers(1, 9)), int(rng.integers(1, 257))) for _ in range(SHAPES - len(fixed))]


def make_case(rng, batch, seq, vocab):
    """Token ids, token types, and a mask that ends anywhere from the first token on, as padding does."""
    lengths = rng.integers(1, seq + 1, size=(batch, 1))
    return {
        "input_ids": rng.integers(0, vocab, size=(batch, seq), dtype=np.int64),
        "attention_mask": (np.arange(seq)[None, :] < lengths).astype(np.int64),
        "token_type_ids": rng.integers(0, 2, size=(batch, seq), dtype=np.int64),
    }


def compare(session, folder, inputs):
    worst = 0.0
    for output, expected in zip(session.get_outputs(), session.run(None, inputs)):
        got = np.load(folder / f"out_{output.name}.npy")
        if got.shape != expected.shape or got.dtype != expected.dtype:
            return float("inf")
        rms = np.sqrt(np.mean(np.square(expected, dtype=np.float64)))
        error = np.max(np.abs(got.astype(np.float64) - expected)) / rms
        worst = max(worst, error if np.isfinite(error) else float("inf"))
    return worst


def check_form(form, options, work):
    model = work / f"{form}.onnx"
    subprocess.run([options.make_encoder, model, "--form", form, "--layers", str(options.layers)], check=True)
    rng = np.random.default_rng(options.seed)
    cases = {}
    for number, (batch, seq) in enumerate(random_shapes(rng, 512)):
        folder = work / form / f"case_{number:02}"
        folder.mkdir(parents=True)
        cases[folder] = make_case(rng, batch, seq, 30522)
        for name, value in cases[folder].items():
            np.save(folder / f"{name}.npy", value)
    served = subprocess.run([options.serve, model, work / form, "0"], stdout=subprocess.PIPE)
    if served.returncode != 0:
        print(f"{form}: serve_shapes FAILED", flush=True)
        return 1
    report = json.loads(served.stdout)
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    failures = 0
    for folder, inputs in cases.items():
        error = compare(session, folder, inputs)
        verdict = "ok" if error <= TOLERANCE else "FAILED"
        failures += verdict != "ok"
        print(f"{form:11} {str(inputs['input_ids'].shape):11} max|d|/rms {error:.2e} {verdict}", flush=True)
    print(f"{form}: {report}", flush=True)
    if report["kernels"] != report["kernels_after"] or report["cases"] != SHAPES:
        print(f"{form}: kernels were compiled while serving, or cases are missing")
        failures += 1
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", required=True, help="the serve_shapes program")
    parser.add_argument("--make-encoder", required=True, help="the make_encoder program")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--form", choices=FORMS, action="append", help="only these")
    options = parser.parse_args()
    print(f"onnxruntime {onnxruntime.__version__}, numpy {np.__version__}")
    with tempfile.TemporaryDirectory() as work:
        failures = sum(check_form(form, options, pathlib.Path(work)) for form in options.form or FORMS)
    print("all agree" if failures == 0 else f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
