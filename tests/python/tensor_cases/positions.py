"""Look-ups, scatters, one-hot rows, sorting and the largest elements."""

import numpy as np

from .case_file import name_of, numbers

F16, F32, F64, I8, I32, I64, U8, BOOL = (np.float16, np.float32, np.float64, np.int8, np.int32, np.int64, np.uint8,
                                           np.bool_)


def looked_up(cases):
    at = np.array([2, 0, -1, 2, 1])
    for dtype in (F32, F64, F16, I32, I64, U8, BOOL):
        x = numbers("take", dtype, 4, 3)
        cases.add(f"take_{name_of(dtype)}", "take", [x, at], [x[at]], lists=[[0]])
    for dtype in (I32, U8):
        x = numbers("take", F32, 4, 3)
        rows = np.abs(at).astype(dtype)
        cases.add(f"take_at_{name_of(dtype)}", "take", [x, rows], [x[rows]], lists=[[0]])
    x = numbers("take", F32, 4, 6, 5)
    grid = np.array([[0, 3, 1], [-1, 2, -4]])
    for axis in (0, 1, 2, -1):
        cases.add(f"take_along_{axis}", "take", [x, grid], [np.take(x, grid, axis)], lists=[[axis]])
    cases.add("take_one", "take", [x, np.array(2)], [x[2]], lists=[[0]])
    cases.add("take_none", "take", [x, at[:0]], [x[at[:0]]], lists=[[0]])
    for dtype in (F32, I32, BOOL):
        x = numbers("gather", dtype, 4, 3)
        places = np.array([[0, 1, -1], [3, 0, 2]])
        cases.add(f"gather_{name_of(dtype)}", "gather", [x, places], [np.take_along_axis(x, places, 0)], lists=[[0]])
    x = numbers("gather", F32, 2, 3, 4)
    for axis in (0, 1, 2, -1):
        places = numbers("places", I64, 2, 3, 4, low=0, high=x.shape[axis] - 1)
        cases.add(f"gather_along_{axis}", "gather", [x, places], [np.take_along_axis(x, places, axis)], lists=[[axis]])


def scattered(x, places, updates, axis, adds):
    """Element by element, in order: of equal places the last one counts."""
    y = x.copy()
    for at in np.ndindex(places.shape):
        to = list(at)
        to[axis] = places[at]
        y[tuple(to)] = y[tuple(to)] + updates[at] if adds else updates[at]
    return y


def scatters(cases):
    for op, adds in (("scatter", False), ("scatter_add", True)):
        for dtype in (F32, F64, F16, I32, I64):
            x, updates = numbers("x", dtype, 5, 3), numbers("updates", dtype, 2, 3)
            places = np.array([[0, 4, 2], [1, -1, 0]])
            cases.add(f"{op}_{name_of(dtype)}", op, [x, places, updates], [scattered(x, places, updates, 0, adds)], lists=[[0]])
        x = numbers("x", F32, 2, 4, 3)
        for axis in (0, 1, -1):
            places = numbers("places", I64, 2, 2, 3, low=0, high=x.shape[axis] - 1)
            updates = numbers("updates", F32, 2, 2, 3)
            cases.add(f"{op}_along_{axis}", op, [x, places, updates], [scattered(x, places, updates, axis, adds)], lists=[[axis]],
                      within=(1e-6, 1e-6))
        same, updates = np.array([1, 1, 3, 1]), np.array([10, 20, 30, 40], F32)
        x = np.arange(5, dtype=F32)
        cases.add(f"{op}_equal_places", op, [x, same, updates], [scattered(x, same, updates, 0, adds)], lists=[[0]])
        cases.add(f"{op}_nothing", op, [x, same[:0], updates[:0]], [x], lists=[[0]])
    x, updates = numbers("x", U8, 6), numbers("updates", U8, 2)
    cases.add("scatter_u8", "scatter", [x, np.array([5, 1], I32), updates], [scattered(x, np.array([5, 1]), updates, 0, False)], lists=[[0]])
    cases.add("scatter_bool", "scatter", [x > 2, np.array([5, 1]), updates > 1], [scattered(x > 2, np.array([5, 1]), updates > 1, 0, False)],
              lists=[[0]])


def one_hot(cases):
    x = np.array([[0, 3, 1], [2, 4, -1]])
    for dtype in (F32, F16, I32, I64, U8, BOOL):
        cases.add(f"one_hot_{name_of(dtype)}", "one_hot", [x], [(x[..., None] == np.arange(4)).astype(dtype)], lists=[[4]], dtype=dtype)
    for dtype in (I32, U8):
        y = np.array([1, 0, 2], dtype)
        cases.add(f"one_hot_of_{name_of(dtype)}", "one_hot", [y], [(y[:, None] == np.arange(3)).astype(F32)], lists=[[3]], dtype=F32)


def sorting(cases):
    for dtype in (F32, F64, F16, I32, I64, U8, I8):
        x = numbers("sort", dtype, 3, 9, low=-20, high=20)
        cases.add(f"sort_{name_of(dtype)}", "sort", [x], [np.sort(x)], lists=[[-1, 0]])
        cases.add(f"sort_descending_{name_of(dtype)}", "sort", [x], [np.sort(x)[:, ::-1]], lists=[[-1, 1]])
    x = numbers("sort", F32, 4, 5, 6)
    for axis in (0, 1, -1):
        cases.add(f"sort_along_{axis}", "sort", [x], [np.sort(x, axis)], lists=[[axis, 0]])
        cases.add(f"argsort_along_{axis}", "argsort", [x], [np.argsort(x, axis, kind="stable")], lists=[[axis, 0]])
    ties = numbers("ties", I32, 2, 12, low=0, high=3)
    for dtype in (I32, F32, I64, U8):
        y = ties.astype(dtype)
        cases.add(f"argsort_ties_{name_of(dtype)}", "argsort", [y], [np.argsort(y, kind="stable")], lists=[[-1, 0]])
        # Descending, equal elements stay in order too.
        cases.add(f"argsort_ties_descending_{name_of(dtype)}", "argsort", [y], [np.argsort(-y.astype(I64), kind="stable")],
                  lists=[[-1, 1]])
    infinite = np.array([np.inf, -1, -np.inf, 0, 5, -0.5], F32)
    cases.add("sort_infinite", "sort", [infinite], [np.sort(infinite)], lists=[[0, 0]])
    with_nan = np.array([2, np.nan, -1, np.inf], F32)
    cases.add("sort_nan", "sort", [with_nan], [np.sort(with_nan)], lists=[[0, 0]])
    cases.add("sort_one", "sort", [infinite[:1]], [infinite[:1]], lists=[[0, 0]])
    cases.add("sort_nothing", "sort", [infinite[:0]], [infinite[:0]], lists=[[0, 0]])
    cases.add("sort_long", "sort", [numbers("long", F32, 100)], [np.sort(numbers("long", F32, 100))], lists=[[0, 0]])


def topk(cases):
    for dtype in (F32, F64, F16, I32, I64, U8):
        x = numbers("topk", dtype, 3, 8, low=-50, high=50)
        order = np.argsort(-x.astype(F64), kind="stable")[:, :3]
        cases.add(f"topk_{name_of(dtype)}", "topk", [x], [np.take_along_axis(x, order, 1), order], lists=[[3, -1, 1]], fixed=[8])
    x = numbers("topk", F32, 6, 4, 5)
    for count, axis, largest in ((1, 0, 1), (2, 1, 1), (6, 0, 0), (3, -1, 0), (0, 0, 1)):
        order = np.argsort(-x if largest else x, axis, kind="stable").take(range(count), axis)
        cases.add(f"topk_{count}_{axis}_{largest}", "topk", [x], [np.take_along_axis(x, order, axis), order], lists=[[count, axis, largest]],
                  fixed=[x.shape[axis]])
    ties = np.array([1, 3, 3, 2, 3, 1], F32)
    cases.add("topk_ties", "topk", [ties], [np.array([3, 3, 3, 2], F32), np.array([1, 2, 4, 3])], lists=[[4, 0, 1]], fixed=True)
    cases.add("topk_ties_smallest", "topk", [ties], [np.array([1, 1, 2], F32), np.array([0, 5, 3])], lists=[[3, 0, 0]], fixed=True)


def write(cases):
    for group in (looked_up, scatters, one_hot, sorting, topk):
        group(cases)
