"""The generator that draws initial weights when none is given."""

from __future__ import annotations

import numpy as np

from onemodel.tensors import seam

_default = [np.random.default_rng(0)]


def manual_seed(seed: int) -> np.random.Generator:
    """Start the default generator again from ``seed``, and return it."""
    _default[0] = np.random.default_rng(seed)
    return _default[0]


def draw(generator: np.random.Generator | None) -> np.random.Generator:
    """The generator to draw from; a listener of the tensor layer is told first."""
    seam.random_draw("init")
    return _default[0] if generator is None else generator
