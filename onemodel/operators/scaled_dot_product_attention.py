"""Attention: softmax of query-key products, applied to values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes, as_extent
from onemodel.kernels._attention import softmax_rows
from onemodel.kernels._dtypes import widen
from onemodel.operators._case import Case, In
from onemodel.operators._counting import counting
from onemodel.operators._operator import Operator, Refusal, apply
from onemodel.operators._promote import as_tensor, unbroadcast
from onemodel.operators._random import draw_with
from onemodel.operators._spatial import check_floating
from onemodel.operators.dropout import check_probability, draw_mask
from onemodel.symbolic.helpers import clip, reduce, reshape, squeeze, unsqueeze
from onemodel.tensors.tensor import Tensor

_NAME = "scaled_dot_product_attention"


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    generator: Any = None,
) -> Tensor:
    """``softmax(query @ key.T * scale + attn_mask) @ value`` over the last two axes.

    Shapes: query [..., L, E], key [..., S, E], value [..., S, Ev] -> [..., L, Ev]; ``attn_mask``
    broadcasts to [..., L, S]: bool keeps where True, a floating one is added. ``is_causal``
    lets position i see keys 0..i. ``scale`` is 1/sqrt(E) by default. With ``enable_gqa`` the
    heads of key and value (axis -3) serve equal groups of query heads. A row that sees no key
    gives zeros. ``dropout_p`` acts whenever it is positive (a trace refuses it, OM601).
    Raises ValueError for shapes that do not fit or a mask together with ``is_causal``.
    Source: ``torch.nn.functional.scaled_dot_product_attention``; ONNX Attention-23.
    """
    query, key = as_tensor(_NAME, "query", query), as_tensor(_NAME, "key", key)
    tensors = [query, key, as_tensor(_NAME, "value", value)]
    check_floating(_NAME, query=query, key=key, value=tensors[2])
    check_probability(_NAME, dropout_p)
    if attn_mask is not None:
        if is_causal:
            raise ValueError(f"{_NAME}: give attn_mask or is_causal, not both")
        mask = as_tensor(_NAME, "attn_mask", attn_mask)
        if mask.dtype != np.bool_:
            check_floating(_NAME, query=query, attn_mask=mask)
        tensors.append(mask)
    query_shape, key_shape, value_shape = (t._array.shape for t in tensors[:3])
    _check_shapes(query_shape, key_shape, value_shape, enable_gqa)
    if dropout_p and all(tensor._mark is None for tensor in tensors):
        generator = draw_with(_NAME, generator)
    return apply(
        OPERATOR,
        tensors,
        {
            "dropout_p": float(dropout_p),
            "is_causal": bool(is_causal),
            "scale": None if scale is None else float(scale),
            "enable_gqa": bool(enable_gqa) and query._array.shape[-3] != key._array.shape[-3],
            "generator": generator,
        },
    )


def _check_shapes(
    query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...], grouped: bool
) -> None:
    shapes = f"query {list(query)}, key {list(key)}, value {list(value)}"
    if min(map(len, (query, key, value))) < 2:
        raise ValueError(f"{_NAME}: expected at least two axes each: {shapes}")
    if query[-1] != key[-1] or key[-2] != value[-2]:
        raise ValueError(
            f"{_NAME}: query and key need one size in the last axis, key and value in the "
            f"one before: {shapes}"
        )
    if grouped:
        if min(map(len, (query, key, value))) < 3:
            raise ValueError(f"{_NAME}: enable_gqa needs a head axis (-3): {shapes}")
        if key[-3] != value[-3] or not key[-3] or query[-3] % key[-3]:
            raise ValueError(
                f"{_NAME}: the heads of query must be a multiple of those of key and value: "
                f"{shapes}"
            )


def _repeated(array: np.ndarray, heads: int) -> np.ndarray:
    """Key or value heads, each standing for its group of query heads."""
    return np.repeat(array, heads // array.shape[-3], axis=-3)


def _factor(query: np.ndarray, scale: float | None) -> np.ndarray:
    return np.asarray(1 / np.sqrt(query.shape[-1]) if scale is None else scale, query.dtype)


def forward(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    attn_mask: np.ndarray | None = None,
    *,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
    generator: Any,
) -> tuple[np.ndarray, Any]:
    q, k, v = widen(query), widen(key), widen(value)
    if enable_gqa:
        k, v = _repeated(k, q.shape[-3]), _repeated(v, q.shape[-3])
    factor = _factor(q, scale)
    if factor > 0:  # half on each side keeps large products finite, as ONNX defines it
        half = np.sqrt(factor)
        scores = np.matmul(q * half, (k * half).swapaxes(-1, -2))
    else:
        scores = np.matmul(q * factor, k.swapaxes(-1, -2))
    if is_causal:
        attn_mask = np.tri(q.shape[-2], k.shape[-2], dtype=bool)
    if attn_mask is not None and attn_mask.dtype == np.bool_:
        scores = np.where(attn_mask, scores, scores.dtype.type(-np.inf))
    elif attn_mask is not None:
        scores = scores + widen(attn_mask)
    weights = softmax_rows(scores) if scores.size else scores
    mask = None
    dropped = weights
    if dropout_p:
        mask = draw_mask(weights.shape, dropout_p, weights.dtype, generator)
        dropped = weights * mask
    result = np.matmul(dropped, v)
    return result.astype(query.dtype, copy=False), (weights, mask)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
    weights, mask = record.saved
    q, k, v = (widen(array) for array in record.arrays[:3])
    attributes = record.attributes
    heads = k.shape[-3] if attributes["enable_gqa"] else 0
    if heads:
        k, v = _repeated(k, q.shape[-3]), _repeated(v, q.shape[-3])
    gradient = widen(grad)
    dropped = weights if mask is None else weights * mask
    dv = np.matmul(dropped.swapaxes(-1, -2), gradient)
    dw = np.matmul(gradient, v.swapaxes(-1, -2))
    if mask is not None:
        dw = dw * mask
    ds = dw - (dw * weights).sum(axis=-1, keepdims=True)
    ds *= weights
    factor = _factor(q, attributes["scale"])
    dq = np.matmul(ds, k) * factor
    dk = np.matmul(ds.swapaxes(-1, -2), q) * factor
    if heads:
        dk, dv = _summed(dk, heads), _summed(dv, heads)
    grads: list[np.ndarray | None] = [
        unbroadcast(g, shape) for g, shape in zip((dq, dk, dv), record.shapes, strict=False)
    ]
    if len(record.inputs) > 3:
        floating = record.arrays[3].dtype != np.bool_
        grads.append(unbroadcast(ds, record.shapes[3]) if floating else None)
    return tuple(grads)


def _summed(gradient: np.ndarray, heads: int) -> np.ndarray:
    shape = gradient.shape
    return gradient.reshape(*shape[:-3], heads, shape[-3] // heads, *shape[-2:]).sum(axis=-3)


def axes(
    query: Axes,
    key: Axes,
    value: Axes,
    attn_mask: Axes | None = None,
    *,
    enable_gqa: bool,
    **rest: Any,
) -> Axes:
    rules.same_extent(query[-1], key[-1], "query and key of attention")
    rules.same_extent(key[-2], value[-2], "key and value of attention")
    drop = 3 if enable_gqa else 2
    lead = rules.broadcast(query[:-drop], key[:-drop], value[:-drop])
    lead = (*lead, *query[-drop:-2])
    if attn_mask is not None:
        lead = rules.broadcast((*lead, query[-2], key[-2]), attn_mask)[:-2]
    return (*lead, query[-2], value[-1])


def refuses(attributes: Mapping[str, Any]) -> Refusal | None:
    if not attributes["dropout_p"]:
        return None
    return Refusal(
        "OM601",
        "attention with dropout_p draws random numbers; a graph for inference has none",
        (("pass dropout_p=0.0 in evaluation", "dropout_p=self.p if self.training else 0.0"),),
    )


# --- nodes ----------------------------------------------------------------------------------


def opset_23(
    g: Any,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    generator: Any = None,
) -> Any:
    rank, fits = query.rank, _fits_node(query, key, value, attn_mask)
    if not fits or (scale is not None and scale <= 0):
        return opset_7(
            g, query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, generator
        )
    if attn_mask is not None and attn_mask.rank == 3:
        # Over heads for [B, H, L, E], over the batch for [B, L, E].
        attn_mask = unsqueeze(g, attn_mask, [0 if rank == 4 else 1])
    heads = {"q_num_heads": 1, "kv_num_heads": 1} if rank == 3 else {}
    return g.op(
        "Attention", query, key, value, attn_mask, is_causal=int(is_causal), scale=scale, **heads
    )


def _fits_node(query: Any, key: Any, value: Any, mask: Any) -> bool:
    """Whether the shapes are those of the Attention node, which broadcasts less than eager."""
    shapes = [tuple(as_extent(size) for size in v.shape) for v in (query, key, value)]
    if {len(shape) for shape in shapes} not in ({3}, {4}):
        return False
    drop = 3 if len(shapes[0]) == 4 else 2
    if not shapes[0][:-drop] == shapes[1][:-drop] == shapes[2][:-drop]:
        return False
    if mask is None:
        return True
    # A mask shorter than the keys means "the rest is hidden" there, never a broadcast.
    last = [as_extent(size) for size in mask.shape[-2:]]
    return 2 <= mask.rank <= len(shapes[0]) and last == [shapes[0][-2], shapes[1][-2]]


def opset_7(
    g: Any,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    generator: Any = None,
) -> Any:
    key_rank, keys = key.rank, key.shape[-2]
    if enable_gqa:
        key, value = (_write_repeated(g, v, query.shape[-3]) for v in (key, value))
    perm = [*range(key_rank - 2), key_rank - 1, key_rank - 2]
    if scale is not None and scale <= 0:
        left, right = g.op("Mul", query, g.like(scale, query)), key
    else:
        half = _write_factor(g, query, scale)
        left, right = g.op("Mul", query, half), g.op("Mul", key, half)
    scores = g.op("MatMul", left, g.op("Transpose", right, perm=perm))
    rank = len(g.result_axes[0])
    scores_rank = max(query.rank, key_rank)
    if is_causal:
        allowed = _write_causal(g, query.shape[-2], keys)
        weights = _write_kept(g, scores, allowed, scores_rank, whole_rows=False)
    elif attn_mask is None:
        weights = g.op("Softmax", scores, axis=scores_rank - 1)
    elif attn_mask.dtype == np.bool_:
        known = g.array(attn_mask)
        hidden = known is None or not known.any(axis=-1).all()
        weights = _write_kept(g, scores, attn_mask, rank, whole_rows=hidden)
    else:
        weights = _write_added(g, scores, attn_mask, rank)
    return g.op("MatMul", weights, value)


def _write_repeated(g: Any, value: Any, heads: Any) -> Any:
    shape = [as_extent(size) for size in value.shape]
    groups = as_extent(heads).value // shape[-3].value
    repeats = [1] * (len(shape) + 1)
    repeats[-3] = groups
    tiled = g.op("Tile", unsqueeze(g, value, [len(shape) - 2]), g.ints(repeats))
    sizes = [*shape[:-3], as_extent(heads), *shape[-2:]]
    return reshape(g, tiled, sizes)


def _write_factor(g: Any, query: Any, scale: float | None) -> Any:
    """sqrt(scale); of 1/sqrt(E) by default, where E may be symbolic."""
    width = as_extent(query.shape[-1])
    if scale is None and not width.is_static:
        size = squeeze(g, g.cast(g.size(width), query.dtype), [0])
        return g.op("Reciprocal", g.op("Sqrt", g.op("Sqrt", size)))
    value = 1 / np.sqrt(width.value) if scale is None else scale
    wide = np.float32 if query.dtype.itemsize < 4 else query.dtype
    return g.like(np.sqrt(np.asarray(value, wide)), query)


def _write_causal(g: Any, queries: Any, keys: Any) -> Any:
    """bool [L, S]: which keys each position may see."""
    rows, columns = as_extent(queries), as_extent(keys)
    if rows.is_static and columns.is_static:
        return g.constant(np.tri(rows.value, columns.value, dtype=bool))

    def write() -> Any:
        row, column = counting(g, rows), counting(g, columns)
        return g.op("Not", g.op("Less", unsqueeze(g, row, [1]), unsqueeze(g, column, [0])))

    return g.once(("causal", rows, columns), write)


def _write_kept(g: Any, scores: Any, allowed: Any, rank: int, whole_rows: bool) -> Any:
    """Softmax over the allowed keys; ``whole_rows``: a row may have none, and then gives zeros.

    The lowest finite number stands for minus infinity, which would make such rows NaN.
    """
    lowest = _lowest(scores.dtype)
    if g.opset >= 9:
        kept = g.op("Where", allowed, scores, g.like(lowest, scores))
        weights = g.op("Softmax", kept, axis=rank - 1)
        return g.op("Where", allowed, weights, g.like(0, weights)) if whole_rows else weights
    one = g.cast(allowed, scores.dtype)
    # Far below any score, and far enough from overflow to be added to one.
    far = g.op("Mul", g.op("Sub", one, g.like(1, scores)), g.like(-lowest / 4, scores))
    weights = g.op("Softmax", g.op("Add", g.op("Mul", scores, one), far), axis=rank - 1)
    return g.op("Mul", weights, one) if whole_rows else weights


def _write_added(g: Any, scores: Any, mask: Any, rank: int) -> Any:
    """Softmax of scores plus a floating mask; rows of minus infinity give zeros."""
    total = g.op("Add", scores, mask)
    known = g.array(mask)
    if known is not None and not np.isneginf(known.max(axis=-1)).any():
        return g.op("Softmax", total, axis=rank - 1)
    lowest = _lowest(scores.dtype)
    above = lowest * 0.99
    total = clip(g, total, lowest, None)
    top = reduce(g, "ReduceMax", total, [rank - 1], True)
    alive = g.op("Not", g.op("Less", top, g.like(above, top)))
    weights = g.op("Softmax", total, axis=rank - 1)
    return g.op("Mul", weights, g.cast(alive, weights.dtype))


def _lowest(dtype: np.dtype) -> float:
    """About the lowest finite number; bfloat16, unknown to NumPy, reaches nearly to float32's."""
    return float(np.finfo(dtype).min) if dtype.kind == "f" else -3e38


# --- cases ----------------------------------------------------------------------------------


def reference(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    attn_mask: np.ndarray | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> np.ndarray:
    q, k, v = (np.asarray(a, np.float64) for a in (query, key, value))
    if enable_gqa:
        groups = q.shape[1] // k.shape[1]
        k = np.stack([k[:, h // groups] for h in range(q.shape[1])], axis=1)
        v = np.stack([v[:, h // groups] for h in range(q.shape[1])], axis=1)
    factor = 1 / np.sqrt(q.shape[-1]) if scale is None else scale
    scores = np.einsum("...le,...se->...ls", q, k) * factor
    if is_causal:
        attn_mask = np.arange(k.shape[-2]) <= np.arange(q.shape[-2])[:, None]
    if attn_mask is not None:
        added = np.where(attn_mask, 0, -np.inf) if attn_mask.dtype == bool else attn_mask
        scores = scores + added
    weights = np.exp(scores - np.where(np.isinf(scores), -1e300, scores).max(-1, keepdims=True))
    total = weights.sum(-1, keepdims=True)
    return np.einsum("...ls,...sv->...lv", weights / np.where(total == 0, 1, total), v)


def _some_rows(generator: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A bool mask whose first row keeps nothing."""
    mask = generator.random(shape) < 0.7
    mask[..., :1, :] = False
    return mask


def _minus_infinity(generator: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A floating mask whose first row is minus infinity."""
    mask = generator.normal(size=shape)
    mask[..., :1, :] = -np.inf
    return mask.astype(np.float32)


_Q, _K, _V = ("batch", 2, "time", 4), ("batch", 2, 5, 4), ("batch", 2, 5, 3)

CASES = (
    Case((_Q, _K, _V), reference=reference),
    Case((_Q, ("batch", 2, "time", 4), ("batch", 2, "time", 4)), {"is_causal": True},
         reference=reference, lowest=9, name="causal, symbolic sizes"),
    Case((("batch", 2, 4, 4), _K, _V), {"is_causal": True}, reference=reference, name="causal"),
    Case((_Q, _K, _V, In(("batch", 1, "time", 5), "bool", values=_some_rows)),
         reference=reference, name="a row that sees nothing"),
    Case((("batch", 2, 4, 4), _K, _V, In((4, 5), "bool", values=_some_rows, constant=True)),
         reference=reference, name="constant mask"),
    Case((("batch", 2, 4, 4), _K, _V, In((4, 5), constant=True)), reference=reference,
         name="floating mask"),
    Case((("batch", 2, 4, 4), _K, _V, In(("batch", 2, 4, 5), values=_minus_infinity,
          gradient=False)), reference=reference, gradient=False, name="minus infinity"),
    Case((_Q, _K, _V, In(("batch", 1, 1, 5), "bool")), reference=reference, gradient=False,
         name="padding mask"),
    Case((("batch", 6, 3, 4), ("batch", 2, "time", 4), ("batch", 2, "time", 4)),
         {"enable_gqa": True, "scale": 0.3}, reference=reference, name="grouped queries"),
    Case((("batch", "time", 4), ("batch", 5, 4), ("batch", 5, 3)), reference=reference,
         name="no heads"),
    Case((("time", 4), (5, 4), (5, 3)), {"scale": -0.5}, reference=reference, name="matrices"),
)  # fmt: skip

OPERATOR = Operator(
    _NAME,
    declaration=scaled_dot_product_attention,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7, 23: opset_23},
    reads="i",
    saves=True,
    refuses=refuses,
    random=True,
    cases=CASES,
)
