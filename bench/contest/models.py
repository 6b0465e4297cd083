"""The models as ONNX files. Their weights are parts of one file of 512 MB of random numbers, so that a model whose
weights fit no cache costs no more disk than the others."""

import functools
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper

from contest.paths import MODELS, ROOT, log

WEIGHT_BYTES = 512 << 20
WEIGHT_SPREAD = 0.04  # standard deviation


def weight_file():
    path = MODELS / "weights.bin"
    if not path.exists() or path.stat().st_size != WEIGHT_BYTES:
        log("writing 512 MB of weights")
        rng = np.random.default_rng(0)
        with open(path, "wb") as file:
            for _ in range(64):
                (rng.standard_normal(WEIGHT_BYTES // 256, dtype=np.float32) * np.float32(WEIGHT_SPREAD)).tofile(file)
    return path


def weight(name, shape, offset=0):
    """An initializer that is `shape` of the weight file, from the byte `offset` on."""
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", weight_file().name), ("offset", offset), ("length", 4 * int(np.prod(shape)))):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def write(name, nodes, inputs, outputs, initializers, opset=17):
    """inputs, outputs: name -> dims; all f32."""
    path = MODELS / f"{name}.onnx"
    if path.exists():
        return path
    infos = [[helper.make_tensor_value_info(key, TensorProto.FLOAT, dims) for key, dims in each.items()]
             for each in (inputs, outputs)]
    graph = helper.make_graph(nodes, name, *infos, [make() for make in initializers])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return path


def bias(columns):
    return np.random.default_rng(1).standard_normal(columns).astype(np.float32)


def bias_file(columns):
    path = MODELS / f"bias_{columns}.bin"
    if not path.exists():
        bias(columns).tofile(path)
    return path


def linear(name, depth, columns, nodes, constants=None, biased=True, opset=17):
    """A model x -> y of `nodes`, which read the weight w and the bias b."""
    initializers = [lambda: weight("w", (depth, columns))]
    if biased:
        initializers.append(lambda: onnx.numpy_helper.from_array(bias(columns), "b"))
    for key, value in (constants or {}).items():
        initializers.append(lambda key=key, value=value: onnx.numpy_helper.from_array(np.float32(value), key))
    return write(f"{name}_{depth}x{columns}", nodes, {"x": ["rows", depth]}, {"y": ["rows", columns]}, initializers, opset)


def matmul(depth, columns):
    return linear("matmul", depth, columns, [helper.make_node("MatMul", ["x", "w"], ["y"])], biased=False)


def gemm(depth, columns):
    return linear("gemm", depth, columns, [helper.make_node("Gemm", ["x", "w"], ["y"])], biased=False)


def exported_gelu(depth, columns):
    """Bias and GELU as torch.onnx writes them."""
    node = helper.make_node
    nodes = [node("MatMul", ["x", "w"], ["product"]), node("Add", ["b", "product"], ["sum"]),
             node("Div", ["sum", "root"], ["scaled"]), node("Erf", ["scaled"], ["erf"]),
             node("Add", ["erf", "one"], ["factor"]), node("Mul", ["sum", "factor"], ["twice"]),
             node("Mul", ["twice", "half"], ["y"])]
    return linear("exported_gelu", depth, columns, nodes, {"root": 2**0.5, "one": 1, "half": 0.5})


def gelu_op(depth, columns):
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["sum"]), helper.make_node("Gelu", ["sum"], ["y"])]
    return linear("gelu_op", depth, columns, nodes, opset=20)


def one_row(copies, depth, columns):
    """Row i of x times weight i, for each of the weights."""
    names = range(copies)
    nodes = [helper.make_node("Split", ["x"], [f"x{i}" for i in names], axis=0, num_outputs=copies)]
    nodes += [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"y{i}"]) for i in names]
    nodes.append(helper.make_node("Concat", [f"y{i}" for i in names], ["y"], axis=0))
    weights = [functools.partial(weight, f"w{i}", (depth, columns), 4 * i * depth * columns) for i in names]
    return write(f"one_row_{depth}x{columns}", nodes, {"x": [copies, depth]}, {"y": [copies, columns]}, weights, opset=18)


def encoder(form):
    """MiniLM-L6's size."""
    path = MODELS / f"encoder_{form}.onnx"
    if not path.exists():
        subprocess.run([ROOT / "build/release/bin/make_encoder", path, "--form", form], check=True)
    return path


def quantized_encoder(form, per_channel):
    """By ONNX Runtime's own quantizer: weights of i8, activations of u8 as they come."""
    path = MODELS / f"encoder_{form}_int8{'_per_channel' if per_channel else ''}.onnx"
    if not path.exists():
        from onnxruntime.quantization import QuantType, quantize_dynamic  # takes a second to load
        quantize_dynamic(encoder(form), path, per_channel=per_channel, weight_type=QuantType.QInt8,
                         extra_options={"DefaultTensorType": TensorProto.FLOAT})  # of what com.microsoft ops give
    return path


class Network:
    """Nodes one after the other, and parameters that keep values near 1 through many layers."""

    def __init__(self):
        self.nodes, self.initializers = [], []
        self.taken = 0  # bytes of the weight file
        self.rng = np.random.default_rng(2)

    def add(self, op, inputs, output=None, **attributes):
        output = output or f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def weight(self, shape):
        name, offset = f"weight_{len(self.initializers)}", self.taken
        self.initializers.append(lambda: weight(name, shape, offset))
        self.taken += -(-4 * int(np.prod(shape)) // 4096) * 4096
        return name

    def vector(self, size, middle, spread):
        name, values = f"vector_{len(self.initializers)}", middle * (1 + spread * self.rng.uniform(-1, 1, size))
        self.initializers.append(lambda: onnx.numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def convolution(self, x, channels, kernel, stride, gain=1.0):
        """channels: of x, of the result; normalized as if x had a mean square of 1."""
        given, made = channels
        y = self.add("Conv", [x, self.weight((made, given, kernel, kernel))], kernel_shape=[kernel] * 2,
                     strides=[stride] * 2, pads=[kernel // 2] * 4)
        variance = WEIGHT_SPREAD**2 * given * kernel**2
        parameters = [self.vector(made, gain, 0.3), self.vector(made, 0.1, 1), self.vector(made, 0.1, 1),
                      self.vector(made, variance, 0.3)]
        return self.add("BatchNormalization", [y, *parameters])

    def bottleneck(self, x, given, inner, stride):
        made = 4 * inner
        y = self.add("Relu", [self.convolution(x, (given, inner), 1, 1)])
        y = self.add("Relu", [self.convolution(y, (inner, inner), 3, stride)])
        y = self.convolution(y, (inner, made), 1, 1, gain=0.3)
        if given != made:
            x = self.convolution(x, (given, made), 1, stride)
        return self.add("Relu", [self.add("Add", [y, x])])


def resnet50():
    """ResNet-50 v1.5 (strides in the 3x3 convolutions), normalizations as nodes of their own."""
    net = Network()
    x = net.add("Relu", [net.convolution("image", (3, 64), 7, 2)])
    x = net.add("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    given = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            x = net.bottleneck(x, given, 64 << stage, 2 if stage and not block else 1)
            given = 256 << stage
    x = net.add("Flatten", [net.add("GlobalAveragePool", [x])])
    net.add("Gemm", [x, net.weight((1000, given)), net.vector(1000, 0.1, 1)], "logits", transB=1)
    return write("resnet50", net.nodes, {"image": ["batch", 3, 224, 224]}, {"logits": ["batch", 1000]}, net.initializers)
