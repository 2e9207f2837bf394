"""One step of a simple recurrence."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators.linear import linear
from onemodel.operators.relu import relu
from onemodel.operators.tanh import tanh
from onemodel.tensors.tensor import Tensor


def rnn_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
    *,
    nonlinearity: str = "tanh",
) -> Tensor:
    """``f(w_ih input + b_ih + w_hh hx + b_hh)``, f tanh or relu.

    Shapes: input [B, I] (or [I]), hx [B, H], w_ih [H, I], w_hh [H, H], biases [H] -> [B, H].
    Raises ValueError for shapes that do not fit and for another nonlinearity.
    Source: ``torch.rnn_tanh_cell``, ``torch.rnn_relu_cell``.
    """
    if nonlinearity not in ("tanh", "relu"):
        raise ValueError(f"rnn_cell: nonlinearity={nonlinearity!r}; write 'tanh' or 'relu'")
    total = linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)
    return tanh(total) if nonlinearity == "tanh" else relu(total)


def _call(x: Tensor, h: Tensor, *weights: Tensor, **options: Any) -> Any:
    return rnn_cell(x, h, *weights, **options)


def reference(
    x: np.ndarray, h: np.ndarray, *w: np.ndarray, nonlinearity: str = "tanh"
) -> np.ndarray:
    total = np.asarray(x, np.float64) @ w[0].T + h @ w[1].T + sum(w[2:])
    return np.tanh(total) if nonlinearity == "tanh" else np.maximum(total, 0)


def _weights(rows: int) -> tuple[In, ...]:
    shapes = ((rows, 3), (rows, 4), (rows,), (rows,))
    return tuple(In(shape, low=-0.7, high=0.7, constant=True) for shape in shapes)


CASES = (
    Case((("batch", 3), ("batch", 4), *_weights(4)),
         call=_call, reference=reference),
    Case((("batch", 3), ("batch", 4), *_weights(4)[:2]),
         call=_call, reference=reference, name="no bias"),
    Case((("batch", 3), ("batch", 4), *_weights(4)), {"nonlinearity": "relu"}, call=_call,
         reference=reference, name="relu"),
)  # fmt: skip

OPERATOR = Composite("rnn_cell", declaration=rnn_cell, cases=CASES)
