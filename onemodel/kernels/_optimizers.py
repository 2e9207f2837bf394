"""What the optimiser nodes share: several tensors, grouped by role."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Step = Callable[..., tuple[np.ndarray, ...]]


def each_tensor(step: Step, tensors: tuple[np.ndarray, ...], roles: int) -> tuple[np.ndarray, ...]:
    """``step`` on every optimised tensor.

    ``tensors`` holds all values of the first role, then of the second, and so on;
    the results are grouped the same way, in the dtypes of what they replace.

    Raises:
        ValueError: the tensors do not divide into the roles.
    """
    count, rest = divmod(len(tensors), roles)
    if rest or not count:
        raise ValueError(f"{len(tensors)} tensors do not divide into {roles} per optimised tensor")
    results = [step(*tensors[i::count]) for i in range(count)]
    return tuple(
        np.asarray(result).astype(tensors[i].dtype, copy=False)
        for group in zip(*results, strict=True)
        for i, result in enumerate(group)
    )
