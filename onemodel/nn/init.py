"""Initial values of weights, written in place.

Every function takes an explicit ``generator`` (``numpy.random.Generator``); without one the
default generator draws, which ``om.manual_seed`` starts. Source: ``torch.nn.init``.
"""

from __future__ import annotations

import math

import numpy as np

from onemodel.autograd.grad_mode import no_grad
from onemodel.nn.random import draw
from onemodel.tensors.tensor import Tensor

Generator = np.random.Generator

_GAINS = {
    "linear": 1.0,
    "sigmoid": 1.0,
    "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4.0,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The gain that keeps the variance through a non-linearity.

    ``param`` is the slope of ``leaky_relu`` (0.01). Raises ValueError for an unknown name.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1.0 + slope**2))
    if nonlinearity.startswith("conv"):
        return 1.0
    try:
        return _GAINS[nonlinearity]
    except KeyError:
        known = ", ".join([*_GAINS, "leaky_relu", "conv1d, conv2d, ..."])
        raise ValueError(f"no gain is known for {nonlinearity!r}; there are {known}") from None


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Values drawn evenly from [a, b)."""
    return _store(tensor, draw(generator).uniform(a, b, tensor.array.shape))


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Values drawn from a normal distribution."""
    return _store(tensor, draw(generator).normal(mean, std, tensor.array.shape))


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """A normal distribution cut off at ``a`` and ``b``: what falls outside is drawn again."""
    source = draw(generator)
    values = source.normal(mean, std, tensor.array.shape)
    while (outside := (values < a) | (values > b)).any():
        values[outside] = source.normal(mean, std, int(outside.sum()))
    return _store(tensor, values)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """The same value everywhere."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity as a matrix. Raises ValueError for other than two axes."""
    if tensor.ndim != 2:
        raise ValueError(f"eye_: expected two axes, not shape {list(tensor.array.shape)}")
    return _store(tensor, np.eye(*tensor.array.shape))


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform with variance ``2 gain^2 / (fan_in + fan_out)`` (Glorot and Bengio, 2010)."""
    fan_in, fan_out = fans(tensor)
    bound = gain * math.sqrt(6.0 / (fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal with variance ``2 gain^2 / (fan_in + fan_out)`` (Glorot and Bengio, 2010)."""
    fan_in, fan_out = fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / (fan_in + fan_out)), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform with variance ``gain^2 / fan`` (He et al., 2015); ``a``: slope of leaky_relu."""
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal with variance ``gain^2 / fan`` (He et al., 2015); ``a``: slope of leaky_relu."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode must be 'fan_in' or 'fan_out', not {mode!r}")
    fan = fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan) if fan else 0.0


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """A (semi-)orthogonal matrix over the axes after the first (Saxe et al., 2013).

    Raises ValueError for fewer than two axes.
    """
    if tensor.ndim < 2:
        raise ValueError(f"orthogonal_: expected two axes, not shape {list(tensor.array.shape)}")
    rows = tensor.array.shape[0]
    columns = tensor.array.size // max(1, rows)
    values = draw(generator).normal(size=(max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(values)
    q *= np.sign(np.diag(r))  # makes the distribution uniform
    q = q.T if rows < columns else q
    return _store(tensor, gain * q.reshape(tensor.array.shape))


def fans(tensor: Tensor) -> tuple[int, int]:
    """Inputs and outputs per unit of a weight [out, in, ...].

    Raises ValueError for fewer than two axes.
    """
    shape = tensor.array.shape
    if len(shape) < 2:
        raise ValueError(f"a weight of shape {list(shape)} has no fan; expected [out, in, ...]")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _store(tensor: Tensor, values: np.ndarray) -> Tensor:
    with no_grad():
        return tensor.copy_(values)
