"""The model in f64, by onnx's own evaluator on NumPy: every f32 of the file becomes an f64."""

import numpy as np
import onnx
import scipy.special
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun


class Erf(OpRun):
    """onnx's own goes element by element, as do those of the ops below."""

    def _run(self, x):
        return (scipy.special.erf(x),)


def windows(x, kernel, strides, pads, fill):
    """[batch, channel, y, x, kernel y, kernel x] of an image with a border of `fill`."""
    top, left, bottom, right = pads
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    every = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(2, 3))
    return every[:, :, ::strides[0], ::strides[1]]


class Conv(OpRun):
    """As a product of matrices; without groups and dilations."""

    def _run(self, x, w, b=None, group=None, dilations=None, kernel_shape=None, pads=None, strides=None, **_):
        assert b is None and group in (None, 1) and set(dilations or [1]) == {1}
        y = np.tensordot(windows(x, w.shape[2:], strides, pads, 0), w, axes=((1, 4, 5), (1, 2, 3)))
        return (np.ascontiguousarray(np.moveaxis(y, -1, 1)),)


class MaxPool(OpRun):
    def _run(self, x, kernel_shape=None, pads=None, strides=None, **_):
        return (windows(x, kernel_shape, strides, pads, -np.inf).max(axis=(4, 5)),)


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
    evaluator = ReferenceEvaluator(widen(onnx.load(path)), new_ops=[Erf, Conv, MaxPool])
    wide = {key: value.astype(np.float64) if value.dtype == np.float32 else value for key, value in inputs.items()}
    outputs = evaluator.run(None, wide)
    assert all(each.dtype == np.float64 for each in outputs)
    return np.concatenate([each.reshape(-1) for each in outputs])


def error(actual, expected):
    """max |difference| / rms(expected)."""
    return float(np.max(np.abs(actual - expected)) / np.sqrt(np.mean(expected**2)))
