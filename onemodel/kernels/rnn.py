"""ONNX RNN (since 1, 7, 14, 22): simple recurrence over a sequence."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from onemodel.kernels import _recurrent
from onemodel.kernels._dtypes import widen
from onemodel.kernels._recurrent import Activation, Arithmetic, arrange, masks, projected

NODE_TYPE = "RNN"

_DEFAULT = ("Tanh",)


def _rnn(
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
) -> tuple[np.ndarray, np.ndarray]:
    """(Y, Y_h) of x (T, B, I), or (B, T, I) with ``layout=1``.

    Weights w (D, H, I), r (D, H, H), b (D, 2H). float16 and bfloat16 are computed
    in float32.
    """
    arranged = arrange(widen(x), sequence_lens, direction, layout)
    hidden = r.shape[-1]
    functions = _functions(
        arithmetic, activations, activation_alpha, activation_beta, arranged.directions
    )
    start = arranged.state(initial_h, hidden)
    every, last = [], []
    for d in range(arranged.directions):
        bias = None if b is None else widen(b[d, :hidden]) + widen(b[d, hidden:])
        terms = projected(arranged.time_order(d), widen(w[d]), bias, arithmetic)
        inside = masks(arranged.lengths, terms.shape[0])
        y, h = _run(arithmetic, terms, widen(r[d]), start[d], functions[d], clip, inside)
        every.append(y)
        last.append(h)
    return arranged.outputs(every, x.dtype), arranged.last(last, x.dtype)


fast = partial(_rnn, _recurrent.FAST)
exact = partial(_rnn, _recurrent.EXACT)


def _functions(
    arithmetic: Arithmetic,
    names: Sequence[str] | None,
    alphas: Sequence[float] | None,
    betas: Sequence[float] | None,
    directions: int,
) -> list[Activation]:
    found = _recurrent.activations(names, alphas, betas, _DEFAULT, directions, arithmetic)
    return [function for (function,) in found]


def _run(
    arithmetic: Arithmetic,
    terms: np.ndarray,
    r: np.ndarray,
    h: np.ndarray,
    function: Activation,
    clip: float | None,
    inside: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    y = np.empty_like(terms)
    recur = arithmetic.multiplier(r)
    for t in range(terms.shape[0]):
        z = terms[t]
        z += recur(h)
        if clip:
            np.clip(z, -clip, clip, out=z)
        new = function(z)
        if inside is None:
            y[t] = h = new
            continue
        h = np.where(inside[t], new, h)
        np.multiply(new, inside[t], out=y[t])
    return y, h


def _rnn_7(
    whole: Callable[..., tuple[np.ndarray, ...]],
    x: np.ndarray,
    w: np.ndarray,
    r: np.ndarray,
    b: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    **attributes: object,
) -> tuple[np.ndarray, np.ndarray]:
    """Opset 7: always time first; opset 1 also has ``output_sequence``, a hint."""
    attributes.pop("output_sequence", None)
    return whole(x, w, r, b, sequence_lens, initial_h, **attributes)  # type: ignore[arg-type]


VERSIONS = {1: partial(_rnn_7, fast), 14: fast}
EXACT = {1: partial(_rnn_7, exact), 14: exact}
