"""Dropout: in training some values become zero and the rest are scaled up; else nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.nn import functional as F
from onemodel.nn.module import Module
from onemodel.tensors import seam
from onemodel.tensors.tensor import Tensor


class _Dropout(Module):
    def __init__(
        self,
        p: float = 0.5,
        inplace: bool = False,
        *,
        generator: np.random.Generator | None = None,
    ) -> None:
        super().__init__()
        self.generator = generator
        if not 0 <= p <= 1:
            raise ValueError(f"{type(self).__name__}: p must lie between 0 and 1, not {p}")
        self.p = p
        self.inplace = inplace

    def _mask(self, input: Tensor, shape: tuple[Any, ...]) -> Tensor:
        """0 with probability ``p``, else ``1 / (1 - p)``."""
        if seam.listener() is not None:
            F.dropout(input, self.p, True)  # refused: a trace is told of dropout, not of a draw
        return F.dropout(F.ones(shape, dtype=input.dtype), self.p, generator=self.generator)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Each value is 0 with probability ``p`` in training, the rest divided by ``1 - p``.

    Nothing happens after ``eval()``. A trace refuses training mode. ``generator`` draws the
    mask, by default the one that ``om.manual_seed`` starts.
    Source: ``torch.nn.Dropout`` (Hinton et al., 2012).
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, generator=self.generator)


class _ChannelDropout(_Dropout):
    """Whole channels become zero: the mask has one value per element and channel."""

    _ranks: tuple[int, int]

    def forward(self, input: Tensor) -> Tensor:
        single, batched = self._ranks
        if input.ndim not in self._ranks:
            raise ValueError(
                f"{type(self).__name__}: expected {single} or {batched} axes, "
                f"not shape {list(input.array.shape)}"
            )
        if not self.training or not self.p:
            return input
        channels = input.shape[: 1 if input.ndim == single else 2]
        return input * self._mask(input, (*channels, *(1,) * (input.ndim - len(channels))))


class Dropout1d(_ChannelDropout):
    """Whole channels of [N, C, L] or [C, L] become zero. Source: ``torch.nn.Dropout1d``."""

    _ranks = (2, 3)


class Dropout2d(_ChannelDropout):
    """Whole channels of [N, C, H, W] or [C, H, W] become zero. Source: ``torch.nn.Dropout2d``."""

    _ranks = (3, 4)


class Dropout3d(_ChannelDropout):
    """Whole channels of [N, C, D, H, W] become zero. Source: ``torch.nn.Dropout3d``."""

    _ranks = (4, 5)


class AlphaDropout(_Dropout):
    """Dropout that keeps mean and variance behind SELU: dropped values take its lower limit.

    Source: ``torch.nn.AlphaDropout`` (Klambauer et al., 2017).
    """

    _LOWEST = -1.7580993408473766  # -scale * alpha of SELU

    def forward(self, input: Tensor) -> Tensor:
        if not self.training or not self.p:
            return input
        if self.p == 1:
            return input * 0
        keep = 1 - self.p
        kept = self._mask(input, input.shape) * keep
        scale = (keep * (1 + self.p * self._LOWEST**2)) ** -0.5
        shift = -scale * self._LOWEST * self.p
        return (input * kept + (1 - kept) * self._LOWEST) * scale + shift
