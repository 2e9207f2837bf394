"""Simple recurrence over a sequence, tanh or relu: layers, directions, lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.operators import _recurrent
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite, Operator
from onemodel.operators._recurrent import Arrays, Weights
from onemodel.tensors.tensor import Tensor


def rnn(
    input: Tensor,
    hx: Tensor | None,
    flat_weights: Sequence[Tensor],
    bias: bool = True,
    num_layers: int = 1,
    dropout: float = 0.0,
    training: bool = False,
    bidirectional: bool = False,
    batch_first: bool = False,
    *,
    nonlinearity: str = "tanh",
    lengths: Any = None,
    generator: Any = None,
) -> tuple[Tensor, Tensor]:
    """(output, h_n) of ``h = f(w_ih x + b_ih + w_hh h + b_hh)``, f tanh or relu.

    Shapes: input [T, B, I] ([B, T, I] with ``batch_first``, [T, I] for one sequence); ``hx``
    [layers * directions, B, H] or None for zeros; output [T, B, directions * H].
    ``flat_weights`` holds per layer and direction w_ih [H, I], w_hh [H, H] and, with ``bias``,
    b_ih and b_hh [H]. ``lengths`` [B]: steps beyond give zeros and leave the state, and the
    backward direction starts at each sequence's own end. ``dropout`` acts between layers in
    ``training`` (refused in a trace, OM601). Raises ValueError for shapes or counts that do not
    fit and for another nonlinearity. Source: ``torch.rnn_tanh``, ``torch.rnn_relu``; ONNX RNN-7.
    """
    if nonlinearity not in CELLS:
        raise ValueError(f"rnn: nonlinearity={nonlinearity!r}; write 'tanh' or 'relu'")
    return _recurrent.recur(  # type: ignore[return-value]
        OPERATOR, CELLS[nonlinearity], input, hx, flat_weights, bias, num_layers, dropout,
        training, bidirectional, batch_first, lengths, generator, {"nonlinearity": nonlinearity},
    )  # fmt: skip


class Rnn:
    """One direction of one layer."""

    gates = 1
    states = 1

    def __init__(self, nonlinearity: str) -> None:
        self.is_tanh = nonlinearity == "tanh"

    def run(
        self, x: np.ndarray, w: Weights, start: Arrays, inside: np.ndarray | None
    ) -> tuple[np.ndarray, Arrays, Any]:
        steps, batch = x.shape[:2]
        z = _recurrent.product(x, w.w_ih, w.b_ih, w.b_hh)
        recurrent = np.ascontiguousarray(w.w_hh.T)
        h = np.empty((steps + 1, batch, w.w_hh.shape[-1]), x.dtype)
        h[0] = start[0]
        for t in range(steps):
            z[t] += h[t] @ recurrent
            if self.is_tanh:
                np.tanh(z[t], out=h[t + 1])
            else:
                np.maximum(z[t], 0, out=h[t + 1])
            if inside is not None:
                np.copyto(h[t + 1], h[t], where=~inside[t])
        return h[1:], (h[-1],), h

    def back(
        self,
        kept: Any,
        x: np.ndarray,
        w: Weights,
        dy: np.ndarray,
        final: Arrays,
        inside: np.ndarray | None,
    ) -> tuple[np.ndarray, Arrays, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        h = kept
        dz = 1 - h[1:] * h[1:] if self.is_tanh else (h[1:] > 0).astype(h.dtype)
        dh = final[0].copy()
        for t in reversed(range(len(dz))):
            dz[t] *= dh + dy[t]
            if inside is None:
                dh = dz[t] @ w.w_hh
            else:
                dz[t] *= inside[t]
                dh = np.where(inside[t], dz[t] @ w.w_hh, dh)
        dx, *rest = _recurrent.weight_products(x, h[:-1], dz, dz, w.w_ih)
        return (dx, (dh,), *rest)  # type: ignore[return-value]


CELLS = {name: Rnn(name) for name in ("tanh", "relu")}


def forward(
    input: np.ndarray,
    *tensors: np.ndarray,
    states: int,
    bias: bool,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    batch_first: bool,
    packed: bool,
    generator: Any,
    nonlinearity: str,
) -> Any:
    return _recurrent.run(
        CELLS[nonlinearity], (input, *tensors), states, bias, num_layers, dropout, bidirectional,
        batch_first, packed, generator,
    )  # fmt: skip


def backward(record: BackwardRecord, *grads: np.ndarray) -> tuple[np.ndarray | None, ...]:
    return _recurrent.back(CELLS[record.attributes["nonlinearity"]], record, grads)


def axes(
    input: Axes,
    *tensors: Axes,
    states: int,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
    packed: bool,
    **rest: Any,
) -> tuple[Axes, ...]:
    return _recurrent.axes_of(
        CELLS["tanh"], (input, *tensors), states, num_layers, bidirectional, batch_first, packed
    )


def opset_7(
    g: Any, input: Any, tensors: Sequence[Any], nonlinearity: str = "tanh", **attributes: Any
) -> Any:
    options = {"activations": ["Tanh" if nonlinearity == "tanh" else "Relu"]}
    cell = CELLS[nonlinearity]
    return _recurrent.write(g, cell, "RNN", (0,), (input, *tensors), attributes, options)


def _step(w: Sequence[np.ndarray], x: np.ndarray, state: Arrays, bias: bool) -> Arrays:
    return (np.tanh(w[0] @ x + w[1] @ state[0] + (w[2] + w[3] if bias else 0)),)


def _relu_step(w: Sequence[np.ndarray], x: np.ndarray, state: Arrays, bias: bool) -> Arrays:
    total = w[0] @ x + w[1] @ state[0] + (w[2] + w[3] if bias else 0)
    return (np.where(total > 0, total, 0),)


reference = _recurrent.reference(_step, states=1)
_relu_reference = _recurrent.reference(_relu_step, states=1)

CASES = (
    *_recurrent.cases(rnn, reference, gates=1, states=1),
    Case(
        (("time", "batch", 3), *(In(s, constant=True) for s in ((4, 3), (4, 4), (4,), (4,)))),
        call=lambda x, *w: rnn(x, None, w, nonlinearity="relu"),
        reference=_relu_reference,
        tolerance=1e-4,
        name="relu",
    ),
)

OPERATOR = Operator(
    "rnn",
    declaration=rnn,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    reads="i",
    saves=True,
    refuses=_recurrent.refuses,
    random=True,
    cases=CASES,
)


def rnn_tanh(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """:func:`rnn` with tanh. Source: ``torch.rnn_tanh``."""
    return rnn(*args, nonlinearity="tanh", **options)


def rnn_relu(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """:func:`rnn` with relu. Source: ``torch.rnn_relu``."""
    return rnn(*args, nonlinearity="relu", **options)


ALSO = (
    Composite("rnn_tanh", declaration=rnn_tanh,
              cases=_recurrent.cases(rnn_tanh, reference, gates=1, states=1)[:1]),
    Composite("rnn_relu", declaration=rnn_relu,
              cases=_recurrent.cases(rnn_relu, _relu_reference, gates=1, states=1)[:1]),
)  # fmt: skip
