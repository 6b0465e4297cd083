"""Cases of compare_ops_ort.py for what ONNX Runtime's optimizers and quantizers write. Each function takes `case` and the makers of
numbers, and names cases; ONNX Runtime's CPU provider gives the answers."""

import numpy as np


def u8(rng, *shape):
    return rng.integers(0, 256, shape).astype(np.uint8)


def i8(rng, *shape):
    return rng.integers(-128, 128, shape).astype(np.int8)


def f32(value):
    return np.array(value, dtype=np.float32)


def zero_u8(value):
    return np.array(value, dtype=np.uint8)


def zero_i8(value):
    return np.array(value, dtype=np.int8)


def i32(values):
    return np.array(values, dtype=np.int32)


def shared_buffer_cases(case, floats, rng):
    """Caches with room: the capacity stays, the length is data."""
    op, base = "DecoderMaskedMultiHeadAttention", {"num_heads": 2}
    one = [floats(2, 1, 8), floats(2, 1, 8), floats(2, 1, 8)]
    room = [floats(2, 2, 9, 4), floats(2, 2, 9, 4)]
    case("shared", op, [*one, None, None, *room, i32([4])], 3, past_present_share_buffer=1, **base)
    case("shared_mask", op, [*one, i32(rng.integers(0, 2, (2, 5))), None, *room, i32([4])], 3, past_present_share_buffer=1, **base)
    case("bias", op, [*one, None, None, *room, i32([4]), None, None, floats(24)], 3, past_present_share_buffer=1, **base)
    own = [floats(2, 3, 8), floats(2, 3, 8), floats(2, 3, 8)]
    case("shared", "MultiHeadAttention", [*own, None, None, None, *room, i32([4])], 3, unidirectional=1, **base)
    case("shared_one", "MultiHeadAttention", [*one, None, None, None, *room, i32([8])], 3, **base)
    case("cross", op, [one[0], floats(2, 2, 5, 4), floats(2, 2, 5, 4)], 1, **base)


def group_query_extras(case, floats, rng):
    op, base = "GroupQueryAttention", {"num_heads": 4, "kv_num_heads": 2}
    prompt = [floats(2, 3, 64), floats(2, 3, 32), floats(2, 3, 32)]
    one = [floats(2, 1, 64), floats(2, 1, 32), floats(2, 1, 32)]
    first, later = [i32([2, 2]), i32([3])], [i32([4, 4]), i32([5])]
    case("not_causal", op, [*prompt, None, None, *first], 3, causal=0, **base)
    for name, scale in (("PER_TENSOR", f32([0.02])), ("PER_CHANNEL", np.abs(floats(1, 2, 1, 16)) * 0.01 + 0.01)):
        common = {"k_quant_type": name, "v_quant_type": name, **base}
        none = [None] * 5
        cache8 = [i8(rng, 2, 2, 9, 16), i8(rng, 2, 2, 9, 16)]
        cache4 = [u8(rng, 2, 2, 9, 8), u8(rng, 2, 2, 9, 8)]
        case(f"int8_{name}", op, [*one, *cache8, *later, *none, scale, scale], 3, kv_cache_bit_width=8, **common)
        case(f"int4_{name}", op, [*one, *cache4, *later, *none, scale, scale], 3, kv_cache_bit_width=4, **common)
        case(f"int8_prompt_{name}", op, [*prompt, *cache8, *first, *none, scale, scale], 3, kv_cache_bit_width=8, **common)


def nbits_cases(case, floats, rng):
    for bits in (2, 4, 8):
        n, k, block = 8, 40, 16
        blocks = 3
        a, codes = floats(2, 3, k), u8(rng, n, blocks, block * bits // 8)
        scales = np.abs(floats(n, blocks)) * 0.1
        common = {"N": n, "K": k, "bits": bits, "block_size": block}
        case(f"plain_{bits}", "MatMulNBits", [a, codes, scales], **common)
        case(f"zeros_{bits}", "MatMulNBits", [a, codes, scales, u8(rng, n, (blocks * bits + 7) // 8)], **common)
        case(f"bias_{bits}", "MatMulNBits", [a, codes, scales, None, None, floats(n)], **common)
    common = {"N": 8, "K": 32, "bits": 4, "block_size": 16}
    a, codes, scales = floats(3, 32), u8(rng, 8, 2, 8), np.abs(floats(8, 2)) * 0.1
    case("groups", "MatMulNBits", [a, codes, scales, None, i32(rng.integers(0, 2, 32))], constants=(1, 2, 4), **common)
    case("float_zeros", "MatMulNBits", [a, codes, scales, floats(8, 2)], constants=(1, 2, 3), **common)
    for kind in (0, 1):
        n, k, block = 8, 32, 16
        packed, largest = u8(rng, n * k // 2), np.abs(floats(n * k // block))
        case(f"kind_{kind}", "MatMulBnb4", [floats(3, k), packed, largest], constants=(1, 2), N=n, K=k, block_size=block, quant_type=kind)
    ids = i32([[0, 3, 5], [4, 1, 1]])
    for bits in (4, 8):
        table, scales = u8(rng, 6, 32 * bits // 8), np.abs(floats(6, 2)) * 0.1
        common = {"gather_axis": 0, "quantize_axis": 1, "block_size": 16, "bits": bits}
        case(f"plain_{bits}", "GatherBlockQuantized", [table, ids, scales], constants=(0, 2), **common)
        zeros = u8(rng, 6, 2 * bits // 8)
        case(f"zeros_{bits}", "GatherBlockQuantized", [table, ids, scales, zeros], constants=(0, 2, 3), **common)


def quantized_cases(case, floats, rng):
    x, w = u8(rng, 2, 3, 16), i8(rng, 16, 48)
    scales = [f32(0.02), f32(0.005)]
    base = {"num_heads": 4}
    case("plain", "QAttention", [x, w, floats(48), *scales, None, zero_u8(120), zero_i8(3)], **base)
    case("no_zeros", "QAttention", [x, w, floats(48), *scales], **base)
    case("columns", "QAttention", [x, w, floats(48), scales[0], np.abs(floats(48)) * 0.01, None, zero_u8(120), i8(rng, 48)], **base)
    case("mask_causal", "QAttention", [x, w, floats(48), *scales, i32([2, 3]), zero_u8(120), zero_i8(0)], unidirectional=1, **base)
    case("past", "QAttention", [x, w, floats(48), *scales, None, zero_u8(120), zero_i8(0), floats(2, 2, 4, 5, 4)], 2, unidirectional=1, **base)
    ids, segments, mask = i32(rng.integers(0, 20, (2, 3))), i32(rng.integers(0, 2, (2, 3))), i32([[1, 1, 0], [1, 1, 1]])
    tables = [u8(rng, 20, 8), u8(rng, 7, 8), u8(rng, 2, 8), u8(rng, 8), u8(rng, 8)]
    points = [f32(v) for v in (0.01, 0.02, 0.015, 0.01, 0.02)], [zero_u8(v) for v in (100, 128, 3, 77, 120)]
    case("full", "QEmbedLayerNormalization", [ids, segments, *tables, mask, *points[0], *points[1]], 2)
    a, b = u8(rng, 5, 16), i8(rng, 16, 8)
    a_parts, b_parts, y_parts = [f32(0.02), zero_u8(120)], [f32(0.01), zero_i8(5)], [f32(0.05), zero_u8(100)]
    bias = i32(rng.integers(-500, 500, 8))
    case("stored", "QGemm", [a, *a_parts, b, *b_parts, bias, *y_parts])
    case("real", "QGemm", [a, *a_parts, b, *b_parts, bias], alpha=0.5)
    case("transposed", "QGemm", [a.T.copy(), *a_parts, b.T.copy(), *b_parts, None, *y_parts], transA=1, transB=1)
    case("columns", "QGemm", [a, *a_parts, b, np.abs(floats(8)) * 0.01 + 0.001, i8(rng, 8), bias], alpha=1.0)
    image = u8(rng, 1, 4, 6, 6)
    case("last", "QLinearConv", [image.transpose(0, 2, 3, 1).copy(), *a_parts, i8(rng, 3, 4, 3, 3), f32(0.01), zero_i8(0), *y_parts],
         channels_last=1, pads=[1, 1, 1, 1])
    for last in (0, 1):
        x = image.transpose(0, 2, 3, 1).copy() if last else image
        case(f"last_{last}", "QLinearAveragePool", [x, *a_parts, *y_parts], channels_last=last, kernel_shape=[3, 3], pads=[1, 1, 1, 1],
             strides=[2, 2])
        case(f"counts_pads_{last}", "QLinearAveragePool", [x, f32(0.0213), zero_u8(120), *y_parts], channels_last=last, kernel_shape=[2, 2],
             pads=[1, 1, 1, 1], count_include_pad=1)
        case(f"last_{last}", "QLinearGlobalAveragePool", [x, *a_parts, *y_parts], channels_last=last)
    logits = u8(rng, 2, 3, 8)
    for opset, axis in ((13, -1), (13, 1), (11, 1), (11, 2)):
        case(f"{opset}_{axis}", "QLinearSoftmax", [logits, f32(0.03), zero_u8(120), f32(1 / 256), zero_u8(0)], opset=opset, axis=axis,
             attributes_opset=True)
    case("plain", "QLinearWhere", [rng.integers(0, 2, (2, 3)) > 0, u8(rng, 2, 3), *a_parts, u8(rng, 1, 3), f32(0.03), zero_u8(3), *y_parts])
    case("plain", "QLinearAdd", [a, *a_parts, u8(rng, 16), f32(0.03), zero_u8(3), *y_parts])
    case("plain", "QLinearMul", [a, *a_parts, u8(rng, 16), f32(0.03), zero_u8(3), *y_parts])
    case("plain", "QLinearSigmoid", [a, *a_parts, f32(1 / 256), zero_u8(0)])
    case("plain", "QLinearLeakyRelu", [a, *a_parts, *y_parts], alpha=0.2)
    case("plain", "QLinearConcat", [*y_parts, a, *a_parts, u8(rng, 2, 16), f32(0.03), zero_u8(3)], axis=0)
    case("plain", "MatMulIntegerToFloat", [a, b, f32(0.02), f32(0.01), zero_u8(120), zero_i8(5), floats(8)])
    case("plain", "DynamicQuantizeMatMul", [floats(2, 5, 16), b, f32(0.01), zero_i8(5), floats(8)])
    case("columns", "DynamicQuantizeMatMul", [floats(5, 16), b, np.abs(floats(8)) * 0.01, i8(rng, 8)])
    case("plain", "MatMulInteger16", [rng.integers(-99, 99, (3, 4)).astype(np.int16), rng.integers(-99, 99, (4, 2)).astype(np.int16)])


def fused_cases(case, floats, rng):
    x, w, b = floats(1, 4, 6, 6), floats(3, 4, 3, 3), floats(3)
    for name, parameters in (("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.3]), ("Clip", [-0.5, 0.5]),
                             ("HardSigmoid", [0.3, 0.4])):
        given = {"activation_params": parameters} if parameters else {}
        case(name, "FusedConv", [x, w, b], activation=name, pads=[1, 1, 1, 1], **given)
    case("residual", "FusedConv", [x, w, b, floats(1, 3, 4, 4)], activation="Relu")
    for name, given in (("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.2}), ("Elu", {"activation_alpha": 0.7}),
                        ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4}), ("Tanh", {}), ("Sigmoid", {})):
        case(name, "FusedGemm", [floats(3, 4), floats(5, 4), floats(5)], activation=name, transB=1, alpha=0.5, beta=2.0, **given)
    case("plain", "TransposeMatMul", [floats(2, 4, 3), floats(2, 4, 5)], transA=1, alpha=0.5)
    case("plain", "NhwcMaxPool", [u8(rng, 1, 6, 6, 4)], kernel_shape=[2, 2], strides=[2, 2])
    case("plain", "QuickGelu", [floats(2, 8)])
    case("alpha", "QuickGelu", [floats(2, 8)], alpha=0.9)
    case("lower", "Trilu", [floats(2, 4, 4)], upper=0)
    case("plain", "GatherND", [floats(2, 3, 4), np.array([[0, 1], [1, 2]], dtype=np.int64)])
    case("plain", "ExpandDims", [floats(2, 3), i32(1)], constants=(1,))


def state_cases(case, floats, rng):
    del rng
    q, k, v = floats(2, 5, 8), floats(2, 5, 8), floats(2, 5, 12)
    heads = {"q_num_heads": 2, "kv_num_heads": 2}
    decay, rate = -np.abs(floats(2, 5, 8)), np.abs(floats(2, 5, 2))
    case("linear", "LinearAttention", [q, k, v], 2, update_rule="linear", **heads)
    case("gated", "LinearAttention", [q, k, v, floats(2, 2, 4, 6), decay], 2, update_rule="gated", **heads)
    case("gated_delta", "LinearAttention", [q, k, v, None, decay, rate], 2, **heads)


def recurrent_cases(case, floats, rng):
    """Weights that one step of quantization tells apart, inputs that quantization leaves as they are."""
    x = rng.integers(-127, 128, (3, 2, 4)).astype(np.float32) / 127
    x[0, 0, :2] = -1, 1
    w, r = i8(rng, 1, 4, 20), np.zeros((1, 5, 20), np.int8)
    parts = [f32([0.004]), zero_i8([3]), f32([0.01]), zero_i8([0])]
    case("plain", "DynamicQuantizeLSTM", [x, w, r, floats(1, 40), None, None, None, None, *parts], 3, hidden_size=5,
         constants=(1, 2, 8, 9, 10, 11), loose=True)
    x, w, b = floats(2, 4, 6), floats(4, 1, 3), floats(4)
    case("plain", "CausalConvWithState", [x, w, b], 2)
    case("past", "CausalConvWithState", [x, w, b, floats(2, 4, 2)], 2, activation="silu", ndim=1)


BUILDERS = (shared_buffer_cases, group_query_extras, nbits_cases, quantized_cases, fused_cases, state_cases,
            recurrent_cases)
