"""Operands of element-wise operators: numbers and mixed dtypes brought to one dtype.

A conversion of a tensor is itself a recorded operator (``to``), so gradients and traced graphs
see it; a number becomes a 0-d constant of the dtype the operation computes in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onemodel.axes.ratio import SizeRatio
from onemodel.axes.size import Size
from onemodel.tensors.dtypes import (
    category,
    get_default_dtype,
    number_dtype,
    promote_types,
    result_type,
)
from onemodel.tensors.tensor import Tensor

_scalars: dict[tuple[Any, type, np.dtype], Tensor] = {}
_SCALARS_KEPT = 512
_TAKES: dict[type, str] = {float: "f", int: "fiu"}
"""Kinds of dtypes that stay what they are beside a number."""
_ALL_DIMS = tuple(tuple(range(rank)) for rank in range(8))

# Filled by the files of these operators; they cannot be imported here without a circle.
_convert: dict[str, Callable[..., Tensor]] = {}


def register_conversion(name: str, function: Callable[..., Tensor]) -> None:
    """``to``, ``scalar_tensor`` and ``div`` introduce themselves."""
    _convert[name] = function


def conversion(name: str) -> Callable[..., Tensor]:
    """``to`` or ``scalar_tensor``."""
    return _convert[name]


def scalar(value: Any, dtype: np.dtype) -> Tensor:
    """A number as a 0-d constant. Kept, so that a traced graph holds each number once."""
    key = (value, type(value), dtype)
    found = _scalars.get(key)
    if found is None or value != value or value == 0:  # NaN, and 0 against -0
        if dtype.kind in "iu" and not isinstance(value, bool):
            array = np.array(value).astype(dtype)  # wraps, as PyTorch does
        else:
            array = np.array(value, dtype)
        found = remember_number(Tensor(array), value)
        if len(_scalars) < _SCALARS_KEPT:
            _scalars[key] = found
    return found


def remember_number(tensor: Tensor, value: Any) -> Tensor:
    """Keep what the tensor was made of where rounding lost some of it.

    Repeats of a trace compare it: two readings of a clock are one float32.
    """
    if isinstance(value, float) and value == value and tensor._array.dtype.itemsize < 8:
        tensor._number = float(value)
    return tensor


def operand(value: Any, dtype: np.dtype) -> Tensor:
    """``value`` as a tensor of ``dtype``."""
    if isinstance(value, Tensor):
        return value if value._array.dtype == dtype else _convert["to"](value, dtype)
    if isinstance(value, Size):
        return _convert["scalar_tensor"](value, dtype)
    if isinstance(value, SizeRatio):
        return quotient(value, dtype)
    if isinstance(value, np.ndarray):
        return Tensor(np.asarray(value, dtype))
    return scalar(value, dtype)


def quotient(value: SizeRatio, dtype: np.dtype) -> Tensor:
    """The quotient of two sizes as a 0-d tensor that a graph computes.

    One division in float32 or wider rounds as Python's does, whatever dtype it goes to.
    """
    wide = dtype if dtype.kind in "fc" and dtype.itemsize >= 4 else np.dtype(np.float32)
    parts = (operand(value.numerator, wide), operand(value.denominator, wide))
    return operand(_convert["div"](*parts), dtype)


def operands(operator: str, *values: Any) -> tuple[Sequence[Tensor], np.dtype]:
    """Tensors of one dtype, by PyTorch's promotion, and that dtype.

    Raises TypeError naming the operator for anything that is no tensor, array or number.
    """
    if len(values) == 2:  # spelt out: tensors of one dtype, a tensor with a number
        first, second = values
        if isinstance(first, Tensor):
            dtype = first._array.dtype
            if isinstance(second, Tensor):
                if dtype is second._array.dtype:
                    return values, dtype
            elif dtype.kind in _TAKES.get(type(second), ""):
                return (first, scalar(second, dtype)), dtype
        elif isinstance(second, Tensor):
            dtype = second._array.dtype
            if dtype.kind in _TAKES.get(type(first), ""):
                return (scalar(first, dtype), second), dtype
    elif all(isinstance(v, Tensor) for v in values):
        dtype = values[0]._array.dtype
        if all(v._array.dtype == dtype for v in values[1:]):
            return values, dtype
    dtype = meet(operator, values)
    return [operand(v, dtype) for v in values], dtype


def keeps_dtype(dtype: np.dtype, numbers: Sequence[Any]) -> bool:
    """Whether a tensor of ``dtype`` keeps it beside all of ``numbers`` (None says nothing)."""
    return all(n is None or dtype.kind in _TAKES.get(type(n), "") for n in numbers)


def meet(operator: str, values: Sequence[Any]) -> np.dtype:
    """The dtype in which ``values`` meet."""
    tensors = [v for v in values if isinstance(v, Tensor)]
    numbers = [v for v in values if type(v) in (int, float, bool)]
    if len(tensors) == 1 and len(numbers) == len(values) - 1:  # the common mix
        dtype = tensors[0]._array.dtype
        for number in numbers:
            dtype = _with_number(dtype, number)
        return dtype
    plain: list[Any] = []
    for value in values:
        if isinstance(value, (Tensor, np.ndarray)):
            plain.append(value)
        elif isinstance(value, Size):
            plain.append(1)
        elif isinstance(value, SizeRatio):
            plain.append(1.0)
        else:
            try:
                number_dtype(value)
            except TypeError:
                raise TypeError(
                    f"{operator}: expected tensors or numbers, not {type(value).__name__}"
                ) from None
            plain.append(value)
    return result_type(plain)


def _with_number(dtype: np.dtype, number: Any) -> np.dtype:
    kind = category(dtype)
    if type(number) is float:
        return dtype if kind >= 2 else get_default_dtype()
    if type(number) is int and kind == 0:
        return np.dtype(np.int64)
    return dtype


def as_tensor(operator: str, name: str, value: Any) -> Tensor:
    """``value`` as a tensor: arrays and numbers are taken in. Raises TypeError naming both."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray):
        return Tensor(value)
    if isinstance(value, Size):
        return _convert["scalar_tensor"](value, np.dtype(np.int64))
    if isinstance(value, SizeRatio):
        return quotient(value, get_default_dtype())
    try:
        return scalar(value, number_dtype(value))
    except TypeError:
        raise TypeError(
            f"{operator}: argument {name} must be a tensor, not {type(value).__name__}"
        ) from None


def floating(operator: str, name: str, value: Any) -> Tensor:
    """``value`` as a floating tensor; integers and bool are converted to the default dtype."""
    if isinstance(value, Tensor) and value._array.dtype.kind == "f":
        return value
    tensor = as_tensor(operator, name, value)
    if category(tensor._array.dtype) >= 2:
        return tensor
    return _convert["to"](tensor, get_default_dtype())


def promote_pair(first: np.dtype, second: np.dtype) -> np.dtype:
    return promote_types(first, second)


def unbroadcast(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sum of ``gradient`` over the axes along which ``shape`` was broadcast."""
    if gradient.shape == shape:
        return gradient
    lead = gradient.ndim - len(shape)
    if lead:
        gradient = gradient.sum(axis=tuple(range(lead)))
    stretched = tuple(
        axis for axis, (n, m) in enumerate(zip(shape, gradient.shape, strict=True)) if n == 1 != m
    )
    return gradient.sum(axis=stretched, keepdims=True) if stretched else gradient


def normalize_dim(operator: str, dim: int, ndim: int) -> int:
    """A negative axis counted from the end. Raises IndexError naming operator and range."""
    if type(dim) is int and -ndim <= dim < ndim:
        return dim if dim >= 0 else dim + ndim
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise IndexError(
            f"{operator}: dim {dim} is out of range for a tensor of {ndim} dimensions "
            f"(expected {-limit} to {limit - 1})"
        )
    return dim % limit if ndim else 0


def normalize_dims(operator: str, dim: Any, ndim: int) -> tuple[int, ...]:
    """One axis, several, or None for all, as a sorted tuple without repetition."""
    if dim is None:
        return _ALL_DIMS[ndim] if ndim < len(_ALL_DIMS) else tuple(range(ndim))
    if type(dim) is int and -ndim <= dim < ndim:
        return (dim % ndim,)
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    found = [normalize_dim(operator, d, ndim) for d in dims]
    if len(set(found)) != len(found):
        raise ValueError(f"{operator}: dim {dims} names an axis twice")
    return tuple(sorted(found)) if ndim else ()  # a number has no axis, but takes 0 and -1
