"""Reductions over axes, running sums, softmax and norms. Floats are added in f64 here and rounded once."""

import numpy as np

from .case_file import is_float, name_of, numbers

F16, F32, F64, I32, I64, U8, BOOL = np.float16, np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_
LOOSE = {F16: (1e-3, 2e-3), F32: (2e-6, 1e-5), F64: (1e-12, 1e-12)}


def wide(dtype):
    return dtype if is_float(dtype) else I64


def floating(dtype):
    return dtype if is_float(dtype) else F32


def logsumexp(x, axis, keepdims):
    top = x.max(axis, keepdims=True)
    top = np.where(np.isinf(top), 0, top)
    result = np.log(np.exp(x - top).sum(axis, keepdims=True)) + top
    return result if keepdims else result.squeeze(axis)


def exact(x):
    return x.astype(F64 if is_float(x.dtype) else I64)


# What it is in f64 or i64, the dtype of the result, the dtypes it is for.
REDUCTIONS = {
    "sum": (lambda x, axis, keepdims: exact(x).sum(axis, keepdims=keepdims), wide),
    "prod": (lambda x, axis, keepdims: exact(x).prod(axis, keepdims=keepdims), wide),
    "mean": (lambda x, axis, keepdims: x.astype(F64).mean(axis, keepdims=keepdims), floating),
    "max": (lambda x, axis, keepdims: x.max(axis, keepdims=keepdims), lambda dtype: dtype),
    "min": (lambda x, axis, keepdims: x.min(axis, keepdims=keepdims), lambda dtype: dtype),
    "any": (lambda x, axis, keepdims: x.any(axis, keepdims=keepdims), lambda dtype: BOOL),
    "all": (lambda x, axis, keepdims: x.all(axis, keepdims=keepdims), lambda dtype: BOOL),
    "logsumexp": (lambda x, axis, keepdims: logsumexp(x.astype(F64), axis, keepdims), floating),
}


def over_axes(cases):
    for name, (function, dtype_of_result) in REDUCTIONS.items():
        for dtype in (F32, F64, F16, I32, I64, U8, BOOL):
            x = numbers(name, dtype, 3, 7, low=-3, high=3)
            result = function(x, 1, False).astype(dtype_of_result(dtype))
            cases.add(f"{name}_{name_of(dtype)}", name, [x], [result], lists=[[1], [0]], within=LOOSE.get(result.dtype.type))
        x = numbers(name, F32, 2, 3, 5, low=-2, high=2)
        dtype = dtype_of_result(F32)
        for axes, keep in (([0], 0), ([1], 1), ([-1], 0), ([0, 2], 0), ([1, 2], 1), ([-1, 0], 1), ([], 0), ([], 1), ([0, 1, 2], 0)):
            result = np.asarray(function(x, tuple(axes) or (0, 1, 2), bool(keep))).astype(dtype)
            said = "_".join(map(str, axes)) or "all"
            cases.add(f"{name}_over_{said}{'_kept' * keep}", name, [x], [result], lists=[axes, [keep]], within=LOOSE.get(dtype))


def corners(cases):
    """Long rows, nothing to reduce, NaN and infinities."""
    x = numbers("long", F32, 3, 120, low=-1, high=1)
    for name in ("sum", "mean", "max", "logsumexp"):
        function, _ = REDUCTIONS[name]
        cases.add(f"{name}_long_rows", name, [x], [function(x, 1, False).astype(F32)], lists=[[1], [0]], within=(2e-6, 1e-5))
        cases.add(f"{name}_long_columns", name, [x.T], [function(x, 1, False).astype(F32)], lists=[[0], [0]], within=(2e-6, 1e-5))
    empty = np.zeros((0, 4), F32)
    cases.add("sum_of_no_rows", "sum", [empty], [np.zeros(4, F32)], lists=[[0], [0]])
    cases.add("prod_of_no_rows", "prod", [empty], [np.ones(4, F32)], lists=[[0], [0]])
    cases.add("sum_into_no_rows", "sum", [empty], [np.zeros(0, F32)], lists=[[1], [0]])
    cases.add("any_of_no_rows", "any", [empty], [np.zeros(4, bool)], lists=[[0], [0]])
    cases.add("all_of_no_rows", "all", [empty], [np.ones(4, bool)], lists=[[0], [0]])
    cases.add("mean_of_no_rows", "mean", [empty], [np.full(4, np.nan, F32)], lists=[[0], [0]])
    cases.add("sum_of_all", "sum_of_all", [x], [x.astype(F64).sum().astype(F32)], within=(1e-5, 1e-5))
    cases.add("mean_of_all", "mean_of_all", [x], [x.astype(F64).mean().astype(F32)], within=(1e-6, 1e-5))
    cases.add("sum_of_scalar", "sum_of_all", [x[0, 0]], [x[0, 0]])
    odd = np.array([[1, np.nan, 3], [np.inf, 1, 2], [-np.inf, np.inf, 0], [-np.inf, -np.inf, -np.inf]], F32)
    for name in ("sum", "max", "min", "prod", "mean", "any"):
        function, dtype = REDUCTIONS[name]
        cases.add(f"{name}_odd", name, [odd], [function(odd, 1, False).astype(dtype(F32))], lists=[[1], [0]])
    cases.add("logsumexp_odd", "logsumexp", [odd], [np.array([np.nan, np.inf, np.inf, -np.inf], F32)], lists=[[1], [0]])
    huge = np.array([[1000, 1000], [-1000, -1001]], F32)
    cases.add("logsumexp_huge", "logsumexp", [huge], [logsumexp(huge.astype(F64), 1, False).astype(F32)], lists=[[1], [0]])
    big = np.array([[2**62, 2**61, 5], [2**53, 1, 1]], I64)
    for name in ("sum", "max", "min"):
        cases.add(f"{name}_big_i64", name, [big], [REDUCTIONS[name][0](big, 1, False)], lists=[[1], [0]])
    cases.add("prod_wraps_i64", "prod", [big], [big.prod(1)], lists=[[1], [0]])


def spreads(cases):
    for name, function in (("var", np.var), ("std", np.std)):
        for dtype in (F32, F64, F16, I32):
            x = numbers(name, dtype, 4, 6)
            result = function(x.astype(F64), axis=1).astype(floating(dtype))
            cases.add(f"{name}_{name_of(dtype)}", name, [x], [result], lists=[[1], [0, 0]], within=LOOSE[floating(dtype)])
        x = numbers(name, F32, 2, 4, 5)
        for axes, keep, less in (([0], 0, 0), ([-1], 1, 1), ([0, 2], 0, 1), ([], 0, 0), ([], 0, 1), ([1], 1, 2)):
            result = function(x.astype(F64), axis=tuple(axes) or None, keepdims=bool(keep), ddof=less).astype(F32)
            cases.add(f"{name}_over_{'_'.join(map(str, axes)) or 'all'}_{keep}_{less}", name, [x], [result], lists=[axes, [keep, less]],
                      within=(2e-6, 1e-5))


def places(cases):
    for name, function in (("argmax", np.argmax), ("argmin", np.argmin)):
        for dtype in (F32, F64, F16, I32, I64, U8, BOOL):
            x = numbers(name, dtype, 4, 6)
            cases.add(f"{name}_{name_of(dtype)}", name, [x], [function(x, 1)], lists=[[1, 0]])
        ties = np.array([[3, 1, 3, 1], [2, 2, 2, 2], [0, 5, 5, -1]], F32)
        for axis, keep in ((0, 0), (1, 1), (-1, 0)):
            cases.add(f"{name}_ties_{axis}_{keep}", name, [ties], [function(ties, axis, keepdims=bool(keep))], lists=[[axis, keep]])
        odd = np.array([[1, np.nan, 3, np.nan], [np.inf, 1, np.inf, -np.inf]], F32)
        cases.add(f"{name}_odd", name, [odd], [function(odd, 1)], lists=[[1, 0]])


def running(cases):
    for name, function in (("cumsum", np.cumsum), ("cumprod", np.cumprod)):
        for dtype in (F32, F64, F16, I32, I64, U8, BOOL):
            x = numbers(name, dtype, 3, 5, low=-2, high=2)
            result = function(exact(x), axis=1).astype(wide(dtype))
            cases.add(f"{name}_{name_of(dtype)}", name, [x], [result], lists=[[1]], within=LOOSE.get(result.dtype.type))
        x = numbers(name, F32, 2, 3, 4, low=-2, high=2)
        for axis in (0, 1, -1, -3):
            cases.add(f"{name}_along_{axis}", name, [x], [function(x.astype(F64), axis=axis).astype(F32)], lists=[[axis]],
                      within=(2e-6, 1e-5))
        cases.add(f"{name}_of_nothing", name, [x[:, :0]], [x[:, :0]], lists=[[1]])
        cases.add(f"{name}_of_one", name, [x[:, :1]], [x[:, :1]], lists=[[1]])


def softmax(x, axis):
    power = np.exp(x - x.max(axis, keepdims=True))
    return power / power.sum(axis, keepdims=True)


def log_softmax(x, axis):
    return x - logsumexp(x, axis, True)


def softmaxes(cases):
    for name, function in (("softmax", softmax), ("log_softmax", log_softmax)):
        for dtype in (F32, F64, F16, I32):
            x = numbers(name, dtype, 4, 9)
            result = function(x.astype(F64), -1).astype(floating(dtype))
            cases.add(f"{name}_{name_of(dtype)}", name, [x], [result], lists=[[-1]], within=LOOSE[floating(dtype)])
        x = numbers(name, F32, 2, 3, 5)
        for axis in (0, 1, 2, -3):
            cases.add(f"{name}_along_{axis}", name, [x], [function(x.astype(F64), axis).astype(F32)], lists=[[axis]], within=(2e-6, 1e-5))
        huge = np.array([[1e4, 1e4 - 1, 0], [-1e4, -1e4, -1e4 - 2]], F32)
        cases.add(f"{name}_huge", name, [huge], [function(huge.astype(F64), -1).astype(F32)], lists=[[-1]], within=(2e-6, 1e-5))
        masked = np.array([[0.5, -np.inf, 1.0], [-np.inf, 2.0, -np.inf]], F32)
        cases.add(f"{name}_masked", name, [masked], [function(masked.astype(F64), -1).astype(F32)], lists=[[-1]], within=(2e-6, 1e-5))


def normal(x, axes, epsilon):
    centered = x - x.mean(axes, keepdims=True)
    return centered / np.sqrt((centered**2).mean(axes, keepdims=True) + epsilon)


def norms(cases):
    for dtype in (F32, F64, F16):
        x = numbers("norm", dtype, 3, 16)
        scale, bias = numbers("scale", dtype, 16), numbers("bias", dtype, 16)
        y, s, b = (each.astype(F64) for each in (x, scale, bias))
        within = {F16: (4e-3, 4e-3), F32: (5e-6, 1e-5), F64: (1e-12, 1e-12)}[dtype]
        kind, centered = name_of(dtype), normal(y, -1, 1e-5)
        rms = y / np.sqrt((y * y).mean(-1, keepdims=True) + 1e-6)
        cases.add(f"layer_norm_{kind}", "layer_norm", [x, scale, bias], [(centered * s + b).astype(dtype)], number=[1e-5], within=within)
        cases.add(f"layer_norm_plain_{kind}", "layer_norm", [x], [centered.astype(dtype)], number=[1e-5], within=within)
        cases.add(f"layer_norm_scaled_{kind}", "layer_norm", [x, scale], [(centered * s).astype(dtype)], number=[1e-5], within=within)
        cases.add(f"rms_norm_{kind}", "rms_norm", [x, scale], [(rms * s).astype(dtype)], number=[1e-6], within=within)
        cases.add(f"rms_norm_plain_{kind}", "rms_norm", [x], [rms.astype(dtype)], number=[1e-6], within=within)
    deep = numbers("deep", F32, 2, 3, 4, 8)
    cases.add("layer_norm_rank_4", "layer_norm", [deep], [normal(deep.astype(F64), -1, 1e-3).astype(F32)], number=[1e-3],
              within=(5e-6, 1e-5))
    x = numbers("image", F32, 2, 6, 5, 3)
    scale, bias, mean = (numbers(each, F32, 6) for each in ("scale", "bias", "mean"))
    variance = numbers("variance", F32, 6, low=0.5, high=2)
    column = [each.astype(F64)[:, None, None] for each in (mean, variance, scale, bias)]
    plain = (x.astype(F64) - column[0]) / np.sqrt(column[1] + 1e-5)
    cases.add("batch_norm", "batch_norm", [x, mean, variance], [plain.astype(F32)], number=[1e-5], within=(5e-6, 1e-5))
    cases.add("batch_norm_scaled", "batch_norm_scaled", [x, mean, variance, scale, bias], [(plain * column[2] + column[3]).astype(F32)],
              number=[1e-5], within=(5e-6, 1e-5))
    for groups in (1, 2, 3, 6):
        y = normal(x.astype(F64).reshape(2, groups, -1), -1, 1e-5).reshape(x.shape)
        # Channels are shared out among groups: their number is known.
        cases.add(f"group_norm_{groups}", "group_norm", [x], [y.astype(F32)], lists=[[groups]], number=[1e-5], fixed=[6],
                  within=(5e-6, 1e-5))
        cases.add(f"group_norm_{groups}_scaled", "group_norm", [x, scale, bias], [(y * column[2] + column[3]).astype(F32)],
                  lists=[[groups]], number=[1e-5], fixed=[6], within=(5e-6, 1e-5))


def write(cases):
    for group in (over_axes, corners, spreads, places, running, softmaxes, norms):
        group(cases)
