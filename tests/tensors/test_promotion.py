"""Dtypes of mixed operations are PyTorch's, by the rules and the table it documents.

Source: https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc and the
look-up table of ``torch.promote_types``.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import onemodel as om

# Row and column meet in the dtype of their cell. Unsigned integers above 8 bits are left out:
# PyTorch promotes them with floats only.
TABLE = """
            bool  uint8 int8  int16 int32 int64 half  bf16  float doubl c64   c128
bool        bool  uint8 int8  int16 int32 int64 half  bf16  float doubl c64   c128
uint8       uint8 uint8 int16 int16 int32 int64 half  bf16  float doubl c64   c128
int8        int8  int16 int8  int16 int32 int64 half  bf16  float doubl c64   c128
int16       int16 int16 int16 int16 int32 int64 half  bf16  float doubl c64   c128
int32       int32 int32 int32 int32 int32 int64 half  bf16  float doubl c64   c128
int64       int64 int64 int64 int64 int64 int64 half  bf16  float doubl c64   c128
half        half  half  half  half  half  half  half  float float doubl c64   c128
bf16        bf16  bf16  bf16  bf16  bf16  bf16  float bf16  float doubl c64   c128
float       float float float float float float float float float doubl c64   c128
doubl       doubl doubl doubl doubl doubl doubl doubl doubl doubl doubl c128  c128
c64         c64   c64   c64   c64   c64   c64   c64   c64   c64   c128  c64   c128
c128        c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128
"""
NAMES = {
    "half": "float16", "bf16": "bfloat16", "float": "float32", "doubl": "float64",
    "c64": "complex64", "c128": "complex128",
}  # fmt: skip


def _cells() -> list[tuple[str, str, str]]:
    head, *rows = [line.split() for line in TABLE.strip().splitlines()]
    full = [[NAMES.get(word, word) for word in row] for row in rows]
    columns = [NAMES.get(word, word) for word in head]
    return [
        (row[0], column, cell)
        for row in full
        for column, cell in zip(columns, row[1:], strict=True)
    ]


def ones(dtype: str, *shape: int) -> om.Tensor:
    return om.ones(*shape, dtype=dtype)


@pytest.mark.parametrize("first, second, meeting", _cells())
def test_two_tensors_meet_in_the_dtype_of_the_table(first: str, second: str, meeting: str) -> None:
    assert om.promote_types(np.dtype(first), np.dtype(second)).name == meeting
    assert om.mul(ones(first, 2), ones(second, 2)).dtype.name == meeting
    assert om.add(ones(first), ones(second)).dtype.name == meeting  # two without axes


@pytest.mark.parametrize(
    "dtype, number, meeting",
    [
        ("bool", True, "bool"),
        ("bool", 5, "int64"),
        ("bool", 1.5, "float32"),
        ("uint8", True, "uint8"),
        ("uint8", 5, "uint8"),
        ("uint8", 1.5, "float32"),
        ("int32", 5, "int32"),
        ("int32", 1.5, "float32"),
        ("int64", 1.5, "float32"),
        ("int64", 1j, "complex64"),
        ("float16", 5, "float16"),
        ("float16", 1.5, "float16"),
        ("bfloat16", 1.5, "bfloat16"),
        ("float32", True, "float32"),
        ("float32", 5, "float32"),
        ("float32", 1.5, "float32"),
        ("float64", 1.5, "float64"),
        ("float32", 1j, "complex64"),
        ("float64", 1j, "complex128"),
        ("complex64", 1.5, "complex64"),
        ("complex64", 1j, "complex64"),
    ],
)
def test_a_number_brings_only_its_category(dtype: str, number: Any, meeting: str) -> None:
    assert (ones(dtype, 2) * number).dtype.name == meeting
    assert (number * ones(dtype, 2)).dtype.name == meeting
    assert (ones(dtype) * number).dtype.name == meeting


@pytest.mark.parametrize(
    "with_axes, without, meeting",
    [
        ("int32", "int64", "int32"),
        ("uint8", "int64", "uint8"),
        ("bool", "int64", "int64"),
        ("float32", "float64", "float32"),
        ("float16", "float64", "float16"),
        ("int32", "float64", "float64"),
        ("int32", "float16", "float16"),
        ("float32", "int64", "float32"),
        ("float32", "complex128", "complex128"),
        ("complex64", "float64", "complex64"),
    ],
)
def test_a_tensor_with_axes_outweighs_one_without(
    with_axes: str, without: str, meeting: str
) -> None:
    assert (ones(with_axes, 2) + ones(without)).dtype.name == meeting
    assert (ones(without) + ones(with_axes, 2)).dtype.name == meeting


def test_the_default_dtype_is_what_floats_bring_to_integers() -> None:
    om.set_default_dtype(om.float64)
    try:
        assert (ones("int64", 2) * 1.5).dtype == om.float64
        assert (ones("int64", 2) * 1j).dtype == om.complex128
        assert om.tensor(1.5).dtype == om.float64
        assert (ones("int64", 2) / 2).dtype == om.float64
    finally:
        om.set_default_dtype(om.float32)


@pytest.mark.parametrize(
    "call, dtype, result",
    [
        (lambda x: x / x, "int32", "float32"),
        (lambda x: x / 2, "bool", "float32"),
        (lambda x: x // 2, "int32", "int32"),
        (lambda x: x // 2.0, "int32", "float32"),
        (lambda x: x % 2, "uint8", "uint8"),
        (lambda x: x**2, "int32", "int32"),
        (lambda x: x**0.5, "int32", "float32"),
        (lambda x: x == 1, "int32", "bool"),
        (lambda x: x < 1.5, "int64", "bool"),
        (lambda x: x & x, "int16", "int16"),
        (lambda x: x << 1, "uint8", "uint8"),
        (lambda x: x.sum(), "int32", "int64"),
        (lambda x: x.sum(), "bool", "int64"),
        (lambda x: x.sum(), "float16", "float16"),
        (lambda x: x.prod(), "uint8", "int64"),
        (lambda x: x.cumsum(0), "int8", "int64"),
        (lambda x: x.mean(), "bfloat16", "bfloat16"),
        (lambda x: x.amax(), "int16", "int16"),
        (lambda x: x.argmax(), "float32", "int64"),
        (lambda x: x.all(), "uint8", "bool"),
        (lambda x: x.exp(), "int64", "float32"),
        (lambda x: x.sigmoid(), "float16", "float16"),
        (lambda x: x.floor(), "int32", "int32"),
        (lambda x: x.abs(), "complex128", "float64"),
        (lambda x: om.where(x > 0, x, 1.5), "int64", "float32"),
        (lambda x: om.where(x > 0, x, 1), "uint8", "uint8"),
        (lambda x: x.clamp(0, 1.5), "int64", "float32"),
        (lambda x: om.arange(3), "bool", "int64"),
        (lambda x: om.arange(0.0, 3), "bool", "float32"),
        (lambda x: om.full((2,), True), "bool", "bool"),
        (lambda x: om.zeros(2), "bool", "float32"),
        (lambda x: om.zeros_like(x), "int16", "int16"),
    ],
)
def test_the_result_of_an_operation_has_pytorchs_dtype(call: Any, dtype: str, result: str) -> None:
    assert call(ones(dtype, 3)).dtype.name == result


def test_an_in_place_operation_keeps_the_dtype_or_is_refused() -> None:
    floats, integers = ones("float32", 2), ones("int32", 2)
    floats *= integers
    assert floats.dtype == om.float32
    floats += ones("float64", 2)
    assert floats.dtype == om.float32
    with pytest.raises(TypeError, match=r"mul_|__imul__"):
        integers *= ones("float32", 2)
    with pytest.raises(TypeError):
        integers.div_(2)


@pytest.mark.parametrize("function", [operator.sub, operator.neg])
def test_bool_has_no_difference_and_no_sign(function: Any) -> None:
    arguments = [ones("bool", 2)] * (2 if function is operator.sub else 1)
    with pytest.raises(TypeError, match="bool"):
        function(*arguments)


def test_unsigned_integers_wrap_around() -> None:
    assert (om.zeros(1, dtype="uint8") - 1).item() == 255
    assert (-om.ones(1, dtype="uint8")).item() == 255
    assert (om.full((1,), 200, dtype="uint8") + 100).item() == 44


def test_what_is_no_number_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="add: expected tensors or numbers, not str"):
        ones("float32", 2) + "1"
    assert (ones("float32", 2) == "1") is False
    assert (ones("float32", 2) != None) is True  # noqa: E711


def test_arrays_and_tensors_mix() -> None:
    array = np.ones(2, np.float64)
    assert isinstance(array * ones("float32", 2), om.Tensor)
    assert (array * ones("float32", 2)).dtype == om.float64
    assert (ones("float32", 2) + np.float64(1)).dtype == om.float32
