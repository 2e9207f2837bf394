"""Element-wise rounding to the nearest, halves to even."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import round as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.tensors.tensor import Tensor


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest number of ``decimals`` digits after the point; halves go to the even one.

    Shape and dtype are the input's; integers stay as they are. The gradient is 0.
    Raises TypeError for bool and for what is no number. Source: ``torch.round``; ONNX Round-11.
    """
    input = as_tensor("round", "input", input)
    if input._array.dtype.kind == "b":
        raise TypeError("round: bool has nothing to round")
    return apply(OPERATOR, (input,), {"decimals": int(decimals)})


def forward(input: np.ndarray, *, decimals: int) -> np.ndarray:
    if input.dtype.kind in "iu":
        return input.copy()
    if decimals == 0:
        return kernel.fast(input)
    scale = np.asarray(10.0 ** abs(decimals), input.dtype)
    if decimals > 0:
        return kernel.fast(input * scale) / scale
    return kernel.fast(input / scale) * scale


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return np.zeros_like(grad)


def opset_7(g: Any, input: Any, decimals: int) -> Any:
    if input.dtype.kind in "iu":
        return g.op("Identity", input)
    g.refuse_below(11, "Round")
    if decimals == 0:
        return g.op("Round", input)
    scale = g.like(10.0 ** abs(decimals), input)
    before, after = ("Mul", "Div") if decimals > 0 else ("Div", "Mul")
    return g.op(after, g.op("Round", g.op(before, input, scale)), scale)


def reference(input: np.ndarray, decimals: int = 0) -> np.ndarray:
    scaled = np.asarray(input, np.float64) * 10.0**decimals
    floor = scaled // 1
    odd = floor % 2 == 1
    up = (scaled - floor > 0.5) | ((scaled - floor == 0.5) & odd)
    return (floor + up) / 10.0**decimals


def _halves(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.integers(-5, 6, shape) / 2


CASES = (
    Case((In(("batch", 3), low=-9, high=9),), reference=reference, lowest=11),
    Case(
        (In(("batch", 4), values=_halves),),
        reference=reference,
        gradient=False,
        lowest=11,
        name="halves",
    ),
    Case((("batch", 3),), {"decimals": 1}, reference=reference, lowest=11, name="decimals"),
    Case(
        (In(("batch", 3), low=-90, high=90),),
        {"decimals": -1},
        reference=reference,
        lowest=11,
        name="tens",
    ),
    Case((In(("batch", 3), "int32", -9, 9),), reference=np.asarray, name="integers"),
)

OPERATOR = Operator(
    "round",
    declaration=round,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("round",),
    inplace=("round_",),
    reads="",
    ufunc="rint",
    cases=CASES,
)
