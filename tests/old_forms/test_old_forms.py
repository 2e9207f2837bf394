"""Every version of every operator that changed, against ONNX Runtime or who else can judge it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest

from onemodel.session.session import Session
from tests.old_forms import layers
from tests.old_forms.forms import FORMS, Form, Schema, normal
from tests.old_forms.judge import (
    NEWEST,
    NoKernelError,
    assert_same,
    by_onnxruntime,
    by_reference,
    by_session,
    feeds,
    history,
    model,
    opsets,
)

assert layers  # its forms are entered by importing it

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

BEFORE_7 = "ONNX Runtime has no kernel of versions before opset 7"
BEHIND = "ONNX Runtime has not registered this version, which only adds dtypes"

_MISSING = {
    1: """
        Abs Add And AveragePool BatchNormalization Cast Ceil Clip Concat Div Dropout Elu Equal Exp
        Floor GRU Gemm GlobalLpPool Greater HardSigmoid InstanceNormalization LSTM LeakyRelu Less
        Log LpPool Max Mean Min Mul Neg Or PRelu Pad Pow RNN Reciprocal Relu Selu Sigmoid Split
        Sqrt Sub Sum Tanh Tile Upsample Xor
    """,
    3: "GRU",
    6: "Add BatchNormalization Div Dropout Gemm Mul PRelu Sub",
    22: """
        Bernoulli GlobalLpPool MaxRoiPool Multinomial RandomNormal RandomNormalLike RandomUniform
        RandomUniformLike RoiAlign
    """,
    28: "DequantizeLinear OptionalGetElement OptionalHasElement QuantizeLinear",
}
WITHOUT_ONNXRUNTIME: dict[tuple[str, int], str] = {
    (name, version): BEFORE_7 if version < 7 else BEHIND
    for version, names in _MISSING.items()
    for name in names.split()
}
"""Versions that ONNX Runtime does not run, and why: what the standard's text gives (``expected``)
judges them, else onnx's reference evaluator, else the next version, which only added dtypes."""

ELSEWHERE = {("Optional", 15), ("Optional", 28), ("OptionalGetElement", 15)} | {
    ("OptionalHasElement", 15)
}
"""Versions that one node alone cannot show; a test of its own below."""

WITHDRAWN = {("Scatter", 11), ("Upsample", 10)}
"""The versions that say that an operator is no more."""


def _tried(name: str, schema: Schema, form: Form) -> bool:
    """Compare one form with ONNX Runtime; False where it has no kernel at any opset of it."""
    for opset in opsets(name, schema.since_version)[:3]:
        proto = model(name, opset, form)
        label = f"{name}-{schema.since_version} at opset {opset} with {list(form.attributes)}"
        try:
            wanted = by_onnxruntime(proto, form)
        except NoKernelError:
            continue
        found = by_session(proto, form)
        assert_same(found, wanted, form, label)
        if form.expected is not None:
            assert_same(found, form.expected, form, f"{label}, by the standard's text")
        return True
    return False


def _by_text(name: str, schema: Schema, form: Form) -> None:
    """Compare one form with the standard's text, the reference evaluator or the next version."""
    proto = model(name, opsets(name, schema.since_version)[0], form)
    label = f"{name}-{schema.since_version}"
    found = by_session(proto, form)
    if form.expected is not None:
        assert_same(found, form.expected, form, label)
        return
    try:
        wanted = _by_neighbour(name, schema, form)
    except NoKernelError:
        wanted = by_reference(proto, form)
    assert_same(found, wanted, form, label)


LIKE_THE_NEXT = {"AveragePool", "LpPool", "GRU", "LSTM", "RNN"}
"""Old versions that the reference evaluator cannot run and whose next version says the same."""


def _by_neighbour(name: str, schema: Schema, form: Form) -> list[Any]:
    """What ONNX Runtime gives for the same node at a version that it has."""
    versions = [s.since_version for s in history()[name]]
    if schema.since_version < 7 and name not in LIKE_THE_NEXT:
        raise NoKernelError
    later = [v for v in versions if v > max(6, schema.since_version)]
    if schema.since_version < 7 and not later:
        later = [v for v in versions if v > schema.since_version]
    near = later[0] if later else versions[-2]
    known = onnx.defs.get_schema(name, near).attributes
    attributes = {key: value for key, value in form.attributes.items() if key in known}
    if name == "LpPool" and "p" in attributes:
        attributes["p"] = int(attributes["p"])  # it was a float in version 1
    form = replace(form, attributes=attributes)
    return by_onnxruntime(model(name, opsets(name, near)[0], form), form)


@pytest.mark.parametrize("name", history())
def test_every_version_of_an_operator_equals_onnxruntime(name: str) -> None:
    for schema in history()[name]:
        pair = (name, schema.since_version)
        if pair in ELSEWHERE | WITHDRAWN:
            continue
        made = list(FORMS[name](schema))
        assert made, f"{name}-{schema.since_version} has no form"
        if pair in WITHOUT_ONNXRUNTIME:
            for form in made:
                _by_text(name, schema, form)
            continue
        judged = 0
        for form in made:
            if form.disputed:
                proto = model(name, opsets(name, schema.since_version)[0], form)
                assert form.expected is not None
                assert_same(by_session(proto, form), form.expected, form, form.disputed)
            else:
                judged += _tried(name, schema, form)
        assert judged, f"ONNX Runtime ran no form of {name}-{schema.since_version}"


def test_every_version_that_changed_is_counted() -> None:
    pairs = {(name, s.since_version) for name, versions in history().items() for s in versions}
    assert len(history()) >= 159
    assert len(pairs) >= 585
    assert {name for name, _ in pairs - ELSEWHERE} <= set(FORMS)
    assert set(WITHOUT_ONNXRUNTIME) | ELSEWHERE | WITHDRAWN <= pairs
    assert len(WITHOUT_ONNXRUNTIME) < len(pairs) / 8


@pytest.mark.parametrize(("name", "opset"), sorted(WITHDRAWN))
def test_a_withdrawn_operator_still_runs_as_it_last_did(name: str, opset: int) -> None:
    before = history()[name][-2]
    form = next(iter(FORMS[name](before)))
    found = by_session(model(name, opset, form), form)
    wanted = by_onnxruntime(model(name, opset - 1, form), form)
    assert_same(found, wanted, form, name)


@pytest.mark.parametrize("opset", [15, 18, NEWEST])
def test_optionals_equal_onnxruntime(opset: int) -> None:
    text = f"""
    <ir_version: 10, opset_import: ["" : {opset}]>
    g (float[3] x) => (bool there, float[3] y)
    {{ o = Optional (x)  there = OptionalHasElement (o)  y = OptionalGetElement (o) }}
    """
    proto = onnx.parser.parse_model(text)
    form = Form((normal(3),), outputs=2)
    given = {"x": form.inputs[0]}
    found = list(Session(proto).run(given).values())
    assert_same(found, [np.array(True), form.inputs[0]], form, "optional")
    if opset <= 18:
        proto.graph.input[0].name = proto.graph.node[0].input[0] = "i0"
        assert feeds(form).keys() == {"i0"}
        assert_same(found, by_onnxruntime(proto, form), form, "optional")
