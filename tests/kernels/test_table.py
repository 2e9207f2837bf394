"""The table of kernels: discovery, versions, and signatures against the schemas."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import onnx
import pytest

from onemodel.kernels import _table

DOMAINS = ("", "ai.onnx.preview", "ai.onnx.preview.training")
NOT_OURS = {"If", "Loop", "Scan", "Gradient"}
HINTS = {"consumed_inputs", "output_sequence", "num_outputs"}
"""Attributes that never change a result, and the count that a caller passes along."""


def _schemas() -> list[onnx.defs.OpSchema]:
    return [
        schema
        for schema in onnx.defs.get_all_schemas_with_history()
        if schema.domain in DOMAINS and schema.name not in NOT_OURS
    ]


def _label(schema: onnx.defs.OpSchema) -> str:
    return f"{schema.name}-{schema.since_version}"


@pytest.mark.parametrize("schema", _schemas(), ids=_label)
def test_every_version_of_a_node_type_has_a_kernel_with_its_attributes(
    schema: onnx.defs.OpSchema,
) -> None:
    kernel = _table.find(schema.name, schema.since_version, schema.domain)
    assert kernel is not None
    parameters = inspect.signature(kernel).parameters.values()
    named = {p.name for p in parameters if p.kind == p.KEYWORD_ONLY}
    if not any(p.kind == p.VAR_KEYWORD for p in parameters):
        assert set(schema.attributes) - HINTS <= named
    if schema.name != "Constant":  # one function serves all its versions
        assert named <= set(schema.attributes) | HINTS


@pytest.mark.parametrize("schema", _schemas(), ids=_label)
def test_defaults_are_those_of_the_schema(schema: onnx.defs.OpSchema) -> None:
    kernel = _table.find(schema.name, schema.since_version, schema.domain)
    assert kernel is not None
    parameters = inspect.signature(kernel).parameters
    for attribute in schema.attributes.values():
        if attribute.name not in parameters or not attribute.default_value.name:
            continue
        expected = onnx.helper.get_attribute_value(attribute.default_value)
        given = parameters[attribute.name].default
        if schema.name == "RNN" and attribute.name == "activations":
            continue  # one Tanh per direction, which None stands for
        if isinstance(expected, bytes):
            assert given == expected.decode().replace("foward", "forward")
        elif isinstance(expected, list):
            assert list(given) == expected
        else:
            assert given == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("opset", "since"), [(7, 6), (10, 6), (11, 11), (20, 11)], ids=lambda value: str(value)
)
def test_the_newest_version_not_above_the_opset_is_found(opset: int, since: int) -> None:
    newest, exact = _table.find("Clip", opset), _table.find("Clip", since)
    assert newest is exact is not None


def test_an_unknown_node_type_has_no_kernel() -> None:
    assert _table.find("NoSuchNode", 20) is None
    assert _table.find("Softmax", 20, "com.example") is None
    assert _table.find("Gelu", 19) is None


def test_the_long_name_of_the_standard_domain_is_known() -> None:
    assert _table.find("Relu", 20, "ai.onnx") is _table.find("Relu", 20)


def test_a_first_output_alone_is_that_of_the_whole() -> None:
    x = np.random.RandomState(0).randn(1, 2, 6, 6).astype(np.float32)
    whole, first = _table.find("MaxPool", 20), _table.find("MaxPool", 20, outputs=1)
    assert whole is not None and first is not None
    y = first(x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    np.testing.assert_array_equal(y, whole(x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])[0])


def test_finding_one_kernel_imports_no_others() -> None:
    code = (
        "import sys; from onemodel.kernels import _table; _table.find('Add', 20); "
        "print('onemodel.kernels.image_decoder' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_node_types_lists_every_file() -> None:
    listed = _table.node_types()
    assert listed == sorted(listed)
    assert {"Add", "BatchNormalization", "PRelu", "Col2Im", "And"} <= set(listed)
    assert _table.node_types("ai.onnx.preview.training") == ["Adagrad", "Adam", "Momentum"]
