"""A small decoder as ONNX Runtime's model builder writes them: weights of 4 bits, grouped queries over caches that grow, rotary positions,
norms fused with their sums. Extents of batch, sequence and past are symbols."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

WIDTH, HEADS, PAIRS, HEAD, VOCAB, LAYERS, INNER = 64, 4, 2, 16, 50, 2, 96


class Builder:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def normal(self, name, *shape, scale=1.0, shift=0.0):
        return self.weight(name, (self.rng.standard_normal(shape) * scale + shift).astype(np.float32))

    def op(self, op, inputs, outputs, domain="", **attributes):
        self.nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **attributes))
        return outputs[0]

    def fused(self, op, inputs, outputs, **attributes):
        return self.op(op, inputs, outputs, "com.microsoft", **attributes)

    def linear(self, x, columns, rows, name):
        codes = self.rng.integers(0, 256, (rows, columns // 32, 16)).astype(np.uint8)
        scales = np.abs(self.rng.standard_normal((rows, columns // 32))).astype(np.float32) * 0.03
        weights = [self.weight(f"{name}_codes", codes), self.weight(f"{name}_scales", scales)]
        return self.fused("MatMulNBits", [x, *weights], [name], K=columns, N=rows, bits=4, block_size=32)

    def norm(self, total, x, name):
        """The norm of a sum, and the sum."""
        scale = self.normal(f"{name}_scale", WIDTH, scale=0.1, shift=1)
        self.fused("SkipSimplifiedLayerNormalization", [total, x, scale], [name, "", "", f"{name}_sum"], epsilon=1e-6)
        return name, f"{name}_sum"


def layer(b, i, x, total):
    past, present = f"past_key_values.{i}.", f"present.{i}."
    for part in ("key", "value"):
        b.inputs.append(helper.make_tensor_value_info(past + part, TensorProto.FLOAT, ["batch", PAIRS, "past_sequence_length", HEAD]))
        b.outputs.append(helper.make_tensor_value_info(present + part, TensorProto.FLOAT, ["batch", PAIRS, "total", HEAD]))
    q, k, v = (b.linear(x, WIDTH, n, f"{name}{i}") for name, n in (("q", HEADS * HEAD), ("k", PAIRS * HEAD), ("v", PAIRS * HEAD)))
    b.fused("GroupQueryAttention", [q, k, v, past + "key", past + "value", "lengths", "longest", "cos", "sin"],
            [f"attended{i}", present + "key", present + "value"], num_heads=HEADS, kv_num_heads=PAIRS, do_rotary=1)
    x, total = b.norm(total, b.linear(f"attended{i}", HEADS * HEAD, WIDTH, f"o{i}"), f"middle{i}")
    gate, up = b.linear(x, WIDTH, INNER, f"gate{i}"), b.linear(x, WIDTH, INNER, f"up{i}")
    silu = b.op("Mul", [gate, b.op("Sigmoid", [gate], [f"sigmoid{i}"])], [f"silu{i}"])
    return b.norm(total, b.linear(b.op("Mul", [silu, up], [f"gated{i}"]), INNER, WIDTH, f"down{i}"), f"end{i}")


def decoder(seed=0):
    b = Builder(seed)
    b.inputs.append(helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"]))
    b.inputs.append(helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "total"]))
    b.outputs.append(helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "sequence", VOCAB]))
    counts = b.op("ReduceSum", ["attention_mask", b.weight("axis", np.array([1], np.int64))], ["counts"], keepdims=0)
    one = b.weight("one", np.array(1, np.int64))
    b.op("Cast", [b.op("Sub", [counts, one], ["less_one"])], ["lengths"], to=TensorProto.INT32)
    longest = b.op("Gather", [b.op("Shape", ["attention_mask"], ["mask_shape"]), one], ["longest_i64"])
    b.op("Cast", [longest], ["longest"], to=TensorProto.INT32)
    angles = np.arange(64)[:, None] / 10000.0 ** (np.arange(HEAD // 2)[None] / (HEAD // 2))
    b.weight("cos", np.cos(angles).astype(np.float32))
    b.weight("sin", np.sin(angles).astype(np.float32))
    total = b.op("Gather", [b.normal("embedding", VOCAB, WIDTH), "input_ids"], ["embedded"])
    scale = b.normal("first_scale", WIDTH, scale=0.1, shift=1)
    x = b.op("SimplifiedLayerNormalization", [total, scale], ["first"], axis=-1, epsilon=1e-6, stash_type=1)
    for i in range(LAYERS):
        x, total = layer(b, i, x, total)
    b.op("MatMul", [x, b.normal("head", WIDTH, VOCAB, scale=0.1)], ["logits"])
    graph = helper.make_graph(b.nodes, "decoder", b.inputs, b.outputs, b.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10)


def steps(session, seed=0):
    """A prompt, then token by token: the inputs of each step, with the caches that the step before gave."""
    rng = np.random.default_rng(seed)
    names = [value.name for value in session.get_inputs()][2:]
    caches, length = [np.zeros((2, PAIRS, 0, HEAD), np.float32)] * len(names), 0
    for count in (5, 1, 1):
        length += count
        inputs = {"input_ids": rng.integers(0, VOCAB, (2, count)), "attention_mask": np.ones((2, length), np.int64)}
        inputs.update(zip(names, caches))
        outputs = session.run(None, inputs)
        caches = outputs[1:]
        yield inputs, outputs
