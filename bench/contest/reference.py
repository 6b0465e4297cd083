"""The model in f64, by onnx's own evaluator on NumPy: every f32 of the file becomes an f64."""

import numpy as np
import onnx
import scipy.special
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun


class Erf(OpRun):
    """onnx's own goes element by element."""

    def _run(self, x):
        return (scipy.special.erf(x),)


def widen(model):
    """The model with f64 in place of f32."""
    graph = model.graph
    wide = [numpy_helper.from_array(numpy_helper.to_array(each).astype(np.float64), each.name)
            if each.data_type == TensorProto.FLOAT else each for each in graph.initializer]
    del graph.initializer[:]
    graph.initializer.extend(wide)
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
            if attribute.HasField("t") and attribute.t.data_type == TensorProto.FLOAT:
                attribute.t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(attribute.t).astype(np.float64)))
    for info in [*graph.input, *graph.output, *graph.value_info]:
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = TensorProto.DOUBLE
    return model


def evaluate(path, inputs):
    """All outputs, one after the other."""
    evaluator = ReferenceEvaluator(widen(onnx.load(path)), new_ops=[Erf])
    wide = {key: value.astype(np.float64) if value.dtype == np.float32 else value for key, value in inputs.items()}
    outputs = evaluator.run(None, wide)
    assert all(each.dtype == np.float64 for each in outputs)
    return np.concatenate([each.reshape(-1) for each in outputs])


def error(actual, expected):
    """max |difference| / rms(expected)."""
    return float(np.max(np.abs(actual - expected)) / np.sqrt(np.mean(expected**2)))
