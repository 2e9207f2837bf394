"""ONNX MelWeightMatrix (since 17): triangular filters from frequencies to the mel scale."""

import numpy as np

from onemodel.kernels._dtypes import numpy_dtype

NODE_TYPE = "MelWeightMatrix"


def fast(
    num_mel_bins: np.ndarray,
    dft_length: np.ndarray,
    sample_rate: np.ndarray,
    lower_edge_hertz: np.ndarray,
    upper_edge_hertz: np.ndarray,
    *,
    output_datatype: int = 1,
) -> np.ndarray:
    """(dft_length // 2 + 1, num_mel_bins) weights between the two edges."""
    bins, length = int(num_mel_bins.item()), int(dft_length.item())
    low, high = _mel(lower_edge_hertz.item()), _mel(upper_edge_hertz.item())
    places = low + np.arange(bins + 2) * (high - low) / (bins + 2)
    hertz = 700 * (10 ** (places / 2595) - 1)
    edges = np.floor((length + 1) * hertz / sample_rate.item()).astype(np.int64)
    result = np.zeros((length // 2 + 1, bins))
    line = np.arange(result.shape[0])
    for i in range(bins):
        left, centre, right = edges[i : i + 3]
        rising = (line >= left) & (line <= centre)
        falling = (line > centre) & (line < right)
        result[rising, i] = 1.0 if left == centre else (line[rising] - left) / (centre - left)
        result[falling, i] = (right - line[falling]) / (right - centre)
    return result.astype(numpy_dtype(output_datatype))


def _mel(hertz: float) -> float:
    return 2595 * np.log10(1 + hertz / 700)


VERSIONS = {17: fast}
