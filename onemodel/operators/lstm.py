"""Long short-term memory over a sequence: layers, directions, lengths."""

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


def lstm(
    input: Tensor,
    hx: Any,
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
) -> tuple[Tensor, Tensor, Tensor]:
    """(output, h_n, c_n) of a long short-term memory.

    Shapes: input [T, B, I] ([B, T, I] with ``batch_first``, [T, I] for one sequence); ``hx`` is
    (h0, c0), each [layers * directions, B, H], or None for zeros; output [T, B, directions * H].
    ``flat_weights`` holds per layer and direction w_ih [4H, I], w_hh [4H, H] and, with ``bias``,
    b_ih and b_hh [4H], gates in the order i, f, g, o. ``lengths`` [B]: steps beyond give zeros
    and leave the states, and the backward direction starts at each sequence's own end.
    ``dropout`` acts between layers in ``training`` (refused in a trace, OM601); its numbers
    come from ``generator``. Raises ValueError for shapes or counts that do not fit.
    Source: ``torch.lstm``; ONNX LSTM-7.
    """
    return _recurrent.recur(  # type: ignore[return-value]
        OPERATOR, CELL, input, hx, flat_weights, bias, num_layers, dropout, training,
        bidirectional, batch_first, lengths, generator,
    )  # fmt: skip


_ORDER = (3, 0, 1, 2)
"""Gates inside this file: o, i, f, g. Those through a sigmoid come first, those that the cell
state feeds (i, f, g) last, so that each step works on two contiguous blocks."""


class Lstm:
    """One direction of one layer."""

    gates = 4
    states = 2

    def run(
        self, x: np.ndarray, w: Weights, start: Arrays, inside: np.ndarray | None
    ) -> tuple[np.ndarray, Arrays, Any]:
        steps, batch = x.shape[:2]
        n = w.w_hh.shape[-1]
        w_ih, w_hh, b_ih, b_hh = (_reordered(v, n, _ORDER) for v in _all(w))
        z = _recurrent.product(x, w_ih, b_ih, b_hh)
        recurrent = np.ascontiguousarray(w_hh.T)
        h = np.empty((steps + 1, batch, n), x.dtype)
        c = np.empty((steps + 1, batch, n), x.dtype)
        tanh_c = np.empty((steps, batch, n), x.dtype)
        h[0], c[0] = start
        work = np.empty((batch, n), x.dtype)
        for t in range(steps):
            gates = z[t]
            gates += h[t] @ recurrent
            smooth = gates[:, : 3 * n]
            smooth *= 0.5
            np.tanh(gates, out=gates)
            smooth *= 0.5
            smooth += 0.5
            np.multiply(c[t], gates[:, 2 * n : 3 * n], out=c[t + 1])
            np.multiply(gates[:, n : 2 * n], gates[:, 3 * n :], out=work)
            c[t + 1] += work
            np.tanh(c[t + 1], out=tanh_c[t])
            np.multiply(tanh_c[t], gates[:, :n], out=h[t + 1])
            if inside is not None:
                np.copyto(c[t + 1], c[t], where=~inside[t])
                np.copyto(h[t + 1], h[t], where=~inside[t])
        return h[1:], (h[-1], c[-1]), (z, h, c, tanh_c)

    def back(
        self,
        kept: Any,
        x: np.ndarray,
        w: Weights,
        dy: np.ndarray,
        final: Arrays,
        inside: np.ndarray | None,
    ) -> tuple[np.ndarray, Arrays, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        z, h, c, tanh_c = kept
        n = w.w_hh.shape[-1]
        dz, through = _slopes(z, c, tanh_c, n)
        recurrent = _reordered(w.w_hh, n, _ORDER)
        dh, dc = final[0].copy(), final[1].copy()
        for t in reversed(range(len(z))):
            dh_t = dh + dy[t]
            dc_t = dh_t * through[t]
            dc_t += dc
            step = dz[t].reshape(-1, 4, n)
            step[:, 0] *= dh_t
            step[:, 1:] *= dc_t[:, None]
            if inside is None:
                dh = dz[t] @ recurrent
                dc_t *= z[t][:, 2 * n : 3 * n]
                dc = dc_t
            else:
                dz[t] *= inside[t]
                dh = np.where(inside[t], dz[t] @ recurrent, dh)
                dc = np.where(inside[t], dc_t * z[t][:, 2 * n : 3 * n], dc)
        w_ih = _reordered(w.w_ih, n, _ORDER)
        dx, *rest = _recurrent.weight_products(x, h[:-1], dz, dz, w_ih)
        inverse = [_ORDER.index(gate) for gate in range(4)]
        return (dx, (dh, dc), *(_reordered(v, n, inverse) for v in rest))  # type: ignore[return-value]


def _slopes(
    z: np.ndarray, c: np.ndarray, tanh_c: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives for all steps at once: of the gates, and of the cell state through h."""
    o, i, _, g = (z[..., k * n : (k + 1) * n] for k in range(4))
    dz = z * z  # sigmoid: s - s*s; tanh: 1 - t*t
    np.subtract(z[..., : 3 * n], dz[..., : 3 * n], out=dz[..., : 3 * n])
    np.subtract(1, dz[..., 3 * n :], out=dz[..., 3 * n :])
    dz[..., :n] *= tanh_c
    dz[..., n : 2 * n] *= g
    dz[..., 2 * n : 3 * n] *= c[:-1]
    dz[..., 3 * n :] *= i
    through = tanh_c * tanh_c
    np.subtract(1, through, out=through)
    through *= o
    return dz, through


def _all(w: Weights) -> tuple[Any, Any, Any, Any]:
    return w.w_ih, w.w_hh, w.b_ih, w.b_hh


def _reordered(array: Any, n: int, order: Sequence[int]) -> Any:
    """Rows of a weight or bias with its gates in another order."""
    if array is None:
        return None
    return array.reshape(4, n, -1)[list(order)].reshape(array.shape)


CELL = Lstm()


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
    # PyTorch: i, f, g, o. ONNX: i, o, f, c.
    return _recurrent.write(g, CELL, "LSTM", (0, 3, 1, 2), (input, *tensors), attributes, {})


def _step(w: Sequence[np.ndarray], x: np.ndarray, state: Arrays, bias: bool) -> Arrays:
    h, c = state
    i, f, g, o = (w[0] @ x + w[1] @ h + (w[2] + w[3] if bias else 0)).reshape(4, -1)
    i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
    c = f * c + i * np.tanh(g)
    return o * np.tanh(c), c


reference = _recurrent.reference(_step, states=2)

CASES = _recurrent.cases(lstm, reference, gates=4, states=2)

OPERATOR = Operator(
    "lstm",
    declaration=lstm,
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
