"""Test models with random weights, as exporters write them: ResNet-50, MobileNetV2, a U-Net and a recurrent tagger. Each maker takes
a size, "small" or "full", and returns the model with a function from a random generator and a batch to its inputs.

    models.py FOLDER [small|full]   writes all of them, for other tools
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    """Nodes and weights in order; every method returns the name of what it made."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def weight(self, array):
        name = self.name("w")
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def normal(self, *shape, scale=1.0):
        return self.weight((self.rng.standard_normal(shape) * scale).astype(np.float32))

    def op(self, kind, *inputs, **attributes):
        name = self.name(kind.lower())
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=f"node_{name}", **attributes))
        return name

    def conv(self, x, cin, cout, kernel, stride=1, groups=1, bias=False):
        fan_in = cin // groups * kernel * kernel
        w = self.normal(cout, cin // groups, kernel, kernel, scale=np.sqrt(2 / fan_in))
        operands = [x, w] + ([self.normal(cout, scale=0.1)] if bias else [])
        return self.op("Conv", *operands, kernel_shape=[kernel, kernel], strides=[stride, stride],
                       pads=[kernel // 2] * 4, group=groups)

    def batch_norm(self, x, channels):
        rng = self.rng
        scale, variance = rng.uniform(0.5, 1, channels), rng.uniform(0.5, 1.5, channels)
        bias, mean = rng.standard_normal(channels) * 0.1, rng.standard_normal(channels) * 0.1
        parts = [self.weight(a.astype(np.float32)) for a in (scale, bias, mean, variance)]
        return self.op("BatchNormalization", x, *parts, epsilon=1e-5)

    def linear(self, x, cin, cout):
        return self.op("Gemm", x, self.normal(cout, cin, scale=cin**-0.5), self.normal(cout, scale=0.1), transB=1)

    def model(self, inputs, outputs):
        graph = helper.make_graph(self.nodes, "model",
                                  [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
                                  [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        return model


def images(channels, side):
    return lambda rng, batch: {"x": rng.standard_normal((batch, channels, side, side)).astype(np.float32)}


def resnet50(size):
    """Bottleneck blocks: 1x1, 3x3, 1x1 convolutions with batch norms, a residual, relu."""
    blocks, width, side, classes = ([1, 2, 1, 1], 8, 40, 10) if size == "small" else ([3, 4, 6, 3], 64, 224, 1000)
    b = Builder(1)
    y = b.op("Relu", b.batch_norm(b.conv("x", 3, width, 7, 2), width))
    y = b.op("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    cin = width
    for stage, count in enumerate(blocks):
        middle = width << stage
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            z = b.op("Relu", b.batch_norm(b.conv(y, cin, middle, 1), middle))
            z = b.op("Relu", b.batch_norm(b.conv(z, middle, middle, 3, stride), middle))
            z = b.batch_norm(b.conv(z, middle, 4 * middle, 1), 4 * middle)
            if block == 0:
                y = b.batch_norm(b.conv(y, cin, 4 * middle, 1, stride), 4 * middle)
            y = b.op("Relu", b.op("Add", z, y))
            cin = 4 * middle
    y = b.op("Flatten", b.op("GlobalAveragePool", y), axis=1)
    y = b.linear(y, cin, classes)
    return b.model([("x", TensorProto.FLOAT, ["batch", 3, side, side])], [(y, ["batch", classes])]), images(3, side)


def mobilenet(size):
    """Inverted residuals: expansion, depthwise convolution, projection; activations are clipped at 6."""
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    side, classes, last, divide = (48, 10, 64, 4) if size == "small" else (224, 1000, 1280, 1)
    b = Builder(2)
    limits = b.weight(np.float32(0)), b.weight(np.float32(6))

    def clipped(x, channels):
        return b.op("Clip", b.batch_norm(x, channels), *limits)

    cin = 32 // divide
    y = clipped(b.conv("x", 3, cin, 3, 2), cin)
    for expand, channels, count, first_stride in stages:
        cout = channels // divide
        for block in range(min(count, 2) if size == "small" else count):
            stride, middle = first_stride if block == 0 else 1, cin * expand
            z = y if expand == 1 else clipped(b.conv(y, cin, middle, 1), middle)
            z = clipped(b.conv(z, middle, middle, 3, stride, groups=middle), middle)
            z = b.batch_norm(b.conv(z, middle, cout, 1), cout)
            y = b.op("Add", y, z) if stride == 1 and cin == cout else z
            cin = cout
    y = clipped(b.conv(y, cin, last, 1), last)
    y = b.op("Flatten", b.op("GlobalAveragePool", y), axis=1)
    y = b.linear(y, last, classes)
    return b.model([("x", TensorProto.FLOAT, ["batch", 3, side, side])], [(y, ["batch", classes])]), images(3, side)


def unet(size):
    """Down by max pools, up by transposed convolutions or by resizing, skips by concatenation."""
    depth, width, side = (2, 8, 24) if size == "small" else (4, 32, 256)
    b = Builder(3)

    def twice(x, cin, cout):
        y = b.op("Relu", b.conv(x, cin, cout, 3, bias=True))
        return b.op("Relu", b.conv(y, cout, cout, 3, bias=True))

    y, cin, skips = "x", 1, []
    for level in range(depth):
        y = twice(y, cin, width << level)
        cin = width << level
        skips.append((y, cin))
        y = b.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    y = twice(y, cin, 2 * cin)
    cin *= 2
    for level, (skip, channels) in enumerate(reversed(skips)):
        if level % 2 == 0:
            w = b.normal(cin, channels, 2, 2, scale=cin**-0.5)
            y = b.op("ConvTranspose", y, w, b.normal(channels, scale=0.1), kernel_shape=[2, 2], strides=[2, 2])
        else:
            scales = b.weight(np.array([1, 1, 2, 2], np.float32))
            y = b.op("Resize", y, "", scales, mode="linear", coordinate_transformation_mode="half_pixel")
            y = b.conv(y, cin, channels, 1, bias=True)
        y = twice(b.op("Concat", skip, y, axis=1), 2 * channels, channels)
        cin = channels
    y = b.op("Sigmoid", b.conv(y, cin, 1, 1, bias=True))
    return b.model([("x", TensorProto.FLOAT, ["batch", 1, side, side])], [(y, ["batch", 1, side, side])]), images(1, side)


def lstm(size):
    """Two bidirectional layers over embedded tokens, and a linear layer for each token."""
    vocab, features, hidden, seq, tags = (50, 12, 16, 9, 5) if size == "small" else (10000, 128, 256, 64, 32)
    b = Builder(4)
    y = b.op("Transpose", b.op("Gather", b.normal(vocab, features), "tokens"), perm=[1, 0, 2])
    for _ in range(2):
        w = b.normal(2, 4 * hidden, features, scale=features**-0.5)
        r = b.normal(2, 4 * hidden, hidden, scale=hidden**-0.5)
        bias = b.normal(2, 8 * hidden, scale=0.1)
        y = b.op("LSTM", y, w, r, bias, hidden_size=hidden, direction="bidirectional")  # [seq, 2, batch, hidden]
        y = b.op("Reshape", b.op("Transpose", y, perm=[0, 2, 1, 3]), b.weight(np.array([0, 0, -1], np.int64)))
        features = 2 * hidden
    y = b.op("MatMul", b.op("Transpose", y, perm=[1, 0, 2]), b.normal(features, tags, scale=features**-0.5))
    model = b.model([("tokens", TensorProto.INT64, ["batch", seq])], [(y, ["batch", seq, tags])])
    return model, lambda rng, batch: {"tokens": rng.integers(0, vocab, (batch, seq), dtype=np.int64)}


MAKERS = {"resnet50": resnet50, "mobilenet": mobilenet, "unet": unet, "lstm": lstm}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in MAKERS.items():
        onnx.save(make(sys.argv[2] if len(sys.argv) > 2 else "full")[0], folder / f"{name}.onnx")
