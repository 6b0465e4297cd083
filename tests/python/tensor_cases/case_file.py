"""The cases that tests/lazy_cases runs: how one is written down (tests/lazy_cases/case.h has the format), how far results may be
off, and the numbers that cases are made of."""

import zlib

import numpy as np

NAMES = {"bool": "bool", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "int8": "i8", "int16": "i16",
         "int32": "i32", "int64": "i64", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
WITHIN = {"f16": (1e-6, 1e-3), "bf16": (1e-6, 8e-3), "f32": (1e-6, 2e-6), "f64": (1e-13, 1e-12)}


def name_of(dtype):
    return NAMES[np.dtype(dtype).name]


def is_float(dtype):
    return name_of(dtype) in WITHIN


def is_bool(dtype):
    return np.dtype(dtype) == np.bool_


def promoted(a, b):
    """The dtype in which two tensors meet: bool < integers < floats, the wider of a kind. Of signed and unsigned: NumPy's."""
    a, b = np.dtype(a), np.dtype(b)
    if is_float(a) != is_float(b):
        return a if is_float(a) else b
    if is_float(a) and a.itemsize == b.itemsize and a != b:
        return np.dtype(np.float32)
    return np.promote_types(a, b) if not is_float(a) else max(a, b, key=lambda dtype: dtype.itemsize)


def numbers(name, dtype, *shape, low=-4.0, high=4.0):
    """Numbers that depend on the name only. Integers take the bounds as theirs, unsigned ones the part from 0 on."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    if is_bool(dtype):
        return rng.integers(0, 2, shape).astype(bool)
    if is_float(dtype):
        return np.asarray(rng.uniform(low, high, shape)).astype(dtype)
    first = int(low) if np.dtype(dtype).kind == "i" else max(int(low), 0)
    return np.asarray(rng.integers(first, int(high) + 1, shape)).astype(dtype)


class CaseFile:
    def __init__(self):
        self.lines, self.names = [], set()

    def add(self, name, op, inputs, outputs, *, lists=(), number=(), text="", dtype=None, fixed=(), within=None):
        """`fixed`: extents that stay numbers when shapes are symbolic; True: all do."""
        assert name not in self.names, name
        self.names.add(name)
        outputs = [np.asarray(output) for output in outputs]
        self.lines.append(f"case {name} {op}")
        absolute, relative = within or max(WITHIN.get(name_of(output.dtype), (0, 0)) for output in outputs)
        self.lines.append(f"within {absolute} {relative}")
        self.lines += [" ".join(["list", *(str(int(each)) for each in numbers)]) for numbers in lists]
        if number:
            self.lines.append(" ".join(["number", *(repr(float(each)) for each in number)]))
        if text:
            self.lines.append(f"text {text}")
        if dtype is not None:
            self.lines.append(f"dtype {name_of(dtype)}")
        for kind, arrays in (("input", inputs), ("output", outputs)):
            for array in arrays:
                array = np.asarray(array)
                varies = [kind == "input" and fixed is not True and extent != 1 and extent not in fixed for extent in array.shape]
                extents = [f"{extent}{'?' if vary else ''}" for extent, vary in zip(array.shape, varies)]
                words = [kind, name_of(array.dtype), array.ndim, *extents, array.tobytes().hex() or "-"]
                self.lines.append(" ".join(str(word) for word in words))
