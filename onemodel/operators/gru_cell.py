"""One step of a gated recurrent unit."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators.chunk import chunk
from onemodel.operators.linear import linear
from onemodel.operators.sigmoid import sigmoid
from onemodel.operators.tanh import tanh
from onemodel.tensors.tensor import Tensor


def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """The state after one step of a gated recurrent unit.

    Shapes: input [B, I] (or [I]), hx [B, H], w_ih [3H, I], w_hh [3H, H], biases [3H], gates in
    the order r, z, n. Raises ValueError for shapes that do not fit. Source: ``torch.gru_cell``.
    """
    from_input = chunk(linear(input, w_ih, b_ih), 3, -1)
    from_state = chunk(linear(hx, w_hh, b_hh), 3, -1)
    r = sigmoid(from_input[0] + from_state[0])
    z = sigmoid(from_input[1] + from_state[1])
    n = tanh(from_input[2] + r * from_state[2])
    return n + z * (hx - n)


def _call(x: Tensor, h: Tensor, *weights: Tensor) -> Any:
    return gru_cell(x, h, *weights)


def reference(x: np.ndarray, h: np.ndarray, *w: Any) -> np.ndarray:
    w_ih, w_hh, *biases = w
    b_ih, b_hh = biases or (0, 0)
    a = np.asarray(x, np.float64) @ w_ih.T + b_ih
    b = np.asarray(h, np.float64) @ w_hh.T + b_hh
    r, z = (1 / (1 + np.exp(-a[:, s] - b[:, s])) for s in (slice(4), slice(4, 8)))
    return (1 - z) * np.tanh(a[:, 8:] + r * b[:, 8:]) + z * h


def _weights(rows: int) -> tuple[In, ...]:
    shapes = ((rows, 3), (rows, 4), (rows,), (rows,))
    return tuple(In(shape, low=-0.7, high=0.7, constant=True) for shape in shapes)


CASES = (
    Case((("batch", 3), ("batch", 4), *_weights(12)),
         call=_call, reference=reference),
    Case((("batch", 3), ("batch", 4), *_weights(12)[:2]),
         call=_call, reference=reference, name="no bias"),
)  # fmt: skip

OPERATOR = Composite("gru_cell", declaration=gru_cell, cases=CASES)
