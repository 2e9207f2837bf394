"""Einstein summation."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes, Extent, as_extent
from onemodel.kernels import einsum as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import operands as promoted
from onemodel.operators._promote import unbroadcast
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def einsum(equation: str, *operands: Any) -> Tensor:
    """Products of the operands, summed over the letters that the result does not name.

    ``equation``: letters per axis, operands parted by commas, ``...`` for the axes in front
    that broadcast, and the result behind ``->`` (without it: the letters that occur once, in
    alphabetical order). Operands may come as one list. Raises ValueError where letters do not
    fit axes or sizes. Source: ``torch.einsum``; ONNX Einsum-12 (MatMul, Mul and ReduceSum
    below).
    """
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not isinstance(equation, str) or not operands:
        raise TypeError("einsum: expected an equation and at least one operand")
    tensors, _ = promoted("einsum", *operands)
    return apply(OPERATOR, tensors, {"equation": explicit(equation)})


def explicit(equation: str) -> str:
    """The equation without blanks, the result written out."""
    equation = equation.replace(" ", "")
    if set(equation) - set(string.ascii_letters + ".,->"):
        raise ValueError(f"einsum: the equation {equation!r} holds more than letters, ',' and '->'")
    inputs, arrow, _ = equation.partition("->")
    if arrow:
        return equation
    once = "".join(c for c in sorted(set(inputs) - set(".,")) if inputs.count(c) == 1)
    return f"{inputs}->{'...' * ('...' in inputs)}{once}"


@dataclass(frozen=True)
class Letters:
    """An equation whose ``...`` are letters, too: one string per operand, and the result."""

    inputs: tuple[str, ...]
    output: str


def letters(equation: str, ranks: Sequence[int]) -> Letters:
    """The letters of every axis. Raises ValueError where they do not fit the ranks."""
    left, _, output = equation.partition("->")
    subscripts = left.split(",")
    if len(subscripts) != len(ranks):
        raise ValueError(f"the equation has {len(subscripts)} operands, {len(ranks)} are given")
    free = [c for c in string.ascii_letters if c not in equation]
    counts = [
        rank - len(text.replace("...", "")) for text, rank in zip(subscripts, ranks, strict=True)
    ]
    if any(n < 0 or (n and "..." not in text) for text, n in zip(subscripts, counts, strict=True)):
        raise ValueError(f"the letters of {equation!r} do not fit operands of {list(ranks)} axes")
    most = max((n for text, n in zip(subscripts, counts, strict=True) if "..." in text), default=0)
    lead = "".join(free[:most])
    inputs = tuple(
        text.replace("...", lead[most - n :]) for text, n in zip(subscripts, counts, strict=True)
    )
    result = output.replace("...", lead)
    unknown = set(result) - set("".join(inputs))
    if unknown or len(set(result)) != len(result):
        raise ValueError(f"the result of {equation!r} names a letter twice, or one of no operand")
    return Letters(inputs, result)


def forward(*operands: np.ndarray, equation: str) -> np.ndarray:
    letters(equation, [array.ndim for array in operands])
    result = kernel.fast(*operands, equation=equation)
    # Of one operand it may be a view, which would share memory and no storage.
    return result.copy() if len(operands) == 1 and result.base is not None else result


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, ...]:
    found = letters(record.attributes["equation"], [a.ndim for a in record.arrays])
    sizes: dict[str, int] = {}
    for text, shape in zip(found.inputs, record.shapes, strict=True):
        for letter, size in zip(text, shape, strict=True):
            sizes[letter] = max(size, sizes.get(letter, 1)) if size else 0
    return tuple(
        _gradient(place, found, record.arrays, grad, sizes) if needed else None
        for place, needed in enumerate(record.needs)
    )


def _gradient(
    place: int, found: Letters, arrays: Sequence[np.ndarray], grad: np.ndarray,
    sizes: dict[str, int],
) -> np.ndarray:  # fmt: skip
    """The other operands times the gradient, summed over what the operand does not name."""
    wanted = "".join(dict.fromkeys(found.inputs[place]))
    parts, names = [grad], [found.output]
    for other, (array, text) in enumerate(zip(arrays, found.inputs, strict=True)):
        if other != place:
            parts.append(array)
            names.append(text)
    # Letters that stand nowhere else were summed out: the gradient is the same along them.
    alone = "".join(letter for letter in wanted if letter not in "".join(names))
    if alone:
        parts.append(np.ones([sizes[letter] for letter in alone], grad.dtype))
        names.append(alone)
    parts = [
        np.broadcast_to(part, [sizes[letter] for letter in text])
        for part, text in zip(parts, names, strict=True)
    ]
    # An axis of size 1 that broadcast is summed below.
    equation = f"{','.join(names)}->{wanted}"
    result = np.einsum(equation, *parts, optimize=len(parts) > 1)
    text, shape = found.inputs[place], arrays[place].shape
    if len(wanted) == len(text):
        return unbroadcast(result, shape)
    diagonal = np.zeros(shape, grad.dtype)
    places = dict(zip(wanted, np.indices(result.shape), strict=True))
    diagonal[tuple(places[letter] for letter in text)] = result
    return diagonal


def axes(*operands: Axes, equation: str) -> Axes:
    return rules.einsum(equation, *operands)


def opset_12(g: Any, operands: Any, equation: str) -> Any:
    parts, output = _without_ones(g, operands, equation)
    written = f"{','.join(part.text for part in parts)}->{output}"
    return g.op("Einsum", *(part.value for part in parts), equation=written)


@dataclass(frozen=True)
class _Part:
    """A value, the letters of its axes, and the sizes of all letters."""

    value: Any
    text: str
    sizes: dict[str, Extent]


def _without_ones(g: Any, operands: Any, equation: str) -> tuple[list[_Part], str]:
    """Operands by letter, axes of size 1 dropped where the letter is longer elsewhere.

    ONNX broadcasts neither letters nor ellipses of different rank.
    """
    found = letters(equation, [value.rank for value in operands])
    sizes: dict[str, Extent] = {}
    for value, text in zip(operands, found.inputs, strict=True):
        for letter, size in zip(text, value.shape, strict=True):
            if sizes.get(letter, 1) == 1:
                sizes[letter] = as_extent(size)
    parts = []
    for value, text in zip(operands, found.inputs, strict=True):
        ones = [
            place
            for place, (letter, size) in enumerate(zip(text, value.shape, strict=True))
            if as_extent(size) != sizes[letter]
        ]
        kept = "".join(letter for place, letter in enumerate(text) if place not in ones)
        parts.append(_Part(helpers.squeeze(g, value, ones), kept, sizes))
    return parts, found.output


# --- below 12: pair by pair -----------------------------------------------------------------


def opset_7(g: Any, operands: Any, equation: str) -> Any:
    parts, output = _without_ones(g, operands, equation)
    if any(len(set(part.text)) != len(part.text) for part in parts):
        g.refuse_below(12, f"the diagonal in {equation!r} (Einsum)")
    while len(parts) > 1:
        first, second, *rest = parts
        later = set(output).union(*(part.text for part in rest))
        parts = [_pair(g, _summed(g, first, later | set(second.text)),
                       _summed(g, second, later | set(first.text)), later), *rest]  # fmt: skip
    last = _summed(g, parts[0], set(output))
    order = [last.text.index(letter) for letter in output]
    if order != sorted(order):
        return g.op("Transpose", last.value, perm=order)
    return g.op("Identity", last.value) if last.value in operands else last.value


def _summed(g: Any, part: _Part, needed: set[str]) -> _Part:
    """Without the letters that nobody needs."""
    gone = [place for place, letter in enumerate(part.text) if letter not in needed]
    if not gone:
        return part
    value = helpers.reduce(g, "ReduceSum", part.value, gone, False)
    return _Part(value, "".join(c for c in part.text if c in needed), part.sizes)


def _pair(g: Any, left: _Part, right: _Part, later: set[str]) -> _Part:
    """The product of two, summed over the letters that both have and nobody needs later."""
    shared = [c for c in left.text if c in right.text]
    summed = [c for c in shared if c not in later]
    batch = [c for c in shared if c in later]
    rows = [c for c in left.text if c not in shared]
    columns = [c for c in right.text if c not in shared]
    text = "".join(batch + rows + columns)
    if not summed:
        one = _arranged(g, left, batch + rows, len(columns))
        two = _arranged(g, right, batch + columns, 0)
        two = helpers.unsqueeze(g, two, range(len(batch), len(batch) + len(rows)))
        return _Part(helpers.arithmetic(g, "Mul", one, two), text, left.sizes)
    one = _merged(g, left, batch, [rows, summed])
    two = _merged(g, right, batch, [summed, columns])
    product = helpers.arithmetic(g, "MatMul", one, two)
    if len(rows) != 1 or len(columns) != 1:
        shape = [left.sizes[c] for c in text]
        product = helpers.reshape(g, product, shape)
    return _Part(product, text, left.sizes)


def _arranged(g: Any, part: _Part, order: list[str], new: int) -> Any:
    """The axes in the order given, with ``new`` ones of size 1 behind them."""
    perm = [part.text.index(letter) for letter in order]
    value = part.value if perm == sorted(perm) else g.op("Transpose", part.value, perm=perm)
    return helpers.unsqueeze(g, value, range(len(order), len(order) + new))


def _merged(g: Any, part: _Part, batch: list[str], groups: list[list[str]]) -> Any:
    """The axes in order, each group merged to one axis."""
    value = _arranged(g, part, batch + groups[0] + groups[1], 0)
    if all(len(group) == 1 for group in groups):
        return value
    shape = [part.sizes[letter] for letter in batch]
    for group in groups:
        merged = Extent(1)
        for letter in group:
            merged = merged * part.sizes[letter]
        shape.append(merged)
    return helpers.reshape(g, value, shape)


def _call(*operands: Any, equation: str) -> Tensor:
    return einsum(equation, *operands)


def reference(*operands: np.ndarray, equation: str) -> np.ndarray:
    return np.einsum(equation, *(array.astype(np.float64) for array in operands))


def _case(equation: str, *shapes: Any, lowest: int = 7) -> Case:
    return Case(shapes, {"equation": equation}, call=_call, reference=reference, lowest=lowest,
                name=equation)  # fmt: skip


CASES = (
    _case("ij,jk->ik", ("batch", 3), (3, 4)),
    _case("bij,bjk->bik", ("batch", 2, 3), ("batch", 3, "time")),
    _case("bhqd,bhkd->bhqk", ("batch", 2, "time", 4), ("batch", 2, "time", 4)),
    _case("btc,dhc->bhtd", ("batch", "time", 3), (2, 4, 3)),
    _case("i,j->ij", ("batch",), (3,)),
    _case("bi,bi->b", ("batch", 3), ("batch", 3)),
    _case("bi,bi->bi", ("batch", 3), ("batch", 3)),
    _case("ij->ji", ("batch", 3)),
    _case("bij->b", ("batch", 2, 3)),
    _case("ij,jk", ("batch", 3), (3, 4)),
    _case("...ij,jk->...ik", ("batch", 2, 3), (3, 4)),
    _case("bn,anm,bm->ba", ("batch", 3), (5, 3, 4), ("batch", 4)),
    _case("bijk,bkl->bijl", ("batch", "time", 2, 3), ("batch", 3, 4)),
    _case("ij,ij->", (3, "batch"), (3, "batch")),
    _case("bii->bi", ("batch", 3, 3), lowest=12),
    _case("...i,...i->...", ("batch", 1, 3), (2, 3)),
    Case((In(("batch", 3), "int64", -9, 9), In((3, 4), "int64", -9, 9)),
         {"equation": "ij,jk->ik"}, call=_call, reference=reference, lowest=9, name="integers"),
)  # fmt: skip

OPERATOR = Operator(
    "einsum",
    declaration=einsum,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7, 12: opset_12},
    reads="i",
    cases=CASES,
)
