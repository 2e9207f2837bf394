"""Each class of difference is told apart from the others."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from onemodel.compare.classes import Difference, DifferenceClass, difference

A = np.array([1.0, -2.0, 0.0, 3e-8, 5.0], np.float32)


def test_the_same_bits_are_equal_and_nan_payloads_do_not_count():
    nan = np.array([0x7FC00000], np.uint32).view(np.float32)
    other_nan = np.array([0x7FC00001], np.uint32).view(np.float32)
    assert difference(A, A.copy()).kind is DifferenceClass.EQUAL
    assert difference(nan, other_nan).kind is DifferenceClass.EQUAL
    assert difference(np.array(["a"]), np.array(["a"])).kind is DifferenceClass.EQUAL


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ml_dtypes.bfloat16])
@pytest.mark.parametrize("steps", [1, 3])
def test_ulps_count_representable_numbers(dtype, steps):
    a = np.array([1.0, -1.5, 640.0], dtype)
    bits = np.dtype(f"i{a.dtype.itemsize}")
    b = (a.view(bits) + steps).view(a.dtype)
    found = difference(a, b)
    assert found.kind is DifferenceClass.ULP
    assert found.max_ulp == steps
    assert found.count == 3


def test_zeros_of_either_sign_are_one_step_apart():
    found = difference(np.array([0.0]), np.array([-0.0]))
    assert (found.kind, found.max_ulp, found.within) == (DifferenceClass.ULP, 1, True)


def test_the_distance_across_the_whole_range_does_not_overflow():
    low, high = np.array([-np.finfo(np.float64).max]), np.array([np.finfo(np.float64).max])
    assert difference(low, high).max_ulp == 2 * 0x7FEFFFFFFFFFFFFF + 1


def test_an_error_at_a_large_element_is_relative_and_at_a_tiny_one_absolute():
    at_large, at_tiny = A.copy(), A.copy()
    at_large[4] *= np.float32(1.01)
    at_tiny[3] += np.float32(1e-6)
    relative, absolute = difference(A, at_large), difference(A, at_tiny)
    assert relative.kind is DifferenceClass.RELATIVE
    assert relative.max_relative == pytest.approx(0.01, rel=1e-3)
    assert relative.worst == (4,)
    assert not relative.within
    assert absolute.kind is DifferenceClass.ABSOLUTE
    assert absolute.within


@pytest.mark.parametrize(
    "value, kind",
    [(np.nan, DifferenceClass.NAN), (np.inf, DifferenceClass.INFINITY)],
)
def test_special_numbers_are_classes_of_their_own_and_never_within(value, kind):
    b = A.copy()
    b[1] = value
    for left, right in ((A, b), (b, A)):
        found = difference(left, right, tolerance=1e9)
        assert found.kind is kind
        assert found.worst == (1,)
        assert not found.within
        assert found.severity == 3
    assert difference(b, b.copy()).kind is DifferenceClass.EQUAL


def test_infinities_of_different_sign_differ():
    found = difference(np.array([np.inf]), np.array([-np.inf]))
    assert found.kind is DifferenceClass.INFINITY


def test_shape_is_told_before_dtype_and_dtype_before_numbers():
    assert difference(A, A[None]).kind is DifferenceClass.SHAPE
    assert difference(A, A.astype(np.float64)).kind is DifferenceClass.DTYPE
    assert "float64 against float32" in str(difference(A, A.astype(np.float64)))


def test_missing_is_neutral():
    assert difference(None, A).kind is DifferenceClass.MISSING
    assert difference(A, None).within


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_integers_must_be_equal_however_large(dtype):
    a = np.array([0, 1], dtype)
    b = np.array([1, 1], dtype)
    assert not difference(a, b, tolerance=10).within
    large = np.array([2**62], np.int64)
    found = difference(large, large + 1)
    assert (found.kind, found.max_absolute, found.within) == (DifferenceClass.ABSOLUTE, 1.0, False)


def test_empty_arrays_are_equal():
    assert difference(np.zeros((0, 3)), np.zeros((0, 3))).kind is DifferenceClass.EQUAL


def test_the_histogram_counts_differing_elements_by_decade():
    b = A.copy()
    b[0] += np.float32(0.5)
    b[4] += np.float32(0.01)
    found = difference(A, b)
    assert sum(found.histogram) == found.count == 2


def test_complex_numbers_compare_by_magnitude_of_the_error():
    a = np.array([1 + 1j], np.complex64)
    found = difference(a, a + np.complex64(0.1j))
    assert found.max_absolute == pytest.approx(0.1, rel=1e-5)


def test_the_dict_form_is_json_without_infinities():
    found = difference(np.array([0.0]), np.array([1.0])).to_dict()
    assert found["max_relative"] is None
    assert found["kind"] == "absolute"


def test_text_names_the_class_and_its_number():
    assert str(Difference(DifferenceClass.ULP, True, max_ulp=2)) == "2 ulp"
