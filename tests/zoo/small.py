"""Small models: tables, graphs, indices, sizes, and what a graph cannot hold."""

from __future__ import annotations

import onemodel as om
from onemodel import nn
from onemodel.nn import functional as F


class BagMask(nn.Module):
    """The mean of embeddings over the tokens that are not padding."""

    def __init__(self) -> None:
        super().__init__()
        self.e = nn.Embedding(80, 12, padding_idx=0)
        self.o = nn.Linear(12, 4)

    def forward(self, ids):
        kept = (ids != 0).float().unsqueeze(-1)
        total = (self.e(ids) * kept).sum(1)
        return self.o(total / kept.sum(1).clamp(min=1))


class EmbeddingBagNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.e = nn.EmbeddingBag(80, 12, mode="mean")
        self.o = nn.Linear(12, 4)

    def forward(self, ids, offsets):
        return self.o(self.e(ids, offsets))


class Vae(nn.Module):
    """The noise is an input; the second result is the divergence from a normal distribution."""

    def __init__(self) -> None:
        super().__init__()
        self.e = nn.Sequential(nn.Linear(20, 16), nn.SELU(), nn.Linear(16, 8))
        self.d = nn.Sequential(nn.Linear(4, 16), nn.Softplus(), nn.Linear(16, 20), nn.Sigmoid())

    def forward(self, x, noise):
        mean, log_variance = self.e(x).chunk(2, dim=1)
        drawn = mean + noise * om.exp(0.5 * log_variance)
        divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp())
        return self.d(drawn), divergence.sum(1)


class GraphConvolution(nn.Module):
    """Sums over the edges of a graph: vertices and edges are symbolic."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(5, 16)
        self.b = nn.Linear(16, 3)

    @staticmethod
    def gather(h, edges):
        return om.zeros_like(h).index_add(0, edges[1], h[edges[0]])

    def forward(self, x, edges):
        h = F.relu(self.a(self.gather(x, edges)))
        return self.b(self.gather(h, edges))


class IndexZoo(nn.Module):
    """Masks, top values, gather, running sums, strided slices, arg max."""

    def forward(self, x):
        channels = x.shape[2]
        i = om.arange(x.shape[1])
        kept = i[None, :] >= i[:, None]
        products = F.einsum("btc,bsc->bts", x, x)
        products = om.where(kept, products, om.zeros_like(products))
        values, k = products.topk(3, -1)
        picked = x.gather(1, k[..., :1].expand(-1, -1, channels))
        return values, picked, om.cumsum(x, 1)[:, -1], x[:, ::2].flip(1), products.argmax(-1)


class BranchOnData(nn.Module):
    def forward(self, x):
        if x.sum() > 0:  # offence
            return x * 2
        return x - 1


class BranchOnShape(nn.Module):
    def forward(self, x):
        if x.shape[1] > 6:  # offence
            return x[:, :6].mean(1)
        return x.sum(1)


class PythonScalar(nn.Module):
    def forward(self, x):
        return x / float(x.abs().max())  # offence


class InPlaceIndex(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[:, 0] = 0  # offence
        y[:, 1:] += 1
        y.mul_(2)
        return y


class SizeArithmetic(nn.Module):
    """Sizes multiplied, divided by, and turned into a number."""

    def forward(self, x):
        count = x.shape[0] * x.shape[1]
        share = x.new_full((x.shape[1],), 1.0 / x.shape[1])
        return x.reshape(count, -1).sum(0) / count, share
