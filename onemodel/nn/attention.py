"""Multi-head attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.nn import functional as F
from onemodel.nn import init
from onemodel.nn.linear import Linear, weight
from onemodel.nn.module import Module
from onemodel.nn.parameter import Parameter
from onemodel.tensors.dtypes import bool_
from onemodel.tensors.tensor import Tensor

Generator = np.random.Generator


class MultiheadAttention(Module):
    """Attention of ``num_heads`` heads between projected queries, keys and values.

    Shapes: query [L, N, embed_dim], key [S, N, kdim], value [S, N, vdim] ([N, L, ...] with
    ``batch_first``; no N for one sequence) -> (output like query, weights [N, L, S] or None).
    Weights: ``in_proj_weight`` [3 * embed_dim, embed_dim] (or ``q_proj_weight``,
    ``k_proj_weight``, ``v_proj_weight`` where the widths differ), ``in_proj_bias``,
    ``out_proj.weight``, ``out_proj.bias``, and ``bias_k``, ``bias_v`` with ``add_bias_kv``.
    Source: ``torch.nn.MultiheadAttention`` (Vaswani et al., 2017).
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(
                f"MultiheadAttention: embed_dim {embed_dim} is not divisible by "
                f"num_heads {num_heads}"
            )
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.dropout = dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first = batch_first
        self.add_zero_attn = add_zero_attn
        joint = self.kdim == self.vdim == embed_dim
        self.in_proj_weight: Parameter | None
        self.register_parameter(
            "in_proj_weight", weight(3 * embed_dim, embed_dim, dtype=dtype) if joint else None
        )
        for name, width in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
            single = None if joint else weight(embed_dim, width, dtype=dtype)
            self.register_parameter(f"{name}_proj_weight", single)
        self.in_proj_bias: Parameter | None
        self.register_parameter(
            "in_proj_bias", weight(3 * embed_dim, dtype=dtype) if bias else None
        )
        self.bias_k: Parameter | None
        self.bias_v: Parameter | None
        for name in ("bias_k", "bias_v"):
            extra = weight(1, 1, embed_dim, dtype=dtype) if add_bias_kv else None
            self.register_parameter(name, extra)
        self.out_proj = Linear(embed_dim, embed_dim, bias, dtype=dtype, generator=generator)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw the projections of the inputs anew; all biases zero."""
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            projection = getattr(self, name)
            if projection is not None:
                init.xavier_uniform_(projection, generator=generator)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
        if self.out_proj.bias is not None:
            init.zeros_(self.out_proj.bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra, generator=generator)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Masks: True (or -inf to be added) where attention is not allowed.

        ``key_padding_mask`` [N, S]; ``attn_mask`` [L, S] or [N * num_heads, L, S].
        ``is_causal`` without an ``attn_mask``: no position looks ahead.
        """
        batched = query.ndim == 3
        if query.ndim not in (2, 3):
            raise ValueError(
                f"MultiheadAttention: expected 2 or 3 axes, not shape {list(query.array.shape)}"
            )
        q, k, v = self._project(*self._batch_first(batched, query, key, value))
        if key_padding_mask is not None and not batched:
            key_padding_mask = key_padding_mask.unsqueeze(0)
        causal = is_causal and attn_mask is None
        if causal and (key_padding_mask is not None or need_weights):
            attn_mask, causal = causal_mask(q.shape[-2], k.shape[-2]), False
        k, v, attn_mask, key_padding_mask = self._extend(k, v, attn_mask, key_padding_mask)
        mask = self._merge(q, attn_mask, key_padding_mask)
        weights = None
        if need_weights:
            output, weights = self._weigh(q, k, v, mask)
            weights = weights.mean(1) if average_attn_weights else weights
        else:
            output = F.scaled_dot_product_attention(
                q, k, v, attn_mask=mask, dropout_p=self._dropout(), is_causal=causal
            )
        joined = output.transpose(1, 2).reshape(q.shape[0], q.shape[2], self.embed_dim)
        result = self.out_proj(joined)
        if not batched:
            return result.squeeze(0), None if weights is None else weights.squeeze(0)
        return result if self.batch_first else result.transpose(0, 1), weights

    def _dropout(self) -> float:
        return self.dropout if self.training else 0.0

    def _batch_first(
        self, batched: bool, query: Tensor, key: Tensor, value: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """[N, L, E] from any layout; one tensor that is all three stays one tensor."""
        moved: dict[int, Tensor] = {}
        for tensor in (query, key, value):
            if id(tensor) not in moved:
                if not batched:
                    moved[id(tensor)] = tensor.unsqueeze(0)
                else:
                    moved[id(tensor)] = tensor if self.batch_first else tensor.transpose(0, 1)
        return moved[id(query)], moved[id(key)], moved[id(value)]

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Projected and split into heads: [N, heads, L, head_dim]."""
        bias = self.in_proj_bias
        if self.in_proj_weight is not None and query is key and key is value:
            parts = F.linear(query, self.in_proj_weight, bias).chunk(3, -1)
        else:
            if self.in_proj_weight is not None:
                projections = self.in_proj_weight.chunk(3, 0)
            else:
                projections = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
            shifts = (None, None, None) if bias is None else bias.chunk(3, 0)
            parts = [
                F.linear(tensor, projection, shift)
                for tensor, projection, shift in zip(
                    (query, key, value), projections, shifts, strict=True
                )
            ]
        if self.bias_k is not None and self.bias_v is not None:
            q, k, v = parts
            parts = (q, _append(k, self.bias_k), _append(v, self.bias_v))
        split = [
            part.reshape(*part.shape[:2], self.num_heads, self.head_dim).transpose(1, 2)
            for part in parts
        ]
        return split[0], split[1], split[2]

    def _extend(
        self, k: Tensor, v: Tensor, attn_mask: Tensor | None, padding: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
        """A zero key and value at the end, and masks that let every query see what was added."""
        if self.add_zero_attn:
            zeros = F.zeros((*k.shape[:2], 1, self.head_dim), dtype=k.dtype)
            k, v = F.cat([k, zeros], 2), F.cat([v, zeros], 2)
        added = int(self.add_zero_attn) + int(self.bias_k is not None)
        if added:
            attn_mask, padding = (
                None
                if mask is None
                else F.cat([mask, F.zeros((*mask.shape[:-1], added), dtype=mask.dtype)], -1)
                for mask in (attn_mask, padding)
            )
        return k, v, attn_mask, padding

    def _merge(self, q: Tensor, attn_mask: Tensor | None, padding: Tensor | None) -> Tensor | None:
        """One mask that broadcasts to [N, heads, L, S]: True where allowed, or numbers to add."""
        masks = []
        if attn_mask is not None:
            if attn_mask.ndim == 3:
                size = (q.shape[0], self.num_heads, *attn_mask.shape[1:])
                attn_mask = attn_mask.reshape(*size)
            masks.append(attn_mask)
        if padding is not None:
            masks.append(padding[:, None, None, :])
        if not masks:
            return None
        if all(mask.dtype == bool_ for mask in masks):
            forbidden = masks[0] if len(masks) == 1 else F.logical_or(*masks)
            return F.logical_not(forbidden)
        return sum((_additive(mask, q) for mask in masks[1:]), _additive(masks[0], q))

    def _weigh(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        scores = (q / math.sqrt(self.head_dim)) @ k.transpose(-2, -1)
        if mask is not None:
            scores = scores + (mask if mask.dtype != bool_ else _additive(~mask, q))
        weights = F.softmax(scores, -1)
        if self._dropout():
            weights = F.dropout(weights, self.dropout, True)
        return weights @ v, weights


def causal_mask(rows: Any, columns: Any) -> Tensor:
    """True above the diagonal: what a position must not see. Sizes may be symbolic."""
    return F.arange(columns)[None, :] > F.arange(rows)[:, None]


def _additive(mask: Tensor, like: Tensor) -> Tensor:
    """A boolean mask (True: forbidden) as numbers to be added to the scores."""
    if mask.dtype != bool_:
        return mask
    return F.where(mask, Tensor(np.array(-np.inf, like.dtype)), Tensor(np.array(0, like.dtype)))


def _append(sequence: Tensor, extra: Tensor) -> Tensor:
    """[N, L, E] with ``extra`` [1, 1, E] behind each sequence."""
    return F.cat([sequence, extra.expand(sequence.shape[0], 1, extra.shape[-1])], 1)
