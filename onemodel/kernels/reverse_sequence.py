"""ONNX ReverseSequence (since 10, 28): the first elements of each batch entry, reversed."""

import numpy as np

NODE_TYPE = "ReverseSequence"


def fast(
    x: np.ndarray, sequence_lens: np.ndarray, *, batch_axis: int = 1, time_axis: int = 0
) -> np.ndarray:
    """``x`` with the first ``sequence_lens[b]`` steps of batch entry b backwards."""
    steps = np.moveaxis(x, (time_axis, batch_axis), (0, 1))
    time = np.arange(steps.shape[0])[:, None]
    index = np.where(time < sequence_lens, sequence_lens - 1 - time, time)
    result = steps[index, np.arange(steps.shape[1])]
    return np.ascontiguousarray(np.moveaxis(result, (0, 1), (time_axis, batch_axis)))


VERSIONS = {10: fast}
EXACT = VERSIONS
