"""ONNX CausalConvWithState (since 27): depthwise causal convolution with carried input."""

from collections.abc import Callable
from functools import partial

import numpy as np

from onemodel.kernels import conv
from onemodel.kernels._dtypes import widen
from onemodel.kernels._special import sigmoid
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "CausalConvWithState"


def _convolved(
    convolve: Callable[..., np.ndarray],
    smooth: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    past_state: np.ndarray | None = None,
    *,
    activation: str = "none",
) -> tuple[np.ndarray, np.ndarray]:
    """(output (B, C, L), present_state (B, C, k - 1)) of x (B, C, L) and weight (C, 1, k).

    The last k - 1 inputs of the previous call (zeros at first) come before ``x``;
    ``activation`` is none, silu or swish (the same).

    Raises:
        ValueError: an unknown activation.
    """
    if activation not in ("none", "silu", "swish"):
        raise ValueError(
            f"CausalConvWithState: activation={activation!r}; write none, silu or swish"
        )
    batch, channels, _ = x.shape
    carried = weight.shape[2] - 1
    if past_state is None:
        past_state = np.zeros((batch, channels, carried), x.dtype)
    padded = np.concatenate((past_state, x), axis=2)
    output = convolve(padded, weight, bias, group=channels)
    if activation != "none":
        wide = widen(output)
        output = (wide * smooth(wide)).astype(x.dtype, copy=False)
    return output, padded[:, :, padded.shape[2] - carried :]


fast = partial(_convolved, conv.fast, sigmoid)
exact = partial(_convolved, conv.exact, exact_functions.sigmoid)

VERSIONS = {27: fast}
EXACT = {27: exact}
