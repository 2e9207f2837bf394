"""ONNX GRU (since 1, 3, 7, 14, 22): gated recurrent unit over a sequence."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from onemodel.kernels import _recurrent
from onemodel.kernels._dtypes import widen
from onemodel.kernels._recurrent import Activation, Arithmetic, arrange, masks, projected

NODE_TYPE = "GRU"

_DEFAULT = ("Sigmoid", "Tanh")


def _gru(
    arithmetic: Arithmetic,
    x: np.ndarray,
    w: np.ndarray,
    r: np.ndarray,
    b: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    *,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
    linear_before_reset: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """(Y, Y_h) of x (T, B, I), or (B, T, I) with ``layout=1``.

    Weights w (D, 3H, I), r (D, 3H, H), b (D, 6H) hold the gates in the order
    z, r, h. ``linear_before_reset`` applies the reset gate after the product, as
    cuDNN does. float16 and bfloat16 are computed in float32.
    """
    arranged = arrange(widen(x), sequence_lens, direction, layout)
    hidden = r.shape[-1]
    functions = _functions(
        arithmetic, activations, activation_alpha, activation_beta, arranged.directions
    )
    start = arranged.state(initial_h, hidden)
    every, last = [], []
    for d in range(arranged.directions):
        wb = None if b is None else widen(b[d, : 3 * hidden])
        rb = None if b is None else widen(b[d, 3 * hidden :])
        if wb is not None and rb is not None:
            wb = wb.copy()
            merged = 2 * hidden if linear_before_reset else 3 * hidden
            wb[:merged] += rb[:merged]
        gates = projected(arranged.time_order(d), widen(w[d]), wb, arithmetic)
        inside = masks(arranged.lengths, gates.shape[0])
        after = rb[2 * hidden :] if rb is not None and linear_before_reset else None
        cell = _Cell(arithmetic, widen(r[d]), after, functions[d], clip, bool(linear_before_reset))
        y, h = cell.run(gates, start[d], inside)
        every.append(y)
        last.append(h)
    return arranged.outputs(every, x.dtype), arranged.last(last, x.dtype)


fast = partial(_gru, _recurrent.FAST)
exact = partial(_gru, _recurrent.EXACT)


def _functions(
    arithmetic: Arithmetic,
    names: Sequence[str] | None,
    alphas: Sequence[float] | None,
    betas: Sequence[float] | None,
    directions: int,
) -> list[list[Activation]]:
    return _recurrent.activations(names, alphas, betas, _DEFAULT, directions, arithmetic)


class _Cell:
    """One direction's recurrence; ``after`` is the bias inside the reset gate."""

    def __init__(
        self,
        arithmetic: Arithmetic,
        r: np.ndarray,
        after: np.ndarray | None,
        functions: list[Activation],
        clip: float | None,
        linear_before_reset: bool,
    ) -> None:
        self.hidden = r.shape[-1]
        self.gates = arithmetic.multiplier(r[: 2 * self.hidden])
        self.candidate = arithmetic.multiplier(r[2 * self.hidden :])
        self.all = arithmetic.multiplier(r)
        self.after = None if after is None else after[:, None]
        self.functions = functions
        self.clip = clip
        self.linear_before_reset = linear_before_reset

    def run(
        self, gates: np.ndarray, h: np.ndarray, inside: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """All steps, features before the batch: (Y (T, H, B), last h)."""
        steps, _, batch = gates.shape
        y = np.empty((steps, self.hidden, batch), gates.dtype)
        for t in range(steps):
            new = self._step(gates[t], h)
            if inside is None:
                y[t] = h = new
                continue
            h = np.where(inside[t], new, h)
            np.multiply(new, inside[t], out=y[t])
        return y, h

    def _step(self, x: np.ndarray, h: np.ndarray) -> np.ndarray:
        n = self.hidden
        f, g = self.functions
        if self.linear_before_reset:
            product = self.all(h)
            smooth = f(self._clipped(x[: 2 * n] + product[: 2 * n]))
            inner = product[2 * n :]
            if self.after is not None:
                inner = inner + self.after
            inner = inner * smooth[n:]
        else:
            smooth = f(self._clipped(x[: 2 * n] + self.gates(h)))
            inner = self.candidate(smooth[n:] * h)
        update = smooth[:n]
        new = g(self._clipped(x[2 * n :] + inner))
        return new + update * (h - new)

    def _clipped(self, z: np.ndarray) -> np.ndarray:
        return z if not self.clip else np.clip(z, -self.clip, self.clip)


def _gru_7(
    whole: Callable[..., tuple[np.ndarray, ...]],
    x: np.ndarray,
    w: np.ndarray,
    r: np.ndarray,
    b: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    **attributes: object,
) -> tuple[np.ndarray, np.ndarray]:
    """Opset 7: always time first; opsets 1 and 3 also have ``output_sequence``, a hint."""
    attributes.pop("output_sequence", None)
    return whole(x, w, r, b, sequence_lens, initial_h, **attributes)  # type: ignore[arg-type]


VERSIONS = {1: partial(_gru_7, fast), 14: fast}
EXACT = {1: partial(_gru_7, exact), 14: exact}
