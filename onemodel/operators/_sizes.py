"""Shapes as arguments: one by one or as a sequence, of integers and ``Size`` objects."""

from __future__ import annotations

import operator as python_operator
from typing import Any

from onemodel.axes.size import Size
from onemodel.tensors.tensor import Tensor


def shape_argument(operator: str, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """``(2, 3)`` or ``((2, 3),)`` as ``(2, 3)``; ``Size`` objects stay what they are.

    Raises TypeError naming the operator for anything that is no integer. A traced tensor as
    a size is a value that the graph cannot know: its own ``__index__`` refuses it.
    """
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    for size in shape:
        if type(size) is not int:
            break
    else:
        return shape  # plain integers, which most are
    sizes = []
    for size in shape:
        if isinstance(size, Size):
            sizes.append(size)
            continue
        try:
            sizes.append(python_operator.index(size))
        except TypeError:
            kind = type(size).__name__
            if isinstance(size, Tensor):
                kind = f"a tensor of shape {list(size._array.shape)}"
            raise TypeError(f"{operator}: a size must be an integer, not {kind}") from None
    return tuple(sizes)
