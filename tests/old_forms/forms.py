"""Inputs and attributes for every version of every operator that changed: the table itself.

A function under ``@forms("Name", ...)`` gets the schema of one version and gives the nodes to
try. What a version lacks is asked of its schema, so that one function serves all of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper

Schema = onnx.defs.OpSchema


@dataclass(frozen=True)
class Form:
    """One node: inputs (None where omitted), attributes, number of outputs.

    ``expected`` holds what the standard's text says, for versions that nobody else runs;
    ``random`` means that only shapes and dtypes are fixed. ``disputed`` says where ONNX Runtime
    departs from the standard's text, which then judges alone.
    """

    inputs: tuple[Any, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    outputs: int = 1
    expected: tuple[Any, ...] | None = None
    random: bool = False
    tolerance: float = 1e-5
    disputed: str = ""


Maker = Callable[[Schema], Iterable[Form]]

FORMS: dict[str, Maker] = {}


def forms(*names: str) -> Callable[[Maker], Maker]:
    """Enter a maker for node types."""

    def enter(maker: Maker) -> Maker:
        for name in names:
            assert name not in FORMS, name
            FORMS[name] = maker
        return maker

    return enter


def normal(*shape: int, dtype: Any = np.float32, seed: Any = 0) -> np.ndarray:
    """Seeded numbers around zero."""
    state = np.random.RandomState(zlib.crc32(repr((shape, seed)).encode()))
    return np.asarray(state.randn(*shape)).astype(dtype)


def positive(*shape: int, dtype: Any = np.float32, seed: Any = 0) -> np.ndarray:
    """Seeded numbers of at least a half."""
    return (np.abs(normal(*shape, dtype=np.float64, seed=seed)) + 0.5).astype(dtype)


def ints(*values: Any, dtype: Any = np.int64) -> np.ndarray:
    """An array of integers, given as a list or one by one."""
    return np.array(
        values[0] if len(values) == 1 and isinstance(values[0], list) else values, dtype
    )


def has(schema: Schema, attribute: str) -> bool:
    """Whether this version has the attribute."""
    return attribute in schema.attributes


def admits(schema: Schema, kind: str, place: int = 0) -> bool:
    """Whether this version takes ``tensor(kind)`` at an input."""
    return f"tensor({kind})" in schema.inputs[place].types


def _names(*lines: str) -> list[str]:
    return [name for line in lines for name in line.split()]


# -- element by element ----------------------------------------------------------------------

_RANGES = {
    **dict.fromkeys(["Log", "Sqrt"], lambda x: np.abs(x) + 0.1),
    **dict.fromkeys(["Asin", "Acos", "Atanh"], lambda x: np.tanh(x) * 0.9),
    "Acosh": lambda x: np.abs(x) + 1.1,
}


@forms(
    *_names(
        "Mish Celu IsNaN Log Sign Ceil Tan Neg Abs Softplus Floor Sigmoid Round Exp LeakyRelu",
        "HardSwish Asin Softsign Reciprocal Relu Elu Selu HardSigmoid Sqrt Tanh",
        "ThresholdedRelu Acos Atan Cos Sin Sinh Asinh Acosh Cosh Atanh Erf Identity NonZero",
    )
)
def unary(schema: Schema) -> Iterable[Form]:
    x = normal(3, 4, seed=schema.name) * 2
    x = _RANGES.get(schema.name, lambda x: x)(x).astype(np.float32)
    if schema.name == "Selu" and schema.since_version == 1:  # its constants were rounded
        y = np.where(x > 0, 1.0507 * x, 1.0507 * (1.6732 * np.exp(x) - 1.6732))
        yield Form((x,), expected=(y,))
        return
    yield Form((x,))
    if has(schema, "alpha"):
        yield Form((x,), {"alpha": 0.3})
    if has(schema, "gamma"):
        yield Form((x,), {"alpha": 0.3, "gamma": 1.5})
    for kind in ("double", "int64", "int32", "int8", "bool"):
        if admits(schema, kind):
            yield Form((x.astype({"double": "f8"}.get(kind, kind)),))


_LOGIC = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}
_BINARY: dict[str, Callable[..., np.ndarray]] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power,
    "Equal": np.equal, "Less": np.less, "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal, "LessOrEqual": np.less_equal, **_LOGIC,
}  # fmt: skip


@forms(*_BINARY)
def binary(schema: Schema) -> Iterable[Form]:
    function = _BINARY[schema.name]
    kind = "bool" if schema.name in _LOGIC else "float32"
    if kind == "float32" and not admits(schema, "float"):
        kind = "int32"

    def draw(*shape: int, seed: int) -> np.ndarray:
        if schema.name in ("Pow", "Div"):
            return positive(*shape, seed=seed)
        return np.round(normal(*shape, seed=seed) * 2).astype(kind)

    a, b = draw(2, 3, 4, seed=1), draw(2, 3, 4, seed=2)
    yield Form((a, b), expected=(function(a, b),))
    row, middle = draw(4, seed=3), draw(3, seed=4)
    if has(schema, "broadcast"):
        yield Form((a, row), {"broadcast": 1}, expected=(function(a, row),))
        wanted = function(a, middle[:, None])
        yield Form((a, middle), {"broadcast": 1, "axis": 1}, expected=(wanted,))
    else:
        yield Form((a, row), expected=(function(a, row),))
        yield Form((a[:, :1], middle[:, None]), expected=(function(a[:, :1], middle[:, None]),))
    for other in ("int64", "int32", "double", "uint8"):
        if admits(schema, other) and kind == "float32":
            dtype = {"double": "f8"}.get(other, other)
            left = (np.abs(a) + 1).astype(dtype)
            right = np.ones(4, dtype) + 1
            if not has(schema, "broadcast"):
                yield Form((left, right))
    if schema.name == "Pow" and admits(schema, "int32", 1):
        yield Form((a, ints([2, 1, 3, 0], dtype=np.int32)))
    if schema.name == "Equal" and admits(schema, "string"):
        words = np.array(["a", "b"], object)
        yield Form((words, words[::-1].copy()))


@forms("Mod")
def mod(schema: Schema) -> Iterable[Form]:
    yield Form((ints(7, -7, 5, -5), ints(3, 3, -3, -3)))
    yield Form((ints(7, -7, 5, -5), ints(3, 3, -3, -3)), {"fmod": 1})
    yield Form((normal(3, 4) * 5, positive(4)), {"fmod": 1})


@forms("BitShift")
def bit_shift(schema: Schema) -> Iterable[Form]:
    for direction in ("LEFT", "RIGHT"):
        yield Form(
            (ints(1, 7, 200, dtype=np.uint8), ints(1, 2, 3, dtype=np.uint8)),
            {"direction": direction},
        )
        yield Form(
            (ints(1, 7, 200, dtype=np.uint64), ints(1, 2, 3, dtype=np.uint64)),
            {"direction": direction},
        )


@forms("PRelu")
def prelu(schema: Schema) -> Iterable[Form]:
    x, slope = normal(2, 3, 4), positive(3)
    wanted = np.where(x < 0, x * slope[:, None], x)
    if schema.since_version < 7:
        yield Form((x, slope), expected=(wanted,))
    else:
        yield Form((x, slope[:, None]), expected=(wanted,))
    yield Form((x, slope[:1]))


@forms("Max", "Min", "Sum", "Mean")
def variadic(schema: Schema) -> Iterable[Form]:
    function = {"Max": np.max, "Min": np.min, "Sum": np.sum, "Mean": np.mean}[schema.name]
    three = tuple(normal(3, 4, seed=k) for k in range(3))
    yield Form(three, expected=(function(np.stack(three), axis=0),))
    yield Form(three[:1], expected=three[:1])
    if schema.since_version >= 8:
        yield Form((three[0], three[1][:1], normal(4)))
    if admits(schema, "int64"):
        yield Form((ints(1, 5), ints(3, 2)))


@forms("Where")
def where(schema: Schema) -> Iterable[Form]:
    yield Form((normal(3, 1) > 0, normal(3, 4), normal(4)))
    yield Form((normal(3) > 0, ints(1, 2, 3), ints(4, 5, 6)))


@forms("Clip")
def clip(schema: Schema) -> Iterable[Form]:
    x = normal(3, 4)
    if has(schema, "min"):
        yield Form((x,), {"min": -0.5, "max": 0.5}, expected=(np.clip(x, -0.5, 0.5),))
        yield Form((x,), {"max": 0.5}, expected=(np.minimum(x, 0.5),))
        yield Form((x,), expected=(x,))
        return
    low, high = np.float32(-0.5), np.float32(0.5)
    yield Form((x, np.array(low), np.array(high)))
    yield Form((x, None, np.array(high)))
    yield Form((x,))
    yield Form((x, np.array(high), np.array(low)))
    if admits(schema, "int64"):
        yield Form((ints(1, 5, 9), np.array(2), np.array(6)))


@forms("IsInf")
def is_inf(schema: Schema) -> Iterable[Form]:
    x = np.array([1, np.inf, -np.inf, np.nan], np.float32)
    for signs in ({}, {"detect_negative": 0}, {"detect_positive": 0}):
        yield Form((x,), signs)


@forms("Cast")
def cast(schema: Schema) -> Iterable[Form]:
    x = np.array([[0.0, 1.5, -2.5], [100.25, -7, 3]], np.float32)
    kinds = ["FLOAT", "DOUBLE", "INT64", "INT32", "INT8", "BOOL", "FLOAT16"]
    if schema.since_version >= 9:
        kinds.append("STRING")
        yield Form((np.array(["1.5", "-3"], object),), {"to": onnx.TensorProto.FLOAT})
    wanted = {"FLOAT": "f4", "DOUBLE": "f8", "INT64": "i8", "INT32": "i4", "BOOL": "?"}
    for kind in kinds:
        to: Any = kind if schema.since_version == 1 else getattr(onnx.TensorProto, kind)
        expected = (x.astype(wanted[kind]),) if kind in wanted else None
        if schema.since_version > 1 or expected is not None:
            yield Form((x,), {"to": to}, expected=expected)
    if has(schema, "saturate"):
        big = np.array([1.0, 1e6, -1e6], np.float32)
        for saturate in (0, 1):
            kind = onnx.TensorProto.FLOAT8E4M3FN
            yield Form((big,), {"to": kind, "saturate": saturate})


@forms("CastLike")
def cast_like(schema: Schema) -> Iterable[Form]:
    yield Form((normal(3, 4) * 3, ints(1)))
    yield Form((ints(1, 2), normal(2, dtype=np.float64)))


# -- reductions, softmax, normalisations -----------------------------------------------------


@forms(
    *_names(
        "ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMean",
        "ReduceSum ReduceSumSquare ReduceProd",
    )
)
def reduce(schema: Schema) -> Iterable[Form]:
    x = positive(2, 3, 4)
    whole = "Log" not in schema.name  # the exponential of an integer was never settled
    listed = [None, [1], [0, 2]] + ([[-1]] if schema.since_version >= 11 else [])
    dtypes = (
        ["f4"] + ["f8"] * admits(schema, "double") + ["i4"] * (whole and admits(schema, "int32"))
    )
    for dtype in dtypes:
        array = x.astype(dtype) if dtype != "i4" else (x + 1).astype(dtype)
        for axes in listed:
            for keep in (0, 1):
                if has(schema, "axes"):
                    chosen = {} if axes is None else {"axes": axes}
                    yield Form((array,), {**chosen, "keepdims": keep})
                else:
                    inputs = (array,) if axes is None else (array, ints(axes))
                    yield Form(inputs, {"keepdims": keep})
    if has(schema, "noop_with_empty_axes"):
        yield Form((x,), {"noop_with_empty_axes": 0})
    if schema.name in ("ReduceMax", "ReduceMin") and admits(schema, "bool"):
        yield Form((normal(2, 3) > 0, ints(1)))


@forms("ArgMax", "ArgMin")
def arg_reduce(schema: Schema) -> Iterable[Form]:
    x = np.round(normal(3, 4, 2))
    for axis in (0, 1, 2) + ((-1,) if schema.since_version >= 11 else ()):
        yield Form((x,), {"axis": axis})
        yield Form((x,), {"axis": axis, "keepdims": 0})
        if has(schema, "select_last_index"):
            yield Form((x,), {"axis": axis, "select_last_index": 1})


@forms("Softmax", "LogSoftmax", "Hardmax")
def softmax(schema: Schema) -> Iterable[Form]:
    x = normal(2, 3, 4)
    yield Form((x,))
    for axis in (0, 1, 2) + ((-1, -2) if schema.since_version >= 11 else ()):
        yield Form((x,), {"axis": axis})
    yield Form((normal(3, 5),))


@forms("BatchNormalization")
def batch_normalization(schema: Schema) -> Iterable[Form]:
    x = normal(2, 3, 4, 5)
    scale, bias, mean, var = normal(3, seed=1), normal(3, seed=2), normal(3, seed=3), positive(3)

    def wanted(eps: float) -> tuple[np.ndarray]:
        along = [a[:, None, None] for a in (scale, bias, mean, var)]
        return (along[0] * (x - along[2]) / np.sqrt(along[3] + np.float32(eps)) + along[1],)

    old: dict[str, Any] = {"is_test": 1} if has(schema, "is_test") else {}
    if schema.since_version == 1:
        old["consumed_inputs"] = [0, 0, 0, 1, 1]
    yield Form((x, scale, bias, mean, var), old, expected=wanted(1e-5))
    yield Form((x, scale, bias, mean, var), {**old, "epsilon": 0.01}, expected=wanted(0.01))
    if has(schema, "spatial"):
        many = tuple(normal(3, 4, 5, seed=k) for k in range(3))
        spread = positive(3, 4, 5)
        y = many[0] * (x - many[2]) / np.sqrt(spread + np.float32(1e-5)) + many[1]
        yield Form((x, *many, spread), {**old, "spatial": 0}, expected=(y,))
    if has(schema, "training_mode"):
        yield Form((x, scale, bias, mean, var), {"training_mode": 1, "momentum": 0.7}, outputs=3)
    if schema.since_version >= 15:
        half = x.astype(np.float16)
        yield Form((half, scale, bias, mean, var), tolerance=2e-3)


@forms("InstanceNormalization")
def instance_normalization(schema: Schema) -> Iterable[Form]:
    x = normal(2, 3, 4, 5)
    scale, bias = normal(3, seed=1), normal(3, seed=2)
    centred = x - x.mean((2, 3), keepdims=True)
    y = centred / np.sqrt(x.var((2, 3), keepdims=True) + np.float32(1e-5))
    y = y * scale[:, None, None] + bias[:, None, None]
    yield Form((x, scale, bias), expected=(y,))
    yield Form((normal(2, 3, 7), scale, bias), {"epsilon": 0.01})


@forms("GroupNormalization")
def group_normalization(schema: Schema) -> Iterable[Form]:
    x = normal(2, 4, 3, 3)
    count = 2 if schema.since_version < 21 else 4
    scale, bias = normal(count, seed=1), normal(count, seed=2)
    per_channel = [np.repeat(a, 4 // count)[:, None, None] for a in (scale, bias)]
    grouped = x.reshape(2, 2, -1)
    flat = grouped - grouped.mean(-1, keepdims=True)
    flat = flat / np.sqrt(grouped.var(-1, keepdims=True) + np.float32(1e-5))
    y = flat.reshape(x.shape) * per_channel[0] + per_channel[1]
    yield Form((x, scale, bias), {"num_groups": 2}, expected=(y,))


@forms("LpNormalization")
def lp_normalization(schema: Schema) -> Iterable[Form]:
    for axis in (0, 1, -1):
        for p in (1, 2):
            yield Form((normal(3, 4),), {"axis": axis, "p": p})


@forms("MeanVarianceNormalization")
def mean_variance_normalization(schema: Schema) -> Iterable[Form]:
    yield Form((normal(2, 3, 4, 5),))
    yield Form((normal(2, 3, 4, 5),), {"axes": [1, 2]})


@forms("LRN")
def lrn(schema: Schema) -> Iterable[Form]:
    yield Form((normal(2, 5, 3, 3),), {"size": 3})
    yield Form((normal(2, 5, 3, 3),), {"size": 5, "alpha": 0.1, "beta": 0.5, "bias": 2.0})


@forms("CumSum")
def cum_sum(schema: Schema) -> Iterable[Form]:
    for flags in ({}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}):
        yield Form((normal(3, 4), np.array(1)), flags)
        yield Form((normal(3, 4, dtype=np.float64), np.array(-2, np.int32)), flags)


@forms("Dropout")
def dropout(schema: Schema) -> Iterable[Form]:
    x = normal(3, 4)
    old: dict[str, Any] = {"is_test": 1} if has(schema, "is_test") else {}
    yield Form((x,), old, expected=(x,))
    if has(schema, "ratio"):
        yield Form((x,), {**old, "ratio": 0.3}, expected=(x,))
    else:
        yield Form((x, np.array(0.3, np.float32)), outputs=2)
        yield Form((x, np.array(0.3, np.float32), np.array(False)), outputs=2)
        yield Form((x, np.array(0.0, np.float32), np.array(True)), outputs=2)


# -- shapes ----------------------------------------------------------------------------------


@forms("Reshape")
def reshape(schema: Schema) -> Iterable[Form]:
    x = normal(2, 3, 4)
    for shape in ([6, 4], [0, -1], [-1]):
        wanted = (x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(shape)]),)
        if has(schema, "shape"):
            yield Form((x,), {"shape": shape}, expected=wanted)
        else:
            yield Form((x, ints(shape)), expected=wanted)
    if has(schema, "allowzero"):
        yield Form((x[:0], ints(0, 5)), {"allowzero": 1})


@forms("Flatten")
def flatten(schema: Schema) -> Iterable[Form]:
    x = normal(2, 3, 4, 5)
    for axis in (0, 1, 3, 4) + ((-1, -3) if schema.since_version >= 11 else ()):
        yield Form((x,), {"axis": axis})
    yield Form((x,))
    if admits(schema, "int64"):
        yield Form((ints(1, 2, 3).reshape(1, 3),))


@forms("Squeeze", "Unsqueeze")
def squeeze(schema: Schema) -> Iterable[Form]:
    x = normal(1, 3, 1, 4) if schema.name == "Squeeze" else normal(3, 4)
    listed = [[0], [0, 2]] + ([[-2], [0, -2]] if schema.since_version >= 11 else [])
    for axes in listed:
        if has(schema, "axes"):
            yield Form((x,), {"axes": axes})
        else:
            yield Form((x, ints(axes)))
    if schema.name == "Squeeze":
        yield Form((x,), expected=(x.squeeze(),))


@forms("Concat")
def concat(schema: Schema) -> Iterable[Form]:
    parts = (normal(2, 3), normal(2, 3, seed=1))
    for axis in (0, 1) + ((-1,) if schema.since_version >= 11 else ()):
        yield Form(parts, {"axis": axis}, expected=(np.concatenate(parts, axis),))
    if schema.since_version == 1:
        yield Form(parts, expected=(np.concatenate(parts, 1),))


@forms("Split")
def split(schema: Schema) -> Iterable[Form]:
    x = normal(6, 4)
    halves = tuple(np.split(x, 2, 0))
    if schema.since_version < 18:
        yield Form((x,), outputs=2, expected=halves)
    else:
        yield Form((x,), {"num_outputs": 2}, outputs=2, expected=halves)
        yield Form((x,), {"num_outputs": 4, "axis": 0}, outputs=4)
    parts = (x[:, :1], x[:, 1:])
    if has(schema, "split"):
        yield Form((x,), {"split": [1, 3], "axis": 1}, outputs=2, expected=parts)
    elif schema.since_version > 1:
        yield Form((x, ints(1, 3)), {"axis": 1}, outputs=2, expected=parts)
        yield Form((x, ints(1, 3)), {"axis": -1}, outputs=2, expected=parts)
    if schema.since_version == 1:
        yield Form((x, ints(1, 3).astype(np.float32)), {"axis": 1}, outputs=2, expected=parts)


@forms("Slice")
def slice_(schema: Schema) -> Iterable[Form]:
    x = normal(5, 6)
    if has(schema, "starts"):
        yield Form((x,), {"starts": [1, 2], "ends": [4, 100]})
        yield Form((x,), {"starts": [-3], "ends": [-1], "axes": [1]})
        yield Form((x,), {"starts": [4], "ends": [2], "axes": [0]})
        return
    yield Form((x, ints(1, 2), ints(4, 100)))
    yield Form((x, ints(-3), ints(-1), ints(1)))
    yield Form((x, ints(0), ints(6), ints(1), ints(2)))
    yield Form((x, ints(-1), ints(-100), ints(1), ints(-2)))
    kind = np.int32
    yield Form((x, ints(1, dtype=kind), ints(4, dtype=kind), ints(0, dtype=kind)))


@forms("Transpose")
def transpose(schema: Schema) -> Iterable[Form]:
    yield Form((normal(2, 3, 4),))
    yield Form((normal(2, 3, 4),), {"perm": [1, 2, 0]})
    yield Form((ints([[1, 2], [3, 4]]),))


@forms("Shape", "Size")
def shape(schema: Schema) -> Iterable[Form]:
    yield Form((normal(2, 3, 4),))
    if has(schema, "start"):
        yield Form((normal(2, 3, 4),), {"start": 1})
        yield Form((normal(2, 3, 4),), {"start": -2, "end": -1})


@forms("Expand")
def expand(schema: Schema) -> Iterable[Form]:
    yield Form((normal(3, 1), ints(2, 3, 4)))
    yield Form((normal(3, 1), ints(1, 4)))


@forms("Tile")
def tile(schema: Schema) -> Iterable[Form]:
    x = normal(2, 3)
    if schema.since_version == 1:
        times, axis = np.array(2, np.float32), np.array(1, np.float32)
        yield Form((x, times, axis), expected=(np.tile(x, (1, 2)),))
    else:
        yield Form((x, ints(2, 3)))


@forms("ConstantOfShape")
def constant_of_shape(schema: Schema) -> Iterable[Form]:
    yield Form((ints(2, 3),))
    yield Form((ints(2, 0),), {"value": helper.make_tensor("v", 7, [1], [5])})
    yield Form((ints([]),), {"value": helper.make_tensor("v", 9, [1], [1])})


@forms("Constant")
def constant(schema: Schema) -> Iterable[Form]:
    yield Form((), {"value": helper.make_tensor("v", 1, [2], [1.5, 2.5])})
    if schema.since_version >= 9:
        yield Form((), {"value": helper.make_tensor("v", 7, [2], [1, 2])})
    if has(schema, "value_float"):
        yield Form((), {"value_float": 1.5})
        yield Form((), {"value_ints": [1, 2]})
        yield Form((), {"value_string": "text"})


@forms("Range")
def range_(schema: Schema) -> Iterable[Form]:
    yield Form((np.array(1), np.array(9), np.array(3)))
    yield Form(tuple(np.array(n, np.float32) for n in (0, 1, 0.3)))
    yield Form((np.array(5), np.array(0), np.array(-2)))


@forms("EyeLike")
def eye_like(schema: Schema) -> Iterable[Form]:
    yield Form((normal(3, 4),))
    yield Form((normal(3, 4),), {"k": 1, "dtype": 7})


@forms("Pad")
def pad(schema: Schema) -> Iterable[Form]:
    x = normal(3, 4)
    modes = ["constant", "reflect", "edge"] + ["wrap"] * (schema.since_version >= 19)
    for mode in modes:
        pads = [1, 0, 2, 1]
        if has(schema, "value"):
            name = "paddings" if has(schema, "paddings") else "pads"
            wanted = {"value": 1.5} if mode == "constant" else {}
            extra = {"constant_values": 1.5} if mode == "constant" else {}
            y = np.pad(x, [(1, 2), (0, 1)], mode, **extra)
            yield Form((x,), {name: pads, "mode": mode, **wanted}, expected=(y,))
        else:
            yield Form((x, ints(pads)), {"mode": mode})
    if has(schema, "value"):
        return
    yield Form((x, ints(1, 0, 2, 1), np.array(1.5, np.float32)))
    yield Form((x, ints(-1, 0, 2, 1)))
    if len(schema.inputs) > 3:
        yield Form((x, ints(1, 2), None, ints(1)))


@forms("DepthToSpace")
def depth_to_space(schema: Schema) -> Iterable[Form]:
    yield Form((normal(1, 8, 2, 3),), {"blocksize": 2})
    if has(schema, "mode"):
        for mode in ("DCR", "CRD"):
            yield Form((normal(1, 8, 2, 3),), {"blocksize": 2, "mode": mode})


@forms("SpaceToDepth")
def space_to_depth(schema: Schema) -> Iterable[Form]:
    yield Form((normal(1, 2, 4, 6),), {"blocksize": 2})


@forms("ReverseSequence")
def reverse_sequence(schema: Schema) -> Iterable[Form]:
    yield Form((normal(4, 3), ints(4, 2, 1)))
    yield Form((normal(3, 4), ints(4, 2, 1)), {"batch_axis": 0, "time_axis": 1})


@forms("Einsum")
def einsum(schema: Schema) -> Iterable[Form]:
    yield Form((normal(2, 3, 4), normal(2, 4, 5)), {"equation": "bij,bjk->bik"})
    yield Form((normal(3, 4),), {"equation": "ij->j"})


# -- looking up ------------------------------------------------------------------------------


@forms("Gather")
def gather(schema: Schema) -> Iterable[Form]:
    yield Form((normal(4, 3), ints([[0, 2], [1, 3]])))
    yield Form((normal(4, 3), ints(2, 0, dtype=np.int32)), {"axis": 1})
    if schema.since_version >= 11:
        yield Form((normal(4, 3), ints(-1, 0)), {"axis": -2})


@forms("GatherElements")
def gather_elements(schema: Schema) -> Iterable[Form]:
    yield Form((normal(3, 3), ints([[0, 1, 2], [2, -1, 0]])))
    yield Form((normal(3, 3), ints([[0, 1], [2, -1], [0, 0]])), {"axis": 1})


@forms("GatherND")
def gather_nd(schema: Schema) -> Iterable[Form]:
    yield Form((normal(2, 3, 4), ints([[0, 1], [1, 2]])))
    if has(schema, "batch_dims"):
        yield Form((normal(2, 3, 4), ints([[1], [2]])), {"batch_dims": 1})


@forms("Scatter", "ScatterElements")
def scatter(schema: Schema) -> Iterable[Form]:
    data, updates = normal(3, 3), normal(2, 3, seed=1)
    index = ints([[0, 1, 2], [2, 0, 1]])
    yield Form((data, index, updates))
    yield Form((data, ints([[1, 2]]), updates[:1, :2]), {"axis": 1})
    if has(schema, "reduction"):
        same = ints([[0, 0, 0], [0, 0, 0]])
        for how in ("add", "mul") + (("min", "max") if schema.since_version >= 18 else ()):
            yield Form((data, same, updates), {"reduction": how})


@forms("ScatterND")
def scatter_nd(schema: Schema) -> Iterable[Form]:
    yield Form((normal(4, 3), ints([[1], [3]]), normal(2, 3, seed=1)))
    if has(schema, "reduction"):
        for how in ("add", "mul") + (("min", "max") if schema.since_version >= 18 else ()):
            yield Form((normal(4, 3), ints([[1], [1]]), normal(2, 3, seed=1)), {"reduction": how})


@forms("OneHot")
def one_hot(schema: Schema) -> Iterable[Form]:
    values = np.array([0.5, 2.0], np.float32)
    yield Form((ints(0, 2, 1), np.array([4]), values))
    yield Form((ints([[0, 2], [1, 3]]), np.array([4]), values), {"axis": 1})
    if schema.since_version >= 11:
        yield Form((ints(0, -2, 1), np.array(4), values), {"axis": -1})


@forms("TopK")
def top_k(schema: Schema) -> Iterable[Form]:
    x = normal(3, 6)
    order = np.argsort(-x, 1, kind="stable")[:, :2]
    wanted = (np.take_along_axis(x, order, 1), order)
    if has(schema, "k"):
        yield Form((x,), {"k": 2}, outputs=2, expected=wanted)
        yield Form((x,), {"k": 2, "axis": 0}, outputs=2)
        return
    yield Form((x, ints(2)), outputs=2, expected=wanted)
    yield Form((x, ints(2)), {"axis": 0}, outputs=2)
    if has(schema, "largest"):
        yield Form((x, ints(3)), {"largest": 0}, outputs=2)
        yield Form((ints([[3, 1, 2]]), ints(2)), {"axis": -1}, outputs=2)


@forms("Compress")
def compress(schema: Schema) -> Iterable[Form]:
    yield Form((normal(3, 4), np.array([True, False, True])), {"axis": 0})
    yield Form((normal(3, 4), np.array([True, False, True, False, True])))
    if schema.since_version >= 11:
        yield Form((normal(3, 4), np.array([True, False, True])), {"axis": -1})


@forms("Unique")
def unique(schema: Schema) -> Iterable[Form]:
    x = ints(3, 1, 3, 2, 1).astype(np.float32)
    yield Form((x,), outputs=4)
    yield Form((x,), {"sorted": 0}, outputs=4)
    yield Form((np.round(normal(4, 2)),), {"axis": 0}, outputs=4)


@forms("NonMaxSuppression")
def non_max_suppression(schema: Schema) -> Iterable[Form]:
    corners = positive(1, 6, 2)
    boxes = np.concatenate([corners, corners + positive(1, 6, 2, seed=1)], -1)
    limits = (ints(3), np.array([0.4], np.float32), np.array([0.1], np.float32))
    yield Form((boxes, np.abs(normal(1, 2, 6)), *limits))
    yield Form((boxes, np.abs(normal(1, 2, 6)), *limits), {"center_point_box": 1})
