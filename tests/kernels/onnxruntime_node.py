"""One node run by ONNX Runtime without optimisations: the judge of the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
from onnx import helper

from onemodel.kernels import _table

onnxruntime.set_default_logger_severity(4)


def judged(
    node_type: str,
    opset: int,
    inputs: Sequence[np.ndarray | None],
    outputs: int = 1,
    **attributes: Any,
) -> list[np.ndarray]:
    """What ONNX Runtime gives for one node; None is an absent input."""
    names = [f"i{k}" if array is not None else "" for k, array in enumerate(inputs)]
    results = [f"o{k}" for k in range(outputs)]
    node = helper.make_node(node_type, names, results, **attributes)
    declared = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in zip(names, inputs, strict=True)
        if array is not None
    ]
    graph = helper.make_graph(
        [node], "node", declared, [helper.make_empty_tensor_value_info(r) for r in results]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    feeds = {name: array for name, array in zip(names, inputs, strict=True) if name}
    return [np.asarray(value) for value in session.run(None, feeds)]


def agree(
    node_type: str,
    opset: int,
    inputs: Sequence[np.ndarray | None],
    outputs: int = 1,
    tolerance: float = 1e-5,
    **attributes: Any,
) -> None:
    """The kernel and ONNX Runtime give the same shapes, dtypes and values."""
    expected = judged(node_type, opset, inputs, outputs, **attributes)
    kernel = _table.find(node_type, opset)
    assert kernel is not None
    if node_type == "Split":
        attributes.setdefault("num_outputs", outputs)
    results = kernel(*inputs, **attributes)
    results = results if isinstance(results, tuple) else (results,)
    for got, wanted in zip(results, expected, strict=False):
        assert isinstance(got, np.ndarray)
        assert got.shape == wanted.shape
        assert got.dtype == wanted.dtype
        if wanted.dtype == object:
            np.testing.assert_array_equal(got, wanted)
        else:
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)
