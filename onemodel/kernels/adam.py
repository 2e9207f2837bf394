"""ONNX Adam (ai.onnx.preview.training, since 1): one optimiser step."""

import numpy as np

from onemodel.kernels._optimizers import each_tensor

NODE_TYPE = "Adam"
DOMAIN = "ai.onnx.preview.training"


def fast(
    r: np.ndarray,
    t: np.ndarray,
    *tensors: np.ndarray,
    alpha: float = 0.9,
    beta: float = 0.999,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
) -> tuple[np.ndarray, ...]:
    """New X, V and H, from learning rate ``r``, step ``t`` and all X, gradients G, V and H."""
    count = int(t.item())
    rate = r * np.sqrt(1 - beta**count) / (1 - alpha**count) if count > 0 else r

    def step(x: np.ndarray, g: np.ndarray, v: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, ...]:
        slope = norm_coefficient * x + g
        momentum = alpha * v + (1 - alpha) * slope
        squares = beta * h + (1 - beta) * slope * slope
        moved = x - rate * momentum / (np.sqrt(squares) + epsilon)
        return (1 - norm_coefficient_post) * moved, momentum, squares

    return each_tensor(step, tensors, 4)


VERSIONS = {1: fast}
