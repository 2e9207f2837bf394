"""Arguments of operators that slide a window: one number per spatial axis, paddings, batches."""

from __future__ import annotations

import operator as python_operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onemodel.symbolic.helpers import squeeze, unsqueeze
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor

Ints = tuple[int, ...]


def per_axis(operator: str, name: str, value: Any, rank: int, low: int = 1) -> Ints:
    """``value`` (one integer, or one per spatial axis) as a tuple of ``rank`` integers.

    Raises TypeError for anything but integers, ValueError for another count or a value
    below ``low``.
    """
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    try:
        numbers = tuple(python_operator.index(item) for item in items)
    except TypeError:
        raise TypeError(
            f"{operator}: {name} must be an integer or {rank} of them, not {value!r}"
        ) from None
    if len(numbers) == 1:
        numbers = numbers * rank
    if len(numbers) != rank:
        raise ValueError(f"{operator}: {name} needs {rank} values, one per axis, not {len(items)}")
    if min(numbers) < low:
        raise ValueError(f"{operator}: {name} must be at least {low}, not {value!r}")
    return numbers


def conv_pads(operator: str, padding: Any, kernel: Ints, stride: Ints, dilation: Ints) -> Ints:
    """``padding`` (integers, "same" or "valid") as all begins, then all ends.

    Raises ValueError for "same" with a stride, or for another word.
    """
    rank = len(kernel)
    if not isinstance(padding, str):
        return per_axis(operator, "padding", padding, rank, low=0) * 2
    if padding == "valid":
        return (0,) * (2 * rank)
    if padding != "same":
        raise ValueError(f"{operator}: padding={padding!r}; write 'same', 'valid' or integers")
    if set(stride) != {1}:
        raise ValueError(f"{operator}: padding='same' needs stride 1, not {stride}")
    totals = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    begins = [total // 2 for total in totals]
    return (*begins, *(t - b for t, b in zip(totals, begins, strict=True)))


def check_input(operator: str, input: Tensor, rank: int) -> None:
    """Raises ValueError unless ``input`` is [N, C, ...] or [C, ...] with ``rank`` more axes."""
    if input.ndim not in (rank + 1, rank + 2):
        axes = ", ".join(f"D{i + 1}" for i in range(rank))
        raise ValueError(
            f"{operator}: expected an input of shape [N, C, {axes}] or [C, {axes}], "
            f"not {list(input._array.shape)}"
        )


def check_bias(name: str, bias: Tensor | None, outputs: int) -> None:
    """Raise ValueError for a bias that is not one number for each output channel."""
    if bias is not None and bias._array.shape != (outputs,):
        raise ValueError(
            f"{name}: expected a bias of shape [{outputs}], not {list(bias._array.shape)}"
        )


def check_floating(operator: str, **tensors: Tensor | None) -> None:
    """Raises TypeError unless all tensors share one floating dtype, naming those that do not."""
    given = {name: t for name, t in tensors.items() if t is not None}
    first, reference = next(iter(given.items()))
    if category(reference._array.dtype) != 2:
        raise TypeError(f"{operator}: {first} must be floating, not {reference._array.dtype}")
    for name, tensor in given.items():
        if tensor._array.dtype != reference._array.dtype:
            raise TypeError(
                f"{operator}: {name} is {tensor._array.dtype}, {first} is "
                f"{reference._array.dtype}; convert one of them (x.to(...))"
            )


def batched(array: np.ndarray, rank: int) -> np.ndarray:
    """[C, ...] as [1, C, ...]; a batch as it is."""
    return array[None] if array.ndim == rank + 1 else array


def as_batch(g: Any, input: Any, rank: int, write: Callable[[Any], Any], result_rank: int) -> Any:
    """Write nodes that need a batch axis: one is added for [C, ...], and taken away again.

    ``result_rank``: rank of eager's result, which tells whether there is an axis to drop.
    """
    if result_rank == rank + 2:
        return write(input)
    result = write(unsqueeze(g, input, [0]))
    if isinstance(result, tuple):
        return tuple(squeeze(g, part, [0]) for part in result)
    return squeeze(g, result, [0])


def result_rank(g: Any) -> int:
    """Rank of the (first) result that eager computed."""
    return len(g.result_axes[0])


def spatial_sizes(axes: Sequence[Any], rank: int) -> list[int] | None:
    """The last ``rank`` sizes where all are fixed, else None."""
    sizes = axes[len(axes) - rank :]
    return [size.value for size in sizes] if all(size.is_static for size in sizes) else None
