"""Products of matrices, einsum, convolutions, pools and attention, added in f64 and rounded once."""

import math

import numpy as np

from .case_file import is_float, name_of, numbers, promoted
from .reductions import softmax

F16, F32, F64, I32, I64, U8, BOOL = np.float16, np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_
LOOSE = {F16: (2e-2, 2e-3), F32: (1e-5, 1e-5), F64: (1e-12, 1e-12)}


def exact(x):
    return x.astype(F64 if is_float(x.dtype) else x.dtype)


def within(dtype):
    return LOOSE.get(np.dtype(dtype).type)


def matmuls(cases):
    shapes = [((4,), (4,)), ((4,), (4, 3)), ((2, 4), (4,)), ((2, 4), (4, 3)), ((5, 2, 4), (4, 3)), ((2, 4), (5, 4, 3)),
              ((5, 2, 4), (5, 4, 3)), ((1, 2, 4), (5, 4, 3)), ((6, 1, 2, 4), (5, 4, 3)), ((5, 2, 4), (4,)), ((4,), (5, 4, 3)),
              ((1, 4), (4, 1)), ((17, 33), (33, 19)), ((2, 0), (0, 3)), ((0, 4), (4, 3)), ((40, 130), (130, 50))]
    for first, second in shapes:
        a, b = numbers("left", F32, *first, low=-2, high=2), numbers("right", F32, *second, low=-2, high=2)
        said = "_".join("x".join(map(str, shape)) for shape in (first, second))
        varies = () if max(first + second) <= 128 else [130]
        cases.add(f"matmul_{said}", "matmul", [a, b], [np.matmul(exact(a), exact(b)).astype(F32)], within=(5e-5, 1e-5), fixed=varies)
    for dtype in (F64, F16, I32, I64):
        a, b = numbers("left", dtype, 3, 5), numbers("right", dtype, 5, 4)
        cases.add(f"matmul_{name_of(dtype)}", "matmul", [a, b], [np.matmul(exact(a), exact(b)).astype(dtype)], within=within(dtype))
    for first, second in ((F16, F32), (I32, F32), (F32, F64), (I32, I64)):
        a, b = numbers("left", first, 3, 5), numbers("right", second, 5, 4)
        dtype = promoted(first, second)
        product = np.matmul(exact(a.astype(dtype)), exact(b.astype(dtype))).astype(dtype)
        cases.add(f"matmul_{name_of(first)}_{name_of(second)}", "matmul", [a, b], [product], within=within(dtype))
    x, w, b = numbers("x", F32, 2, 3, 5), numbers("w", F32, 7, 5), numbers("b", F32, 7)
    product = exact(x) @ exact(w).T
    cases.add("linear", "linear", [x, w], [product.astype(F32)], within=within(F32))
    cases.add("linear_with_bias", "linear", [x, w, b], [(product + b).astype(F32)], within=within(F32))
    cases.add("linear_of_vector", "linear", [x[0, 0], w, b], [(product[0, 0] + b).astype(F32)], within=within(F32))


EINSUMS = [("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ij,kj->ik", (2, 3), (4, 3)), ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
           ("ij->ji", (2, 3)), ("ji", (2, 3)), ("ij->i", (2, 3)), ("ij->", (2, 3)), ("ii->i", (3, 3)), ("ii->", (3, 3)), ("ii", (3, 3)),
           ("i,j->ij", (3,), (4,)), ("i,i->", (3,), (3,)), ("i,i->i", (3,), (3,)), ("...ij,...jk->...ik", (5, 2, 3), (5, 3, 4)),
           ("...ij->...ji", (4, 2, 3)), ("i...->...", (2, 3, 4)), ("...i->...", (2, 3, 4)), ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
           ("bhqk,bhkd->bhqd", (2, 3, 4, 6), (2, 3, 6, 5)), ("ijk->kij", (2, 3, 4)), ("ijk,k->ij", (2, 3, 4), (4,)),
           ("ij,ij->ij", (2, 3), (2, 3)), ("ij,ij->", (2, 3), (2, 3)), ("ij,j->i", (2, 3), (3,)), ("bij,bij->b", (4, 2, 3), (4, 2, 3)),
           ("i,j,k->ijk", (2,), (3,), (4,)), ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("iij->j", (3, 3, 4)), ("iji->j", (3, 4, 3)),
           ("ij,...j->...i", (2, 3), (5, 4, 3)), ("abc,abd->acd", (2, 3, 4), (2, 3, 5)), ("ab,cd->abcd", (2, 3), (4, 5)),
           ("abcd->ac", (2, 3, 4, 5)), ("ba,b->a", (2, 3), (2,)), ("i->i", (4,)), (",i->i", (), (4,)), ("...,...->...", (2, 3), (3,))]


def einsums(cases):
    for i, (equation, *shapes) in enumerate(EINSUMS):
        operands = [numbers(f"einsum{each}", F32, *shape, low=-2, high=2) for each, shape in enumerate(shapes)]
        result = np.einsum(equation, *(exact(operand) for operand in operands))
        cases.add(f"einsum_{i}", "einsum", operands, [np.asarray(result).astype(F32)], text=equation, within=within(F32))
    for dtype in (F64, F16, I32, I64):
        a, b = numbers("a", dtype, 2, 3), numbers("b", dtype, 3, 4)
        cases.add(f"einsum_{name_of(dtype)}", "einsum", [a, b], [np.einsum("ij,jk->ik", exact(a), exact(b)).astype(dtype)],
                  text="ij,jk->ik", within=within(dtype))


def windows(x, kernel, stride, padding, dilation, fill=0.0):
    """[batch, channels, places..., kernel...] of an image."""
    axes = len(kernel)
    x = np.pad(x, [(0, 0), (0, 0)] + [(each, each) for each in padding], constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    view = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(2, 2 + axes)))
    return view[(slice(None),) * 2 + tuple(slice(None, None, s) for s in stride) + tuple(slice(None, None, d) for d in dilation)]


def conv(x, weight, bias, stride, padding, dilation, groups):
    kernel = weight.shape[2:]
    seen = windows(x, kernel, stride, padding, dilation)
    each_in, each_out, axes = weight.shape[1], weight.shape[0] // groups, len(kernel)
    parts = []
    for group in range(groups):
        w = weight[group * each_out:(group + 1) * each_out]
        part = seen[:, group * each_in:(group + 1) * each_in]
        sums = np.tensordot(part, w, ([1, *range(2 + axes, 2 + 2 * axes)], [1, *range(2, 2 + axes)]))
        parts.append(np.moveaxis(sums, -1, 1))
    y = np.concatenate(parts, 1)
    return y if bias is None else y + bias.reshape(-1, *[1] * axes)


# Image, weight, stride, padding, dilation, groups.
CONVS = [((2, 3, 9), (4, 3, 3), [1], [0], [1], 1), ((2, 3, 9), (4, 3, 3), [2], [1], [1], 1), ((2, 3, 9), (4, 3, 3), [1], [2], [2], 1),
         ((1, 4, 9), (4, 1, 3), [1], [1], [1], 4), ((2, 4, 9), (6, 2, 2), [3], [0], [1], 2), ((2, 3, 9), (4, 3, 1), [1], [0], [1], 1),
         ((2, 3, 8, 7), (4, 3, 3, 3), [1], [0], [1], 1), ((2, 3, 8, 7), (4, 3, 3, 3), [1], [1], [1], 1),
         ((2, 3, 8, 7), (4, 3, 3, 3), [2], [1], [1], 1), ((2, 3, 8, 7), (4, 3, 3, 3), [1], [2], [2], 1),
         ((2, 3, 8, 7), (4, 3, 1, 1), [1], [0], [1], 1), ((2, 4, 8, 7), (4, 1, 3, 3), [1], [1], [1], 4),
         ((2, 4, 8, 7), (6, 2, 3, 3), [2], [1], [1], 2), ((2, 3, 8, 7), (4, 3, 3, 2), [2, 1], [1, 0], [1, 2], 1),
         ((1, 3, 16, 16), (5, 3, 7, 7), [2], [3], [1], 1), ((1, 2, 4, 5, 6), (3, 2, 2, 2, 2), [1], [0], [1], 1)]


def convolutions(cases):
    for i, (image, kernel, stride, padding, dilation, groups) in enumerate(CONVS):
        axes = len(kernel) - 2
        per_axis = [each * axes if len(each) == 1 else each for each in (stride, padding, dilation)]
        for with_bias in (0, 1):
            x, w = numbers("image", F32, *image, low=-1, high=1), numbers("kernel", F32, *kernel, low=-1, high=1)
            b = numbers("bias", F32, kernel[0]) if with_bias else None
            y = conv(exact(x), exact(w), b, *per_axis, groups)
            # The batch and the places of the image vary; channels and windows are numbers.
            fixed = set(kernel) | {image[1]}
            cases.add(f"conv_{i}{'_bias' * with_bias}", "conv", [x, w] + [b] * with_bias, [y.astype(F32)],
                      lists=[stride, padding, dilation, [groups]], fixed=fixed, within=(1e-5, 1e-5))
    for dtype in (F64, F16):
        x, w = numbers("image", dtype, 2, 3, 6, 6), numbers("kernel", dtype, 4, 3, 3, 3)
        y = conv(exact(x), exact(w), None, [1, 1], [1, 1], [1, 1], 1)
        cases.add(f"conv_{name_of(dtype)}", "conv", [x, w], [y.astype(dtype)], lists=[[1], [1], [1], [1]], fixed=[3, 4],
                  within=within(dtype))


# Image, window, stride, padding, dilation.
POOLS = [((2, 3, 9), [3], [1], [0], [1]), ((2, 3, 9), [2], [2], [1], [1]), ((2, 3, 8, 7), [2], [2], [0], [1]),
         ((2, 3, 8, 7), [3], [2], [1], [1]), ((2, 3, 8, 7), [3, 2], [1, 2], [1, 0], [1]), ((2, 3, 8, 7), [2], [1], [0], [2])]


def pools(cases):
    for i, (image, kernel, stride, padding, dilation) in enumerate(POOLS):
        axes = len(image) - 2
        k, s, p, d = (each * axes if len(each) == 1 else each for each in (kernel, stride, padding, dilation))
        inner = tuple(range(-axes, 0))
        x = numbers("image", F32, *image)
        given = {"lists": [stride, padding, dilation, kernel]}
        cases.add(f"max_pool_{i}", "max_pool", [x], [windows(x, k, s, p, d, -np.inf).max(inner)], **given)
        cases.add(f"avg_pool_{i}", "avg_pool", [x], [windows(exact(x), k, s, p, d).mean(inner).astype(F32)], **given)
    x = numbers("image", F32, 2, 3, 8, 7)
    for kernel in ([2], [3], [2, 3]):
        k = kernel * 2 if len(kernel) == 1 else kernel
        seen = windows(exact(x), k, k, [0, 0], [1, 1])
        said = "x".join(map(str, kernel))
        cases.add(f"max_pool_side_by_side_{said}", "max_pool_side_by_side", [x], [seen.max((-1, -2)).astype(F32)], lists=[kernel])
        cases.add(f"avg_pool_side_by_side_{said}", "avg_pool_side_by_side", [x], [seen.mean((-1, -2)).astype(F32)], lists=[kernel])
    for dtype in (F64, F16, I32):
        x = numbers("image", dtype, 1, 2, 6, 6)
        seen = windows(exact(x), [2, 2], [2, 2], [0, 0], [1, 1], 0)
        cases.add(f"max_pool_{name_of(dtype)}", "max_pool_side_by_side", [x], [seen.max((-1, -2)).astype(dtype)], lists=[[2]])
        mean = seen.astype(F64).mean((-1, -2)).astype(dtype if is_float(dtype) else F32)
        cases.add(f"avg_pool_{name_of(dtype)}", "avg_pool_side_by_side", [x], [mean], lists=[[2]])


def attend(q, k, v, heads, kv_heads, scale, causal, mask):
    apart = [each.reshape(*each.shape[:2], count, -1).swapaxes(1, 2) for each, count in ((q, heads), (k, kv_heads), (v, kv_heads))]
    q, k, v = apart[0], *(np.repeat(each, heads // kv_heads, 1) for each in apart[1:])
    scores = q @ k.swapaxes(2, 3) * (scale or 1 / math.sqrt(q.shape[3])) + mask
    if causal:
        queries, keys = scores.shape[2:]
        scores = np.where(np.arange(keys) <= np.arange(queries)[:, None] + keys - queries, scores, -np.inf)
    joined = (softmax(scores, -1) @ v).swapaxes(1, 2)
    return joined.reshape(*joined.shape[:2], -1)


# Batch, queries, keys, heads, heads of keys, width of a head, scale, causal.
ATTENTIONS = [(2, 3, 3, 1, 0, 8, 0, 0), (2, 3, 5, 2, 0, 8, 0, 0), (2, 5, 5, 2, 0, 8, 0, 1), (1, 3, 7, 4, 2, 8, 0, 0), (1, 3, 7, 4, 1, 8, 0, 1),
              (2, 1, 9, 2, 0, 16, 0, 1), (1, 5, 5, 2, 0, 8, 0.25, 0), (1, 70, 70, 2, 0, 8, 0, 1), (1, 1, 1, 1, 0, 4, 0, 0),
              (3, 17, 65, 2, 0, 16, 0, 0)]


def attentions(cases):
    for i, (batch, queries, keys, heads, kv_heads, width, scale, causal) in enumerate(ATTENTIONS):
        kv = kv_heads or heads
        q = numbers("q", F32, batch, queries, heads * width, low=-1, high=1)
        k, v = (numbers(each, F32, batch, keys, kv * width, low=-1, high=1) for each in "kv")
        masks = {"": None, "_row_mask": numbers("mask", F32, keys), "_mask": numbers("mask", F32, batch, 1, queries, keys)}
        for name, mask in masks.items():
            y = attend(exact(q), exact(k), exact(v), heads, kv, scale, causal, 0 if mask is None else exact(mask))
            # What heads share out is known.
            cases.add(f"attention_{i}{name}", "attention" if mask is None else "attention_masked", [q, k, v] + [mask] * (mask is not None),
                      [y.astype(F32)], lists=[[heads, kv_heads, causal]], number=[scale], fixed=[heads * width, kv * width],
                      within=(5e-6, 2e-5))
    for dtype in (F64, F16):
        q, k, v = (numbers(each, dtype, 2, 6, 16, low=-1, high=1) for each in "qkv")
        cases.add(f"attention_{name_of(dtype)}", "attention", [q, k, v], [attend(exact(q), exact(k), exact(v), 2, 2, 0, 0, 0).astype(dtype)],
                  lists=[[2, 0, 0]], number=[0], fixed=[16], within=(2e-3, 2e-3) if dtype == F16 else (1e-12, 1e-12))


def layers(cases):
    x, w1, b1 = numbers("x", F32, 3, 8), numbers("w1", F32, 16, 8), numbers("b1", F32, 16)
    w2, b2 = numbers("w2", F32, 5, 16, low=-0.3, high=0.3), numbers("b2", F32, 5)
    inner = exact(x) @ exact(w1).T + b1
    inner = 0.5 * inner * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
    cases.add("two_layers", "two_layers", [x, w1, b1, w2, b2], [softmax(inner @ exact(w2).T + b2, -1).astype(F32)], within=(1e-5, 1e-4))


def write(cases):
    for group in (matmuls, einsums, convolutions, pools, attentions, layers):
        group(cases)
