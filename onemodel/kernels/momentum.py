"""ONNX Momentum (ai.onnx.preview.training, since 1): one optimiser step."""

import numpy as np

from onemodel.kernels._optimizers import each_tensor

NODE_TYPE = "Momentum"
DOMAIN = "ai.onnx.preview.training"


def fast(
    r: np.ndarray,
    t: np.ndarray,
    *tensors: np.ndarray,
    alpha: float,
    beta: float,
    mode: str,
    norm_coefficient: float,
) -> tuple[np.ndarray, ...]:
    """New X and V, from learning rate ``r``, step ``t`` and all X, gradients G and V.

    Raises:
        ValueError: ``mode`` is neither standard nor nesterov.
    """
    if mode not in ("standard", "nesterov"):
        raise ValueError(f"Momentum: mode={mode!r}; write 'standard' or 'nesterov'")
    weight = beta if t.item() > 0 else 1.0

    def step(x: np.ndarray, g: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        slope = norm_coefficient * x + g
        velocity = alpha * v + weight * slope
        move = velocity if mode == "standard" else slope + alpha * velocity
        return x - r * move, velocity

    return each_tensor(step, tensors, 3)


VERSIONS = {1: fast}
EXACT = VERSIONS
