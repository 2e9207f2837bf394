"""Activations as modules; each calls the operator of its name."""

from __future__ import annotations

from typing import Any

from onemodel.nn import functional as F
from onemodel.nn import init
from onemodel.nn.linear import weight
from onemodel.nn.module import Module
from onemodel.tensors.tensor import Tensor


class _Activation(Module):
    """An activation without state; ``inplace`` writes into the input where it is possible."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def _apply(self, name: str, input: Tensor, *args: Any) -> Tensor:
        if self.inplace and hasattr(input, f"{name}_"):
            return getattr(input, f"{name}_")(*args)
        return getattr(F, name)(input, *args)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class ReLU(_Activation):
    """``max(x, 0)``. Source: ``torch.nn.ReLU``."""

    def forward(self, input: Tensor) -> Tensor:
        return self._apply("relu", input)


class ReLU6(_Activation):
    """``min(max(x, 0), 6)``. Source: ``torch.nn.ReLU6``."""

    def forward(self, input: Tensor) -> Tensor:
        return self._apply("relu6", input)


class SiLU(_Activation):
    """``x * sigmoid(x)``, also known as swish. Source: ``torch.nn.SiLU``."""

    def forward(self, input: Tensor) -> Tensor:
        return self._apply("silu", input)


class Mish(_Activation):
    """``x * tanh(softplus(x))``. Source: ``torch.nn.Mish``."""

    def forward(self, input: Tensor) -> Tensor:
        return self._apply("mish", input)


class SELU(_Activation):
    """Self-normalising exponential linear unit. Source: ``torch.nn.SELU``."""

    def forward(self, input: Tensor) -> Tensor:
        return self._apply("selu", input)


class Hardsigmoid(_Activation):
    """``clamp(x / 6 + 1/2, 0, 1)``. Source: ``torch.nn.Hardsigmoid``."""

    def forward(self, input: Tensor) -> Tensor:
        return self._apply("hardsigmoid", input)


class Hardswish(_Activation):
    """``x * hardsigmoid(x)``. Source: ``torch.nn.Hardswish``."""

    def forward(self, input: Tensor) -> Tensor:
        return self._apply("hardswish", input)


class LeakyReLU(_Activation):
    """``x`` where positive, else ``negative_slope * x``. Source: ``torch.nn.LeakyReLU``."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return self._apply("leaky_relu", input, self.negative_slope)

    def extra_repr(self) -> str:
        return _texts(f"negative_slope={self.negative_slope}", super().extra_repr())


class ELU(_Activation):
    """``x`` where positive, else ``alpha * (exp(x) - 1)``. Source: ``torch.nn.ELU``."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return self._apply("elu", input, self.alpha)

    def extra_repr(self) -> str:
        return _texts(f"alpha={self.alpha}", super().extra_repr())


class CELU(_Activation):
    """``max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))``. Source: ``torch.nn.CELU``."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return self._apply("celu", input, self.alpha)

    def extra_repr(self) -> str:
        return _texts(f"alpha={self.alpha}", super().extra_repr())


class Hardtanh(_Activation):
    """``clamp(x, min_val, max_val)``. Source: ``torch.nn.Hardtanh``."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.min_val = min_val
        self.max_val = max_val

    def forward(self, input: Tensor) -> Tensor:
        return self._apply("hardtanh", input, self.min_val, self.max_val)

    def extra_repr(self) -> str:
        limits = f"min_val={self.min_val}, max_val={self.max_val}"
        return _texts(limits, super().extra_repr())


class Threshold(_Activation):
    """``x`` where it exceeds ``threshold``, else ``value``. Source: ``torch.nn.Threshold``."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return self._apply("threshold", input, self.threshold, self.value)

    def extra_repr(self) -> str:
        return _texts(f"threshold={self.threshold}, value={self.value}", super().extra_repr())


class GELU(Module):
    """``x * Phi(x)``; ``approximate``: "none" or "tanh". Source: ``torch.nn.GELU``."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``. Source: ``torch.nn.Sigmoid``."""

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class Tanh(Module):
    """Hyperbolic tangent. Source: ``torch.nn.Tanh``."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class LogSigmoid(Module):
    """``log(sigmoid(x))`` without overflow. Source: ``torch.nn.LogSigmoid``."""

    def forward(self, input: Tensor) -> Tensor:
        return F.log_sigmoid(input)


class Softsign(Module):
    """``x / (1 + |x|)``. Source: ``torch.nn.Softsign``."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    """``x - tanh(x)``. Source: ``torch.nn.Tanhshrink``."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class Softplus(Module):
    """``log(1 + exp(beta * x)) / beta``; ``x`` where ``beta * x`` exceeds ``threshold``.

    Source: ``torch.nn.Softplus``.
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Softshrink(Module):
    """``x`` moved towards 0 by ``lambd``. Source: ``torch.nn.Softshrink``."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(Module):
    """``x`` where ``|x| > lambd``, else 0. Source: ``torch.nn.Hardshrink``."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class GLU(Module):
    """First half of an axis times the sigmoid of the second. Source: ``torch.nn.GLU``."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class PReLU(Module):
    """Leaky ReLU with a learnt slope, one or one per channel. Source: ``torch.nn.PReLU``."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, *, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = weight(num_parameters, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Every slope as at the start."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class _AlongAxis(Module):
    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def _axis(self, input: Tensor) -> int:
        if self.dim is not None:
            return self.dim
        # What torch picks (and warns of) when none is given.
        return 0 if input.ndim in (0, 1, 3) else 1

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_AlongAxis):
    """``exp(x) / sum(exp(x))`` along ``dim``. Source: ``torch.nn.Softmax``."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self._axis(input))


class LogSoftmax(_AlongAxis):
    """Logarithm of softmax along ``dim``. Source: ``torch.nn.LogSoftmax``."""

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self._axis(input))


class Softmin(_AlongAxis):
    """Softmax of ``-x`` along ``dim``. Source: ``torch.nn.Softmin``."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(-input, self._axis(input))


class Softmax2d(Module):
    """Softmax over the channels of [N, C, H, W] or [C, H, W]. Source: ``torch.nn.Softmax2d``."""

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected [N, C, H, W] or [C, H, W], not {list(input.array.shape)}"
            )
        return F.softmax(input, -3)


def _texts(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
