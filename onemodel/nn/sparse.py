"""Tables of vectors, looked up by integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.nn import functional as F
from onemodel.nn import init
from onemodel.nn.linear import weight
from onemodel.nn.module import Module
from onemodel.nn.parameter import Parameter
from onemodel.tensors.tensor import Tensor

Generator = np.random.Generator


class _Table(Module):
    """The table, its initial values, and what happens to the row ``padding_idx``."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None,
        given: Tensor | None,
        dtype: Any,
        generator: Generator | None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ValueError(f"{name}: padding_idx {padding_idx} is no row of {num_embeddings}")
            padding_idx %= num_embeddings
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        if given is None:
            self.weight = weight(num_embeddings, embedding_dim, dtype=dtype)
            self.reset_parameters(generator)
            return
        if given.array.shape != (num_embeddings, embedding_dim):
            raise ValueError(
                f"{name}: the given weight has shape {list(given.array.shape)}, expected "
                f"{[num_embeddings, embedding_dim]}"
            )
        self.weight = Parameter(given)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw the table anew, standard normal; the padding row is zero."""
        init.normal_(self.weight, generator=generator)
        if self.padding_idx is not None:
            self.weight.detach()._write("reset_parameters()")[self.padding_idx] = 0

    @classmethod
    def _pretrained(cls, embeddings: Tensor, freeze: bool, options: dict[str, Any]) -> Any:
        if embeddings.ndim != 2:
            raise ValueError(
                f"{cls.__name__}.from_pretrained: expected a table of two axes, "
                f"not shape {list(embeddings.array.shape)}"
            )
        module = cls(*embeddings.array.shape, _weight=embeddings, **options)  # type: ignore[call-arg]
        module.weight.requires_grad_(not freeze)
        return module


class Embedding(_Table):
    """A row of the table for each index: integers [*] -> [*, embedding_dim].

    Weight: ``weight`` [num_embeddings, embedding_dim], initially standard normal. The row
    ``padding_idx`` starts at zero and gets no gradient. Source: ``torch.nn.Embedding``.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, padding_idx, _weight, dtype, generator)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **options: Any) -> Embedding:
        """A module around a table; with ``freeze`` it gets no gradients."""
        return cls._pretrained(embeddings, freeze, options)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


class EmbeddingBag(_Table):
    """Sum, mean or maximum of the rows in each bag.

    Input [B, N]: one bag per row; or [N] with ``offsets`` [B], where each bag begins. Result
    [B, embedding_dim]. Weight: ``weight`` [num_embeddings, embedding_dim].
    Source: ``torch.nn.EmbeddingBag``.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, padding_idx, _weight, dtype, generator)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, **options: Any
    ) -> EmbeddingBag:
        """A module around a table; with ``freeze`` it gets no gradients."""
        return cls._pretrained(embeddings, freeze, options)

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}, mode={self.mode!r}"
