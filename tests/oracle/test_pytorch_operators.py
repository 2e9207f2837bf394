"""Every case of every operator in PyTorch, too: values, dtypes, gradients.

Optional: without PyTorch the whole file is skipped, and nothing else needs it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import onemodel as om
from onemodel.operators import TABLE
from onemodel.operators._operator import Composite
from onemodel.tensors.tensor import Tensor
from tests.every_operator import suite
from tests.every_operator.suite import Row
from tests.oracle import differences
from tests.oracle.differences import RANDOM, reason

torch = pytest.importorskip("torch", reason="PyTorch is an optional oracle, and not installed")

from tests.oracle import translate  # noqa: E402
from tests.oracle.comparison import compare  # noqa: E402

torch.set_num_threads(1)

REFUSALS = (ArithmeticError, ValueError, LookupError, TypeError, RuntimeError)

ROWS = suite.rows()
COMPARED = [
    row
    for row in ROWS
    if reason(differences.NOT_COMPARED, row.operator.name, row.case.name) is None
]


def call_torch(row: Row, inputs: list[Any]) -> list[Any]:
    """Results of the case's call in PyTorch."""
    function, attributes = row.case.call, translate.options(row.case.attributes)
    if function is not None:
        return list(suite.leaves(translate.translate(function)(*inputs, **attributes)))
    return list(suite.leaves(translate.counterpart(row.operator.name)(*inputs, **attributes)))


def call_ours(row: Row, inputs: list[Any]) -> list[Any]:
    return list(suite.leaves(row.call(*inputs)))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what PyTorch has to say of its own functions
        yield


@pytest.mark.parametrize("row", COMPARED, ids=suite.row_id)
@pytest.mark.parametrize("sizes", [suite.TRACED_SIZES, suite.OTHER_SIZES], ids=["one", "other"])
def test_values_and_dtypes_are_those_of_pytorch(row: Row, sizes: tuple[int, ...]) -> None:
    arrays = row.arrays(sizes)
    theirs = call_torch(row, [translate.to_torch(array) for array in arrays])
    ours = call_ours(row, [Tensor(np.array(array)) for array in arrays])
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        compare(one, other, values=row.operator.name not in RANDOM)


@pytest.mark.parametrize("row", [row for row in COMPARED if row.symbols()], ids=suite.row_id)
@pytest.mark.parametrize("sizes", [suite.ONES, suite.NONE], ids=["one element", "none"])
def test_axes_of_one_or_no_element_give_what_pytorch_gives(
    row: Row, sizes: tuple[int, ...]
) -> None:
    operator, case = row.operator.name, row.case.name
    arrays = row.arrays(sizes)
    try:
        theirs = call_torch(row, [translate.to_torch(array) for array in arrays])
    except REFUSALS:
        theirs = None
    try:
        ours = call_ours(row, [Tensor(np.array(array)) for array in arrays])
    except REFUSALS:
        known = reason(differences.REFUSED_HERE, operator, case)
        assert theirs is None or (sizes == suite.NONE and known), "refused, but PyTorch answers"
        return
    if theirs is None:
        answer = any(result.array.size for result in ours)
        assert not answer or reason(differences.ANSWERED_HERE, operator, case), "PyTorch refuses"
        return
    if sizes == suite.NONE and reason(differences.DIFFERENT_HERE, operator, case):
        return
    for one, other in zip(ours, theirs, strict=True):
        compare(one, other, values=operator not in RANDOM)


SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -1e30, 1e30, 1.0, -0.0]


def _takes_special_values(row: Row) -> bool:
    floats = any(s.values is None and s.dtype in ("float32", "float64") for s in row.case.specs())
    operator, case = row.operator.name, row.case.name
    return floats and operator not in RANDOM and not reason(differences.NOT_FINITE, operator, case)


@pytest.mark.parametrize(
    "row", [row for row in COMPARED if _takes_special_values(row)], ids=suite.row_id
)
def test_of_infinities_and_nan_come_the_values_of_pytorch(row: Row) -> None:
    arrays = row.arrays(suite.TRACED_SIZES)
    for position, spec in enumerate(row.case.specs()):
        array = arrays[position]
        if spec.values is None and array.dtype.kind == "f":
            arrays[position] = np.resize(SPECIAL, array.shape).astype(array.dtype)
    try:
        theirs = call_torch(row, [translate.to_torch(array) for array in arrays])
    except REFUSALS:
        with pytest.raises(REFUSALS):
            call_ours(row, [Tensor(np.array(array)) for array in arrays])
        return
    ours = call_ours(row, [Tensor(np.array(array)) for array in arrays])
    for one, other in zip(ours, theirs, strict=True):
        compare(one, other)


def _differentiable(row: Row) -> bool:
    operator = row.operator
    known = isinstance(operator, Composite) or operator.backward is not None
    exempt = operator.name in RANDOM or reason(differences.GRADIENTS, operator.name, row.case.name)
    floats = any(np.dtype(spec.dtype).kind == "f" for spec in row.case.specs())
    return known and floats and not exempt


@pytest.mark.parametrize("row", [row for row in COMPARED if _differentiable(row)], ids=suite.row_id)
def test_gradients_of_a_random_weighted_sum_are_those_of_pytorch(row: Row) -> None:
    generator = np.random.default_rng(3)
    arrays = row.arrays(suite.TRACED_SIZES)
    ours = [Tensor(np.array(array)) for array in arrays]
    theirs = [translate.to_torch(array) for array in arrays]
    constant = differences.CONSTANT_INPUTS.get(row.operator.name, set())
    moving = [i for i, a in enumerate(arrays) if a.dtype.kind == "f" and i not in constant]
    for i in moving:
        ours[i].requires_grad_()
        theirs[i].requires_grad_()
    given, taken = list(ours), list(theirs)
    if row.operator.name == "ctc_loss":
        # PyTorch's gradient takes for granted that the input came out of log_softmax.
        given[0], taken[0] = om.log_softmax(ours[0], -1), torch.log_softmax(theirs[0], -1)
    found = [r for r in call_ours(row, given) if r.requires_grad]
    wanted = [r for r in call_torch(row, taken) if r.requires_grad]
    assert len(found) == len(wanted)
    weights = [generator.standard_normal(r.shape).astype(r.dtype) for r in found]
    if not found:
        return
    om.backward(found, [Tensor(weight) for weight in weights])
    torch.autograd.backward(wanted, [torch.from_numpy(weight) for weight in weights])
    for i in moving:
        one, other = ours[i].grad, theirs[i].grad
        if one is None or other is None:  # not part of the results, or only by zero
            rest = other if one is None else one
            assert rest is None or not np.any(np.asarray(rest))
        else:
            compare(one, other, 1e-4)


SHORTHANDS = {
    "float": lambda x: x.float(),
    "double": lambda x: x.double(),
    "half": lambda x: x.half(),
    "bfloat16": lambda x: x.bfloat16(),
    "int": lambda x: x.int(),
    "long": lambda x: x.long(),
    "short": lambda x: x.short(),
    "bool": lambda x: x.bool(),
    "__eq__": lambda x: x == x.flip(0),
    "__ne__": lambda x: x != x.flip(0),
    "new_empty": lambda x: x.new_empty(2, 3) * 0 == 0,
    "new_zeros": lambda x: x.new_zeros(2, 3),
    "new_ones": lambda x: x.new_ones((2, 3)),
    "new_full": lambda x: x.new_full((2, 3), 7),
    "where_method": lambda x: x.where(x > 0, x * x),
}
"""Methods without cases of their own."""


@pytest.mark.parametrize("name", SHORTHANDS)
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_shorthands_give_what_pytorch_gives(name: str, dtype: str) -> None:
    array = np.array([[-1.5, 0.0, 2.7], [1, 7, -3]]).clip(0 if dtype == "uint8" else -9)
    array = array.astype(dtype)
    compare(SHORTHANDS[name](Tensor(array)), SHORTHANDS[name](torch.from_numpy(array)))


def test_every_operator_is_compared() -> None:
    compared = {row.operator.name for row in COMPARED} | set(SHORTHANDS)
    without = {name for name, case in differences.NOT_COMPARED if case == "*"}
    assert set(TABLE) - compared == without


def test_every_difference_names_an_operator_and_a_case() -> None:
    cases = {(row.operator.name, row.case.name) for row in ROWS}
    cases |= {(name, "*") for name in TABLE}
    tables = (
        differences.NOT_COMPARED, differences.GRADIENTS, differences.REFUSED_HERE,
        differences.ANSWERED_HERE,
        differences.DIFFERENT_HERE,
        differences.NOT_FINITE,
    )  # fmt: skip
    assert [key for table in tables for key in table if key not in cases] == []
    assert set(TABLE) >= RANDOM | set(differences.CONSTANT_INPUTS)
