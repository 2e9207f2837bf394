"""``x[...] = v``: part of a tensor overwritten in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from onemodel.autograd.grad_mode import mode as grad_mode
from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case
from onemodel.operators._indexing import basic, numpy_index, parse
from onemodel.operators._inplace import replace
from onemodel.operators._operator import Operator, Refusal, apply
from onemodel.operators._promote import operand, unbroadcast
from onemodel.tensors import seam
from onemodel.tensors.tensor import Tensor, as_array

_NAME = "item assignment"


def setitem(input: Tensor, index: Any, value: Any) -> None:
    """``input[index] = value``: any index of :func:`getitem`; ``value`` broadcasts and is
    converted to the dtype of ``input``.

    Gradients flow to ``value`` and to what stays of ``input``. Raises RuntimeError for a leaf
    that requires gradients and for an expanded tensor, ValueError where the shapes do not fit,
    TraceException where a traced tensor takes part: a graph has no assignment. Source:
    ``torch.Tensor.__setitem__``.
    """
    seam.write(input, _NAME)
    places, looked_up = _places(index, input)
    for tensor in (value, *looked_up):
        if isinstance(tensor, Tensor) and tensor._mark is not None:
            tensor._mark.on_write(_NAME)
    elements = input._writable(_NAME)
    if isinstance(value, (list, tuple)):
        value = as_array(value, input._array.dtype)
    given = operand(value, input._array.dtype)
    attributes = {"index": places}
    if (input._tracked or given._tracked) and grad_mode.enabled:
        replace(input, lambda before: apply(OPERATOR, (before, given), attributes), _NAME)
        return
    try:
        view, look_ups = places
        elements[view][look_ups] = given._array
    except (ValueError, IndexError) as error:
        raise type(error)(f"{_NAME}: {error}") from None
    input._own_storage().version += 1


def _places(index: Any, input: Tensor) -> tuple[tuple[Any, Any], Sequence[Tensor]]:
    """Where to write, as :func:`numpy_index` has it, and the tensors that say so."""
    items = basic(index)
    if items is not None:
        return (items, ...), ()
    parsed = parse(index, input)
    return numpy_index(parsed), [tensor for _, tensor in parsed.tensors]


def forward(input: np.ndarray, value: np.ndarray, *, index: tuple[Any, ...]) -> np.ndarray:
    view, look_ups = index
    result = input.copy()
    result[view][look_ups] = value
    return result


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any]:
    view, look_ups = record.attributes["index"]
    kept = grad.copy()
    kept[view][look_ups] = 0
    # Of entries that an index names twice only the last value stands.
    sent = np.asarray(grad[view][look_ups])
    order = np.arange(sent.size).reshape(sent.shape)
    last = np.zeros(grad.shape, np.int64)
    last[view][look_ups] = order
    sent = np.where(last[view][look_ups] == order, sent, 0)
    return kept, unbroadcast(sent, record.shapes[1])


def refuse(attributes: Mapping[str, Any]) -> Refusal:
    return Refusal(
        "OM201",
        "an assignment changes a value in place, and the values of a graph never change",
        (
            ("choose between old and new values", "x = om.where(mask, v, x)"),
            ("join the parts", "x = om.cat([v, x[1:]])"),
        ),
    )


def _assign(index: Any) -> Any:
    def call(x: Any, value: Any) -> Any:
        result = x * 1
        result[index] = value
        return result

    return call


def _assigned(index: Any) -> Any:
    def reference(x: np.ndarray, value: np.ndarray) -> np.ndarray:
        result = x.copy()
        result[index] = value
        return result

    return reference


_HALF = (slice(None), slice(1, 3))
_ROWS = ([0, 2],)

CASES = (
    Case(((2, 4), (2, 2)), call=_assign(_HALF), reference=_assigned(_HALF), trace=False),
    Case(((3, 4), (4,)), call=_assign(_ROWS), reference=_assigned(_ROWS), trace=False,
         name="rows that share a value"),
    Case(((3, 4), ()), call=_assign(1), reference=_assigned(1), trace=False, name="a number"),
)  # fmt: skip

OPERATOR = Operator(
    "setitem",
    declaration=setitem,
    forward=forward,
    backward=backward,
    methods=("__setitem__",),
    reads="",
    refuses=refuse,
    cases=CASES,
    public=False,
)
