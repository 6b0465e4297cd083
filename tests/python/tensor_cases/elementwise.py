"""Functions and operators, element by element: every dtype they are for, dtypes that meet, numbers on either side, broadcasting, and
the values at which definitions differ."""

import math

import numpy as np

from .case_file import is_bool, is_float, name_of, numbers, promoted

F16, F32, F64, I32, I64, U8, BOOL = np.float16, np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_
I8, I16, U16, U32, U64 = np.int8, np.int16, np.uint16, np.uint32, np.uint64

erf = np.vectorize(math.erf, otypes=[F64])


def sigmoid(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / (1 + np.exp(np.minimum(x, 0))), 1 / (1 + np.exp(-np.maximum(x, 0))))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


# Function, in f64; where its arguments lie.
OF_FLOATS = {
    "sqrt": (np.sqrt, 0, 9), "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9), "reciprocal": (lambda x: 1 / x, 0.1, 9),
    "exp": (np.exp, -6, 6), "exp2": (np.exp2, -6, 6), "expm1": (np.expm1, -2, 2), "log": (np.log, 0.1, 9),
    "log2": (np.log2, 0.1, 9), "log1p": (np.log1p, -0.5, 4), "sin": (np.sin, -9, 9), "cos": (np.cos, -9, 9),
    "tan": (np.tan, -1.4, 1.4), "asin": (np.arcsin, -1, 1), "acos": (np.arccos, -1, 1), "atan": (np.arctan, -9, 9),
    "sinh": (np.sinh, -4, 4), "cosh": (np.cosh, -4, 4), "tanh": (np.tanh, -4, 4), "asinh": (np.arcsinh, -9, 9),
    "acosh": (np.arccosh, 1, 9), "atanh": (np.arctanh, -0.9, 0.9), "erf": (erf, -3, 3), "sigmoid": (sigmoid, -6, 6),
    "silu": (lambda x: x * sigmoid(x), -6, 6), "softplus": (lambda x: np.logaddexp(x, 0), -6, 6),
    "gelu": (lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))), -4, 4), "gelu_tanh": (gelu_tanh, -4, 4),
}
ROUNDING = {"floor": np.floor, "ceil": np.ceil, "round": np.round, "trunc": np.trunc}
OF_NUMBERS = {"neg": np.negative, "abs": np.abs, "sign": np.sign, "square": np.square, "relu": lambda x: np.maximum(x, 0)}


def functions(cases):
    for name, (function, low, high) in OF_FLOATS.items():
        for dtype in (F32, F64, F16):
            x = numbers(name, dtype, 3, 5, low=low, high=high)
            cases.add(f"{name}_{name_of(dtype)}", name, [x], [function(x.astype(F64)).astype(dtype)])
    for name in ("sqrt", "exp", "sin", "sigmoid", "log1p"):
        for dtype in (I32, U8, BOOL):
            x = numbers(name, dtype, 7, low=0, high=9)
            cases.add(f"{name}_{name_of(dtype)}", name, [x], [function_of(name)(x.astype(F64)).astype(F32)])
    for name, function in ROUNDING.items():
        x = np.array([[-2.5, -1.5, -0.5, 0.5], [1.5, 2.5, -0.2, 3.7]])
        for dtype in (F32, F64, F16):
            cases.add(f"{name}_{name_of(dtype)}", name, [x.astype(dtype)], [function(x).astype(dtype)], within=(0, 0))
        whole = numbers(name, I32, 4)
        cases.add(f"{name}_i32", name, [whole], [whole])
    for name, function in OF_NUMBERS.items():
        for dtype in (F32, F64, F16, I32, I64, I8) + ((U8,) if name not in ("neg",) else ()):
            x = numbers(name, dtype, 4, 3)
            cases.add(f"{name}_{name_of(dtype)}", name, [x], [function(x).astype(dtype)])
    for dtype in (F32, I64):
        x = numbers("minus", dtype, 5)
        cases.add(f"minus_{name_of(dtype)}", "minus", [x], [-x])
    for dtype in (BOOL, I32, U8, I64, U32, U64, I8):
        x = numbers("not", dtype, 6)
        cases.add(f"not_{name_of(dtype)}", "not", [x], [~x])
    for dtype in (BOOL, I32, F32):
        x = numbers("logical_not", dtype, 6, low=0, high=1)
        cases.add(f"logical_not_{name_of(dtype)}", "logical_not", [x], [np.logical_not(x)])


def function_of(name):
    return OF_FLOATS[name][0]


EDGES = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-30, -1e-30, 100.0, -100.0, 2.0])


def edges(cases):
    """NaN, infinities, zeros, and arguments outside of a function's domain."""
    for name, (function, _, _) in OF_FLOATS.items():
        x = EDGES if name not in ("sin", "cos", "tan") else EDGES[:9]
        y = function(x.astype(F32).astype(F64))
        if name in ("silu", "gelu", "gelu_tanh"):  # -inf times 0
            x, y = np.delete(x, 2), np.delete(y, 2)
        cases.add(f"{name}_edges", name, [x.astype(F32)], [y.astype(F32)], within=(1e-11, 1e-5))
    for name, function in {**ROUNDING, **OF_NUMBERS}.items():
        cases.add(f"{name}_edges", name, [EDGES.astype(F32)], [function(EDGES.astype(F32))], within=(0, 0))
    for name, function in (("is_nan", np.isnan), ("is_inf", np.isinf)):
        for dtype in (F32, F64, F16):
            cases.add(f"{name}_{name_of(dtype)}", name, [EDGES.astype(dtype)], [function(EDGES.astype(dtype))])
        cases.add(f"{name}_i32", name, [numbers(name, I32, 3)], [np.zeros(3, bool)])
    a, b = (each.ravel().astype(F32) for each in np.meshgrid(EDGES[:9], EDGES[:9]))
    for name, function in (("add", np.add), ("multiply", np.multiply), ("divide", np.divide), ("minimum", np.minimum),
                           ("maximum", np.maximum), ("equal", np.equal), ("not_equal", np.not_equal), ("less", np.less),
                           ("less_equal", np.less_equal), ("greater", np.greater), ("greater_equal", np.greater_equal)):
        cases.add(f"{name}_edges", name, [a, b], [function(a, b)], within=(0, 1e-6))
    x, y = (np.array(each, F32) for each in zip(*[(2, 0), (0, 0), (0, 3), (-2, 3), (-2, 2), (-8, 1 / 3), (np.inf, 2), (2, np.inf),
                                                  (0.5, np.inf), (2, -np.inf), (np.nan, 0), (1, np.nan), (np.nan, 2), (0, -1)]))
    cases.add("pow_edges", "pow", [x, y], [np.power(x.astype(F64), y.astype(F64)).astype(F32)], within=(0, 1e-5))


def numeric(dtype):
    return np.dtype(I64) if is_bool(dtype) else np.dtype(dtype)


def divided(dtype):
    return np.dtype(dtype) if is_float(dtype) else np.dtype(F32)


# Function, and the dtype that it is computed in, of the dtype in which its operands meet.
ARITHMETIC = {"add": (np.add, numeric), "subtract": (np.subtract, numeric), "multiply": (np.multiply, numeric),
              "divide": (np.divide, divided), "modulo": (np.mod, numeric), "minimum": (np.minimum, numeric),
              "maximum": (np.maximum, numeric), "floor_divide": (np.floor_divide, numeric), "mod": (np.mod, numeric)}
COMPARISONS = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
               "greater": np.greater, "greater_equal": np.greater_equal}
BITS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
SHIFTS = {"shift_left": np.left_shift, "shift_right": np.right_shift}


def computed(name, a, b):
    function, computed_in = ARITHMETIC[name]
    dtype = computed_in(promoted(a.dtype, b.dtype))
    return function(a.astype(dtype), b.astype(dtype))


def without_zeros(x):
    return np.where(x == 0, np.ones_like(x), x)


def operators(cases):
    for name in ARITHMETIC:
        for dtype in (F32, F64, F16, I32, I64, U8, BOOL):
            a, b = numbers(name + "a", dtype, 4, 6, low=-9, high=9), numbers(name + "b", dtype, 4, 6, low=-9, high=9)
            b = without_zeros(b) if name in ("divide", "modulo", "floor_divide", "mod") else b
            cases.add(f"{name}_{name_of(dtype)}", name, [a, b], [computed(name, a, b)])
    for name, function in COMPARISONS.items():
        for dtype in (F32, F64, F16, I32, I64, U8, BOOL):
            a, b = (np.round(numbers(name + each, F32, 5, 4, low=0, high=3)).astype(dtype) for each in "ab")
            cases.add(f"{name}_{name_of(dtype)}", name, [a, b], [function(a, b)])
    for name, function in BITS.items():
        for dtype in (BOOL, I32, I64, U8, I8, U32):
            a, b = numbers(name + "a", dtype, 9, low=-99, high=99), numbers(name + "b", dtype, 9, low=-99, high=99)
            cases.add(f"{name}_{name_of(dtype)}", name, [a, b], [function(a, b)])
    for name, function in SHIFTS.items():
        for dtype in (I32, I64, U8, U32, I16):
            a, b = numbers(name + "a", dtype, 9, low=-99, high=99), numbers(name + "b", dtype, 9, low=0, high=6)
            cases.add(f"{name}_{name_of(dtype)}", name, [a, b], [function(a, b)])
    for dtype in (F32, F64, F16):
        a, b = numbers("pow", dtype, 8, low=0.1, high=3), numbers("exponent", dtype, 8, low=-3, high=3)
        cases.add(f"pow_{name_of(dtype)}", "pow", [a, b], [np.power(a.astype(F64), b.astype(F64)).astype(dtype)])
    for dtype in (I32, I64, U8):
        a, b = numbers("pow", dtype, 8, low=-3, high=3), numbers("exponent", dtype, 8, low=0, high=5)
        cases.add(f"pow_{name_of(dtype)}", "pow", [a, b], [np.power(a, b)])


def integer_corners(cases):
    """Signs of quotients and remainders, division by zero (NumPy's is 0), numbers that wrap, numbers beyond 2^53."""
    a, b = (np.array(each) for each in zip(*[(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3), (0, 5), (5, 0), (-5, 0), (0, 0)]))
    for dtype in (I32, I64, I8):
        with np.errstate(all="ignore"):
            for name in ("floor_divide", "mod"):
                cases.add(f"{name}_signs_{name_of(dtype)}", name, [a.astype(dtype), b.astype(dtype)],
                          [computed(name, a.astype(dtype), b.astype(dtype))])
    for dtype in (I32, I64, U8, I8, U32):
        limits = np.iinfo(dtype)
        x = np.array([limits.max, limits.min, limits.max, limits.min, 1], dtype)
        y = np.array([1, 1, limits.max, limits.max, 2], dtype)
        for name in ("add", "subtract", "multiply"):
            cases.add(f"{name}_wraps_{name_of(dtype)}", name, [x, y], [computed(name, x, y)])
    big = np.array([2**53 + 1, 2**62 + 3, -(2**53) - 1, 2**63 - 1], I64)
    other = np.array([2**53, 2**62 + 2, -(2**53), 2**63 - 2], I64)
    for name in ("subtract", "floor_divide", "mod", "minimum", "maximum"):
        cases.add(f"{name}_big_i64", name, [big, other], [computed(name, big, other)])
    for name in ("equal", "less", "greater_equal"):
        cases.add(f"{name}_big_i64", name, [big, other], [COMPARISONS[name](big, other)])
    huge = np.array([2**63 + 5, 2**64 - 1, 3], U64)
    cases.add("less_u64", "less", [huge, huge[::-1].copy()], [huge < huge[::-1]])
    cases.add("floor_divide_u64", "floor_divide", [huge, np.array([2, 3, 2], U64)], [huge // np.array([2, 3, 2], U64)])
    cases.add("shift_right_u64", "shift_right", [huge, np.array([1, 60, 1], U64)], [huge >> np.array([1, 60, 1], U64)])
    cases.add("add_integer_beyond_2_53_u64", "add_integer", [huge], [huge + U64(2**62 + 1)], lists=[[2**62 + 1]])
    cases.add("add_integer_beyond_2_53_i64", "add_integer", [big], [big + I64(2**53 + 1)], lists=[[2**53 + 1]])
    cases.add("subtract_integer_beyond_2_53_i64", "subtract_integer", [big], [big - I64(-(2**53) - 1)], lists=[[-(2**53) - 1]])
    f, g = (np.array(each, F32) for each in zip(*[(7.5, 2), (-7.5, 2), (7.5, -2), (-7.5, -2), (0.5, 0.25), (-1e-8, 3)]))
    for name in ("floor_divide", "mod", "modulo"):
        cases.add(f"{name}_signs_f32", name, [f, g], [computed(name, f, g)])


PAIRS = [(BOOL, U8), (BOOL, I32), (BOOL, I64), (BOOL, F16), (BOOL, F32), (U8, I8), (U8, I16), (U8, I32), (U8, I64), (U8, F16),
         (U8, F32), (U8, U32), (I8, I16), (I8, I32), (I8, U16), (I16, F16), (I32, I64), (I32, U32), (I32, F16), (I32, F32),
         (I32, F64), (I64, F16), (I64, F32), (I64, F64), (U32, I64), (U64, I64), (U64, U8), (F16, F32), (F16, F64), (F32, F64)]


def meetings(cases):
    """Operands of different dtypes, in both orders."""
    for first, second in PAIRS:
        for a, b in ((first, second), (second, first)):
            x, y = numbers("meet_a", a, 2, 3, low=-9, high=9), numbers("meet_b", b, 2, 3, low=-9, high=9)
            cases.add(f"add_{name_of(a)}_{name_of(b)}", "add", [x, y], [computed("add", x, y)])
    for a, b in ((I32, F32), (BOOL, I32), (F16, F32), (U8, I8)):
        x, y = numbers("meet_a", a, 5, low=-9, high=9), without_zeros(numbers("meet_b", b, 5, low=-9, high=9))
        for name in ("multiply", "divide", "maximum", "modulo"):
            cases.add(f"{name}_{name_of(a)}_{name_of(b)}", name, [x, y], [computed(name, x, y)])
        meet = promoted(a, b)
        for name in ("less", "equal"):
            cases.add(f"{name}_{name_of(a)}_{name_of(b)}", name, [x, y], [COMPARISONS[name](x.astype(meet), y.astype(meet))])
    for a, b in ((BOOL, I32), (U8, I32), (I32, I64)):
        x, y = numbers("meet_a", a, 5, low=0, high=9), numbers("meet_b", b, 5, low=0, high=9)
        for name, function in BITS.items():
            cases.add(f"{name}_{name_of(a)}_{name_of(b)}", name, [x, y], [function(x, y)])


def with_numbers(cases):
    """A number takes the dtype of the tensor; a fraction makes f32 of integers, an integer i64 of bools."""
    functions = {**{name: None for name in ("add", "subtract", "multiply", "divide", "modulo")}, **COMPARISONS}
    for name, comparison in functions.items():
        for dtype in (F32, F16, F64, I32, I64, U8, BOOL):
            x = without_zeros(numbers(name, dtype, 2, 4, low=-5, high=5))
            for kind, value in (("integer", 3), ("number", 2.5)):
                is_whole = kind == "integer"
                meet = np.dtype(dtype) if is_float(dtype) else np.dtype(F32) if not is_whole else numeric(dtype)
                given = {"lists": [[value]]} if is_whole else {"number": [value]}
                if name in ("not_equal", "less_equal", "greater") and dtype in (F64, I64, U8):
                    continue
                y = np.asarray(value, meet)
                for op, a, b in ((f"{name}_{kind}", x.astype(meet), y), (f"{kind}_{name}", y, x.astype(meet))):
                    result = comparison(a, b) if comparison else computed(name, a, b)
                    cases.add(f"{op}_{name_of(dtype)}", op, [x], [result], **given)
    for name, function in {**BITS, **SHIFTS}.items():
        for dtype in (I32, U8):
            x = numbers(name, dtype, 6, low=0, high=5)
            cases.add(f"{name}_integer_{name_of(dtype)}", f"{name}_integer", [x], [function(x, dtype(3))], lists=[[3]])
            cases.add(f"integer_{name}_{name_of(dtype)}", f"integer_{name}", [x], [function(dtype(3), x)], lists=[[3]])
    x = numbers("pow", F32, 6, low=0.5, high=3)
    for exponent in (0, 1, 2, 3, -1, -2):
        cases.add(f"pow_integer_{exponent}", "pow_integer", [x], [np.power(x.astype(F64), exponent).astype(F32)], lists=[[exponent]])
    for exponent in (0.5, -0.5, 1.5, 0.0):
        cases.add(f"pow_number_{exponent}", "pow_number", [x], [np.power(x.astype(F64), exponent).astype(F32)], number=[exponent])
    i = numbers("with", I32, 6)
    for name in ("minimum", "maximum", "floor_divide", "mod"):
        cases.add(f"{name}_integer_i32", f"{name}_integer", [i], [computed(name, i, np.int32(2))], lists=[[2]])
        cases.add(f"{name}_number_f32", f"{name}_number", [x], [computed(name, x, np.float32(1.25))], number=[1.25])
        cases.add(f"{name}_number_i32", f"{name}_number", [i], [computed(name, i.astype(F32), np.float32(1.25))], number=[1.25])


def numbers_outside(cases):
    """Integers that the dtype does not hold: all can be compared, as bounds they are none."""
    for dtype, values in ((U8, (256, -1, 255)), (I32, (2**31, -(2**31) - 1)), (I8, (128, -129)), (U64, (-1,))):
        limits = np.iinfo(dtype)
        x = np.array([limits.min, 1, limits.max], dtype)
        for value in values:
            for name, function in COMPARISONS.items():
                given = {"lists": [[value]]}
                cases.add(f"{name}_{value}_{name_of(dtype)}", f"{name}_integer", [x], [function(x, value)], **given)
    x = np.array([0, 100, 255], U8)
    for low, high in ((-1, 300), (3, 300), (-5, 200)):
        cases.add(f"clamp_{low}_{high}_u8", "clamp_integer", [x], [np.clip(x, low, high)], lists=[[low, high]])


SHAPES = [((3, 4), (4,)), ((3, 4), (3, 1)), ((3, 1), (1, 4)), ((5,), ()), ((), ()), ((), (2, 3)), ((2, 1, 4), (3, 1)),
          ((2, 3, 4, 5), (4, 1)), ((1,), (1, 1)), ((0,), (0,)), ((0, 3), (3,)), ((2, 0), (2, 1)), ((1, 3), (0, 3)), ((0,), ()),
          ((1, 1, 1), (5,)), ((6, 1, 2), (1, 3, 2))]


def broadcasting(cases):
    for i, (first, second) in enumerate(SHAPES):
        for name, dtype in (("add", F32), ("less", I32), ("multiply", F16), ("maximum", I64)):
            a, b = numbers(f"a{i}", dtype, *first), numbers(f"b{i}", dtype, *second)
            result = computed(name, a, b) if name in ARITHMETIC else COMPARISONS[name](a, b)
            said = "_".join("x".join(map(str, shape)) or "scalar" for shape in (first, second))
            cases.add(f"{name}_of_{said}_{i}", name, [a, b], [result])


def choices(cases):
    condition = numbers("where", BOOL, 3, 4)
    for dtype in (F32, F64, F16, I32, I64, U8, BOOL):
        a, b = numbers("then", dtype, 3, 4), numbers("else", dtype, 3, 4)
        cases.add(f"where_{name_of(dtype)}", "where", [condition, a, b], [np.where(condition, a, b)])
    for a, b in ((F32, I32), (I32, I64), (BOOL, U8), (F16, F32)):
        x, y = numbers("then", a, 4), numbers("else", b, 3, 1)
        cases.add(f"where_{name_of(a)}_{name_of(b)}", "where", [condition, x, y], [np.where(condition, x, y).astype(promoted(a, b))])
    row, x = condition[0], numbers("then", F32, 3, 4)
    cases.add("where_broadcast", "where", [condition[:, :1], x, row.astype(F32)], [np.where(condition[:, :1], x, row.astype(F32))])
    for dtype in (F32, I32):
        y = numbers("then", dtype, 3, 4)
        cases.add(f"where_integer_{name_of(dtype)}", "where_integer", [condition, y], [np.where(condition, y, dtype(7))], lists=[[7]])
        cases.add(f"integer_where_{name_of(dtype)}", "integer_where", [condition, y], [np.where(condition, dtype(7), y)], lists=[[7]])
    cases.add("where_number_f32", "where_number", [condition, x], [np.where(condition, x, F32(-np.inf))], number=[-np.inf])
    cases.add("number_where_i32", "number_where", [condition, y], [np.where(condition, F32(0.5), y.astype(F32))], number=[0.5])
    for slope in (0.01, 0.2):
        cases.add(f"leaky_relu_{slope}", "leaky_relu", [x], [np.where(x < 0, x * F32(slope), x)], number=[slope])
    for alpha in (1.0, 0.5):
        cases.add(f"elu_{alpha}", "elu", [x], [np.where(x < 0, alpha * np.expm1(x.astype(F64)), x).astype(F32)], number=[alpha])
    cases.add("clamp_f32", "clamp", [x], [np.clip(x, F32(-1), F32(1.5))], number=[-1, 1.5])
    cases.add("clamp_i32", "clamp_integer", [y], [np.clip(y, -1, 2)], lists=[[-1, 2]])
    cases.add("clamp_low_f32", "clamp_low", [x], [np.maximum(x, F32(0.5))], number=[0.5])
    cases.add("clamp_high_f32", "clamp_high", [x], [np.minimum(x, F32(0.5))], number=[0.5])
    with_nan = np.array([np.nan, -3, 3, 0.25], F32)
    cases.add("clamp_nan", "clamp", [with_nan], [np.clip(with_nan, F32(-1), F32(1))], number=[-1, 1])


def casts(cases):
    dtypes = (F32, F64, F16, I32, I64, U8, BOOL, I8, U16)
    for a in dtypes:
        x = numbers("cast", a, 2, 5, low=0, high=100) if a != F32 else np.array([[0, 0.5, 1.99, 2.5, 99.9]] * 2, F32)
        for b in dtypes:
            if a != b:
                cases.add(f"cast_{name_of(a)}_{name_of(b)}", "cast", [x], [x.astype(b)], dtype=b)
    negative = np.array([-1.9, -0.5, -100.4, 100.9], F32)
    for b in (I32, I64, I8, F16, F64, BOOL):
        cases.add(f"cast_negative_{name_of(b)}", "cast", [negative], [negative.astype(b)], dtype=b)
    wide = np.array([300, -1, 2**40 + 7, -(2**33)], I64)
    for b in (U8, I8, I16, I32, U32, BOOL):
        cases.add(f"cast_low_bits_{name_of(b)}", "cast", [wide], [wide.astype(b)], dtype=b)
    far = np.array([1e6, -1e6, 65504, 65520, 1e-8, np.nan, np.inf], F32)
    cases.add("cast_far_f16", "cast", [far], [far.astype(F16)], dtype=F16)
    cases.add("cast_odd_bool", "cast", [far], [far.astype(BOOL)], dtype=BOOL)
    x = numbers("bits", F32, 6)
    cases.add("bit_cast_f32_i32", "bit_cast", [x], [x.view(I32)], dtype=I32)
    cases.add("bit_cast_i32_f32", "bit_cast", [x.view(I32)], [x], dtype=F32, within=(0, 0))
    cases.add("bit_cast_f64_i64", "bit_cast", [x.astype(F64)], [x.astype(F64).view(I64)], dtype=I64)
    cases.add("bit_cast_u8_i8", "bit_cast", [np.array([0, 127, 128, 255], U8)], [np.array([0, 127, -128, -1], I8)], dtype=I8)
    cases.add("bit_cast_f16_u16", "bit_cast", [x.astype(F16)], [x.astype(F16).view(U16)], dtype=U16)


def brain_floats(cases):
    """bf16, where ml_dtypes is there to write it."""
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        return
    a, b = numbers("bf_a", F32, 3, 5).astype(bfloat16), numbers("bf_b", F32, 3, 5, low=1).astype(bfloat16)
    wide_a, wide_b = a.astype(F32), b.astype(F32)
    for name in ("add", "subtract", "multiply", "divide", "maximum"):
        cases.add(f"{name}_bf16", name, [a, b], [computed(name, wide_a, wide_b).astype(bfloat16)])
    for name in ("exp", "tanh", "gelu", "sigmoid"):
        cases.add(f"{name}_bf16", name, [a], [function_of(name)(a.astype(F64)).astype(bfloat16)])
    cases.add("add_f16_bf16", "add", [wide_a.astype(F16), b], [wide_a.astype(F16).astype(F32) + wide_b])
    cases.add("add_bf16_f32", "add", [a, wide_b], [wide_a + wide_b])
    cases.add("add_bf16_i32", "add", [a, wide_b.astype(I32)], [(wide_a + wide_b.astype(I32)).astype(bfloat16)])
    cases.add("cast_f32_bf16", "cast", [wide_a * F32(1.01)], [(wide_a * F32(1.01)).astype(bfloat16)], dtype=bfloat16, within=(0, 0))
    cases.add("cast_bf16_f32", "cast", [a], [wide_a], dtype=F32)
    cases.add("sum_bf16", "sum", [a], [wide_a.sum(1).astype(bfloat16)], lists=[[1], [0]])
    cases.add("matmul_bf16", "matmul", [a, b.T.copy()], [(wide_a @ wide_b.T).astype(bfloat16)], within=(2e-2, 1e-2))


def expressions(cases):
    x, y = numbers("written", F32, 3, 7), numbers("other", F32, 4)
    exact = x.astype(F64)
    cases.add("quadratic", "quadratic", [x], [(exact * exact * 0.5 - 3 * exact + 1).astype(F32)], within=(1e-5, 1e-5))
    normal = (exact - exact.mean(-1, keepdims=True)) / (exact.std(-1, keepdims=True) + 1e-3)
    cases.add("normalize", "normalize", [x], [normal.astype(F32)], within=(1e-5, 1e-5))
    cases.add("outer_difference", "outer_difference", [x[0], y], [x[0][:, None] - y[None, :]])
    cases.add("select_positive", "select_positive", [x], [np.where((x > 0) & (x < 1.5), x, -x)])


def write(cases):
    for group in (functions, edges, operators, integer_corners, meetings, with_numbers, numbers_outside, broadcasting, choices, casts,
                  brain_floats, expressions):
        group(cases)
