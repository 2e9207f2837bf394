"""One step of a long short-term memory."""

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


def lstm_cell(
    input: Tensor,
    hx: tuple[Tensor, Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """(h, c) after one step of a long short-term memory.

    Shapes: input [B, I] (or [I]), ``hx`` (h, c) of [B, H], w_ih [4H, I], w_hh [4H, H], biases
    [4H], gates in the order i, f, g, o. Raises ValueError for shapes that do not fit.
    Source: ``torch.lstm_cell``.
    """
    h, c = hx
    gates = linear(input, w_ih, b_ih) + linear(h, w_hh, b_hh)
    i, f, g, o = chunk(gates, 4, -1)
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(c), c


def _call(x: Tensor, h: Tensor, c: Tensor, *weights: Tensor) -> Any:
    return lstm_cell(x, (h, c), *weights)


def reference(
    x: np.ndarray, h: np.ndarray, c: np.ndarray, *w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    z = np.asarray(x, np.float64) @ w[0].T + h @ w[1].T + sum(w[2:])
    i, f, g, o = (z[:, k * 4 : (k + 1) * 4] for k in range(4))
    i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
    c = f * c + i * np.tanh(g)
    return o * np.tanh(c), c


def _weights(rows: int) -> tuple[In, ...]:
    shapes = ((rows, 3), (rows, 4), (rows,), (rows,))
    return tuple(In(shape, low=-0.7, high=0.7, constant=True) for shape in shapes)


CASES = (
    Case((("batch", 3), ("batch", 4), ("batch", 4), *_weights(16)),
         call=_call, reference=reference),
    Case((("batch", 3), ("batch", 4), ("batch", 4), *_weights(16)[:2]),
         call=_call, reference=reference, name="no bias"),
)  # fmt: skip

OPERATOR = Composite("lstm_cell", declaration=lstm_cell, cases=CASES)
