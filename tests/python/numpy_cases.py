"""Cases of compare_ops_ort.py for ops that ONNX Runtime has on other devices only: NumPy gives the answers, written from the ops'
definitions. Each function takes `answered(name, op, inputs, answers, **attributes)` and the makers of numbers."""

import math

import numpy as np


def i32(values):
    return np.array(values, dtype=np.int32)


def softmax(x):
    power = np.exp(x - x.max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True)


def heads_apart(x, heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).swapaxes(1, 2)


def heads_joined(x):
    batch, heads, length, width = x.shape
    return x.swapaxes(1, 2).reshape(batch, length, heads * width)


def attend(q, k, v, bias=0.0):
    return softmax(q @ k.swapaxes(2, 3) / math.sqrt(q.shape[3]) + bias) @ v


def turned(x, first, width):
    """Halves of the first `width` elements of the last axis turn by position / 10000 ^ (2 i / width)."""
    half = width // 2
    angle = (np.arange(x.shape[2])[:, None] + first) / 10000.0 ** (np.arange(half)[None, :] * 2 / width)
    a, b = x[..., :half], x[..., half:width]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle), x[..., width:]], -1)


def attention_cases(answered, floats, rng):
    x, w, b = floats(2, 3, 16), floats(16, 48), floats(48)
    parts = [heads_apart(p, 2) for p in np.split(x @ w + b, 3, axis=-1)]
    for width, given in ((8, {}), (4, {"rotary_embedding_dim": 4})):
        q, k, v = turned(parts[0], 0, width), turned(parts[1], 0, width), parts[2]
        answered(f"rotary_{width}", "Attention", [x, w, b], [heads_joined(attend(q, k, v))], num_heads=2, do_rotary=1, **given)
    past = floats(2, 2, 2, 9, 8)
    for before in (0, 4, 6):
        for rotary in (0, 1):
            q, k, v = (turned(parts[0], before, 8), turned(parts[1], before, 8), parts[2]) if rotary else parts
            present, end = past.copy(), before + 3
            present[0, :, :, before:end], present[1, :, :, before:end] = k, v
            some = i32(rng.integers(0, 2, (2, end)))
            some[:, 0] = 1  # scores less 10000 have few digits left: no row has only those
            for name, mask in (("", None), ("_mask", some)):
                seen = np.tril(np.ones((3, end)), before)
                bias = np.where(seen > 0, 0 if mask is None else np.where(mask > 0, 0, -10000.0)[:, None, None, :], -np.inf)
                y = heads_joined(attend(q, present[0, :, :, :end], present[1, :, :, :end], bias))
                answered(f"shared_{before}_{rotary}{name}", "Attention", [x, w, b, mask, past, None, i32([before])], [y, present],
                         num_heads=2, past_present_share_buffer=1, unidirectional=1, do_rotary=rotary)


def group_query_cases(answered, floats, rng):
    del rng
    q, k, v, wq, wk = floats(2, 3, 64), floats(2, 3, 32), floats(2, 3, 32), floats(16), floats(16)

    def normed(x, weight):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * weight

    keys = normed(heads_apart(k, 2), wk)
    values = heads_apart(v, 2)
    bias = np.where(np.tril(np.ones((3, 3))) > 0, 0, -np.inf)
    y = attend(normed(heads_apart(q, 4), wq), keys.repeat(2, 1), values.repeat(2, 1), bias)
    answered("norms", "GroupQueryAttention", [q, k, v, None, None, i32([2, 2]), i32([3]), *[None] * 7, wq, wk],
             [heads_joined(y), keys, values], num_heads=4, kv_num_heads=2)
    one, cache = [floats(2, 1, 8), floats(2, 1, 8), floats(2, 1, 8)], [floats(2, 2, 4, 4), floats(2, 2, 4, 4)]
    grown = [np.concatenate([p, heads_apart(x, 2)], 2) for p, x in zip(cache, one[1:])]
    answered("grown", "DecoderMaskedMultiHeadAttention", [*one, None, None, *cache, i32([4])],
             [heads_joined(attend(heads_apart(one[0], 2), *grown)), *grown], num_heads=2)


def packed_cases(answered, floats, rng):
    del rng
    lengths, length = [2, 4, 1], 5
    rows = [b * length + i for b, count in enumerate(lengths) for i in range(count)]
    rest = [i for i in range(3 * length) if i not in rows]
    offsets, sums = i32(rows + rest).reshape(3, length), i32([0, *np.cumsum(lengths)])
    x = floats(len(rows), 8)
    padded = np.zeros((3 * length, 8), np.float32)
    padded[rows] = x
    padded = padded.reshape(3, length, 8)
    answered("plain", "RestorePadding", [x, offsets], [padded])
    answered("plain", "RemovePadding", [padded, i32(lengths)], [x, offsets, sums, i32([max(lengths)])])
    w, b = floats(8, 24), floats(24)
    packed = x @ w + b

    def attended(q, k, v, bias=None):
        y = []
        for i, (start, end) in enumerate(zip(sums[:-1], sums[1:])):
            apart = [heads_apart(p[None, start:end], 2) for p in (q, k, v)]
            extra = 0 if bias is None else bias[i, :, : end - start, : end - start]
            y.append(heads_joined(attend(*apart, extra))[0])
        return np.concatenate(y)

    parts, bias = np.split(packed, 3, -1), floats(3, 2, length, length)
    answered("plain", "PackedAttention", [x, w, b, offsets, sums], [attended(*parts)], num_heads=2)
    answered("bias", "PackedAttention", [x, w, b, offsets, sums, bias], [attended(*parts, bias)], num_heads=2)
    raw = [floats(len(rows), 8) for _ in range(3)]
    sizes = [p + s for p, s in zip(raw, np.split(b, 3))]
    answered("plain", "PackedMultiHeadAttention", [*raw, None, offsets, sums], [attended(*raw)], num_heads=2)
    answered("bias", "PackedMultiHeadAttention", [*raw, b, offsets, sums], [attended(*sizes)], num_heads=2)
    stacked = np.stack([p.reshape(-1, 2, 4) for p in raw], 2)
    answered("stacked", "PackedMultiHeadAttention", [stacked, None, None, None, offsets, sums], [attended(*raw)], num_heads=2)


def bucket(ahead, buckets, most, both_ways):
    offset = 0
    if both_ways:
        buckets //= 2
        offset, distance = (buckets if ahead > 0 else 0), abs(ahead)
    else:
        distance = max(-ahead, 0)
    near = buckets // 2
    if distance < near:
        return offset + distance
    far = near + int(np.float32(math.log(distance / near) / math.log(most / near) * (buckets - near)))
    return offset + min(far, buckets - 1)


def position_cases(answered, floats, rng):
    del rng
    table = floats(32, 3)
    for both_ways in (0, 1):
        for queries, keys in ((7, 200), (1, 30), (40, 40)):
            at = [[bucket(k - q, 32, 128, both_ways) for k in range(keys)] for q in range(queries)]
            lengths = [np.array([queries], np.int64), np.array([keys], np.int64)]
            answered(f"{both_ways}_{queries}", "RelativePositionBias", [table, *lengths], [table[at].transpose(2, 0, 1)[None]],
                     is_bidirectional=both_ways, max_distance=128)
    q, q_bias, relative, w, b, a = floats(2, 5, 8), floats(8), floats(1, 2, 5, 5), floats(4, 6), floats(6), floats(1, 2, 1, 1)
    sums = (heads_apart(q + q_bias, 2) @ w + b).reshape(2, 2, 5, 2, 3).sum(-1)
    gates = 1 / (1 + np.exp(-sums))
    gate = gates[..., :1] * (gates[..., 1:] * a - 1) + 2
    answered("plain", "GatedRelativePositionBias", [q, q_bias, relative, w, b, a], [gate * relative], num_heads=2)


def group_norm(x, groups, scale, shift, silu):
    """Channels last."""
    batch, channels = x.shape[0], x.shape[-1]
    parts = x.reshape(batch, -1, groups, channels // groups)
    parts = (parts - parts.mean((1, 3), keepdims=True)) / np.sqrt(parts.var((1, 3), keepdims=True) + 1e-5)
    y = parts.reshape(x.shape) * scale + shift
    return y / (1 + np.exp(-y)) if silu else y


def diffusion_cases(answered, floats, rng):
    del rng
    x, scale, shift, bias = floats(2, 3, 4, 6), floats(6), floats(6), floats(6)
    for silu in (0, 1):
        y = group_norm(x, 3, scale, shift, silu)
        answered(f"last_{silu}", "GroupNorm", [x, scale, shift], [y], groups=3, activation=silu)
        first = [p.transpose(0, 3, 1, 2).copy() for p in (x, y)]
        answered(f"first_{silu}", "GroupNorm", [first[0], scale, shift], [first[1]], groups=3, activation=silu, channels_last=0)
    for name, skip in (("image", floats(2, 3, 4, 6)), ("pixel", floats(2, 1, 1, 6)), ("channels", floats(2, 6))):
        total = x + (skip[:, None, None] if skip.ndim == 2 else skip) + bias
        answered(name, "SkipGroupNorm", [x, scale, shift, skip, bias], [group_norm(total, 2, scale, shift, 1), total], groups=2, activation=1)
    rows, skip = floats(2, 3, 6), floats(2, 3, 6)
    answered("plain", "BiasAdd", [rows, bias, skip], [rows + bias + skip])
    erf = np.vectorize(math.erf)
    halves = np.split(rows + bias, 2, -1)
    answered("plain", "BiasSplitGelu", [rows, bias], [halves[0] * halves[1] * (1 + erf(halves[1] / math.sqrt(2))) / 2])
    image, w = floats(1, 4, 5, 3), floats(2, 2, 2, 3)
    y = sum(image[:, i : i + 3, j : j + 4] @ w[:, i, j].T for i in range(2) for j in range(2))
    answered("plain", "NhwcConv", [image, w, floats(2) * 0], [y])
    answered("plain", "NhwcFusedConv", [image, w.transpose(0, 3, 1, 2).copy(), None, y * 0 + 1], [np.maximum(y + 1, 0)], activation="Relu")


def small_cases(answered, floats, rng):
    x, w, b = floats(3, 4), floats(4, 5), floats(5)
    y = x @ w + b
    answered("plain", "GemmFastGelu", [x, w, b], [y / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y**3)))])
    answered("plain", "FusedMatMulActivation", [x, w.T.copy()], [np.maximum(2 * x @ w, 0)], transB=1, alpha=2.0, activation="Relu")
    scores, bias = floats(2, 3, 4, 5), floats(2, 1, 1, 5)
    answered("plain", "BiasSoftmax", [scores, bias], [softmax(scores + bias)], axis=3, is_inner_broadcast=1)
    answered("plain", "BiasDropout", [x, floats(4) * 0 + 2, x], [2 * x + 2, np.ones((3, 4), bool)])
    codes = rng.integers(0, 256, (3, 4, 5)).astype(np.uint8)
    parts = [np.array(v) for v in (np.float32(0.5), np.uint8(100), np.float32(0.25), np.uint8(128))]
    mean = np.rint((codes.astype(np.float32) - 100).mean(2) * 2).clip(-128, 127) + 128
    answered("plain", "QLinearReduceMean", [codes, *parts], [mean.astype(np.uint8)], axes=[2], keepdims=0)
    answered("plain", "ReduceSumInteger", [codes], [codes.astype(np.int32).sum(1, keepdims=True, dtype=np.int32)], axes=[1], keepdims=1)
    other = rng.integers(0, 256, 5).astype(np.uint8)
    answered("plain", "MulInteger", [codes, parts[1], other, None], [(codes.astype(np.int32) - 100) * other])


BUILDERS = (attention_cases, group_query_cases, packed_cases, position_cases, diffusion_cases, small_cases)
