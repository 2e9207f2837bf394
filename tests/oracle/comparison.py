"""Compare a tensor or array of this library with a tensor of PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tests.every_operator import suite

VALUES = 1e-5


def from_torch(tensor: Any) -> np.ndarray:
    """The values; bfloat16, which NumPy lacks, as float32."""
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def compare(found: Any, wanted: Any, tolerance: float = VALUES, values: bool = True) -> None:
    """Fail unless dtype, shape and (if asked) values agree; integers and bool exactly."""
    assert str(wanted.dtype) == f"torch.{found.dtype}"
    assert tuple(found.shape) == tuple(wanted.shape)
    if values:
        suite.same(found.detach().numpy(), from_torch(wanted), tolerance, "values")
