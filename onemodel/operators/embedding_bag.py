"""Sums, means or maxima of bags of table rows."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators.amax import amax
from onemodel.operators.arange import arange
from onemodel.operators.cat import cat
from onemodel.operators.clamp import clamp
from onemodel.operators.embedding import embedding
from onemodel.operators.full import full
from onemodel.operators.ge import ge
from onemodel.operators.logical_and import logical_and
from onemodel.operators.lt import lt
from onemodel.operators.matmul import matmul
from onemodel.operators.mul import mul
from onemodel.operators.ne import ne
from onemodel.operators.sum import sum as total
from onemodel.operators.to import to
from onemodel.operators.unsqueeze import unsqueeze
from onemodel.operators.where import where
from onemodel.tensors.tensor import Tensor


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """For each bag of indices the sum, mean or maximum of their rows of ``weight``.

    Shapes: input [B, N] (a bag per row), or [N] with ``offsets`` [B] where each bag starts (with
    ``include_last_offset`` [B + 1]); weight [V, D] -> [B, D]. ``per_sample_weights``, shaped as
    the input, multiply the rows of mode "sum". ``padding_idx`` counts in no bag; an empty bag
    gives zeros. Raises ValueError for shapes or a mode that do not fit, IndexError for an index
    outside the table. Source: ``torch.nn.functional.embedding_bag``.
    """
    input = as_tensor("embedding_bag", "input", input)
    weight = as_tensor("embedding_bag", "weight", weight)
    _check(input, offsets, mode, per_sample_weights)
    if padding_idx is not None:
        padding_idx %= weight._array.shape[0]
    rows = embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    counts = None if padding_idx is None else ne(input, padding_idx)
    if per_sample_weights is not None:
        rows = mul(rows, unsqueeze(per_sample_weights, -1))
    if offsets is None:
        return _rows(rows, counts, mode)
    return _bags(rows, counts, as_tensor("embedding_bag", "offsets", offsets), mode,
                 include_last_offset)  # fmt: skip


def _check(
    input: Tensor, offsets: Tensor | None, mode: str, per_sample_weights: Tensor | None
) -> None:
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"embedding_bag: mode={mode!r}; write 'sum', 'mean' or 'max'")
    if input.ndim != (2 if offsets is None else 1):
        raise ValueError(
            f"embedding_bag: expected input [B, N], or [N] with offsets, "
            f"not {list(input._array.shape)} {'without' if offsets is None else 'with'} offsets"
        )
    if per_sample_weights is None:
        return
    if mode != "sum":
        raise ValueError("embedding_bag: per_sample_weights are for mode 'sum'")
    if per_sample_weights._array.shape != input._array.shape:
        raise ValueError(
            f"embedding_bag: per_sample_weights have shape "
            f"{list(per_sample_weights._array.shape)}, the input {list(input._array.shape)}"
        )


def _rows(rows: Tensor, counts: Tensor | None, mode: str) -> Tensor:
    """Bags that are the rows of a matrix: [B, N, D] -> [B, D]."""
    if mode == "max":
        return _largest(rows, counts, 1)
    if counts is None:
        return total(rows, 1) if mode == "sum" else rows.mean(1)
    share = to(counts, rows.dtype)
    summed = total(mul(rows, unsqueeze(share, -1)), 1)
    if mode == "sum":
        return summed
    return summed / clamp(total(share, 1, keepdim=True), min=1)


def _bags(
    rows: Tensor, counts: Tensor | None, offsets: Tensor, mode: str, include_last: bool
) -> Tensor:
    """Bags that follow each other: a bool matrix tells which element belongs to which."""
    if include_last:
        starts, ends = offsets[:-1], offsets[1:]
    else:
        whole = full((1,), rows.shape[0], dtype=offsets.dtype)
        starts, ends = offsets, cat([offsets[1:], whole])
    place = to(arange(rows.shape[0]), offsets.dtype)
    member = logical_and(ge(place, unsqueeze(starts, 1)), lt(place, unsqueeze(ends, 1)))
    if counts is not None:
        member = logical_and(member, counts)
    if mode == "max":
        return _largest(unsqueeze(rows, 0), member, 1)
    share = to(member, rows.dtype)
    summed = matmul(share, rows)
    return summed if mode == "sum" else summed / clamp(total(share, 1, keepdim=True), min=1)


def _largest(rows: Tensor, member: Tensor | None, dim: int) -> Tensor:
    """The maximum of each column over the members; 0 where there is none."""
    if member is None:
        return amax(rows, dim)
    inside = unsqueeze(member, -1)
    best = amax(where(inside, rows, -np.inf), dim)
    some = unsqueeze(ne(total(to(member, np.int64), 1), 0), -1)
    return where(some, best, 0.0)


def reference(
    input: np.ndarray,
    weight: np.ndarray,
    offsets: np.ndarray | None = None,
    mode: str = "mean",
    per_sample_weights: np.ndarray | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> np.ndarray:
    flat = input.reshape(-1)
    factors = np.ones(flat.shape) if per_sample_weights is None else per_sample_weights.reshape(-1)
    if offsets is None:
        cuts = np.arange(len(input) + 1) * input.shape[1]
    else:
        cuts = offsets if include_last_offset else np.append(offsets, len(input))
    result = np.zeros((len(cuts) - 1, weight.shape[1]))
    for b in range(len(cuts) - 1):
        bag = [i for i in range(cuts[b], cuts[b + 1]) if flat[i] != padding_idx]
        if bag:
            rows = np.stack([weight[flat[i]].astype(float) * factors[i] for i in bag])
            result[b] = {"sum": rows.sum, "mean": rows.mean, "max": rows.max}[mode](axis=0)
    return result


_OFFSETS = In((3,), "int64", values=lambda generator, shape: [0, 2, 2], constant=True)
_WITH_LAST = In((4,), "int64", values=lambda generator, shape: [0, 2, 2, 5], constant=True)


def _weighted(input: Tensor, weight: Tensor, factors: Tensor) -> Tensor:
    return embedding_bag(input, weight, mode="sum", per_sample_weights=factors)


CASES = (
    Case((In(("batch", 3), "int64", 0, 6), (6, 4)), reference=reference),
    Case((In(("batch", 3), "int64", 0, 6), (6, 4)), {"mode": "max", "padding_idx": 2}, lowest=9,
         reference=reference, gradient=False, name="maximum with padding"),
    Case((In(("batch", 3), "int64", 0, 6), (6, 4), ("batch", 3)), call=_weighted,
         reference=lambda i, w, f: reference(i, w, mode="sum", per_sample_weights=f),
         name="weights per sample"),
    Case((In(("time",), "int64", 0, 6), (6, 4), _OFFSETS), {"mode": "sum"}, lowest=9,
         reference=reference, name="offsets"),
    Case((In((5,), "int64", 0, 6), (6, 4), _OFFSETS), {"mode": "max"}, reference=reference,
         lowest=9, name="maximum, an empty bag"),
    Case((In((5,), "int64", 0, 6), (6, 4), _WITH_LAST), {"include_last_offset": True},
         reference=reference, name="last offset included"),
)  # fmt: skip

OPERATOR = Composite("embedding_bag", declaration=embedding_bag, cases=CASES)
