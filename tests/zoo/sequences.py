"""Transformers and recurrent networks, as a user of the library would write them."""

from __future__ import annotations

import math

import onemodel as om
from onemodel import nn
from onemodel.nn import functional as F


class SelfAttention(nn.Module):
    """Attention by hand (``manual``) or by ``scaled_dot_product_attention``."""

    def __init__(self, width: int, heads: int, causal: bool, manual: bool) -> None:
        super().__init__()
        self.heads, self.causal, self.manual = heads, causal, manual
        self.qkv = nn.Linear(width, 3 * width)
        self.o = nn.Linear(width, width)

    def forward(self, x, mask=None):
        batch, time, width = x.shape
        parts = self.qkv(x).split(width, 2)
        q, k, v = (
            part.view(batch, time, self.heads, width // self.heads).transpose(1, 2)
            for part in parts
        )
        attended = self.by_hand(q, k, v, mask) if self.manual else self.by_operator(q, k, v, mask)
        return self.o(attended.transpose(1, 2).contiguous().view(batch, time, width))

    def by_hand(self, q, k, v, mask):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if self.causal:
            time = q.shape[2]
            future = om.triu(om.ones(time, time, dtype=om.bool_), 1)
            scores = scores.masked_fill(future, float("-inf"))
        if mask is not None:
            scores = scores.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
        return F.softmax(scores, -1) @ v

    def by_operator(self, q, k, v, mask):
        kept = None if mask is None else mask[:, None, None, :].bool()
        return F.scaled_dot_product_attention(q, k, v, attn_mask=kept, is_causal=self.causal)


class EncoderLayer(nn.Module):
    def __init__(self, causal: bool = False, manual: bool = False) -> None:
        super().__init__()
        self.a = SelfAttention(32, 4, causal, manual)
        self.n1 = nn.LayerNorm(32)
        self.n2 = nn.LayerNorm(32)
        self.f = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))

    def forward(self, x, mask=None):
        x = self.n1(x + self.a(x, mask))
        return self.n2(x + self.f(x))


class Bert(nn.Module):
    def __init__(self, manual: bool = False) -> None:
        super().__init__()
        self.e = nn.Embedding(60, 32)
        self.p = nn.Embedding(64, 32)
        self.t = nn.Embedding(2, 32)
        self.n = nn.LayerNorm(32)
        self.b = nn.ModuleList([EncoderLayer(manual=manual) for _ in range(2)])
        self.pool = nn.Linear(32, 32)
        self.c = nn.Linear(32, 3)

    def forward(self, ids, mask):
        positions = self.p(om.arange(ids.shape[1]))[None]
        x = self.n(self.e(ids) + positions + self.t(om.zeros_like(ids)))
        for layer in self.b:
            x = layer(x, mask)
        return self.c(om.tanh(self.pool(x[:, 0]))), x


class Gpt(nn.Module):
    """A causal decoder whose output layer is its table of embeddings."""

    def __init__(self, manual: bool = True) -> None:
        super().__init__()
        self.e = nn.Embedding(60, 32)
        self.p = nn.Embedding(64, 32)
        layers = [EncoderLayer(causal=True, manual=manual) for _ in range(2)]
        self.b = nn.ModuleList(layers)
        self.n = nn.LayerNorm(32)

    def forward(self, ids):
        x = self.e(ids) + self.p(om.arange(ids.size(1)))
        for layer in self.b:
            x = layer(x)
        return self.n(x) @ self.e.weight.t()


class Llama(nn.Module):
    """Rotary positions, root-mean-square norms and a gated feed-forward part."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(om.ones(32))
        self.e = nn.Embedding(40, 32)
        self.qkv = nn.Linear(32, 96, bias=False)
        self.g = nn.Linear(32, 64, bias=False)
        self.u = nn.Linear(32, 64, bias=False)
        self.d = nn.Linear(64, 32, bias=False)
        self.register_buffer("inv", 1.0 / (10000 ** (om.arange(0, 8, 2).float() / 8)))

    def norm(self, x):
        return x * om.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.w

    @staticmethod
    def rotate(x, cosine, sine):
        half = om.cat([-x[..., 4:], x[..., :4]], -1)
        return x * cosine + half * sine

    def forward(self, ids):
        x = self.e(ids)
        batch, time, width = x.shape
        angles = om.outer(om.arange(time).float(), self.inv)
        angles = om.cat([angles, angles], -1)
        cosine, sine = angles.cos(), angles.sin()
        heads = (part.view(batch, time, 4, 8).transpose(1, 2)
                 for part in self.qkv(self.norm(x)).chunk(3, dim=-1))  # fmt: skip
        q, k, v = heads
        q, k = self.rotate(q, cosine, sine), self.rotate(k, cosine, sine)
        future = om.full((time, time), float("-inf")).triu(1)
        weights = ((q @ k.mT) * 8**-0.5 + future).softmax(-1)
        x = x + (weights @ v).transpose(1, 2).reshape(batch, time, width)
        gate = F.silu(self.g(self.norm(x)))
        return x + self.d(gate * self.u(x))


class LibraryTransformer(nn.Module):
    """The library's own layer and attention."""

    def __init__(self) -> None:
        super().__init__()
        self.l = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True)
        self.m = nn.MultiheadAttention(32, 2, batch_first=True)

    def forward(self, x):
        return self.m(self.l(x), x, x, need_weights=False)[0]


class Tagger(nn.Module):
    """A label per token, by a bidirectional recurrent network of two layers."""

    def __init__(self, kind: type[nn.Module]) -> None:
        super().__init__()
        self.e = nn.Embedding(50, 16)
        self.r = kind(16, 12, num_layers=2, bidirectional=True, batch_first=True)
        self.o = nn.Linear(24, 5)

    def forward(self, ids):
        states, _ = self.r(self.e(ids))
        return F.log_softmax(self.o(states), -1)


class LstmState(nn.Module):
    """A time-major LSTM that is handed its state and hands it back."""

    def __init__(self) -> None:
        super().__init__()
        self.r = nn.LSTM(6, 10)

    def forward(self, x, h, c):
        y, (h, c) = self.r(x, (h, c))
        return y, h, c


class LstmCellLoop(nn.Module):
    """A loop over time in Python: a graph would hold one copy of the cell per step."""

    def __init__(self) -> None:
        super().__init__()
        self.c = nn.LSTMCell(6, 10)

    def forward(self, x):
        state = x.new_zeros(x.size(0), 10), x.new_zeros(x.size(0), 10)
        hidden = []
        for step in range(x.size(1)):  # offence
            state = self.c(x[:, step], state)
            hidden.append(state[0])
        return om.stack(hidden, 1)


class ViT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cls = nn.Parameter(om.zeros(1, 1, 32))
        self.pos = nn.Parameter(om.randn(1, 17, 32) * 0.02)
        self.p = nn.Conv2d(3, 32, 4, stride=4)
        self.b = nn.ModuleList([EncoderLayer() for _ in range(2)])
        self.h = nn.Linear(32, 6)

    def forward(self, x):
        patches = self.p(x).flatten(2).transpose(1, 2)
        first = self.cls.expand(x.shape[0], -1, -1)
        x = om.cat([first, patches], 1) + self.pos
        for layer in self.b:
            x = layer(x)
        return self.h(x[:, 0])


class SwinWindow(nn.Module):
    """Attention inside shifted windows of four by four."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(8, 8)
        self.n = nn.LayerNorm(8)

    def forward(self, x):
        batch, height, width, channels = x.shape
        w = 4
        rows, columns = height // w, width // w
        shifted = om.roll(self.n(x), (-2, -2), (1, 2))
        windows = shifted.view(batch, rows, w, columns, w, channels).permute(0, 1, 3, 2, 4, 5)
        y = windows.reshape(-1, w * w, channels)
        scores = self.q(y) @ y.transpose(1, 2) * channels**-0.5
        y = om.softmax(scores, -1) @ y
        y = y.view(batch, rows, columns, w, w, channels).permute(0, 1, 3, 2, 4, 5)
        y = y.reshape(batch, height, width, channels)
        return x + om.roll(y, (2, 2), (1, 2))
