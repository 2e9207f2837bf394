"""ONNX LSTM (since 1, 7, 14, 22): long short-term memory over a sequence."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from onemodel.kernels import _recurrent
from onemodel.kernels._dtypes import widen
from onemodel.kernels._recurrent import Activation, Arithmetic, arrange, masks, projected

NODE_TYPE = "LSTM"

_DEFAULT = ("Sigmoid", "Tanh", "Tanh")

Outputs = tuple[np.ndarray, np.ndarray, np.ndarray]


def _lstm(
    arithmetic: Arithmetic,
    x: np.ndarray,
    w: np.ndarray,
    r: np.ndarray,
    b: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    initial_c: np.ndarray | None = None,
    p: np.ndarray | None = None,
    *,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
    layout: int = 0,
) -> Outputs:
    """(Y, Y_h, Y_c) of x (T, B, I), or (B, T, I) with ``layout=1``.

    Weights w (D, 4H, I), r (D, 4H, H), b (D, 8H), peepholes p (D, 3H) hold the
    gates in the order i, o, f, c (p: i, o, f). ``clip`` bounds what enters the gates.
    Steps beyond ``sequence_lens`` give zeros in Y and leave the states. float16 and
    bfloat16 are computed in float32.
    """
    arranged = arrange(widen(x), sequence_lens, direction, layout)
    hidden = r.shape[-1]
    functions = _functions(
        arithmetic, activations, activation_alpha, activation_beta, arranged.directions
    )
    start_h, start_c = arranged.state(initial_h, hidden), arranged.state(initial_c, hidden)
    every, last_h, last_c = [], [], []
    for d in range(arranged.directions):
        cell = _Cell(
            arithmetic,
            widen(r[d]),
            None if p is None else widen(p[d]),
            functions[d],
            clip,
            bool(input_forget),
        )
        bias = None
        if b is not None:
            bias = cell.scaled(widen(b[d, : 4 * hidden]) + widen(b[d, 4 * hidden :]))
        gates = projected(arranged.time_order(d), cell.scaled(widen(w[d])), bias, arithmetic)
        inside = masks(arranged.lengths, gates.shape[0])
        y, h, c = cell.run(gates, start_h[d], start_c[d], inside)
        every.append(y)
        last_h.append(h)
        last_c.append(c)
    return (
        arranged.outputs(every, x.dtype),
        arranged.last(last_h, x.dtype),
        arranged.last(last_c, x.dtype),
    )


fast = partial(_lstm, _recurrent.FAST)
exact = partial(_lstm, _recurrent.EXACT)


def _functions(
    arithmetic: Arithmetic,
    names: Sequence[str] | None,
    alphas: Sequence[float] | None,
    betas: Sequence[float] | None,
    directions: int,
) -> list[list[Activation] | None]:
    """The three activations per direction; None stands for the usual ones, computed fast."""
    if arithmetic is _recurrent.FAST and (
        not names or all(name.lower() == _DEFAULT[i % 3].lower() for i, name in enumerate(names))
    ):
        return [None] * directions
    return list(_recurrent.activations(names, alphas, betas, _DEFAULT, directions, arithmetic))


class _Cell:
    """One direction's recurrence.

    With the usual activations and nothing in between, the rows of i, o and f are
    halved beforehand (exact), so that one tanh serves all four gates:
    sigmoid(z) = tanh(z / 2) / 2 + 1 / 2.
    """

    def __init__(
        self,
        arithmetic: Arithmetic,
        r: np.ndarray,
        p: np.ndarray | None,
        functions: list[Activation] | None,
        clip: float | None,
        input_forget: bool,
    ) -> None:
        self.hidden = r.shape[-1]
        self.plain = functions is None and p is None and not clip and not input_forget
        self.functions = functions or _recurrent.activations(None, None, None, _DEFAULT, 1)[0]
        self.peepholes = None if p is None else p[:, None]
        self.clip = clip
        self.input_forget = input_forget
        self.recur = arithmetic.multiplier(np.ascontiguousarray(self.scaled(r)))

    def scaled(self, weights: np.ndarray) -> np.ndarray:
        """Weights or biases with gates in the first axis, halved where tanh does it all."""
        if not self.plain:
            return weights
        scaled = weights.copy()
        scaled[: 3 * self.hidden] *= 0.5
        return scaled

    def run(
        self, gates: np.ndarray, h: np.ndarray, c: np.ndarray, inside: np.ndarray | None
    ) -> Outputs:
        """All steps, features before the batch: (Y (T, H, B), last h, last c)."""
        steps, _, batch = gates.shape
        y = np.empty((steps, self.hidden, batch), gates.dtype)
        c = c.astype(gates.dtype, copy=True)
        step = self._plain_step if self.plain else self._general_step
        for t in range(steps):
            z = gates[t]
            z += self.recur(h)
            if inside is None:
                c = step(z, c, y[t])
                h = y[t]
                continue
            new_c = step(z, c.copy(), y[t])
            c = np.where(inside[t], new_c, c)
            h = np.where(inside[t], y[t], h)
            y[t] *= inside[t]
        return y, h, c

    def _plain_step(self, z: np.ndarray, c: np.ndarray, h: np.ndarray) -> np.ndarray:
        n = self.hidden
        np.tanh(z, out=z)
        smooth = z[: 3 * n]
        smooth *= 0.5
        smooth += 0.5
        c *= z[2 * n : 3 * n]
        candidate = z[3 * n :]
        candidate *= z[:n]
        c += candidate
        np.tanh(c, out=h)
        h *= z[n : 2 * n]
        return c

    def _general_step(self, z: np.ndarray, c: np.ndarray, h: np.ndarray) -> np.ndarray:
        n = self.hidden
        f, g, last = self.functions
        p = self.peepholes
        if p is None:  # one call for three gates
            smooth = f(self._clipped(z[: 3 * n]))
            forget = 1 - smooth[:n] if self.input_forget else smooth[2 * n :]
            c = forget * c + smooth[:n] * g(self._clipped(z[3 * n :]))
            np.multiply(smooth[n : 2 * n], last(c), out=h)
            return c
        zi, zo, zf, zc = z[:n], z[n : 2 * n], z[2 * n : 3 * n], z[3 * n :]
        i = f(self._clipped(zi + p[:n] * c))
        zf = zf + p[2 * n :] * c
        forget = 1 - i if self.input_forget else f(self._clipped(zf))
        c = forget * c + i * g(self._clipped(zc))
        zo = zo + p[n : 2 * n] * c
        np.multiply(f(self._clipped(zo)), last(c), out=h)
        return c

    def _clipped(self, z: np.ndarray) -> np.ndarray:
        return z if not self.clip else np.clip(z, -self.clip, self.clip)


def _lstm_7(
    whole: Callable[..., tuple[np.ndarray, ...]],
    x: np.ndarray,
    w: np.ndarray,
    r: np.ndarray,
    b: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    initial_c: np.ndarray | None = None,
    p: np.ndarray | None = None,
    **attributes: object,
) -> Outputs:
    """Opset 7: always time first; opset 1 also has ``output_sequence``, a hint."""
    attributes.pop("output_sequence", None)
    return whole(x, w, r, b, sequence_lens, initial_h, initial_c, p, **attributes)  # type: ignore[arg-type]


VERSIONS = {1: partial(_lstm_7, fast), 14: fast}
EXACT = {1: partial(_lstm_7, exact), 14: exact}
