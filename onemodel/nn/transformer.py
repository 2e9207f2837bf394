"""Transformer layers and stacks of them (Vaswani et al., 2017)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from onemodel.nn import functional as F
from onemodel.nn import init
from onemodel.nn.attention import MultiheadAttention, causal_mask
from onemodel.nn.containers import ModuleList
from onemodel.nn.dropout import Dropout
from onemodel.nn.linear import Linear
from onemodel.nn.module import Module
from onemodel.nn.norm import LayerNorm
from onemodel.tensors.dtypes import as_dtype, get_default_dtype
from onemodel.tensors.tensor import Tensor

Generator = np.random.Generator
Activation = str | Callable[[Tensor], Tensor]


def _activation(given: Activation) -> Callable[[Tensor], Tensor]:
    if callable(given):
        return given
    if given in ("relu", "gelu"):
        return getattr(F, given)
    raise ValueError(f"activation must be 'relu', 'gelu' or a function, not {given!r}")


class TransformerEncoderLayer(Module):
    """Self-attention and a feed-forward net, each with a residual and a layer norm.

    [L, N, d_model] ([N, L, d_model] with ``batch_first``) -> the same. ``norm_first``
    normalises before each part rather than after. Paths: ``self_attn``, ``linear1``,
    ``linear2``, ``norm1``, ``norm2``. Source: ``torch.nn.TransformerEncoderLayer``.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        made: dict[str, Any] = {"dtype": dtype, "generator": generator}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **made
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **made)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Masks as in :class:`MultiheadAttention`."""
        masks = (src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            normed = self.norm1(src)
            src = src + self.dropout1(_attend(self.self_attn, normed, normed, *masks))
            return src + self._feed_forward(self.norm2(src))
        src = self.norm1(src + self.dropout1(_attend(self.self_attn, src, src, *masks)))
        return self.norm2(src + self._feed_forward(src))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    """Self-attention, attention to ``memory`` and a feed-forward net, each with residual and norm.

    (tgt [T, N, d_model], memory [S, N, d_model]) -> like tgt. Paths: ``self_attn``,
    ``multihead_attn``, ``linear1``, ``linear2``, ``norm1`` to ``norm3``.
    Source: ``torch.nn.TransformerDecoderLayer``.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        made: dict[str, Any] = {"dtype": dtype, "generator": generator}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **made
        )
        self.multihead_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **made
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **made)
        self.norm_first = norm_first
        for number in (1, 2, 3):
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
            self.add_module(f"norm{number}", norm)
        for number in (1, 2, 3):
            self.add_module(f"dropout{number}", Dropout(dropout))
        self.activation = _activation(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Masks as in :class:`MultiheadAttention`."""
        of_target = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        of_memory = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            normed = self.norm1(x)
            x = x + self.dropout1(_attend(self.self_attn, normed, normed, *of_target))
            x = x + self.dropout2(_attend(self.multihead_attn, self.norm2(x), memory, *of_memory))
            return x + self._feed_forward(self.norm3(x))
        x = self.norm1(x + self.dropout1(_attend(self.self_attn, x, x, *of_target)))
        x = self.norm2(x + self.dropout2(_attend(self.multihead_attn, x, memory, *of_memory)))
        return self.norm3(x + self._feed_forward(x))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))


def _attend(
    attention: Module,
    query: Tensor,
    memory: Tensor,
    mask: Tensor | None,
    padding: Tensor | None,
    causal: bool,
) -> Tensor:
    attended, _ = attention(
        query,
        memory,
        memory,
        key_padding_mask=padding,
        need_weights=False,
        attn_mask=mask,
        is_causal=causal,
    )
    return attended


class TransformerEncoder(Module):
    """``num_layers`` copies of a layer in a row, then an optional norm.

    Paths: ``layers.0``, ..., ``norm``. ``enable_nested_tensor`` and ``mask_check`` choose a fast
    path in PyTorch and change nothing here. Source: ``torch.nn.TransformerEncoder``.
    """

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(encoder_layer) for _ in range(num_layers))
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Masks as in :class:`MultiheadAttention`, the same for every layer."""
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, bool(is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """``num_layers`` copies of a layer in a row, then an optional norm.

    Paths: ``layers.0``, ..., ``norm``. Source: ``torch.nn.TransformerDecoder``.
    """

    def __init__(
        self,
        decoder_layer: TransformerDecoderLayer,
        num_layers: int,
        norm: Module | None = None,
    ) -> None:
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(decoder_layer) for _ in range(num_layers))
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Masks as in :class:`MultiheadAttention`, the same for every layer."""
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask,
                memory_mask,
                tgt_key_padding_mask,
                memory_key_padding_mask,
                bool(tgt_is_causal),
                memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder that attends to its result.

    (src [S, N, d_model], tgt [T, N, d_model]) -> [T, N, d_model]. Paths: ``encoder``,
    ``decoder``. Matrices start by ``xavier_uniform_``. Source: ``torch.nn.Transformer``.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        shape = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        options: dict[str, Any] = {
            "batch_first": batch_first,
            "norm_first": norm_first,
            "bias": bias,
            "dtype": dtype,
            "generator": generator,
        }
        self.encoder = (
            custom_encoder
            if custom_encoder is not None
            else TransformerEncoder(
                TransformerEncoderLayer(*shape, **options),
                num_encoder_layers,
                LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype),
            )
        )
        self.decoder = (
            custom_decoder
            if custom_decoder is not None
            else TransformerDecoder(
                TransformerDecoderLayer(*shape, **options),
                num_decoder_layers,
                LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype),
            )
        )
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter, generator=generator)
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Masks as in :class:`MultiheadAttention`."""
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask,
            memory_mask,
            tgt_key_padding_mask,
            memory_key_padding_mask,
            tgt_is_causal,
            memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: Any, dtype: Any = None) -> Tensor:
        """[sz, sz] with -inf above the diagonal and 0 elsewhere; ``sz`` may be symbolic."""
        kind = get_default_dtype() if dtype is None else as_dtype(dtype)
        low, zero = Tensor(np.array(-np.inf, kind)), Tensor(np.array(0, kind))
        return F.where(causal_mask(sz, sz), low, zero)
