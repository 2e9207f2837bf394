"""Gated recurrent unit over a sequence: layers, directions, lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.operators import _recurrent
from onemodel.operators._operator import Operator
from onemodel.operators._recurrent import Arrays, Weights
from onemodel.tensors.tensor import Tensor


def gru(
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
    lengths: Any = None,
    generator: Any = None,
) -> tuple[Tensor, Tensor]:
    """(output, h_n) of a gated recurrent unit; the reset gate acts after the product.

    Shapes: input [T, B, I] ([B, T, I] with ``batch_first``, [T, I] for one sequence); ``hx``
    [layers * directions, B, H] or None for zeros; output [T, B, directions * H].
    ``flat_weights`` holds per layer and direction w_ih [3H, I], w_hh [3H, H] and, with ``bias``,
    b_ih and b_hh [3H], gates in the order r, z, n. ``lengths`` [B]: steps beyond give zeros and
    leave the state, and the backward direction starts at each sequence's own end. ``dropout``
    acts between layers in ``training`` (refused in a trace, OM601). Raises ValueError for
    shapes or counts that do not fit. Source: ``torch.gru``; ONNX GRU-7.
    """
    return _recurrent.recur(  # type: ignore[return-value]
        OPERATOR, CELL, input, hx, flat_weights, bias, num_layers, dropout, training,
        bidirectional, batch_first, lengths, generator,
    )  # fmt: skip


class Gru:
    """One direction of one layer."""

    gates = 3
    states = 1

    def run(
        self, x: np.ndarray, w: Weights, start: Arrays, inside: np.ndarray | None
    ) -> tuple[np.ndarray, Arrays, Any]:
        steps, batch = x.shape[:2]
        n = w.w_hh.shape[-1]
        gates = _recurrent.product(x, w.w_ih, w.b_ih)
        recurrent = np.ascontiguousarray(w.w_hh.T)
        h = np.empty((steps + 1, batch, n), x.dtype)
        inner = np.empty((steps, batch, n), x.dtype)
        h[0] = start[0]
        for t in range(steps):
            z = gates[t]
            from_state = h[t] @ recurrent
            if w.b_hh is not None:
                from_state += w.b_hh
            z[:, : 2 * n] += from_state[:, : 2 * n]
            _recurrent.sigmoid(z[:, : 2 * n])
            inner[t] = from_state[:, 2 * n :]
            z[:, 2 * n :] += z[:, :n] * inner[t]
            candidate = np.tanh(z[:, 2 * n :], out=z[:, 2 * n :])
            np.subtract(h[t], candidate, out=h[t + 1])
            h[t + 1] *= z[:, n : 2 * n]
            h[t + 1] += candidate
            if inside is not None:
                np.copyto(h[t + 1], h[t], where=~inside[t])
        return h[1:], (h[-1],), (gates, h, inner)

    def back(
        self,
        kept: Any,
        x: np.ndarray,
        w: Weights,
        dy: np.ndarray,
        final: Arrays,
        inside: np.ndarray | None,
    ) -> tuple[np.ndarray, Arrays, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        gates, h, inner = kept
        n = w.w_hh.shape[-1]
        r, z, c = gates[..., :n], gates[..., n : 2 * n], gates[..., 2 * n :]
        # Everything but the incoming gradient is known for all steps at once.
        to_c = (1 - z) * (1 - c * c)
        to_z = (h[:-1] - c) * z * (1 - z)
        to_r = inner * r * (1 - r)
        dx = np.empty_like(gates)
        dh_all = np.empty_like(gates)
        dh = final[0].copy()
        for t in reversed(range(len(gates))):
            total = dh + dy[t]
            step = dx[t]
            np.multiply(total, to_c[t], out=step[:, 2 * n :])
            np.multiply(total, to_z[t], out=step[:, n : 2 * n])
            np.multiply(step[:, 2 * n :], to_r[t], out=step[:, :n])
            side = dh_all[t]
            side[:, : 2 * n] = step[:, : 2 * n]
            np.multiply(step[:, 2 * n :], r[t], out=side[:, 2 * n :])
            if inside is None:
                dh = side @ w.w_hh
                dh += total * z[t]
            else:
                step *= inside[t]
                side *= inside[t]
                dh = np.where(inside[t], side @ w.w_hh + total * z[t], dh)
        dx_in, *rest = _recurrent.weight_products(x, h[:-1], dx, dh_all, w.w_ih)
        return (dx_in, (dh,), *rest)  # type: ignore[return-value]


CELL = Gru()


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
) -> Any:
    return _recurrent.run(
        CELL, (input, *tensors), states, bias, num_layers, dropout, bidirectional, batch_first,
        packed, generator,
    )  # fmt: skip


def backward(record: BackwardRecord, *grads: np.ndarray) -> tuple[np.ndarray | None, ...]:
    return _recurrent.back(CELL, record, grads)


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
        CELL, (input, *tensors), states, num_layers, bidirectional, batch_first, packed
    )


def opset_7(g: Any, input: Any, tensors: Sequence[Any], **attributes: Any) -> Any:
    # PyTorch: r, z, n. ONNX: z, r, h.
    options = {"linear_before_reset": 1}
    return _recurrent.write(g, CELL, "GRU", (1, 0, 2), (input, *tensors), attributes, options)


def _step(w: Sequence[np.ndarray], x: np.ndarray, state: Arrays, bias: bool) -> Arrays:
    h = state[0]
    a = w[0] @ x + (w[2] if bias else 0)
    b = w[1] @ h + (w[3] if bias else 0)
    (ar, az, an), (br, bz, bn) = a.reshape(3, -1), b.reshape(3, -1)
    r, z = 1 / (1 + np.exp(-ar - br)), 1 / (1 + np.exp(-az - bz))
    return ((1 - z) * np.tanh(an + r * bn) + z * h,)


reference = _recurrent.reference(_step, states=1)

CASES = _recurrent.cases(gru, reference, gates=3, states=1)

OPERATOR = Operator(
    "gru",
    declaration=gru,
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
