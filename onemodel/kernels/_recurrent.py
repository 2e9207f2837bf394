"""What LSTM, GRU and RNN share: activations, directions, sequence lengths, layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from onemodel.kernels import hard_sigmoid, softplus
from onemodel.kernels._special import sigmoid
from onemodel.kernels.exact import functions as exact_functions
from onemodel.kernels.exact import product as exact_product

Activation = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Arithmetic:
    """Who multiplies matrices, and who computes what IEEE 754 does not round."""

    matmul: Callable[[np.ndarray, np.ndarray], np.ndarray]
    multiplier: Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]]
    sigmoid: Activation
    tanh: Activation
    softplus: Activation
    expm1: Activation


FAST = Arithmetic(
    np.matmul, lambda a: partial(np.matmul, a), sigmoid, np.tanh, softplus.fast, np.expm1
)
EXACT = Arithmetic(
    exact_product.matmul,
    exact_product.multiplier,
    exact_functions.sigmoid,
    exact_functions.tanh,
    softplus.exact,
    exact_functions.expm1,
)

_DEFAULTS: dict[str, tuple[float, float]] = {
    "affine": (1.0, 0.0),
    "leakyrelu": (0.01, 0.0),
    "thresholdedrelu": (1.0, 0.0),
    "scaledtanh": (1.0, 1.0),
    "hardsigmoid": (0.2, 0.5),
    "elu": (1.0, 0.0),
}
_TAKES_ALPHA = frozenset(_DEFAULTS)
_TAKES_BETA = frozenset({"affine", "scaledtanh", "hardsigmoid"})


def activation(
    name: str,
    alpha: float | None = None,
    beta: float | None = None,
    arithmetic: Arithmetic = FAST,
) -> Activation:
    """An activation by its ONNX name, in any case.

    Raises:
        ValueError: an unknown name.
    """
    key = name.lower()
    default = _DEFAULTS.get(key, (0.0, 0.0))
    a = default[0] if alpha is None else alpha
    b = default[1] if beta is None else beta
    known: dict[str, Activation] = {
        "sigmoid": arithmetic.sigmoid,
        "tanh": arithmetic.tanh,
        "relu": lambda x: np.maximum(x, 0) + x.dtype.type(0),  # the zero is +0 everywhere
        "softsign": lambda x: x / (1 + np.abs(x)),
        "softplus": arithmetic.softplus,
        "affine": lambda x: x * a + b,
        "leakyrelu": lambda x: np.where(x < 0, x * a, x),
        "thresholdedrelu": lambda x: np.where(x > a, x, x.dtype.type(0)),
        "scaledtanh": lambda x: arithmetic.tanh(x * b) * a,
        "hardsigmoid": lambda x: hard_sigmoid.fast(x, alpha=a, beta=b),
        "elu": lambda x: np.where(x > 0, x, arithmetic.expm1(np.minimum(x, 0)) * a),
    }
    if key not in known:
        raise ValueError(f"activation {name!r} is unknown; ONNX has {', '.join(sorted(known))}")
    return known[key]


def activations(
    names: Sequence[str] | None,
    alphas: Sequence[float] | None,
    betas: Sequence[float] | None,
    default: Sequence[str],
    directions: int,
    arithmetic: Arithmetic = FAST,
) -> list[list[Activation]]:
    """The activations of every direction; alphas and betas go to those that take them."""
    chosen = list(names) if names else list(default) * directions
    if len(chosen) == len(default) and directions == 2:
        chosen = chosen * 2
    alpha, beta = list(alphas or ()), list(betas or ())
    built = []
    for name in chosen:
        key = name.lower()
        a = alpha.pop(0) if key in _TAKES_ALPHA and alpha else None
        b = beta.pop(0) if key in _TAKES_BETA and beta else None
        built.append(activation(name, a, b, arithmetic))
    count = len(default)
    return [built[i * count : (i + 1) * count] for i in range(directions)]


@dataclass
class Layout:
    """The arrays of one call, time first, and how to give the results back."""

    x: np.ndarray
    lengths: np.ndarray | None
    layout: int
    reverse: list[bool]

    @property
    def directions(self) -> int:
        return len(self.reverse)

    def state(self, given: np.ndarray | None, hidden: int) -> np.ndarray:
        """An initial state as (directions, hidden, batch), zeros by default."""
        if given is None:
            return np.zeros((self.directions, hidden, self.x.shape[1]), self.x.dtype)
        state = given.astype(self.x.dtype, copy=False)
        return np.ascontiguousarray(state.transpose((1, 2, 0) if self.layout else (0, 2, 1)))

    def time_order(self, direction: int) -> np.ndarray:
        """The input in the order in which this direction reads it."""
        return self.turned(self.x) if self.reverse[direction] else self.x

    def turned(self, steps: np.ndarray) -> np.ndarray:
        """(T, B, ...) read backwards; each sequence within its own length."""
        if self.lengths is None:
            return steps[::-1]
        total = steps.shape[0]
        time = np.arange(total)[:, None]
        index = np.where(time < self.lengths, self.lengths - 1 - time, time)
        return steps[index, np.arange(steps.shape[1])]

    def outputs(self, per_direction: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
        """Y from one (T, H, B) per direction, in reading order."""
        time_first = [part.swapaxes(1, 2) for part in per_direction]
        steps = [
            self.turned(part) if back else part
            for part, back in zip(time_first, self.reverse, strict=True)
        ]
        y = np.stack(steps, axis=1)  # (T, D, B, H)
        if self.layout:
            y = y.transpose(2, 0, 1, 3)
        return y.astype(dtype, copy=False)

    def last(self, per_direction: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
        """A final state from one (H, B) per direction."""
        state = np.stack([part.T for part in per_direction])
        if self.layout:
            state = state.swapaxes(0, 1)
        return state.astype(dtype, copy=False)


def arrange(x: np.ndarray, sequence_lens: np.ndarray | None, direction: str, layout: int) -> Layout:
    """Time-first input and directions.

    Raises:
        ValueError: an unknown direction.
    """
    known = {"forward": [False], "foward": [False], "reverse": [True]}
    known["bidirectional"] = [False, True]
    if direction not in known:
        raise ValueError(f"direction={direction!r}; write 'forward', 'reverse' or 'bidirectional'")
    lengths = sequence_lens
    steps = x.swapaxes(0, 1) if layout else x
    if lengths is not None and (lengths == steps.shape[0]).all():
        lengths = None
    return Layout(steps, lengths, layout, known[direction])


def projected(
    x: np.ndarray, weights: np.ndarray, bias: np.ndarray | None, arithmetic: Arithmetic = FAST
) -> np.ndarray:
    """W x + b for all time steps in one product: (T, gates * hidden, B).

    Features come before the batch, so that each gate is one contiguous block.
    """
    steps, batch, size = x.shape
    flat = np.ascontiguousarray(x).reshape(steps * batch, size)
    result = arithmetic.matmul(flat, weights.T)
    if bias is not None:
        result += bias
    return np.ascontiguousarray(result.reshape(steps, batch, len(weights)).swapaxes(1, 2))


def masks(lengths: np.ndarray | None, steps: int) -> np.ndarray | None:
    """(T, 1, B) bool: whether a step lies inside its sequence; None where all do."""
    if lengths is None:
        return None
    return (np.arange(steps)[:, None] < lengths)[:, None, :]
