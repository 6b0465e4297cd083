#!/usr/bin/env python3
"""Makes the data of the ONNX backend test suites under DIR, once per version of the installed onnx package.

DIR/node gets the node cases as folders: NAME/model.onnx, NAME/test_data_set_N/{input,output}_M.pb, and NAME/data.json
with the case's own tolerances. Cases whose values are no tensors (sequences, optionals, maps) are written too, as
their own messages: the reader decides what it can read. The suites that the package holds as files are linked.

  scripts/venv_python.sh tests/conformance/make_node_data.py DIR
"""

import json
import pathlib
import shutil
import sys

import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

PACKAGED = ("simple", "pytorch-converted", "pytorch-operator", "light", "real")


def message(value, info):
    """The protobuf message of one value, by the kind that the model declares."""
    if isinstance(value, (onnx.TensorProto, onnx.SequenceProto, onnx.OptionalProto)):
        return value
    kind = info.type.WhichOneof("value")
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    return numpy_helper.from_array(value, info.name)


def write_case(case, folder):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    (folder / "data.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}))
    for number, data_set in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for kind, values, infos in zip(("input", "output"), data_set, (case.model.graph.input, case.model.graph.output)):
            for i, (value, info) in enumerate(zip(values, infos)):
                (data / f"{kind}_{i}.pb").write_bytes(message(value, info).SerializeToString())


def main():
    target = pathlib.Path(sys.argv[1])
    stamp = target / "version"
    if stamp.exists() and stamp.read_text() == onnx.__version__:
        print(f"onnx {onnx.__version__}: made before")
        return
    shutil.rmtree(target, ignore_errors=True)
    cases = collect_testcases()
    for case in cases:
        write_case(case, target / "node" / case.name)
    packaged = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    for suite in PACKAGED:
        (target / suite).symlink_to(packaged / suite)
    stamp.write_text(onnx.__version__)
    print(f"onnx {onnx.__version__}: {len(cases)} node cases")


if __name__ == "__main__":
    main()
