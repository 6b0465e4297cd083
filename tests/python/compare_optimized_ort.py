#!/usr/bin/env python3
"""Models after ONNX Runtime's own optimizers and quantizers, and a decoder as its model builder writes them: compiled programs against
ONNX Runtime. Each becomes a folder in the ONNX backend test format. Run by ctest in build/venv."""

import argparse
import json
import logging
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

import decoder_model
import models

LEVELS = onnxruntime.GraphOptimizationLevel


def session(path, level, saved=None):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = level
    if saved:
        options.optimized_model_filepath = str(saved)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class Batches(CalibrationDataReader):
    def __init__(self, make_inputs):
        self.left = iter([make_inputs(np.random.default_rng(seed), 2) for seed in range(3)])

    def get_next(self):
        return next(self.left, None)


def write_case(folder, path, runs, tolerance):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(path.read_bytes())
    (folder / "data.json").write_text(json.dumps({"rtol": tolerance, "atol": tolerance}))
    names = [value.name for value in onnx.load(path).graph.output]
    for i, (inputs, outputs) in enumerate(runs):
        data = folder / f"test_data_set_{i}"
        data.mkdir()
        for kind, tensors in (("input", inputs.items()), ("output", zip(names, outputs))):
            for k, (name, value) in enumerate(tensors):
                (data / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())


def optimized(work, name, source, make_inputs, tolerance):
    """What ONNX Runtime's extended optimizations make of `source`."""
    path = work / f"{name}.onnx"
    session(source, LEVELS.ORT_ENABLE_EXTENDED, path)
    inputs = make_inputs(np.random.default_rng(0), 2)
    outputs = session(path, LEVELS.ORT_DISABLE_ALL).run(None, inputs)
    write_case(work / "cases" / name, path, [(inputs, outputs)], tolerance)
    ops = sorted({node.op_type for node in onnx.load(path).graph.node if node.domain == "com.microsoft"})
    print(f"{name}: {', '.join(ops)}", flush=True)


def tokens(rng, batch):
    ids = rng.integers(0, 100, (batch, 9))
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenon", required=True, help="the tenon program")
    parser.add_argument("--make-encoder", required=True, help="the make_encoder program")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        sources = {}
        for form in ("decomposed", "opset17", "fused"):
            path = work / f"encoder_{form}_source.onnx"
            sizes = "--layers 2 --hidden 64 --heads 4 --ffn 128 --vocab 100 --maxpos 32".split()
            subprocess.run([options.make_encoder, path, *sizes, "--form", form], check=True)
            sources[f"encoder_{form}"] = path, tokens
        for name, make in models.MAKERS.items():
            model, make_inputs = make("small")
            path = work / f"{name}_source.onnx"
            onnx.save(model, path)
            sources[name] = path, make_inputs
        for name, (path, make_inputs) in sources.items():
            optimized(work, f"{name}_extended", path, make_inputs, 1e-3)
            quantized = work / f"{name}_quantized.onnx"
            if name != "encoder_fused":  # its types are not known to the quantizers
                quantize_dynamic(path, quantized, weight_type=QuantType.QInt8)
                optimized(work, f"{name}_dynamic", quantized, make_inputs, 5e-2)
            if not name.startswith("encoder"):
                quantize_static(path, quantized, Batches(make_inputs), quant_format=QuantFormat.QOperator)
                optimized(work, f"{name}_static", quantized, make_inputs, 1e-1)
        path = work / "decoder.onnx"
        onnx.save(decoder_model.decoder(), path)
        write_case(work / "cases" / "decoder", path, decoder_model.steps(session(path, LEVELS.ORT_DISABLE_ALL)), 1e-3)
        command = [options.tenon, "onnx-test", "--device", "cpu", "--verbose", work / "cases"]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
