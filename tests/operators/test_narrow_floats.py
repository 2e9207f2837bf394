"""Layers and losses in float16 and bfloat16: computed in single, given back narrow."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import onemodel as om
from onemodel.operators import TABLE
from onemodel.operators._case import Case
from onemodel.tensors.dtypes import as_dtype
from onemodel.tensors.tensor import Tensor

LAYERS = (
    "adaptive_avg_pool2d", "avg_pool2d", "batch_norm", "conv2d", "conv_transpose2d",
    "cosine_similarity", "cross_entropy", "ctc_loss", "embedding", "embedding_bag", "grid_sample",
    "group_norm", "gru", "huber_loss", "instance_norm", "interpolate", "kl_div", "layer_norm",
    "local_response_norm", "log_softmax", "lp_pool2d", "lstm", "max_pool2d", "mse_loss",
    "nll_loss", "normalize", "rms_norm", "rnn", "scaled_dot_product_attention",
)  # fmt: skip

ROWS = [(name, case) for name in LAYERS for case in TABLE[name].cases]
TOLERANCE = {"float16": 0.02, "bfloat16": 0.15}


def leaves(result: object) -> list[Tensor]:
    return list(result) if isinstance(result, (tuple, list)) else [result]  # type: ignore[list-item]


def draw(case: Case, seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    arrays = []
    for spec in case.specs():
        shape = tuple(5 if isinstance(size, str) else size for size in spec.shape)
        if spec.values is not None:
            values = spec.values(generator, shape)
        elif spec.dtype in ("float32", "float64"):
            values = generator.uniform(spec.low, spec.high, shape)
        else:
            values = generator.integers(int(max(spec.low, 0)), int(spec.high), shape)
        arrays.append(np.asarray(values).astype(as_dtype(spec.dtype)))
    return arrays


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize(("name", "case"), ROWS, ids=[f"{name}-{case.name}" for name, case in ROWS])
def test_a_narrow_result_is_near_the_single_one_and_gradients_are_narrow(
    name: str, case: Case, dtype: str
) -> None:
    narrow = as_dtype(dtype)
    arrays = draw(case, zlib.crc32(f"{name} {case.name}".encode()))
    function = case.call or TABLE[name].declaration
    wanted = leaves(function(*map(Tensor, arrays), **case.attributes))
    floats = [array.dtype == np.float32 for array in arrays]
    tensors = [
        Tensor(array.astype(narrow)).requires_grad_() if is_float else Tensor(array)
        for array, is_float in zip(arrays, floats, strict=True)
    ]
    found = leaves(function(*tensors, **case.attributes))
    for one, other in zip(found, wanted, strict=True):
        if other.dtype != np.float32:
            continue
        assert one.dtype == narrow
        given, exact = one.detach().numpy().astype(np.float64), other.numpy().astype(np.float64)
        tolerance = TOLERANCE[dtype]
        np.testing.assert_allclose(given, exact, rtol=tolerance, atol=tolerance)
    outputs = [output for output in found if output.requires_grad]
    om.backward(outputs, [om.ones_like(output.detach()) for output in outputs])
    gradients = [tensor.grad for tensor in tensors if tensor.grad is not None]
    assert all(gradient.dtype == narrow for gradient in gradients)
