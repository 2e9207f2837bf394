"""NaN, infinities, signed zeros and extremes: a graph gives what eager gives, at every form."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import pytest

import onemodel as om
from onemodel.symbolic.context import EmissionError

SPECIAL = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, 1e30, -1e30, 1e-30, 90.0,
     -90.0, 20.0, -3.0, 3.0],
    np.float32,
)  # fmt: skip
PAIRS = np.array(list(itertools.product(SPECIAL, SPECIAL)), np.float32).T.copy()
OPSETS = (7, 9, 11, 13, 18, 20)

UNARY = """
    neg exp log sqrt erf tanh sigmoid silu gelu relu sin cos tan asin acos atan sinh cosh asinh
    acosh atanh exp2 expm1 log2 log10 log1p rsqrt reciprocal erfc floor ceil trunc round frac abs
    sign isnan isinf isfinite leaky_relu elu selu celu mish hardsigmoid hardswish softplus
    softsign hardshrink square logit nan_to_num hardtanh relu6 tanhshrink softshrink log_sigmoid
    logical_not sort argsort sum mean amax amin prod var std norm argmax argmin all any
    count_nonzero
"""
BINARY = """
    add sub mul div pow maximum minimum eq ne lt le gt ge remainder fmod floor_divide atan2 hypot
    logical_and logical_or logical_xor clamp_min clamp_max
"""
ALONG: dict[str, Callable[[Any], Any]] = {
    "logsumexp": lambda x: om.logsumexp(x, 0),
    "cumsum": lambda x: om.cumsum(x, 0),
    "cumprod": lambda x: om.cumprod(x, 0),
    "max": lambda x: om.max(x, 0),
    "min": lambda x: om.min(x, 0),
    "topk": lambda x: om.topk(x, 3),
    "clamp": lambda x: om.clamp(x, -1, 2),
}


def run(model: Any, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)


def assert_graph_agrees(function: Callable[..., Any], *arrays: np.ndarray) -> None:
    results = function(*map(om.tensor, arrays))
    wanted = [r.numpy() for r in (results if isinstance(results, tuple) else (results,))]
    traced = om.trace(function, *arrays, opset=20, verify=False)
    feeds = {value.name: array for value, array in zip(traced.inputs, arrays, strict=True)}
    written = 0
    for opset in OPSETS:
        try:
            model = traced.to_onnx(opset)
        except EmissionError as error:
            assert error.lowest is not None and error.lowest > opset
            continue
        written += 1
        for found, expected in zip(run(model, feeds), wanted, strict=True):
            np.testing.assert_allclose(
                found, expected, rtol=2e-5, atol=1e-6, equal_nan=True, err_msg=f"opset {opset}"
            )
    assert written


@pytest.mark.parametrize("name", UNARY.split())
def test_a_graph_of_one_operand_agrees_with_eager_on_special_values(name: str) -> None:
    assert_graph_agrees(lambda x: getattr(om, name)(x), SPECIAL)


@pytest.mark.parametrize("name", sorted(ALONG))
def test_a_graph_along_an_axis_agrees_with_eager_on_special_values(name: str) -> None:
    assert_graph_agrees(ALONG[name], SPECIAL)


@pytest.mark.parametrize("name", BINARY.split())
def test_a_graph_of_two_operands_agrees_with_eager_on_special_values(name: str) -> None:
    assert_graph_agrees(lambda x, y: getattr(om, name)(x, y), *PAIRS)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod", "div"])
def test_integer_division_of_every_sign_agrees_with_python(name: str, dtype: str) -> None:
    left, right = np.array(
        [(a, b) for a in range(-7, 8) for b in (-3, -2, -1, 1, 2, 3)], dtype
    ).T.copy()
    assert_graph_agrees(lambda x, y: getattr(om, name)(x, y), left, right)
    found = getattr(om, name)(om.tensor(left), om.tensor(right)).numpy()
    exact = {
        "floor_divide": lambda a, b: a // b,
        "remainder": lambda a, b: a % b,
        "fmod": lambda a, b: a - b * int(a / b),
        "div": lambda a, b: a / b,
    }[name]
    wanted = [exact(int(a), int(b)) for a, b in zip(left, right, strict=True)]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("rounding_mode", ["trunc", "floor"])
def test_rounded_division_of_integers_never_goes_through_floats(rounding_mode: str) -> None:
    left = np.array([2**53 + 1, -(2**53) - 1, 2**62 + 3], np.int64)
    right = np.array([1, 1, -1], np.int64)
    assert_graph_agrees(lambda x, y: om.div(x, y, rounding_mode=rounding_mode), left, right)
    found = om.div(om.tensor(left), om.tensor(right), rounding_mode=rounding_mode)
    assert found.tolist() == [2**53 + 1, -(2**53) - 1, -(2**62) - 3]


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_an_integer_divided_by_zero_is_refused(name: str) -> None:
    with pytest.raises(ZeroDivisionError, match="zero"):
        getattr(om, name)(om.tensor([1, 2]), om.tensor([1, 0]))


def test_floor_division_of_floats_is_pythons() -> None:
    pairs = [(1.0, 0.1), (-1.0, 0.1), (7.5, -2.0), (-7.5, 2.0), (3.0, 1.5), (1e17, 3.0)]
    left, right = (om.tensor(np.array(side)) for side in zip(*pairs, strict=True))
    assert (left // right).tolist() == [a // b for a, b in pairs]
    assert (left % right).tolist() == [a % b for a, b in pairs]


def test_nan_is_the_extreme_and_its_place_the_index() -> None:
    x = om.tensor([1.0, float("nan"), 3.0])
    assert np.isnan(x.amax().item()) and np.isnan(x.amin().item())
    values, indices = x.max(0)
    assert np.isnan(values.item()) and indices.item() == 1
    assert np.isnan(x.median().item())
    assert x.median(0).indices.item() == 1


@pytest.mark.parametrize("name", ["amax", "amin", "argmax", "argmin"])
def test_there_is_no_extreme_of_nothing(name: str) -> None:
    with pytest.raises(IndexError, match="no elements"):
        getattr(om, name)(om.zeros(0, 3), dim=0)


def test_reductions_of_nothing_are_neutral() -> None:
    empty = om.zeros(0, 2)
    assert empty.sum(0).tolist() == [0, 0]
    assert empty.prod(0).tolist() == [1, 1]
    assert np.isnan(empty.mean(0).numpy()).all()
    assert empty.all().item() is True and empty.any().item() is False
    assert om.logsumexp(empty, 0).tolist() == [-np.inf, -np.inf]


@pytest.mark.parametrize("bounds", [{"min": 0.0}, {"max": 0.0}])
def test_clamping_on_one_side_leaves_infinity_on_the_other(bounds: dict[str, float]) -> None:
    assert_graph_agrees(lambda x: om.clamp(x, **bounds), SPECIAL)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_hypotenuse_of_nothing_and_of_the_smallest_is_eagers(dtype: str) -> None:
    least = np.finfo(dtype).smallest_subnormal
    left = np.array([0.0, -0.0, 0.0, 3 * least, 1.0], dtype)
    right = np.array([0.0, 0.0, least, 4 * least, 0.0], dtype)
    assert_graph_agrees(om.hypot, left, right)


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("correction", [0, 1])
def test_squares_beyond_float16_do_not_spoil_a_variance_within(name: str, correction: int) -> None:
    x = np.array([[300.0, -100.0, 200.0, 50.0], [1.0, 2.0, 3.0, 4.0]], np.float16)
    wanted = getattr(om, name)(om.tensor(x), 1, correction=correction).numpy()
    assert np.isfinite(wanted).all()
    traced = om.trace(lambda x: getattr(om, name)(x, 1, correction=correction), x)
    for opset in OPSETS:
        for mode in ("fast", "exact"):
            session = om.Session(traced.to_onnx(opset), mode=mode)
            found = session.run({traced.inputs[0].name: x})["output"]
            np.testing.assert_allclose(found, wanted, rtol=2e-3)


def test_the_power_of_one_half_is_the_square_root_in_every_engine() -> None:
    assert_graph_agrees(lambda x: x**0.5, SPECIAL)
    assert_graph_agrees(lambda x: 1 / x**0.5, SPECIAL)  # the sign of zero shows
    x = SPECIAL.copy()
    traced = om.trace(lambda x: 1 / x**0.5, x)
    found = om.Session(traced, mode="exact").run({"x": x})["output"]
    np.testing.assert_allclose(found, (1 / om.tensor(x) ** 0.5).numpy(), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64"])
def test_integers_of_every_kind_have_no_negative_power(dtype: str) -> None:
    with pytest.raises(ValueError, match="no negative integer powers"):
        om.tensor(np.array([1, 2], dtype)) ** -1
