"""Where initial weights come from when no generator is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.tensors import seam
from onemodel.tensors.generator import default_generator


def draw(generator: np.random.Generator | None) -> Any:
    """The generator, or the default one (``om.manual_seed``) where there is none.

    A listener of the tensor layer is told first: no trace may depend on what is drawn.
    """
    seam.random_draw("init")
    return default_generator if generator is None else generator
