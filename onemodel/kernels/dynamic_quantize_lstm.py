"""com.microsoft DynamicQuantizeLSTM (since 1): an LSTM with weights of 8 bits.

Source: ONNX Runtime's contributed operators, as its dynamic quantization writes them. What is
multiplied with weights is quantized on the way, with a scale found from the data: the whole
input of a direction at once, the state at every step.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from onemodel.kernels import _recurrent, dynamic_quantize_linear
from onemodel.kernels._recurrent import Arithmetic, arrange, masks

DOMAIN = "com.microsoft"
NODE_TYPE = "DynamicQuantizeLSTM"

Quantize = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]

_DEFAULT = ("Sigmoid", "Tanh", "Tanh")


def _lstm(
    arithmetic: Arithmetic,
    quantize: Quantize,
    x: np.ndarray,
    w: np.ndarray,
    r: np.ndarray,
    b: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    initial_c: np.ndarray | None = None,
    p: np.ndarray | None = None,
    w_scale: np.ndarray | None = None,
    w_zero_point: np.ndarray | None = None,
    r_scale: np.ndarray | None = None,
    r_zero_point: np.ndarray | None = None,
    *,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(Y, Y_h, Y_c) of x (T, B, I); w (D, I, 4H) and r (D, H, 4H) are int8 or uint8.

    Scales and zero points hold one number per direction, (D,), or per column, (D, 4H).
    Gates stand in the order i, o, f, c, as in LSTM.

    Raises:
        ValueError: where a scale is missing.
    """
    if w_scale is None or r_scale is None:
        raise ValueError("DynamicQuantizeLSTM: the scales of the weights are needed")
    arranged = arrange(x, sequence_lens, direction, 0)
    hidden = r.shape[1]
    chosen = _recurrent.activations(
        activations, activation_alpha, activation_beta, _DEFAULT, arranged.directions, arithmetic
    )
    start_h, start_c = arranged.state(initial_h, hidden), arranged.state(initial_c, hidden)
    every, last_h, last_c = [], [], []
    for d in range(arranged.directions):
        inputs = arranged.time_order(d)
        gates = _product(quantize, inputs, w[d], w_scale[d], _row(w_zero_point, d))
        if b is not None:
            gates = gates + (b[d, : 4 * hidden] + b[d, 4 * hidden :])
        inside = masks(arranged.lengths, len(inputs))
        recurrent = (r[d], r_scale[d], _row(r_zero_point, d))
        cell = _Cell(chosen[d], None if p is None else p[d], clip, bool(input_forget))
        h, c = start_h[d].T, start_c[d].T
        steps = np.zeros((*gates.shape[:2], hidden), x.dtype)
        for t, z in enumerate(gates):
            new_h, new_c = cell.step(z + _product(quantize, h, *recurrent), c)
            if inside is None:
                h, c, steps[t] = new_h, new_c, new_h
            else:
                alive = inside[t].T
                h, c = np.where(alive, new_h, h), np.where(alive, new_c, c)
                steps[t] = new_h * alive
        every.append(steps.swapaxes(1, 2))
        last_h.append(h.T)
        last_c.append(c.T)
    return (
        arranged.outputs(every, x.dtype),
        arranged.last(last_h, x.dtype),
        arranged.last(last_c, x.dtype),
    )


def _row(zero_point: np.ndarray | None, direction: int) -> np.ndarray:
    return np.zeros(1, np.int32) if zero_point is None else zero_point[direction]


def _product(
    quantize: Quantize,
    x: np.ndarray,
    weights: np.ndarray,
    scale: np.ndarray,
    zero_point: np.ndarray,
) -> np.ndarray:
    """``x @ weights`` in integers: exact in float64, as no sum reaches 2**53."""
    codes, x_scale, x_zero = quantize(x)
    left = codes.astype(np.float64) - float(x_zero)
    right = weights.astype(np.float64) - zero_point.astype(np.float64)
    product = np.matmul(left, right) + 0.0  # a sum of zeros is +0 or -0, as BLAS likes
    return product.astype(x.dtype) * (x_scale * scale)


class _Cell:
    """One step of a recurrence; batch first."""

    def __init__(
        self,
        functions: list[_recurrent.Activation],
        peepholes: np.ndarray | None,
        clip: float | None,
        input_forget: bool,
    ) -> None:
        self.functions = functions
        self.peepholes = peepholes
        self.clip = clip
        self.input_forget = input_forget

    def step(self, z: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The next h and c."""
        f, g, last = self.functions
        zi, zo, zf, zc = np.split(z, 4, axis=-1)
        p = None if self.peepholes is None else np.split(self.peepholes, 3)
        if p is not None:
            zi, zf = zi + p[0] * c, zf + p[2] * c
        i = f(self._clipped(zi))
        forget = 1 - i if self.input_forget else f(self._clipped(zf))
        c = forget * c + i * g(self._clipped(zc))
        if p is not None:
            zo = zo + p[1] * c
        return f(self._clipped(zo)) * last(c), c

    def _clipped(self, z: np.ndarray) -> np.ndarray:
        return z if not self.clip else np.clip(z, -self.clip, self.clip)


fast = partial(_lstm, _recurrent.FAST, dynamic_quantize_linear.fast)
exact = partial(_lstm, _recurrent.EXACT, dynamic_quantize_linear.exact)

VERSIONS = {1: fast}
EXACT = {1: exact}
