"""ONNX Adagrad (ai.onnx.preview.training, since 1): one optimiser step."""

import numpy as np

from onemodel.kernels._optimizers import each_tensor

NODE_TYPE = "Adagrad"
DOMAIN = "ai.onnx.preview.training"


def fast(
    r: np.ndarray,
    t: np.ndarray,
    *tensors: np.ndarray,
    decay_factor: float = 0.0,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
) -> tuple[np.ndarray, ...]:
    """New X and H, from learning rate ``r``, step ``t`` and all X, gradients G and H."""
    rate = r / (1 + t * r.dtype.type(decay_factor))

    def step(x: np.ndarray, g: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, ...]:
        slope = norm_coefficient * x + g
        accumulated = h + slope * slope
        return x - rate * slope / (np.sqrt(accumulated) + epsilon), accumulated

    return each_tensor(step, tensors, 3)


VERSIONS = {1: fast}
EXACT = VERSIONS
