"""Batch and instance normalisation, with statistics kept from training."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.nn import functional as F
from onemodel.nn import init
from onemodel.nn.linear import weight
from onemodel.nn.module import Module
from onemodel.nn.norm import reset_affine
from onemodel.nn.parameter import Parameter
from onemodel.tensors.dtypes import as_dtype, get_default_dtype
from onemodel.tensors.tensor import Tensor


class _Norm(Module):
    """Affine weights and running statistics per channel, and the ranks that are accepted."""

    _ranks: tuple[int, ...]
    _layout: str

    def __init__(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
        dtype: Any,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.weight: Parameter | None
        self.bias: Parameter | None
        self.running_mean: Tensor | None
        self.running_var: Tensor | None
        self.num_batches_tracked: Tensor | None
        self.register_parameter("weight", weight(num_features, dtype=dtype) if affine else None)
        self.register_parameter("bias", weight(num_features, dtype=dtype) if affine else None)
        kept, kind = track_running_stats, get_default_dtype() if dtype is None else as_dtype(dtype)
        mean, var = Tensor(np.zeros(num_features, kind)), Tensor(np.ones(num_features, kind))
        self.register_buffer("running_mean", mean if kept else None)
        self.register_buffer("running_var", var if kept else None)
        self.register_buffer(
            "num_batches_tracked", Tensor(np.zeros((), np.int64)) if kept else None
        )
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1, no batches."""
        if self.running_mean is not None and self.running_var is not None:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
        if self.num_batches_tracked is not None:
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Weight ones, bias zeros, statistics as at the start."""
        self.reset_running_stats()
        reset_affine(self.weight, self.bias)

    def _check(self, input: Tensor) -> None:
        if input.ndim not in self._ranks:
            raise ValueError(
                f"{type(self).__name__}: expected an input {self._layout}, "
                f"not shape {list(input.array.shape)}"
            )

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_Norm):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)

    def forward(self, input: Tensor) -> Tensor:
        self._check(input)
        learns = self.training and self.running_mean is not None
        result = F.batch_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            self._momentum() if learns else 0.0,
            self.eps,
        )
        # After the call: one that is refused has seen no batch.
        if learns and self.num_batches_tracked is not None:
            self.num_batches_tracked._write("batch_norm()")[...] += 1
        return result

    def _momentum(self) -> float:
        """How much the new batch counts; without ``momentum``, as one among all so far."""
        if self.momentum is not None:
            return self.momentum
        assert self.num_batches_tracked is not None
        return 1.0 / (int(self.num_batches_tracked.array) + 1)


class BatchNorm1d(_BatchNorm):
    """Normalisation per feature over the batch: [N, C] or [N, C, L] -> the same.

    In training by the batch's own statistics, which flow into ``running_mean`` and
    ``running_var`` with weight ``momentum`` (None: cumulative mean); after ``eval()`` by those.
    A trace refuses training mode. Source: ``torch.nn.BatchNorm1d``.
    """

    _ranks, _layout = (2, 3), "[N, C] or [N, C, L]"


class BatchNorm2d(_BatchNorm):
    """Normalisation per channel over batch and positions: [N, C, H, W] -> the same.

    In training by the batch's own statistics, which flow into ``running_mean`` and
    ``running_var`` with weight ``momentum`` (None: cumulative mean); after ``eval()`` by those.
    A trace refuses training mode. Source: ``torch.nn.BatchNorm2d`` (Ioffe and Szegedy, 2015).
    """

    _ranks, _layout = (4,), "[N, C, H, W]"


class BatchNorm3d(_BatchNorm):
    """Normalisation per channel: [N, C, D, H, W] -> the same. Source: ``torch.nn.BatchNorm3d``."""

    _ranks, _layout = (5,), "[N, C, D, H, W]"


class _InstanceNorm(_Norm):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        *,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)

    def forward(self, input: Tensor) -> Tensor:
        self._check(input)
        single = input.ndim == min(self._ranks)  # no batch axis
        result = F.instance_norm(
            input.unsqueeze(0) if single else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return result.squeeze(0) if single else result


class InstanceNorm1d(_InstanceNorm):
    """Normalisation of each channel of each element: [N, C, L] or [C, L] -> the same.

    Source: ``torch.nn.InstanceNorm1d``.
    """

    _ranks, _layout = (2, 3), "[N, C, L] or [C, L]"


class InstanceNorm2d(_InstanceNorm):
    """Normalisation of each channel of each element: [N, C, H, W] or [C, H, W] -> the same.

    Source: ``torch.nn.InstanceNorm2d`` (Ulyanov et al., 2016).
    """

    _ranks, _layout = (3, 4), "[N, C, H, W] or [C, H, W]"


class InstanceNorm3d(_InstanceNorm):
    """Normalisation of each channel of each element: [N, C, D, H, W] or [C, D, H, W].

    Source: ``torch.nn.InstanceNorm3d``.
    """

    _ranks, _layout = (4, 5), "[N, C, D, H, W] or [C, D, H, W]"
