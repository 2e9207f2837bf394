"""The Gradient node against central differences and against itself at other points."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from onemodel.graph.errors import GraphError
from onemodel.session.gradient import RULES
from onemodel.session.session import Session

HEAD = '<ir_version: 10, opset_import: ["" : 20, "ai.onnx.preview.training" : 1]>\n'

UNARY = ["Neg", "Abs", "Exp", "Log", "Sqrt", "Reciprocal", "Sin", "Cos", "Tanh", "Sigmoid"]
UNARY += ["Relu", "Identity", "Transpose"]
BINARY = ["Add", "Sub", "Mul", "Div", "Pow", "Sum"]


def gradient_model(body: str, a: str = "3, 2", b: str = "2", y: str = "3, 2") -> Session:
    proto = parser.parse_model(
        f"{HEAD} g (double[{a}] a, double[{b}] b)"
        f" => (double[{y}] y, double[{a}] da, double[{b}] db)"
        f"{{ {body} da, db = ai.onnx.preview.training.Gradient"
        ' <xs = ["a", "b"], y = "y"> (a, b) }'
    )
    return Session(proto)


def check(session: Session, a: np.ndarray, b: np.ndarray) -> None:
    found = session.run({"a": a, "b": b})
    for name, point in (("a", a), ("b", b)):
        slopes = np.zeros_like(point)
        for index in np.ndindex(point.shape):
            totals = []
            for step in (1e-6, -1e-6):
                moved = {"a": a.copy(), "b": b.copy()}
                moved[name][index] += step
                totals.append(session.run(moved, ["y"])["y"].sum())
            slopes[index] = (totals[0] - totals[1]) / 2e-6
        np.testing.assert_allclose(found[f"d{name}"], slopes, rtol=1e-6, atol=1e-7)


def points(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    generator = np.random.default_rng(3)
    return [generator.uniform(0.5, 2.0, shape) for shape in shapes]


@pytest.mark.parametrize("op_type", UNARY)
def test_unary_rules_agree_with_central_differences(op_type):
    y = "2, 3" if op_type == "Transpose" else "3, 2"
    other = "Identity (t)" if op_type == "Transpose" else "Mul (t, b)"
    check(gradient_model(f"t = {op_type} (a) y = {other}", y=y), *points((3, 2), (2,)))


@pytest.mark.parametrize("op_type", BINARY)
def test_binary_rules_agree_with_central_differences_where_they_broadcast(op_type):
    check(gradient_model(f"y = {op_type} (a, b)"), *points((3, 2), (2,)))


@pytest.mark.parametrize(
    ("a", "b", "y"),
    [
        ("3, 2", "2, 4", "3, 4"),
        ("5, 3, 2", "2, 4", "5, 3, 4"),
        ("2", "2, 4", "4"),
        ("3, 2", "2", "3"),
    ],
)
def test_products_of_matrices_stacks_and_vectors(a, b, y):
    shapes = [tuple(map(int, text.split(", "))) for text in (a, b)]
    check(gradient_model("y = MatMul (a, b)", a, b, y), *points(*shapes))


def test_every_rule_is_tested():
    assert set(RULES) == {*UNARY, *BINARY, "MatMul", "Reshape", "Shape"}


def test_values_used_twice_and_captured_constants_add_up():
    session = gradient_model(
        "k = Constant <value_ints = [2, 3]> () t = Reshape (a, k) c = Mul (a, a) d = Add (c, b)"
        " s = Shape (a) e = Reshape (t, s) y = Mul (d, e)"
    )
    check(session, *points((3, 2), (2,)))


def test_the_part_can_be_evaluated_at_another_point():
    proto = parser.parse_model(
        f"{HEAD} g (float[2] x, float[2] z) => (float[2] y, float[2] at_z) {{ y = Mul (x, x)"
        ' at_z = ai.onnx.preview.training.Gradient <xs = ["x"], y = "y"> (z) }'
    )
    x, z = np.array([1, 2], np.float32), np.array([5, 7], np.float32)
    found = Session(proto).run({"x": x, "z": z})
    assert found["y"].tolist() == [1, 4] and found["at_z"].tolist() == [10, 14]


def test_a_node_type_without_a_rule_is_named():
    with pytest.raises(GraphError, match=r"no derivative of .*Floor"):
        gradient_model("t = Floor (a) y = Mul (t, b)")


def test_names_that_do_not_exist_are_named():
    proto = parser.parse_model(
        f"{HEAD} g (float[2] x) => (float[2] d) {{ y = Neg (x)"
        ' d = ai.onnx.preview.training.Gradient <xs = ["ghost"], y = "y"> (x) }'
    )
    with pytest.raises(GraphError, match="ghost"):
        Session(proto)
