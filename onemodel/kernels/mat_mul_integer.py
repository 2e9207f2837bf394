"""ONNX MatMulInteger (since 10): int32 product of 8-bit matrices."""

import numpy as np

from onemodel.kernels._quantize import by_row, centred, integer_matmul

NODE_TYPE = "MatMulInteger"


def fast(
    a: np.ndarray,
    b: np.ndarray,
    a_zero_point: np.ndarray | None = None,
    b_zero_point: np.ndarray | None = None,
) -> np.ndarray:
    """(a - a_zero_point) @ (b - b_zero_point), exactly; zero points may be per row and column."""
    return integer_matmul(centred(a, by_row(a_zero_point)), centred(b, b_zero_point))


VERSIONS = {10: fast}

# Every partial sum is an integer that float32 holds, in whatever order BLAS adds.
EXACT = VERSIONS
