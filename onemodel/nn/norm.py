"""Normalisations by statistics of each element: layer, group, RMS and local response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onemodel.nn import functional as F
from onemodel.nn import init
from onemodel.nn.linear import weight
from onemodel.nn.module import Module
from onemodel.nn.parameter import Parameter
from onemodel.tensors.tensor import Tensor


def _shape(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(normalized_shape, int):
        return (normalized_shape,)
    return tuple(normalized_shape)


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last axes, then ``weight`` and ``bias`` of their shape.

    ``normalized_shape``: the sizes of those axes. Initially ones and zeros.
    Source: ``torch.nn.LayerNorm``.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        *,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.weight: Parameter | None
        self.bias: Parameter | None
        shape, shifted = self.normalized_shape, elementwise_affine and bias
        self.register_parameter(
            "weight", weight(*shape, dtype=dtype) if elementwise_affine else None
        )
        self.register_parameter("bias", weight(*shape, dtype=dtype) if shifted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight ones, bias zeros."""
        reset_affine(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class RMSNorm(Module):
    """Division by the root mean square of the last axes, then ``weight``.

    ``eps`` None: the machine epsilon of the dtype. Source: ``torch.nn.RMSNorm``.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        *,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.weight: Parameter | None
        affine = weight(*self.normalized_shape, dtype=dtype) if elementwise_affine else None
        self.register_parameter("weight", affine)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight ones."""
        reset_affine(self.weight, None)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """Normalisation of each element over groups of channels: [N, C, ...] -> the same.

    ``weight`` and ``bias`` [C], initially ones and zeros. Raises ValueError where the channels
    do not divide into the groups. Source: ``torch.nn.GroupNorm``.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        *,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"GroupNorm: num_channels {num_channels} is not divisible by "
                f"num_groups {num_groups}"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self.weight: Parameter | None
        self.bias: Parameter | None
        self.register_parameter("weight", weight(num_channels, dtype=dtype) if affine else None)
        self.register_parameter("bias", weight(num_channels, dtype=dtype) if affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight ones, bias zeros."""
        reset_affine(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"


class LocalResponseNorm(Module):
    """Division by a power of the mean square of neighbouring channels.

    Source: ``torch.nn.LocalResponseNorm`` (Krizhevsky et al., 2012).
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


def reset_affine(weight: Parameter | None, bias: Parameter | None) -> None:
    """Ones and zeros, where there are weights."""
    if weight is not None:
        init.ones_(weight)
    if bias is not None:
        init.zeros_(bias)
