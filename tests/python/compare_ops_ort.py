#!/usr/bin/env python3
"""ONNX Runtime's own ops (domain com.microsoft) and the norms and attention of the standard, one node at a time: the interpreter and
compiled programs against ONNX Runtime, or NumPy where its CPU provider has no kernel. Each case becomes a folder in the ONNX backend test
format. Run by ctest in build/venv."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import microsoft_cases
import numpy_cases

MICROSOFT = "com.microsoft"
TOLERANCES = {np.dtype(np.float32): (2e-4, 2e-5), np.dtype(np.float64): (2e-4, 2e-5), np.dtype(np.float16): (4e-3, 4e-3)}
RNG = np.random.default_rng(0)
CASES, ANSWERS, LOOSE = [], {}, set()


def floats(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def i32(values):
    return np.array(values, dtype=np.int32)


def i64(values):
    return np.array(values, dtype=np.int64)


def case(name, op, inputs, outputs=1, domain=MICROSOFT, opset=21, symbols=None, constants=(), attributes_opset=False, loose=False,
         **attributes):
    """`outputs`: how many, or a list of which. `symbols` names extents: each input axis of that extent is symbolic in the model.
    `constants` are positions of inputs that become initializers; `attributes_opset` makes `opset` an attribute of the node; `loose` is for
    kernels that quantize on the way."""
    wanted = list(range(outputs)) if isinstance(outputs, int) else outputs
    if attributes_opset:
        opset, attributes["opset"] = 21, opset
    if loose:
        LOOSE.add(f"{op}_{name}")
    CASES.append((f"{op}_{name}", op, inputs, wanted, domain, opset, symbols or {}, constants, attributes))


def answered(name, op, inputs, answers, **attributes):
    """A case whose answers are known."""
    case(name, op, inputs, len(answers), **attributes)
    ANSWERS[CASES[-1][0]] = [np.asarray(y, np.float32) if y.dtype == np.float64 else y for y in answers]


def cast_inputs(inputs, dtype):
    return [x.astype(dtype) if x is not None and x.dtype == np.float32 else x for x in inputs]


def make_model(op, inputs, wanted, domain, opset, symbols, constants, attributes):
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    results = [f"y{i}" if i in wanted else "" for i in range(max(wanted) + 1)]
    node = helper.make_node(op, names, results, domain=domain, **attributes)
    infos, initializers = [], []
    for i, (name, x) in enumerate(zip(names, inputs)):
        if i in constants:
            initializers.append(numpy_helper.from_array(x, name))
        elif x is not None:
            dims = [symbols.get(extent, extent) for extent in x.shape]
            infos.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), dims))
    declared = [helper.make_empty_tensor_value_info(name) for name in results if name]
    graph = helper.make_graph([node], op, infos, declared, initializers)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def ask_ort(model, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def write_case(folder, model, inputs, constants):
    """The model, its inputs and what comes out."""
    feeds = {f"x{i}": x for i, x in enumerate(inputs) if x is not None and i not in constants}
    results = ANSWERS[folder.name] if folder.name in ANSWERS else ask_ort(model, feeds)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for i, (name, x) in enumerate(feeds.items()):
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(x, name).SerializeToString())
    for i, (output, y) in enumerate(zip(model.graph.output, results)):
        (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(y, output.name).SerializeToString())
    rtol, atol = (2e-2, 2e-2) if folder.name in LOOSE else max(TOLERANCES.get(x.dtype, (0, 0)) for x in [*feeds.values(), *results])
    (folder / "data.json").write_text(json.dumps({"rtol": rtol, "atol": atol}))


# Extents differ wherever they mean different things, so that one table names them.
SYMBOLS = {2: "batch", 3: "seq", 5: "keys"}


def attention_cases():
    x, w, b = floats(2, 3, 16), floats(16, 48), floats(48)
    past = floats(2, 2, 4, 7, 4)
    base = {"num_heads": 4}
    for symbols in ({}, SYMBOLS):
        suffix = "_symbolic" if symbols else ""
        common = {"symbols": symbols, **base}
        case("plain" + suffix, "Attention", [x, w, b], **common)
        case("scale" + suffix, "Attention", [x, w, b], scale=0.3, **common)
        case("causal" + suffix, "Attention", [x, w, b], unidirectional=1, **common)
        case("raw_mask" + suffix, "Attention", [x, w, b, i32([[1, 1, 0], [1, 0, 1]])], **common)
        case("lengths" + suffix, "Attention", [x, w, b, i32([2, 3])], **common)
        case("mask_3d" + suffix, "Attention", [x, w, b, i32(RNG.integers(0, 2, (2, 3, 3)))], **common)
        case("causal_mask" + suffix, "Attention", [x, w, b, i32([[1, 1, 0], [1, 0, 1]])], unidirectional=1, **common)
        case("bias" + suffix, "Attention", [x, w, b, None, None, floats(2, 4, 3, 3)], **common)
        case("present" + suffix, "Attention", [x, w, b], 2, **common)
    case("ends_and_starts", "Attention", [x, w, b, i32([2, 3, 0, 1])], **base)
    case("lengths_first", "Attention", [x, w, b, i32([2, 3, 0, 3, 6, 0, 3, 6])], **base)
    case("dummy_mask", "Attention", [x, w, b, i32([[1], [0]])], **base)
    case("small_filter", "Attention", [x, w, b, i32([[1, 1, 0], [1, 0, 1]])], mask_filter_value=-2.0, **base)
    case("one_bias_for_all", "Attention", [x, w, b, None, None, floats(1, 1, 3, 3)], **base)
    case("wide_values", "Attention", [x, floats(16, 8 + 8 + 24), floats(40)], qkv_hidden_sizes=[8, 8, 24], **base)
    case("past", "Attention", [x, w, b, None, past], 2, **base)
    case("past_causal", "Attention", [x, w, b, None, past], 2, unidirectional=1, **base)
    case("past_mask", "Attention", [x, w, b, i32(RNG.integers(0, 2, (2, 10))), past], 2, **base)
    case("past_lengths", "Attention", [x, w, b, i32([9, 8]), past], 2, **base)
    case("one_query_with_past", "Attention", [floats(2, 1, 16), w, b, None, past], 2, unidirectional=1, **base)
    case("f16", "Attention", cast_inputs([x, w * 0.1, b], np.float16), **base)


def multi_head_attention_cases():
    q, k, v = floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8)
    past = [floats(2, 2, 4, 4), floats(2, 2, 4, 4)]
    base = {"num_heads": 2}
    for symbols in ({}, SYMBOLS):
        suffix = "_symbolic" if symbols else ""
        common = {"symbols": {**symbols, 2: 2} if symbols else {}, **base}
        case("plain" + suffix, "MultiHeadAttention", [q, k, v], **common)
        case("bias" + suffix, "MultiHeadAttention", [q, k, v, floats(24)], **common)
        case("mask" + suffix, "MultiHeadAttention", [q, k, v, None, i32([[1, 1, 1, 0, 0], [1] * 5])], **common)
        case("lengths" + suffix, "MultiHeadAttention", [q, k, v, None, i32([2, 5])], **common)
        case("attention_bias" + suffix, "MultiHeadAttention", [q, k, v, None, None, floats(2, 2, 3, 5)], **common)
    case("scale", "MultiHeadAttention", [q, k, v], scale=0.7, **base)
    case("wide_values", "MultiHeadAttention", [q, k, floats(2, 5, 12), floats(28)], **base)
    case("heads_first", "MultiHeadAttention", [q, floats(2, 2, 5, 4), floats(2, 2, 5, 4)], **base)
    case("heads_first_bias", "MultiHeadAttention", [q, floats(2, 2, 5, 4), floats(2, 2, 5, 4), floats(24)], **base)
    case("lengths_first", "MultiHeadAttention", [q, k, v, None, i32([2, 5, 0, 3, 6, 0, 5, 10])], **base)
    case("mask_3d", "MultiHeadAttention", [q, k, v, None, i32(RNG.integers(0, 2, (2, 3, 5)))], **base)
    case("one_bias_for_heads", "MultiHeadAttention", [q, k, v, None, None, floats(2, 1, 3, 5)], **base)
    case("one_bias_for_rows", "MultiHeadAttention", [q, k, v, None, None, floats(1, 2, 3, 5)], **base)
    case("present", "MultiHeadAttention", [q, k, v], 3, **base)
    case("causal", "MultiHeadAttention", [q, floats(2, 3, 8), floats(2, 3, 8)], unidirectional=1, **base)
    own = [q, floats(2, 3, 8), floats(2, 3, 8)]
    case("past", "MultiHeadAttention", [*own, None, None, None, *past], 3, **base)
    case("past_bias", "MultiHeadAttention", [*own, floats(24), None, None, *past], 3, **base)
    case("past_mask", "MultiHeadAttention", [*own, None, i32(RNG.integers(0, 2, (2, 7))), None, *past], 3, **base)
    case("past_causal", "MultiHeadAttention", [*own, None, None, None, *past], 3, unidirectional=1, **base)
    case("past_cross", "MultiHeadAttention", [q, k, v, None, None, None, *past], 3, **base)
    case("f16", "MultiHeadAttention", cast_inputs([q, k, v], np.float16), **base)


def rotary_tables(positions, half, dtype=np.float32):
    angles = np.arange(positions)[:, None] / 10.0 ** (np.arange(half)[None, :] / half)
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def group_query_attention_cases():
    op, base = "GroupQueryAttention", {"num_heads": 4, "kv_num_heads": 2}
    tables = rotary_tables(24, 8)
    prompt = [floats(2, 3, 64), floats(2, 3, 32), floats(2, 3, 32)]
    empty = [floats(2, 2, 0, 16), floats(2, 2, 0, 16)]
    cache = [floats(2, 2, 9, 16), floats(2, 2, 9, 16)]
    first = [i32([2, 2]), i32([3])]
    for symbols in ({}, {3: "seq"}):
        suffix = "_symbolic" if symbols else ""
        common = {"symbols": symbols, **base}
        case("prompt" + suffix, op, [*prompt, None, None, *first], 3, **common)
        case("prompt_rotary" + suffix, op, [*prompt, None, None, *first, *tables], 3, do_rotary=1, **common)
        case("prompt_in_a_buffer" + suffix, op, [*prompt, *cache, *first], 3, **common)
    case("prompt_empty_past", op, [*prompt, *empty, *first], 3, **base)
    case("scale_softcap", op, [*prompt, None, None, *first], 3, scale=0.9, softcap=1.5, **base)
    case("interleaved", op, [*prompt, None, None, *first, *tables], 3, do_rotary=1, rotary_interleaved=1, **base)
    wide = [floats(2, 3, 128), floats(2, 3, 64), floats(2, 3, 64)]
    case("partly_rotary", op, [*wide, None, None, *first, *tables], 3, do_rotary=1, **base)
    case("packed", op, [floats(2, 3, 128), None, None, None, None, *first], 3, **base)
    case("packed_rotary", op, [floats(2, 3, 128), None, None, None, None, *first, *tables], 3, do_rotary=1, **base)
    one = [floats(2, 1, 64), floats(2, 1, 32), floats(2, 1, 32)]
    case("decode", op, [*one, *cache, i32([9, 9]), i32([10])], 3, **base)
    case("decode_in_a_buffer", op, [*one, *cache, i32([4, 6]), i32([7])], 3, **base)
    case("decode_ragged", op, [*one, *cache, i32([4, 9]), i32([10])], 3, **base)
    case("decode_rotary", op, [*one, *cache, i32([4, 9]), i32([10]), *tables], 3, do_rotary=1, **base)
    one_row = [x[:1].copy() for x in (*prompt, *cache)]
    case("several_with_past", op, [*one_row, i32([11]), i32([12])], 3, **base)
    case("several_with_past_rotary", op, [*one_row, i32([7]), i32([8]), *tables], 3, do_rotary=1, local_window_size=3, **base)
    for window in (1, 2, 4):
        case(f"window_{window}", op, [*one, *cache, i32([9, 9]), i32([10])], 3, local_window_size=window, **base)
        case(f"prompt_window_{window}", op, [floats(2, 6, 64), floats(2, 6, 32), floats(2, 6, 32), None, None, i32([5, 5]), i32([6])], 3,
             local_window_size=window, **base)
    case("smooth", op, [*prompt, None, None, *first], 3, smooth_softmax=1, **base)
    case("sink", op, [*prompt, None, None, *first, None, None, None, None, floats(4)], 3, **base)
    case("position_ids", op, [*prompt, None, None, *first, *tables, i64([[4, 5, 6], [4, 5, 6]])], 3, do_rotary=1, **base)
    case("attention_bias", op, [*prompt, None, None, *first, None, None, None, floats(2, 4, 3, 3)], 3, **base)
    case("attention_bias_softcap", op, [*prompt, None, None, *first, None, None, None, floats(1, 1, 3, 3)], 3, softcap=2.0, **base)
    case("scores", op, [*prompt, None, None, *first], 4, qk_output=1, **base)
    case("scores_softcap_bias", op, [*prompt, None, None, *first, None, None, None, floats(2, 4, 3, 3)], 4, qk_output=1, softcap=1.0, **base)
    case("weights_decode", op, [*one, *cache, i32([9, 9]), i32([10])], 4, qk_output=2, **base)
    case("scores_decode", op, [*one, *cache, i32([9, 9]), i32([10])], 4, qk_output=1, **base)
    case("weights", op, [*prompt, None, None, *first], 4, qk_output=2, **base)
    case("f16", op, cast_inputs([*prompt, None, None, *first], np.float16), 3, **base)


def norm_cases():
    x, skip = floats(2, 3, 16), floats(2, 3, 16)
    scale, shift, bias = floats(16), floats(16), floats(16)
    for symbols in ({}, SYMBOLS):
        suffix = "_symbolic" if symbols else ""
        case("plain" + suffix, "SkipLayerNormalization", [x, skip, scale, shift], symbols=symbols)
        case("sum" + suffix, "SkipLayerNormalization", [x, skip, scale, shift, bias], [0, 3], symbols=symbols, epsilon=1e-3)
        case("plain" + suffix, "SkipSimplifiedLayerNormalization", [x, skip, scale], symbols=symbols)
        case("sum" + suffix, "SkipSimplifiedLayerNormalization", [x, skip, scale, bias], [0, 3], symbols=symbols, epsilon=1e-3)
    case("no_shift", "SkipLayerNormalization", [x, skip, scale])
    case("one_skip_for_all", "SkipLayerNormalization", [x, floats(1, 3, 16), scale, shift, bias])
    case("skip_of_two_axes", "SkipLayerNormalization", [x, floats(3, 16), scale, shift, bias])
    case("f16", "SkipLayerNormalization", cast_inputs([x, skip, scale, shift], np.float16))
    case("f16", "SkipSimplifiedLayerNormalization", cast_inputs([x, skip, scale], np.float16))
    for axis, inner in ((-1, (5,)), (2, (4, 5)), (1, (3, 4, 5)), (0, (2, 3, 4, 5))):
        y = floats(2, 3, 4, 5)
        case(f"axis_{axis}", "LayerNormalization", [y, floats(*inner), floats(*inner)], 3, domain="", axis=axis)
        case(f"axis_{axis}", "SimplifiedLayerNormalization", [y, floats(*inner)], 1, domain="", axis=axis, epsilon=1e-3)
        case(f"axis_{axis}", "RMSNormalization", [y, floats(*inner)], 1, domain="", opset=23, axis=axis)
    case("no_bias", "LayerNormalization", [x, scale], 3, domain="", epsilon=1e-2)
    case("spread_scale", "LayerNormalization", [x, floats(2, 1, 16), floats(2, 1, 16)], 1, domain="")
    case("f16", "LayerNormalization", cast_inputs([x, scale, shift], np.float16), 1, domain="")
    case("f64", "LayerNormalization", [x.astype(np.float64), scale.astype(np.float64), shift.astype(np.float64)], 1, domain="")


def embedding_cases():
    ids, segments = i32(RNG.integers(0, 20, (2, 3))), i32(RNG.integers(0, 2, (2, 3)))
    tables = [floats(20, 8), floats(7, 8)]
    scale, shift, mask = floats(8), floats(8), i32([[1, 1, 0], [1, 1, 1]])
    op, segment_table = "EmbedLayerNormalization", floats(2, 8)
    for symbols in ({}, {3: "seq"}):
        suffix = "_symbolic" if symbols else ""
        case("full" + suffix, op, [ids, segments, *tables, segment_table, scale, shift, mask], 2, symbols=symbols)
    case("no_segments", op, [ids, None, *tables, None, scale, shift, mask], 2)
    case("no_mask", op, [ids, segments, *tables, segment_table, scale, shift], 2)
    case("sum", op, [ids, segments, *tables, segment_table, scale, shift, mask], 3, epsilon=1e-3)
    case("positions", op, [ids, None, *tables, None, scale, shift, None, i32([[3, 2, 1], [6, 0, 4]])], 2)
    case("positions_of_one_row", op, [ids, None, *tables, None, scale, shift, None, i32([[3, 2, 1]])], 2)


def rotary_cases():
    op, tables = "RotaryEmbedding", rotary_tables(16, 4)
    x3, x4, ids = floats(2, 3, 16), floats(2, 2, 3, 8), i64([[0, 1, 2], [7, 5, 15]])
    half = [t[:, :2].copy() for t in tables]
    for interleaved in (0, 1):
        common = {"interleaved": interleaved}
        name = f"interleaved_{interleaved}_"
        case(name + "3d", op, [x3, ids, *tables], **common)
        case(name + "4d", op, [x4, ids, *tables], **common)
        case(name + "offset", op, [x3, i64([4]), *tables], **common)
        case(name + "symbolic", op, [x3, i64([4]), *tables], symbols={3: "seq"}, **common)
        case(name + "heads", op, [x3, ids, *tables], num_heads=2, **common)
        case(name + "partly", op, [x3, ids, *half], num_heads=2, rotary_embedding_dim=4, **common)
        case(name + "partly_4d", op, [x4, ids, *half], num_heads=2, rotary_embedding_dim=4, **common)
        case(name + "f16", op, cast_inputs([x3, ids, *tables], np.float16), **common)
        case(name + "standard_3d", op, [x3, *tables, ids], domain="", opset=23, num_heads=2, **common)
        case(name + "standard_4d", op, [x4, *tables, ids], domain="", opset=23, **common)
        case(name + "standard_partly", op, [x4, *half, ids], domain="", opset=23, rotary_embedding_dim=4, num_heads=2, **common)
    case("scale", op, [x3, ids, *tables], scale=0.5)
    case("packed", op, [floats(2, 3, 32), ids, *tables], num_heads=4, is_packed_batching=1)


def small_cases():
    x, bias = floats(2, 3, 16) * 3, floats(16)
    case("plain", "BiasGelu", [x, bias])
    case("plain", "FastGelu", [x])
    case("bias", "FastGelu", [x, bias])
    case("f16", "FastGelu", cast_inputs([x, bias], np.float16))
    case("plain", "Gelu", [x])
    a, b = floats(2, 3, 4, 5), floats(2, 3, 5, 6)
    case("plain", "FusedMatMul", [a, b], alpha=0.5)
    case("trans_a", "FusedMatMul", [a.swapaxes(2, 3).copy(), b], transA=1)
    case("trans_b", "FusedMatMul", [a, b.swapaxes(2, 3).copy()], transB=1, alpha=-2.0)
    case("trans_batch_a", "FusedMatMul", [a.transpose(2, 0, 1, 3).copy(), b], transBatchA=1)
    case("trans_batch_b", "FusedMatMul", [a, b.transpose(2, 0, 1, 3).copy()], transBatchB=1)
    case("trans_batch_a_and_a", "FusedMatMul", [a.transpose(3, 0, 1, 2).copy(), b], transBatchA=1, transA=1)
    case("all", "FusedMatMul", [a.transpose(3, 0, 1, 2).copy(), b.transpose(3, 0, 1, 2).copy()], transBatchA=1, transA=1, transBatchB=1,
         transB=1, alpha=3.0)
    case("vectors", "FusedMatMul", [floats(5), b], alpha=2.0)
    case("f64", "FusedMatMul", [a.astype(np.float64), b.astype(np.float64)])


def standard_attention_cases():
    op = "Attention"
    q, k, v = floats(2, 4, 3, 8), floats(2, 2, 5, 8), floats(2, 2, 5, 6)
    flat = [floats(2, 3, 32), floats(2, 5, 16), floats(2, 5, 12)]
    past = [floats(2, 2, 7, 8), floats(2, 2, 7, 6)]
    for name, mask in (("no_mask", None), ("bool", RNG.integers(0, 2, (3, 5)) > 0), ("float", floats(2, 4, 3, 5))):
        for causal in (0, 1):
            common = {"domain": "", "opset": 23, "is_causal": causal}
            case(f"standard_{name}_{causal}", op, [q, k, v, mask], **common)
            case(f"standard_3d_{name}_{causal}", op, [*flat, mask], q_num_heads=4, kv_num_heads=2, **common)
    common = {"domain": "", "opset": 23}
    case("standard_past", op, [q, k, v, None, *past], 3, **common)
    case("standard_softcap", op, [q, k, v], softcap=0.8, scale=0.3, **common)
    for mode in range(4):
        case(f"standard_scores_{mode}", op, [q, k, v, floats(3, 5)], [0, 3], qk_matmul_output_mode=mode, **common)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interpreter", required=True, help="the onnx_test_interpreter program")
    parser.add_argument("--tenon", help="the tenon program: compiles the cases too")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--keep", help="write the cases here and leave them")
    options = parser.parse_args()
    for build in (attention_cases, multi_head_attention_cases, group_query_attention_cases, norm_cases, embedding_cases, rotary_cases,
                  small_cases, standard_attention_cases):
        build()
    for build in microsoft_cases.BUILDERS:
        build(case, floats, RNG)
    for build in numpy_cases.BUILDERS:
        build(answered, floats, RNG)
    print(f"onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}, numpy {np.__version__}")
    with tempfile.TemporaryDirectory() as temporary:
        work, refused = pathlib.Path(options.keep or temporary), 0
        for name, op, inputs, wanted, domain, opset, symbols, constants, attributes in CASES:
            if options.only not in name:
                continue
            model = make_model(op, inputs, wanted, domain, opset, symbols, constants, attributes)
            try:
                write_case(work / name, model, inputs, constants)
            except Exception as error:  # ONNX Runtime's errors have no common base
                print(f"ONNX Runtime refuses {name}: {error}")
                refused += 1
        commands = [[options.interpreter, work]]
        if options.tenon:
            commands.append([options.tenon, "onnx-test", "--device", "cpu", work])
        failed = [command for command in commands if subprocess.run(command, check=False).returncode != 0]
    return 1 if refused or failed else 0


if __name__ == "__main__":
    sys.exit(main())
