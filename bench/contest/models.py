"""The models as ONNX files. Their weights are parts of one file of 512 MB of random numbers, so that a model whose
weights fit no cache costs no more disk than the others."""

import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper

from contest.paths import MODELS, ROOT, log

WEIGHT_BYTES = 512 << 20


def weight_file():
    path = MODELS / "weights.bin"
    if not path.exists() or path.stat().st_size != WEIGHT_BYTES:
        log("writing 512 MB of weights")
        rng = np.random.default_rng(0)
        with open(path, "wb") as file:
            for _ in range(64):
                (rng.standard_normal(WEIGHT_BYTES // 256, dtype=np.float32) * np.float32(0.04)).tofile(file)
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


def linear(name, depth, columns, nodes, constants=None, bias=True, opset=17):
    """A model x -> y of `nodes`, which read the weight w and the bias b."""
    initializers = [lambda: weight("w", (depth, columns))]
    if bias:
        values = np.random.default_rng(1).standard_normal(columns).astype(np.float32)
        initializers.append(lambda: onnx.numpy_helper.from_array(values, "b"))
    for key, value in (constants or {}).items():
        initializers.append(lambda key=key, value=value: onnx.numpy_helper.from_array(np.float32(value), key))
    return write(f"{name}_{depth}x{columns}", nodes, {"x": ["rows", depth]}, {"y": ["rows", columns]}, initializers, opset)


def matmul(depth, columns):
    return linear("matmul", depth, columns, [helper.make_node("MatMul", ["x", "w"], ["y"])], bias=False)


def gemm(depth, columns):
    return linear("gemm", depth, columns, [helper.make_node("Gemm", ["x", "w"], ["y"])], bias=False)


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


def encoder(form):
    """MiniLM-L6's size."""
    path = MODELS / f"encoder_{form}.onnx"
    if not path.exists():
        subprocess.run([ROOT / "build/release/bin/make_encoder", path, "--form", form], check=True)
    return path
