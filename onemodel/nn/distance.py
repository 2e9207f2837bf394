"""Similarity and distance of vectors."""

from __future__ import annotations

from onemodel.nn import functional as F
from onemodel.nn.module import Module
from onemodel.tensors.tensor import Tensor


class CosineSimilarity(Module):
    """Cosine of the angle between ``x1`` and ``x2`` along ``dim``.

    Source: ``torch.nn.CosineSimilarity``.
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, eps={self.eps}"


class PairwiseDistance(Module):
    """The ``p`` norm of ``x1 - x2 + eps`` over the last axis.

    Source: ``torch.nn.PairwiseDistance``.
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.norm(x1 - x2 + self.eps, self.norm, dim=-1, keepdim=self.keepdim)
