"""The exact forms of kernels where processors would decide."""

from __future__ import annotations

import importlib
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from onemodel.kernels.exact.nan import canonical_nan, positive_zero
from tests.kernels.exact_rules import KERNELS

MODULES = {
    module.NODE_TYPE: module
    for path in sorted(KERNELS.glob("[a-z]*.py"))
    if hasattr(module := importlib.import_module(f"onemodel.kernels.{path.stem}"), "EXACT")
}
FLOATS = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype("f4"), np.dtype("f8")]
ZEROS = [0.0, -0.0]


def _bits(x: np.ndarray) -> list[int]:
    return x.reshape(-1).view(f"u{x.dtype.itemsize}").tolist()


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("size", [1, 5000])
def test_the_larger_or_smaller_of_two_zeros_is_positive(dtype: np.dtype, size: int) -> None:
    one = np.tile(np.array(ZEROS, dtype), size)
    other = np.tile(np.array(ZEROS[::-1], dtype), size)
    zero = np.array(0, dtype)
    planes = np.stack([one, other]).reshape(1, 2, -1)
    results = [
        MODULES["Max"].exact(one, other),
        MODULES["Min"].exact(one, other),
        MODULES["Relu"].exact(one),
        MODULES["Clip"].EXACT[11](one, zero, zero),
        MODULES["Clip"].EXACT[11](one, zero),
        MODULES["HardSigmoid"].exact(one, alpha=1.0, beta=0.0),
        MODULES["GlobalMaxPool"].exact(planes),
        MODULES["MaxPool"].EXACT[10](planes, kernel_shape=[2])[0],
        MODULES["MaxPool"].EXACT_FIRST_OUTPUT[10](planes, kernel_shape=[2]),
        MODULES["ScatterElements"].exact(one, np.arange(one.size), other, reduction="max"),
    ]
    for result in results:
        assert result.dtype == dtype
        assert set(_bits(np.ascontiguousarray(result))) == {0}


def test_leaky_relu_keeps_the_sign_of_a_zero() -> None:
    x = np.array([0.0, -0.0, -1e-45, -2.0, 3.0], np.float32)
    for alpha in (0.0, 0.01, -0.0, -2.0):
        got = MODULES["LeakyRelu"].exact(x, alpha=alpha)
        np.testing.assert_array_equal(_bits(got[:2]), _bits(x[:2]))
        np.testing.assert_array_equal(got, np.where(x < 0, x * np.float32(alpha), x))


INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


@pytest.mark.parametrize("source", FLOATS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_floats_become_the_nearest_integer_of_a_type_and_nan_zero(
    source: np.dtype, kind: Any
) -> None:
    dtype = np.dtype(kind)
    limits = np.iinfo(dtype)
    x = np.array([np.nan, -np.inf, np.inf, -1e4, 1e4, -3.75, 3.75, -0.5, 2.0**63, 1e30], np.float64)
    with np.errstate(over="ignore"):
        x = x.astype(source)
    got = MODULES["CastLike"].exact(x, np.zeros(1, dtype))
    assert got.dtype == dtype
    for value, result in zip(
        x.astype(np.float64).tolist(), got.astype(object).tolist(), strict=True
    ):
        if value != value:
            assert int(result) == 0
        elif abs(value) == np.inf:
            assert int(result) == int(limits.max if value > 0 else limits.min)
        else:
            assert int(result) == max(int(limits.min), min(int(limits.max), int(value)))


@pytest.mark.parametrize("kind", [ml_dtypes.int4, ml_dtypes.uint4])
def test_floats_lose_their_high_bits_in_the_narrowest_integers(kind: type) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 17.5, -1.5, 7.0], np.float32)
    got = MODULES["CastLike"].exact(x, np.zeros(1, kind)).astype(np.int64) & 15
    np.testing.assert_array_equal(got, [0, 15, 0, 1, 15, 7])


def test_every_version_of_cast_saturates() -> None:
    x = np.array([np.nan, 1e30, -1e30], np.float32)
    highest, lowest = np.iinfo(np.int32).max, np.iinfo(np.int32).min
    for since, kernel in MODULES["Cast"].EXACT.items():
        got = kernel(x, to="INT32" if since == 1 else 6)
        np.testing.assert_array_equal(got, np.array([0, highest, lowest], np.int32))


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
def test_bits_of_nan_do_not_show(dtype: np.dtype) -> None:
    width = f"u{dtype.itemsize}"
    one = np.array(np.nan).astype(dtype)
    x = np.array([1.0, -2.0, 0.0, -0.0], dtype)
    odd = np.concatenate([x, np.array([one, -one], dtype)])
    odd.view(width)[-1:] |= 1
    number = {2: 4, 4: 12, 8: 13}[dtype.itemsize]
    got = MODULES["BitCast"].exact(odd, to=number)
    assert got.tolist() == _bits(x) + [int(one.view(width))] * 2
    assert _bits(canonical_nan(odd)) == got.tolist()
    assert canonical_nan(x) is x
    narrowed = MODULES["Cast"].exact(odd[-2:], to=10)
    assert set(_bits(narrowed)) == {0x7E00} or dtype == np.float16


@pytest.mark.parametrize("kind", [np.complex64, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn])
def test_other_types_have_one_nan_too(kind: type) -> None:
    x = np.array([1, np.nan, -np.nan, 0]).astype(kind)
    got = canonical_nan(x)
    assert got[1].tobytes() == got[2].tobytes() == np.array(got[1]).tobytes()
    np.testing.assert_array_equal(got[[0, 3]], x[[0, 3]])
    strings = np.array(["a"], object)
    assert canonical_nan(strings) is strings


def test_integers_have_no_zero_to_decide() -> None:
    x = np.array([0, -1])
    assert positive_zero(x) is x
    np.testing.assert_array_equal(MODULES["Max"].exact(x, -x), [0, 1])


def test_nan_is_quantized_to_the_zero_point() -> None:
    x = np.array([np.nan, 1.0, -1e9, np.inf], np.float32)
    got = MODULES["QuantizeLinear"].EXACT[23](x, np.float32(0.5).reshape(()), np.array(7, np.uint8))
    np.testing.assert_array_equal(got, np.array([7, 9, 0, 255], np.uint8))
    dynamic = MODULES["DynamicQuantizeLinear"].exact(np.array([np.nan, 2.0, -2.0], np.float32))
    without = MODULES["DynamicQuantizeLinear"].exact(np.array([0.0, 2.0, -2.0], np.float32))
    for one, other in zip(dynamic, without, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_index_that_is_nan_counts_as_zero() -> None:
    indices = np.array([np.nan, 1.0, 1e30, -1e30])
    got = MODULES["OneHot"].exact(indices, np.array(2), np.array([0, 1]))
    np.testing.assert_array_equal(got, [[1, 0], [0, 1], [0, 0], [0, 0]])
    got = MODULES["OneHotEncoder"].exact(indices, cats_int64s=[0, 1])
    np.testing.assert_array_equal(got, [[1, 0], [0, 1], [0, 0], [0, 0]])


def test_integer_powers_stay_exact_and_saturate_where_they_are_not() -> None:
    power = MODULES["Pow"].exact
    x = np.array([3, -2, 7], np.int64)
    np.testing.assert_array_equal(power(x, np.array([39, 61, 22])), [3**39, -(2**61), 7**22])
    small = np.array([2, 100, 2**31 - 1], np.int32)
    np.testing.assert_array_equal(power(small, np.array([0.5, -1.0, 1.5])), [1, 0, 2**31 - 1])


def test_a_version_one_kernel_takes_its_hints_and_is_exact() -> None:
    x = np.linspace(-3, 3, 50, dtype=np.float32)
    for name in ("Exp", "Tanh", "Sigmoid", "Elu", "Selu"):
        versions = MODULES[name].EXACT
        hinted = versions[1](x, consumed_inputs=[0])
        assert hinted.dtype == x.dtype
        if name != "Selu":  # whose first version has shorter constants
            np.testing.assert_array_equal(hinted, versions[6](x))


@pytest.mark.parametrize("dtype", FLOATS[:2], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(
    ("op_type", "attributes"),
    [("ReduceSum", {}), ("ReduceMean", {}), ("GlobalAveragePool", {}),
     ("Einsum", {"equation": "abcd->"}),
     ("ReduceL1", {}), ("GlobalLpPool", {"p": 1})],
)  # fmt: skip
def test_a_sum_of_narrow_floats_is_rounded_once(
    op_type: str, attributes: dict[str, Any], dtype: np.dtype
) -> None:
    """A sum just above a tie, which a detour by float32 would put on it."""
    step = 2.0 ** -(8 if dtype.name == "bfloat16" else 11)
    x = np.zeros((1, 1, 2, 4), dtype)
    x.reshape(-1)[[0, 3, 5]] = 64.0, 64.0 * step, 2.0**-24
    got = float(MODULES[op_type].exact(x, **attributes).item())
    assert got == (8 if "Mean" in op_type or "Average" in op_type else 64) * (1 + 2 * step)
