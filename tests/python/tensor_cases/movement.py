"""Shapes, slices, padding, joining: the elements stay what they are, so every dtype goes through the same code; a few go everywhere."""

import numpy as np

from .case_file import name_of, numbers, promoted

F16, F32, F64, I32, I64, U8, BOOL = np.float16, np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_


def shapes(cases):
    x = numbers("shapes", F32, 2, 3, 4)
    for shape in ([6, 4], [24], [4, 6], [2, 1, 3, 4, 1], [-1, 4], [2, -1], [-1], [3, 2, 2, 2]):
        said = "x".join(map(str, shape))
        # How many elements there are is checked when the call is made: sizes that are numbers need numbers.
        cases.add(f"reshape_to_{said}", "reshape", [x], [x.reshape(shape)], lists=[shape], fixed=True)
    cases.add("reshape_to_scalar", "reshape", [x[:1, :1, :1].copy()], [x[0, 0, 0]], lists=[[]])
    cases.add("reshape_of_scalar", "reshape", [x[0, 0, 0]], [x[0, 0, :1].reshape(1, 1)], lists=[[1, 1]])
    cases.add("reshape_of_nothing", "reshape", [x[:0]], [x[:0].reshape(3, 0, 5)], lists=[[3, 0, 5]], fixed=True)
    for dtype in (F32, I64, BOOL):
        y = numbers("join", dtype, 2, 3, 4)
        cases.add(f"join_first_axes_{name_of(dtype)}", "join_first_axes", [y], [y.reshape(6, 4)])
        cases.add(f"flatten_{name_of(dtype)}", "flatten", [y], [y.ravel()])
    cases.add("flatten_scalar", "flatten", [x[0, 0, 0]], [x[0, 0, :1]])
    for first, last, shape in ((0, 1, (6, 4)), (1, 2, (2, 12)), (-2, -1, (2, 12)), (0, -1, (24,)), (1, 1, (2, 3, 4))):
        cases.add(f"flatten_{first}_{last}", "flatten_axes", [x], [x.reshape(shape)], lists=[[first, last]])
    thin = x.reshape(2, 1, 12, 1)
    cases.add("squeeze", "squeeze", [thin], [thin.squeeze()])
    for axis in (1, 3, -1, -3):
        cases.add(f"squeeze_{axis}", "squeeze_axis", [thin], [thin.squeeze(axis)], lists=[[axis]])
    for axis in (0, 1, 3, -1, -2, -4):
        cases.add(f"unsqueeze_{axis}", "unsqueeze", [x], [np.expand_dims(x, axis)], lists=[[axis]])
    cases.add("unsqueeze_scalar", "unsqueeze", [x[0, 0, 0]], [x[0, 0, :1]], lists=[[0]])
    for axes in ([0, 1, 2], [2, 0, 1], [1, 0, 2], [-1, 0, 1], [2, 1, 0]):
        cases.add(f"permute_{'_'.join(map(str, axes))}", "permute", [x], [x.transpose(axes)], lists=[axes])
    for dtype in (F64, F16, U8, BOOL):
        y = numbers("permute", dtype, 3, 5)
        cases.add(f"transpose_{name_of(dtype)}", "transpose", [y], [y.T])
    for a, b in ((0, 2), (-1, 0), (1, 1)):
        cases.add(f"transpose_axes_{a}_{b}", "transpose_axes", [x], [x.swapaxes(a, b)], lists=[[a, b]])
    for shape, to in (((3, 1), [3, 5]), ((1,), [4]), ((), [2, 3]), ((3,), [2, 3]), ((3, 1), [2, -1, 4]), ((1, 4), [0, 4])):
        y = numbers("expand", F32, *shape)
        whole = [shape[i - len(to) + len(shape)] if each == -1 else each for i, each in enumerate(to)]
        said = "x".join(map(str, shape)) or "scalar"
        cases.add(f"expand_{said}_to_{'x'.join(map(str, to))}", "expand", [y], [np.broadcast_to(y, whole)], lists=[to],
                  fixed=() if -1 in to else True)


def slices(cases):
    x = numbers("slices", F32, 5, 6, 7)
    indices = ["2", "-1", "1:4", ":3", "2:", "-3:", ":-2", "::2", "1::2", "::-1", "4:1:-1", "::-2", "-2::-1", ":1:-1", "10:", ":10",
               "-10:2", "3:3", "4:2", ":,1", ":,-2,3", "1,2,3", "-1,-1,-1", "...,0", "...,1:3", "0,...", "0,...,-1", "new,2",
               ":,new,1", "...,new", "new,...,new", "1:4,new,::-1,2", "::2,::3,::-1", ":,::-1,:3", "...", ":,:,2:5", "1:2,0",
               "new,new,:,1:,-1", "4:0:-2,...,6:2:-3",
               "-10::-1", "-10:-20:-1", "9::-1", "1:4:-1", ":-20:-3", "9:9:-1"]
    for i, text in enumerate(indices):
        places = tuple(None if part == "new" else Ellipsis if part == "..." else
                       slice(*(int(each) if each else None for each in part.split(":"))) if ":" in part else int(part)
                       for part in text.split(","))
        cases.add(f"index_{i}", "index", [x], [x[places]], text=text)
    for dtype in (F64, F16, I32, I64, U8, BOOL):
        y = numbers("index", dtype, 4, 5)
        cases.add(f"index_{name_of(dtype)}", "index", [y], [y[::-1, 1:]], text="::-1,1:")
    cases.add("at", "at", [x], [x[3]], lists=[[3]])
    cases.add("at_from_the_end", "at", [x], [x[-2]], lists=[[-2]])
    cases.add("rows", "rows", [x], [x[1:-1]], text="1:-1")
    cases.add("second_half", "second_half", [x], [x[2:]])
    cases.add("last", "last", [x], [x[4]])
    for axis, text, part in ((0, "1:3", np.s_[1:3]), (1, "::-1", np.s_[:, ::-1]), (-1, "-3:", np.s_[..., -3:]), (2, "::3", np.s_[..., ::3])):
        cases.add(f"slice_{axis}_of_three", "slice", [x], [x[part]], lists=[[axis]], text=text)
    for ranges in ([1, 4], [0, 5, 2, 6], [1, 2, 0, 6, 3, 7], [2, 2]):
        part = tuple(slice(*ranges[i:i + 2]) for i in range(0, len(ranges), 2))
        cases.add(f"shrink_{'_'.join(map(str, ranges))}", "shrink", [x], [x[part]], lists=[ranges], fixed=True)
    for axes in ([0], [1], [-1], [0, 2], [0, 1, 2], []):
        cases.add(f"flip_{'_'.join(map(str, axes)) or 'nothing'}", "flip", [x], [np.flip(x, axes) if axes else x], lists=[axes])
    for text, part in (("::-1", np.s_[::-1]), ("::-2", np.s_[::-2]), ("1:", np.s_[1:]), (":-1", np.s_[:-1]), ("2::-1", np.s_[2::-1])):
        cases.add(f"rows_of_nothing_{text}", "rows", [x[:0]], [x[:0][part]], text=text)
    cases.add("flip_of_nothing", "flip", [x[:0]], [x[:0]], lists=[[0]])


def padding(cases):
    for dtype in (F32, F64, F16, I32, I64, U8, BOOL):
        x = numbers("pad", dtype, 2, 3)
        cases.add(f"pad_{name_of(dtype)}", "pad", [x], [np.pad(x, ((1, 2), (0, 1)))], lists=[[1, 2, 0, 1]])
    x = numbers("pad", F32, 3, 4)
    for value in (1.5, -np.inf, np.nan):
        wide = np.pad(x, ((2, 0), (1, 3)), constant_values=value)
        cases.add(f"pad_with_{value}", "pad_number", [x], [wide], lists=[[2, 0, 1, 3]], number=[value])
    cases.add("pad_by_nothing", "pad", [x], [x], lists=[[0, 0, 0, 0]])
    cases.add("pad_of_nothing", "pad", [x[:0]], [np.pad(x[:0], ((1, 1), (0, 0)))], lists=[[1, 1, 0, 0]])
    cases.add("pad_i32_with_7", "pad_number", [x.astype(I32)], [np.pad(x.astype(I32), 1, constant_values=7)], lists=[[1] * 4], number=[7])


def joining(cases):
    for dtype in (F32, F64, F16, I32, I64, U8, BOOL):
        a, b = numbers("a", dtype, 2, 3), numbers("b", dtype, 4, 3)
        cases.add(f"concat_{name_of(dtype)}", "concat", [a, b], [np.concatenate([a, b])], lists=[[0]])
        cases.add(f"stack_{name_of(dtype)}", "stack", [a, a + a], [np.stack([a, a + a])], lists=[[0]])
    a, b, c = numbers("a", F32, 2, 3), numbers("b", F32, 2, 5), numbers("c", F32, 2, 1)
    cases.add("concat_three", "concat", [a, b, c], [np.concatenate([a, b, c], 1)], lists=[[-1]])
    cases.add("concat_one", "concat", [a], [a], lists=[[0]])
    cases.add("concat_with_nothing", "concat", [a[:, :0], a], [a], lists=[[1]])
    for first, second in ((F32, I32), (I32, I64), (BOOL, U8), (F16, F64)):
        y, z = numbers("y", first, 3), numbers("z", second, 4)
        joined = np.concatenate([y.astype(promoted(first, second)), z.astype(promoted(first, second))])
        cases.add(f"concat_{name_of(first)}_{name_of(second)}", "concat", [y, z], [joined], lists=[[0]])
    for axis in (1, 2, -1, -2):
        cases.add(f"stack_{axis}", "stack", [a, -a, a * 2], [np.stack([a, -a, a * 2], axis)], lists=[[axis]])
    cases.add("stack_scalars", "stack", [a[0, 0], a[1, 1]], [np.array([a[0, 0], a[1, 1]])], lists=[[0]])
    x = numbers("split", F32, 7, 6)
    # Parts are numbers, so is their sum.
    cases.add("split_rows", "split", [x], [x[:2], x[2:3], x[3:]], lists=[[0], [2, 1, 4]], fixed=[7])
    cases.add("split_columns", "split", [x], [x[:, :5], x[:, 5:]], lists=[[-1], [5, 1]], fixed=[6])
    cases.add("split_into_nothing", "split", [x], [x[:0], x], lists=[[0], [0, 7]], fixed=[7])
    for parts, axis in ((2, 0), (3, 0), (3, 1), (4, -1), (7, 0)):
        each = -(-x.shape[axis] // parts)
        pieces = np.split(x, range(each, x.shape[axis], each), axis)
        cases.add(f"chunk_{parts}_{axis}", "chunk", [x], pieces, lists=[[parts, axis]], fixed=[x.shape[axis]])
    for times in ([2, 1], [1, 3], [2, 2], [2, 1, 1], [0, 1]):
        cases.add(f"repeat_{'_'.join(map(str, times))}", "repeat", [a], [np.tile(a, times)], lists=[times])
    cases.add("repeat_scalar", "repeat", [a[0, 0]], [np.tile(a[0, 0], [3])], lists=[[3]])
    # Where it is cut depends on the extent.
    for shift, axis in ((1, 0), (-1, 0), (2, 1), (9, 0), (-15, 1), (0, 0), (7, 0)):
        cases.add(f"roll_{shift}_{axis}", "roll", [x], [np.roll(x, shift, axis)], lists=[[shift, axis]], fixed=[x.shape[axis]])


def triangles(cases):
    for dtype in (F32, F64, F16, I32, I64, U8, BOOL):
        x = numbers("triangle", dtype, 4, 5)
        cases.add(f"tril_{name_of(dtype)}", "tril", [x], [np.tril(x)], lists=[[0]])
        cases.add(f"triu_{name_of(dtype)}", "triu", [x], [np.triu(x, 1)], lists=[[1]])
    x = numbers("triangles", F32, 2, 5, 3)
    for diagonal in (-9, -2, -1, 2, 9):
        cases.add(f"tril_{diagonal}", "tril", [x], [np.tril(x, diagonal)], lists=[[diagonal]])
        cases.add(f"triu_{diagonal}", "triu", [x], [np.triu(x, diagonal)], lists=[[diagonal]])
    with_inf = np.full((3, 3), -np.inf, F32)
    cases.add("triu_of_infinity", "triu", [with_inf], [np.triu(with_inf, 1)], lists=[[1]])


def write(cases):
    for group in (shapes, slices, padding, joining, triangles):
        group(cases)
