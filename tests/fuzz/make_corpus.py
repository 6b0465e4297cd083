#!/usr/bin/env python3
"""Writes the seeds in corpus/onnx: small models that between them use every kind of message the importer reads.

  scripts/venv_python.sh tests/fuzz/make_corpus.py
"""

import pathlib

from onnx import TensorProto, helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node, info, tensor = helper.make_node, helper.make_tensor_value_info, helper.make_tensor


def model(name, nodes, inputs, outputs, initializers=(), functions=(), opset=17):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions))


def shapes():
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "i"], ["n"], axis=0),
        node("Concat", ["n", "minus"], ["t"], axis=0),
        node("Reshape", ["x", "t"], ["r"]),
        node("MatMul", ["r", "w"], ["m"]),
        node("Add", ["m", "b"], ["a"]),
        node("Softmax", ["a"], ["y"], axis=-1),
    ]
    initializers = [
        tensor("i", INT64, [1], [0]),
        tensor("minus", INT64, [1], [-1]),
        tensor("w", FLOAT, [6, 2], [0.5] * 12),
        tensor("b", FLOAT, [2], b"\0\0\0\0\0\0\x80\x3f", raw=True),
    ]
    return model("shapes", nodes, [info("x", FLOAT, ["n", 2, 3])], [info("y", FLOAT, ["n", 2])], initializers)


def branch(op, name):
    return helper.make_graph([node(op, ["x"], [name])], name, [], [info(name, FLOAT, None)])


def conditional():
    nodes = [node("If", ["c"], ["y"], then_branch=branch("Relu", "a"), else_branch=branch("Neg", "b"))]
    return model("if", nodes, [info("c", BOOL, []), info("x", FLOAT, ["n"])], [info("y", FLOAT, None)])


def loop():
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Concat", ["v", "x"], ["w"], axis=0), node("Identity", ["i"], ["j"])],
        "body",
        [info("i", INT64, []), info("go", BOOL, []), info("v", FLOAT, ["k"])],
        [info("on", BOOL, []), info("w", FLOAT, ["l"]), info("j", INT64, [])],
    )
    nodes = [node("Loop", ["m", "", "x"], ["y", "z"], body=body)]
    inputs = [info("m", INT64, []), info("x", FLOAT, ["n"])]
    return model("loop", nodes, inputs, [info("y", FLOAT, None), info("z", INT64, None)])


def scan():
    body = helper.make_graph(
        [node("Add", ["s", "e"], ["t"]), node("Identity", ["t"], ["u"])],
        "body",
        [info("s", FLOAT, [2]), info("e", FLOAT, [2])],
        [info("t", FLOAT, [2]), info("u", FLOAT, [2])],
    )
    nodes = [node("Scan", ["s0", "x"], ["y", "z"], body=body, num_scan_inputs=1, scan_input_directions=[1])]
    inputs = [info("s0", FLOAT, [2]), info("x", FLOAT, ["n", 2])]
    return model("scan", nodes, inputs, [info("y", FLOAT, [2]), info("z", FLOAT, ["n", 2])])


def function():
    inner = node("Softmax", ["a"], ["b"])
    reference = helper.make_attribute("axis", 1)
    reference.ClearField("i")
    reference.ref_attr_name = "along"
    inner.attribute.append(reference)
    normalize = helper.make_function(
        "local", "Normalize", ["a"], ["b"], [inner], [helper.make_opsetid("", 17)], attributes=["along"]
    )
    nodes = [node("Normalize", ["x"], ["y"], domain="local", along=1)]
    return model("function", nodes, [info("x", FLOAT, ["n", 3])], [info("y", FLOAT, None)], functions=[normalize])


def attributes():
    nodes = [
        node("Constant", [], ["c"], value=tensor("t", INT64, [2], [1, 2])),
        node("Cast", ["c"], ["f"], to=FLOAT),
        node("Transpose", ["x"], ["t"], perm=[1, 0]),
        node("Gemm", ["t", "t"], ["g"], alpha=0.5, transB=1),
        node("Split", ["g"], ["p", "q"], axis=0),
        node("Mul", ["p", "f"], ["y"]),
    ]
    return model("attributes", nodes, [info("x", FLOAT, [3, 2])], [info("y", FLOAT, None)])


def main():
    folder = pathlib.Path(__file__).parent / "corpus" / "onnx"
    folder.mkdir(parents=True, exist_ok=True)
    for make in (shapes, conditional, loop, scan, function, attributes):
        (folder / f"{make.__name__}.onnx").write_bytes(make().SerializeToString())


if __name__ == "__main__":
    main()
