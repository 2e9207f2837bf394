"""The standard's own node tests, straight on the kernels.

Every model without control flow runs; the onnx package brings inputs and expected
outputs. Random nodes have no expected values.
"""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.kernels.single_node import run_model

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
NOT_OURS = {"If", "Loop", "Scan", "Gradient"}
"""Control flow and gradients belong to a session."""
RANDOM = {"Bernoulli", "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike"}


def _cases() -> list[Any]:
    loader = importlib.import_module("onnx.backend.test.loader")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for kind in KINDS for case in loader.load_model_tests(kind=kind)]
    return [case for case in cases if not _node_types(_model(case)) & (NOT_OURS | RANDOM)]


def _model(case: Any) -> onnx.ModelProto:
    if case.model is None:
        case.model = onnx.load(Path(case.model_dir) / "model.onnx")
    return case.model


def _node_types(model: onnx.ModelProto) -> set[str]:
    return {node.op_type for node in model.graph.node}


def _data_sets(case: Any) -> list[tuple[list[Any], list[Any]]]:
    if case.data_sets is not None:
        return [
            ([_value(value) for value in inputs], [_value(value) for value in outputs])
            for inputs, outputs in case.data_sets
        ]
    graph = case.model.graph
    return [
        (_read(folder, "input", graph.input), _read(folder, "output", graph.output))
        for folder in sorted(Path(case.model_dir).glob("test_data_set_*"))
    ]


def _value(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _read(folder: Path, kind: str, declared: Any) -> list[Any]:
    count = len(list(folder.glob(f"{kind}_*.pb")))
    return [_parse(folder / f"{kind}_{i}.pb", declared[i].type) for i in range(count)]


def _parse(path: Path, declared: onnx.TypeProto) -> Any:
    kind = declared.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(path.read_bytes()))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(path.read_bytes()))
    return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


def _compare(got: Any, expected: Any, rtol: float, atol: float) -> None:
    if isinstance(expected, list):
        assert isinstance(got, list)
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            _compare(one, other, rtol, atol)
        return
    if expected is None:
        assert got is None
        return
    expected = np.asarray(expected)
    assert isinstance(got, np.ndarray)
    assert got.shape == expected.shape
    if expected.dtype.kind in "OU":
        np.testing.assert_array_equal(got.astype(object), expected.astype(object))
        return
    assert got.dtype == expected.dtype
    if expected.dtype.name == "bfloat16":
        rtol = max(rtol, 2.0**-6)
    if expected.dtype.kind == "V":
        got, expected = got.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
def test_a_node_gives_the_values_of_the_standard(case: Any) -> None:
    if "ImageDecoder" in _node_types(case.model):
        pytest.importorskip("PIL", reason="ImageDecoder reads images with Pillow")
    for inputs, outputs in _data_sets(case):
        results = run_model(case.model, inputs)
        assert len(results) == len(outputs)
        for got, expected in zip(results, outputs, strict=True):
            _compare(got, expected, case.rtol, case.atol)
