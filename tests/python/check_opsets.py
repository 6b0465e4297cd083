#!/usr/bin/env python3
"""What a node may have at an opset, against the schemas of the installed onnx package: for each default-domain op that is read, at the
first and last opset of each of its schemas, every attribute of any of them, every input beyond the schema's, and the op before it was
introduced or after it was removed. What the schema lacks must be an error that names it; what it has must not be called unknown.
Run by ctest in build/venv."""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OLDEST = 6
# ONNX Runtime's optimizers write these two into the default domain of any opset.
OF_ONNX_RUNTIME = {"LayerNormalization", "SimplifiedLayerNormalization"}
# Its first schema was called wrong and deprecated later; models with it are read with the meaning it had.
DEPRECATED_LATER = {"GroupNormalization"}
# Attributes that are an error at every opset.
NOT_READ = {("TfIdfVectorizer", "pool_strings"), ("Constant", "sparse_value")}
VALUES = {
    onnx.defs.OpSchema.AttrType.INT: 1,
    onnx.defs.OpSchema.AttrType.INTS: [1],
    onnx.defs.OpSchema.AttrType.FLOAT: 1.0,
    onnx.defs.OpSchema.AttrType.FLOATS: [1.0],
    onnx.defs.OpSchema.AttrType.STRING: "none",
    onnx.defs.OpSchema.AttrType.STRINGS: ["none"],
    onnx.defs.OpSchema.AttrType.TENSOR: helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0]),
    onnx.defs.OpSchema.AttrType.GRAPH: helper.make_graph([], "g", [], []),
}


def ops():
    """Name and first opset of every op of the default domain that is read."""
    for path in sorted((ROOT / "src/import/onnx/ops").glob("*.def")):
        for name, since in re.findall(r'^IMPORT\("",\s*(\w+),\s*(\d+),', path.read_text(), re.M):
            yield name, int(since)


def schemas():
    found = collections.defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            found[schema.name].append(schema)
    return {name: sorted(list_, key=lambda schema: schema.since_version) for name, list_ in found.items()}


def spans(history):
    """(opset, schema or None) at both ends of each schema, and before the first."""
    newest = onnx.defs.onnx_opset_version()
    if history[0].since_version > OLDEST:
        yield history[0].since_version - 1, None
    for schema, after in zip(history, [*history[1:], None]):
        first, last = max(schema.since_version, OLDEST), after.since_version - 1 if after else newest
        for opset in sorted({first, last}) if first <= last else ():
            yield opset, None if schema.deprecated and schema.name not in DEPRECATED_LATER else schema


def probes(name, history):
    """(what, opset, attributes, inputs, whether the schema has it)."""
    attributes = {key: attribute for schema in history for key, attribute in schema.attributes.items()}
    most = max(schema.max_input for schema in history)
    for opset, schema in spans(history):
        if schema is None:
            yield None, opset, {}, 0, name in OF_ONNX_RUNTIME
            continue
        for key, attribute in attributes.items():
            if (name, key) not in NOT_READ:
                yield f"attribute '{key}'", opset, {key: VALUES[attribute.type]}, 0, key in schema.attributes
        for count in range(1, most + 1 if most < 100 else 0):
            yield f"input {count - 1}", opset, {}, count, count <= schema.max_input


def model(name, opset, attributes, inputs):
    node = helper.make_node(name, [""] * (inputs - 1) + ["x"] * (inputs > 0), ["y"], name="probe", **attributes)
    x, y = (helper.make_tensor_value_info(key, TensorProto.FLOAT, [1]) for key in "xy")
    graph = helper.make_graph([node], "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def mistake(probe, errors):
    """Empty where the error is the one that the schema demands."""
    name, what, opset, known = probe
    error = errors.get(name.partition("_")[0], "no error")
    refused = ("not supported:" if what is None else f"{what} is not known") in error
    too_many = not known and "input" in (what or "") and re.search(r"it has \d+ inputs", error)
    if refused == (not known) or too_many:
        return ""
    return f"{name.partition('_')[2]} at opset {opset}, {what or 'the op'}, should {'' if known else 'not '}be known: {error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenon", required=True, help="the tenon program")
    options = parser.parse_args()
    history = schemas()
    wanted = []
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        for name, since in ops():
            for what, opset, attributes, inputs, known in probes(name, history[name]) if name in history else ():
                if opset < since and what is not None:
                    continue  # known to ONNX, not read: an error of its own
                wanted.append((f"{len(wanted)}_{name}", what, opset, known))
                folder = work / wanted[-1][0]
                (folder / "test_data_set_0").mkdir(parents=True)
                (folder / "model.onnx").write_bytes(model(name, opset, attributes, inputs).SerializeToString())
        done = subprocess.run([options.tenon, "onnx-test", "--device", "interpreter", work], check=False, capture_output=True, text=True)
    errors = dict(re.findall(r"^FAILED (\d+)_\w+: (.*(?:\n  .*)*)", done.stdout + done.stderr, re.M))
    failed = [text for probe in wanted if (text := mistake(probe, errors))]
    print(*failed, f"{len(wanted)} probes, {len(failed)} answered wrong", sep="\n")
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
