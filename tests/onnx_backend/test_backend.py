"""The standard's backend suite through sessions: every model, learned plans included.

Expected values come with the ``onnx`` package. Outputs of random nodes are left free by the
standard, so only their shapes and dtypes are held.
"""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from onemodel.session.session import Session

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
RANDOM = {
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
}


def cases() -> list[Any]:
    loader = importlib.import_module("onnx.backend.test.loader")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [case for kind in KINDS for case in loader.load_model_tests(kind=kind)]


def data_sets(case: Any, model: onnx.ModelProto) -> list[tuple[list[Any], list[Any]]]:
    if case.data_sets is not None:
        return [(list(map(array, i)), list(map(array, o))) for i, o in case.data_sets]
    graph = model.graph
    return [
        (stored(folder, "input", graph.input), stored(folder, "output", graph.output))
        for folder in sorted(Path(case.model_dir).glob("test_data_set_*"))
    ]


def array(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def stored(folder: Path, kind: str, declared: Any) -> list[Any]:
    count = len(list(folder.glob(f"{kind}_*.pb")))
    return [parsed(folder / f"{kind}_{i}.pb", declared[i].type) for i in range(count)]


def parsed(path: Path, declared: onnx.TypeProto) -> Any:
    kind = declared.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(path.read_bytes()))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(path.read_bytes()))
    return numpy_helper.to_array(TensorProto.FromString(path.read_bytes()))


def compare(found: Any, wanted: Any, case: Any, exact_values: bool) -> None:
    if isinstance(wanted, list):
        assert isinstance(found, list) and len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            compare(one, other, case, exact_values)
        return
    if wanted is None:
        assert found is None
        return
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    if wanted.dtype.kind in "OUS":
        np.testing.assert_array_equal(found.astype(object), wanted.astype(object))
        return
    assert found.dtype == wanted.dtype
    if not exact_values:
        return
    rtol = max(case.rtol, 2.0**-6) if wanted.dtype.name == "bfloat16" else case.rtol
    if wanted.dtype.isbuiltin != 1:
        found, wanted = found.astype(np.float32), wanted.astype(np.float32)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=case.atol)


def node_types(graph: onnx.GraphProto) -> set[str]:
    found = set()
    for node in graph.node:
        found.add(node.op_type)
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
                found |= node_types(body)
    return found


CASES = cases()


def test_the_suite_is_there():
    assert len(CASES) > 1500


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_model_of_the_standard_gives_its_values(case: Any) -> None:
    model = case.model or onnx.load(Path(case.model_dir) / "model.onnx")
    types = node_types(model.graph)
    if "ImageDecoder" in types:
        pytest.importorskip("PIL", reason="ImageDecoder reads images with Pillow")
    session = Session(model)
    taken = {value.name for value in session.graph.inputs}
    for inputs, outputs in data_sets(case, model):
        named = zip((item.name for item in model.graph.input), inputs, strict=False)
        feeds = {name: value for name, value in named if name in taken}
        for _ in range(2):  # once while the plan learns, once as it stays
            found = list(session.run(feeds).values())
            assert len(found) == len(outputs)
            for one, other in zip(found, outputs, strict=True):
                compare(one, other, case, not types & RANDOM)
