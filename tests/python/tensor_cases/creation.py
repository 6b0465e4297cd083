"""Tensors made of nothing: filled ones, counts, ranges, the identity."""

import numpy as np

from .case_file import name_of, numbers

F16, F32, F64, I32, I64, U8, BOOL = np.float16, np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_
ALL = (F32, F64, F16, I32, I64, U8, BOOL)


def filled(cases):
    for dtype in ALL:
        kind = name_of(dtype)
        cases.add(f"zeros_{kind}", "zeros", [], [np.zeros((2, 3), dtype)], lists=[[2, 3]], dtype=dtype)
        cases.add(f"ones_{kind}", "ones", [], [np.ones((4,), dtype)], lists=[[4]], dtype=dtype)
        cases.add(f"full_integer_{kind}", "full_integer", [], [np.full((3, 1), 5, dtype)], lists=[[3, 1], [5]], dtype=dtype)
        cases.add(f"ones_like_{kind}", "ones_like", [numbers("like", dtype, 3, 4)], [np.ones((3, 4), dtype)])
        cases.add(f"scalar_{kind}", "scalar", [], [np.asarray(1, dtype)], number=[1], dtype=dtype)
    for value in (2.5, -np.inf, np.nan, 1e30):
        cases.add(f"full_{value}", "full", [], [np.full((2, 2), value, F32)], lists=[[2, 2]], number=[value], dtype=F32)
    cases.add("full_scalar", "full", [], [np.asarray(2.5, F32)], lists=[[]], number=[2.5], dtype=F32)
    cases.add("full_nothing", "full", [], [np.zeros((0, 3), F32)], lists=[[0, 3]], number=[2.5], dtype=F32)
    cases.add("full_i64_big", "full_integer", [], [np.full((2,), 2**53 + 1, I64)], lists=[[2], [2**53 + 1]], dtype=I64)
    cases.add("full_u64_big", "full_integer", [], [np.full((2,), 2**62 + 1, np.uint64)], lists=[[2], [2**62 + 1]], dtype=np.uint64)


def ranges(cases):
    for count in (0, 1, 7):
        cases.add(f"count_{count}", "count", [], [np.arange(count)], lists=[[count]])
    cases.add("count_rows", "count_rows", [numbers("rows", F32, 5, 2)], [np.arange(5)])
    for i, (start, stop, step) in enumerate([(0, 5, 1), (1, 2, 0.25), (5, 0, -1), (0, 1, 0.3), (3, 3, 1), (0, -2, 1), (-2, 2, 0.5)]):
        for dtype in (F32, F64):
            exact = start + np.arange(max(int(np.ceil((stop - start) / step)), 0)) * step
            cases.add(f"arange_{i}_{name_of(dtype)}", "arange", [], [exact.astype(dtype)], number=[start, stop, step], dtype=dtype)
    for dtype in (I32, I64, U8):
        cases.add(f"arange_{name_of(dtype)}", "arange", [], [np.arange(2, 20, 3, dtype)], number=[2, 20, 3], dtype=dtype)
    cases.add("arange_down_i32", "arange", [], [np.arange(9, -3, -4, I32)], number=[9, -3, -4], dtype=I32)
    for i, (start, stop, count) in enumerate([(0, 1, 5), (-1, 1, 2), (3, 3, 4), (2, 7, 1), (0, 1, 0), (5, -5, 11)]):
        for dtype in (F32, F64):
            cases.add(f"linspace_{i}_{name_of(dtype)}", "linspace", [], [np.linspace(start, stop, count).astype(dtype)],
                      number=[start, stop], lists=[[count]], dtype=dtype)


def identity(cases):
    for dtype in ALL:
        cases.add(f"eye_{name_of(dtype)}", "eye", [], [np.eye(3, dtype=dtype)], lists=[[3, -1]], dtype=dtype)
    for rows, columns in ((2, 4), (4, 2), (1, 1), (0, 3)):
        cases.add(f"eye_{rows}_{columns}", "eye", [], [np.eye(rows, columns, dtype=F32)], lists=[[rows, columns]], dtype=F32)


def write(cases):
    for group in (filled, ranges, identity):
        group(cases)
