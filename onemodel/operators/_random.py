"""What functions that draw random numbers share: the generator, and the refusal in a trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._creation import factory_dtype
from onemodel.tensors import seam
from onemodel.tensors.dtypes import FLOATING
from onemodel.tensors.generator import default_generator


def draw_with(operator: str, generator: Any) -> np.random.Generator:
    """The source to draw from. A trace refuses here: its graph would repeat these numbers.

    Raises TypeError for what is no generator.
    """
    seam.random_draw(operator)
    if generator is None:
        return default_generator
    if isinstance(generator, np.random.Generator):
        return generator
    raise TypeError(
        f"{operator}: generator must be an om.Generator, not {type(generator).__name__}"
    )


def floating_factory(operator: str, dtype: Any) -> np.dtype:
    """The floating dtype to draw. Raises TypeError for any other."""
    wanted = factory_dtype(dtype)
    if wanted not in FLOATING:
        raise TypeError(f"{operator}: a floating dtype is drawn, not {wanted}")
    return wanted
