"""What exact sessions compute here, as hashes: ``python -m tests.exact.programs`` prints them.

Numbers are made by integer arithmetic, so that no generator's stream decides. ``--write``
renews ``hashes.json``, which every machine has to meet; that is right only where a kernel was
changed on purpose.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from onemodel.session.session import Session

HASHES = Path(__file__).with_name("hashes.json")

OPSET = 23

OPSETS = [
    helper.make_opsetid(domain, version)
    for domain, version in (("", OPSET), ("ai.onnx.ml", 5), ("com.microsoft", 1))
]

ONNX_TYPES = {"float32": 1, "float64": 11, "float16": 10, "int64": 7, "int8": 3}


def numbers(shape: Sequence[int], seed: int = 0, dtype: str = "float32") -> np.ndarray:
    """Values between -1 and 1, from a counter that is mixed (SplitMix64)."""
    with np.errstate(over="ignore"):
        state = np.arange(1, math.prod(shape) + 1, dtype=np.uint64) * np.uint64(
            0x9E3779B97F4A7C15
        ) + np.uint64(seed * 0xD1342543DE82EF95 % 2**64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    state ^= state >> np.uint64(31)
    whole = (state >> np.uint64(40)).astype(np.int64)
    return ((whole - 2**23) / 2.0**23).reshape(shape).astype(dtype)


def wide(shape: Sequence[int], seed: int = 0, dtype: str = "float32") -> np.ndarray:
    """Values whose magnitudes span sixty powers of two."""
    exponent = np.rint(numbers(shape, seed + 99, "float64") * 30).astype(np.int64)
    return np.ldexp(numbers(shape, seed, "float64"), exponent).astype(dtype)


@dataclass(frozen=True)
class Program:
    """One graph with what it is fed."""

    name: str
    model: onnx.ModelProto
    feeds: dict[str, np.ndarray]


def single(
    label: str, op_type: str, inputs: Sequence[np.ndarray | None], outputs: int = 1, **given: Any
) -> Program:
    """One node on its own."""
    arrays = {f"x{i}": array for i, array in enumerate(inputs) if array is not None}
    names = ["" if array is None else f"x{i}" for i, array in enumerate(inputs)]
    node = helper.make_node(op_type, names, [f"y{i}" for i in range(outputs)], **given)
    return Program(f"{op_type} {label}".strip(), _model([node], arrays, outputs), arrays)


def _model(nodes: list[onnx.NodeProto], feeds: dict[str, np.ndarray], outputs: int) -> Any:
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info(name, ONNX_TYPES[array.dtype.name], array.shape)
            for name, array in feeds.items()
        ],
        [helper.make_empty_tensor_value_info(f"y{i}") for i in range(outputs)],
    )
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=10)


UNARY = """
    Abs Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish LeakyRelu Mish Neg
    Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh
"""
BOUNDED = ("Acos", "Asin", "Atanh")
POSITIVE = ("Log", "Acosh")


def functions() -> list[Program]:
    """Every function of one variable, on ordinary, wide and special numbers."""
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 88.0, -88.0, 1e-40, -3e38, 0.5]
    found = []
    for dtype in ("float32", "float64", "float16"):
        ordinary = numbers((997,), 1, "float64") * 9
        with np.errstate(over="ignore"):
            every = np.concatenate([ordinary, special]).astype(dtype)
        for op_type in (*UNARY.split(), *POSITIVE, *BOUNDED, "Asinh", "Atan"):
            if op_type == "Celu" and dtype != "float32":
                continue  # float32 is all that it takes
            x = every
            if op_type in BOUNDED:
                x = every / every.dtype.type(9)
            elif op_type in POSITIVE:
                x = np.abs(every) + every.dtype.type(op_type == "Acosh")
            found.append(single(dtype, op_type, [x]))
    for op_type in ("Exp", "Sin", "Cos", "Tan", "Tanh", "Erf", "Sigmoid", "Log"):
        found.append(single("of a wide range", op_type, [wide((999,), 5)]))
    base = np.ldexp(np.abs(numbers((400,), 6)), np.arange(400) % 13)
    found.append(
        single("of floats", "Pow", [np.abs(numbers((400,), 7)) + base, numbers((400,), 8)])
    )
    return found


def arithmetic() -> list[Program]:
    """Operations that IEEE 754 rounds, and the places where processors choose."""
    a, b = wide((30, 7), 1), wide((30, 7), 2)
    zeros = np.array([0.0, -0.0, 0.0, -0.0], np.float32)
    other = np.array([-0.0, 0.0, 0.0, -0.0], np.float32)
    undefined = np.array([np.inf, -np.inf, np.nan, 0.0], np.float32)
    found = [single("", op_type, [a, b]) for op_type in ("Add", "Sub", "Mul", "Div", "Max", "Min")]
    found += [single("of zeros", op_type, [zeros, other]) for op_type in ("Max", "Min")]
    found.append(single("of infinities", "Sub", [undefined, undefined]))
    found.append(single("by zero", "Div", [zeros, other]))
    found.append(
        single("of integers", "Mod", [(a * 8).astype("int64"), (b * 0 + 5).astype("int64")])
    )
    found.append(
        single("to int64", "Cast", [np.append(undefined, a[0] * 1e10)], to=TensorProto.INT64)
    )
    found.append(single("to float16", "Cast", [a], to=TensorProto.FLOAT16))
    found.append(single("with ties", "TopK", [np.rint(a * 4), np.array([5])], 2))
    return found


def sums() -> list[Program]:
    """Reductions, cumulative sums and everything normalised."""
    x = wide((3, 8, 10, 6), 3)
    axes = np.array([1, 3])
    kinds = ("Sum", "Mean", "L1", "L2", "SumSquare", "LogSumExp", "Prod", "Max", "Min")
    found = [single("", f"Reduce{kind}", [x if kind != "Prod" else x % 2, axes]) for kind in kinds]
    found.append(single("", "ReduceLogSum", [np.abs(x), axes]))
    scale, bias = numbers((6,), 4), numbers((6,), 5)
    channels = [numbers((8,), 6), numbers((8,), 7)]
    found += [
        single("", "CumSum", [x, np.array(2)]),
        single("rows", "Softmax", [numbers((50, 33)) * 20]),
        single("columns", "Softmax", [numbers((50, 33)) * 20], axis=0),
        single("", "LogSoftmax", [numbers((50, 33)) * 20]),
        single("", "LayerNormalization", [x, scale, bias], 3),
        single("", "RMSNormalization", [x, scale]),
        single("", "InstanceNormalization", [x, *channels]),
        single("", "GroupNormalization", [x, *channels], num_groups=2),
        single("", "BatchNormalization", [x, *channels, channels[1], np.abs(channels[0])]),
        single("training", "BatchNormalization",
               [x, *channels, channels[1], np.abs(channels[0])], 3, training_mode=1),
        single("", "MeanVarianceNormalization", [x]),
        single("", "LpNormalization", [x]),
        single("", "LRN", [x], size=3),
        single("", "GlobalAveragePool", [x]),
        single("", "AveragePool", [x], kernel_shape=[3, 2], strides=[2, 1]),
        single("", "MaxPool", [x], kernel_shape=[3, 2]),
        single("", "LpPool", [x], kernel_shape=[2, 2], p=3),
    ]  # fmt: skip
    return found


def products() -> list[Program]:
    """Matrix products and all that is made of them."""
    cancelling = numbers((20, 600), 1)
    cancelling[:, 300:] = -cancelling[:, :300]
    beside = numbers((600, 20), 2)
    beside[300:] = beside[:300] * np.float32(1 + 2.0**-22)
    found = [single("that cancels", "MatMul", [cancelling, beside])]
    for shape in ((3, 5, 4), (64, 300, 70), (1, 2000, 9), (33, 1, 33)):
        m, k, n = shape
        for make in (numbers, wide):
            label = f"{shape} {make.__name__}"
            found.append(single(label, "MatMul", [make((m, k), 1), make((k, n), 2)]))
    for dtype in ("float64", "float16"):
        pair = [numbers((9, 40), 1, dtype), numbers((40, 7), 2, dtype)]
        found.append(single(dtype, "MatMul", pair))
    x, w = wide((2, 6, 11, 9), 1), wide((8, 6, 3, 3), 2)
    row = numbers((2, 7, 5), 3)
    lstm = [numbers((2, 16, 5), 1), numbers((2, 16, 4), 2), numbers((2, 32), 3)]
    gru = [numbers((1, 12, 5), 1), numbers((1, 12, 4), 2), numbers((1, 24), 3)]
    scales = np.array([1, 1, 1.7, 0.6], np.float32)
    found += [
        single("batched", "MatMul", [numbers((4, 1, 6, 5), 1), numbers((3, 5, 2), 2)]),
        single("", "Gemm", [wide((6, 9), 1), wide((4, 9), 2), wide((4,), 3)], transB=1, alpha=0.3),
        single("", "Conv", [x, w, numbers((8,), 3)], pads=[1, 1, 1, 1]),
        single("strided", "Conv", [x, w], strides=[2, 3], dilations=[2, 1]),
        single("in groups", "Conv", [x, numbers((6, 1, 3, 3), 4)], group=6),
        single("pointwise", "Conv", [x, numbers((5, 6, 1, 1), 4)]),
        single("", "ConvTranspose", [x, numbers((6, 4, 3, 2), 5)], strides=[2, 1]),
        single("", "Einsum", [numbers((3, 4, 5), 1), numbers((3, 6, 5), 2)],
               equation="bij,bkj->bik"),
        single("linear", "Resize", [x, None, scales], mode="linear"),
        single("cubic", "Resize", [x, None, scales], mode="cubic"),
        single("", "GridSample", [x, numbers((2, 4, 5, 2), 6)]),
        single("", "Attention", [numbers((2, 3, 5, 8), i) for i in (1, 2, 3)], is_causal=1),
        single("", "LSTM", [row, *lstm], 3, hidden_size=4, direction="bidirectional"),
        single("", "GRU", [row, *gru], 2, hidden_size=4, linear_before_reset=1),
        single("", "RNN", [row, numbers((1, 4, 5), 1), numbers((1, 4, 4), 2)], 2, hidden_size=4),
        single("", "Det", [wide((3, 5, 5), 2)]),
    ]  # fmt: skip
    return found


def classical() -> list[Program]:
    """Linear models, forests, and the LSTM of quantized models."""
    x = wide((7, 9), 1)
    weights = numbers((3 * 9,), 2).tolist()
    fields = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")
    forest: dict[str, Any] = {f"nodes_{name}": [] for name in fields}
    leaves: dict[str, Any] = {"treeids": [], "nodeids": [], "ids": [], "weights": []}
    for tree, (split, low, high) in enumerate(wide((20, 3), 3).tolist()):
        rows = ((0, split, "BRANCH_LEQ", 1, 2), (1, 0.0, "LEAF", 0, 0), (2, 0.0, "LEAF", 0, 0))
        for node, value, mode, true, false in rows:
            for name, item in zip(
                forest, (tree, node, tree % 9, value, mode, true, false), strict=True
            ):
                forest[name].append(item)
        for node, weight in ((1, low), (2, high)):
            for name, item in zip(leaves, (tree, node, tree % 2, weight), strict=True):
                leaves[name].append(item)
    target = {f"target_{name}": items for name, items in leaves.items()}
    classes = {f"class_{name}": items for name, items in leaves.items()}
    ml: dict[str, Any] = {"domain": "ai.onnx.ml"}
    codes = [np.rint(numbers(shape, 4) * 127).astype("int8") for shape in ((1, 5, 16), (1, 4, 16))]
    scales = [np.array([0.01], np.float32), np.array([0], np.int8)] * 2
    lstm = [numbers((6, 2, 5), 1), *codes, numbers((1, 32), 3), None, None, None, None, *scales]
    return [
        *(single(norm, "Normalizer", [x], norm=norm, **ml) for norm in ("MAX", "L1", "L2")),
        single("", "LinearRegressor", [x], coefficients=weights, targets=3, **ml),
        *(
            single(how, "LinearClassifier", [x / 2**20], 2, coefficients=weights,
                   classlabels_ints=[0, 1, 2], post_transform=how, **ml)
            for how in ("SOFTMAX", "LOGISTIC", "PROBIT")
        ),
        single("", "TreeEnsembleRegressor", [x], n_targets=2, **forest, **target, **ml),
        single("", "TreeEnsembleClassifier", [x], 2, classlabels_int64s=[0, 1],
               post_transform="SOFTMAX", **forest, **classes, **ml),
        single("", "DynamicQuantizeLSTM", lstm, 3, hidden_size=4, domain="com.microsoft"),
    ]  # fmt: skip


def support_vectors() -> list[Program]:
    """SVMs with each kernel, of two classes and of three, with and without probabilities."""
    x = numbers((7, 9), 1)
    ml: dict[str, Any] = {"domain": "ai.onnx.ml"}
    programs = []
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        shared: dict[str, Any] = {"kernel_type": kernel, "kernel_params": [0.4, 0.3, 3.0], **ml}
        vectors = {"support_vectors": numbers((6 * 9,), 2).tolist()}
        weights = numbers((12,), 3).tolist()
        programs.append(
            single(
                kernel,
                "SVMRegressor",
                [x],
                coefficients=weights[:6],
                n_supports=6,
                rho=[0.2],
                **vectors,
                **shared,
            )
        )
        for classes, sizes in ((2, [3, 3]), (3, [2, 3, 1])):
            pairs = classes * (classes - 1) // 2
            platt = {"prob_a": numbers((pairs,), 5).tolist(), "prob_b": [0.1] * pairs}
            for label, more in (("", {}), ("with probabilities", platt)):
                programs.append(
                    single(
                        f"{kernel} {classes} {label}".strip(),
                        "SVMClassifier",
                        [x],
                        2,
                        classlabels_ints=list(range(classes)),
                        vectors_per_class=sizes,
                        coefficients=weights[: 6 * (classes - 1)],
                        post_transform="LOGISTIC",
                        rho=numbers((pairs,), 4).tolist(),
                        **more,
                        **vectors,
                        **shared,
                    )
                )
    return programs  # fmt: skip


def networks() -> list[Program]:
    """Small networks, where one wrong bit spreads."""
    node = helper.make_node
    image = {"x0": numbers((2, 3, 16, 16), 1)}
    weights = {
        "w0": numbers((8, 3, 3, 3), 2), "w1": numbers((8, 1, 3, 3), 3),
        "w2": numbers((12, 8, 1, 1), 4), "w3": numbers((12, 10), 5), "b3": numbers((10,), 6),
    }  # fmt: skip
    convolutional = [
        node("Conv", ["x0", "w0"], ["a"], pads=[1, 1, 1, 1]),
        node("Relu", ["a"], ["b"]),
        node("Conv", ["b", "w1"], ["c"], group=8, pads=[1, 1, 1, 1]),
        node("HardSwish", ["c"], ["d"]),
        node("MaxPool", ["d"], ["e"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["e", "w2"], ["f"]),
        node("Sigmoid", ["f"], ["g"]),
        node("GlobalAveragePool", ["g"], ["h"]),
        node("Flatten", ["h"], ["i"]),
        node("Gemm", ["i", "w3", "b3"], ["j"]),
        node("Softmax", ["j"], ["y0"]),
    ]
    text = {"x0": numbers((2, 9, 16), 7)}
    block = {
        "wq": numbers((16, 16), 8), "wk": numbers((16, 16), 9), "wv": numbers((16, 16), 10),
        "s": numbers((16,), 11), "b": numbers((16,), 12), "w1": numbers((16, 64), 13),
        "w2": numbers((64, 16), 14),
    }  # fmt: skip
    transformer = [
        node("LayerNormalization", ["x0", "s", "b"], ["n"]),
        *(node("MatMul", ["n", f"w{part}"], [part]) for part in "qkv"),
        node("Transpose", ["k"], ["t"], perm=[0, 2, 1]),
        node("MatMul", ["q", "t"], ["scores"]),
        node("Softmax", ["scores"], ["p"]),
        node("MatMul", ["p", "v"], ["o"]),
        node("Add", ["x0", "o"], ["r"]),
        node("MatMul", ["r", "w1"], ["m"]),
        node("Gelu", ["m"], ["u"]),
        node("MatMul", ["u", "w2"], ["z"]),
        node("Add", ["r", "z"], ["y0"]),
    ]
    return [
        Program(
            "network of convolutions", _model(convolutional, image | weights, 1), image | weights
        ),
        Program("block of a transformer", _model(transformer, text | block, 1), text | block),
    ]


PROGRAMS: tuple[Callable[[], list[Program]], ...] = (
    functions,
    arithmetic,
    sums,
    products,
    classical,
    support_vectors,
    networks,
)


def programs() -> list[Program]:
    """All of them."""
    return [program for make in PROGRAMS for program in make()]


def digest(program: Program) -> str:
    """The first half of the SHA-256 of all outputs: names, dtypes, shapes, bytes.

    The session runs twice, so that what its first run learned is in the second's way.
    """
    session = Session(program.model, mode="exact")
    session.run(program.feeds)
    found = hashlib.sha256()
    for name, array in session.run(program.feeds).items():
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes())
    return found.hexdigest()[:32]


def main() -> None:
    """Print all hashes as JSON, or write them to the file."""
    found = {program.name: digest(program) for program in programs()}
    text = json.dumps(found, indent=1)
    if "--write" in sys.argv:
        HASHES.write_text(text + "\n")
    else:
        sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
