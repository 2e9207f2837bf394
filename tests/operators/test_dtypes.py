"""Every dtype a function takes is written so that the graph gives eager's values and dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import onemodel as om
from onemodel.symbolic.context import EmissionError

DTYPES = (
    "float16", "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
    "uint32", "uint64", "bool",
)  # fmt: skip
OPSETS = (9, 13, 20, 22)

PLAIN = """
    neg abs sign square floor ceil round trunc relu isnan isinf isfinite logical_not bitwise_not
    sum mean prod amax amin argmax argmin all any sort argsort count_nonzero exp sigmoid gelu
    softplus var norm nan_to_num hardtanh add sub mul div floor_divide
    remainder fmod pow maximum minimum eq ne lt le gt ge atan2 hypot logical_and logical_or
    bitwise_and bitwise_left_shift bitwise_right_shift clamp_min clamp_max
"""
CALLS: dict[str, Callable[..., Any]] = {
    "max": lambda x: om.max(x, 0),
    "min": lambda x: om.min(x, 0),
    "topk": lambda x: om.topk(x, 2),
    "clamp": lambda x: om.clamp(x, 1, 2),
    "cumsum": lambda x: om.cumsum(x, 0),
    "cumprod": lambda x: om.cumprod(x, 0),
    "logsumexp": lambda x: om.logsumexp(x, 0),
    "threshold": lambda x: om.threshold(x, 1, 3),
    "a number on the right": lambda x: x * 2,
    "a number on the left": lambda x: 1 + x,
    "a fraction": lambda x: x * 0.5,
    "zeros_like": lambda x: om.zeros_like(x) + x,
    "ones_like": lambda x: om.ones_like(x) * x,
    "trunc": lambda x, y: om.div(x, y, rounding_mode="trunc"),
    "where": lambda x, y: om.where(x > y, x, y),
    "masked_fill": lambda x, y: om.masked_fill(x, y > 1, 3),
} | {name: getattr(om, name) for name in PLAIN.split()}
TWO = set(PLAIN.split()[PLAIN.split().index("add") :]) | {"trunc", "where", "masked_fill"}


def run_anywhere(model: Any, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    """ONNX Runtime where it has every kernel; our own session for the dtypes it lacks."""
    if any(array.dtype.name == "bfloat16" for array in feeds.values()):
        return list(om.Session(model).run(feeds).values())  # its Python face takes none
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return session.run(None, feeds)
    except Exception as error:
        # It has no kernel, or takes the node apart into ones that it has no kernel for.
        assert type(error).__name__ in ("NotImplemented", "InvalidGraph", "RuntimeException")
        return list(om.Session(model).run(feeds).values())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(CALLS))
def test_the_graph_gives_eager_values_in_every_dtype(name: str, dtype: str) -> None:
    generator = np.random.default_rng(0)
    arrays = [om.tensor(generator.integers(1, high, 8)).to(dtype).numpy() for high in (6, 4)]
    arrays = arrays[: 2 if name in TWO else 1]
    function = CALLS[name]
    try:
        results = function(*map(om.tensor, arrays))
    except TypeError as error:
        # Not every function takes every dtype: then the words name the function or the dtype.
        assert name in str(error) or dtype in str(error) or "bool" in str(error)
        return
    wanted = [r.numpy() for r in (results if isinstance(results, tuple) else (results,))]

    def model(x: list[om.Tensor]) -> Any:
        return function(*x)

    traced = om.trace(model, arrays, opset=22, verify=False)
    feeds = {value.name: array for value, array in zip(traced.inputs, arrays, strict=True)}
    for opset in OPSETS:
        try:
            proto = traced.to_onnx(opset)
            onnx.checker.check_model(proto, full_check=True)
        except EmissionError as error:
            assert error.lowest is not None and error.lowest > opset
            assert opset < 22
            continue
        for found, expected in zip(run_anywhere(proto, feeds), wanted, strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(
                found.astype(np.float64),
                expected.astype(np.float64),
                rtol=2e-2 if dtype.endswith("float16") else 1e-6,
                err_msg=f"opset {opset}",
            )
