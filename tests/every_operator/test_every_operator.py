"""Every case of every operator: values, gradients, lowering, edges; nothing is exempt."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onemodel as om
from onemodel.operators import TABLE
from onemodel.operators._operator import Composite
from onemodel.symbolic.context import EmissionError
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor
from tests.every_operator import suite
from tests.every_operator.suite import Row

ROWS = suite.rows()

# Operators that ONNX cannot express as a whole: a trace refuses them, naming them.
EAGER_ONLY = {"median"}

every_case = pytest.mark.parametrize("row", ROWS, ids=suite.row_id)
traceable = pytest.mark.parametrize(
    "row", [row for row in ROWS if row.case.trace], ids=suite.row_id
)


def _differentiable(row: Row) -> bool:
    known = isinstance(row.operator, Composite) or row.operator.backward is not None
    floats = any(_is_float(spec.dtype) and spec.gradient for spec in row.case.specs())
    return row.case.gradient and known and floats


def _is_float(dtype: str) -> bool:
    return dtype in ("float32", "float64")


def test_every_operator_has_cases() -> None:
    shorthands = {name for name, operator in TABLE.items() if not operator.public}
    assert [name for name in TABLE if not TABLE[name].cases and name not in shorthands] == []


def test_every_operator_can_be_lowered_or_says_why_not() -> None:
    silent = {
        name
        for name, operator in TABLE.items()
        if not isinstance(operator, Composite)
        and not operator.symbolic
        and operator.refuses is None
        and not operator.random
    }
    assert silent == EAGER_ONLY


@pytest.mark.parametrize("name", (Path(__file__).parent / "names.txt").read_text().split(), ids=str)
def test_the_name_exists(name: str) -> None:
    found: Any = om
    for part in name.split("."):
        found = getattr(found, part)
    assert callable(found)


@every_case
def test_values_agree_with_the_reference(row: Row) -> None:
    if row.case.reference is None:
        pytest.fail(f"{suite.row_id(row)} has no reference")
    arrays = row.arrays(suite.TRACED_SIZES)
    found = suite.eager(row, arrays)
    wanted = list(suite.leaves(row.case.reference(*arrays, **row.case.attributes)))
    assert len(found) == len(wanted)
    for position, (one, other) in enumerate(zip(found, wanted, strict=True)):
        suite.same(one, other, row.case.tolerance, f"output {position}")


@pytest.mark.parametrize("row", [row for row in ROWS if _differentiable(row)], ids=suite.row_id)
def test_the_gradient_agrees_with_central_differences(row: Row) -> None:
    generator = np.random.default_rng(7)
    specs = row.case.specs()
    points = [
        array.astype(np.float64) if array.dtype.kind == "f" else array
        for array in row.arrays(suite.TRACED_SIZES)
    ]
    moving = [i for i, spec in enumerate(specs) if points[i].dtype.kind == "f" and spec.gradient]
    directions = {i: generator.standard_normal(points[i].shape) for i in moving}

    tensors = [Tensor(point.copy()) for point in points]
    for i in moving:
        tensors[i].requires_grad_()
    outputs = [result for result in suite.leaves(row.call(*tensors)) if result.requires_grad]
    assert outputs, "no result records gradients; say gradient=False if none is meant"
    weights = [generator.standard_normal(output.shape) for output in outputs]
    om.backward(outputs, [Tensor(weight) for weight in weights])
    slope = 0.0
    for i in moving:
        gradient = tensors[i].grad
        if gradient is not None:
            assert gradient.shape == points[i].shape
            slope += float((gradient.numpy() * directions[i]).sum())

    def value(step: float) -> float:
        moved = [p + step * directions[i] if i in directions else p for i, p in enumerate(points)]
        results = list(suite.leaves(row.call(*map(Tensor, moved))))
        floating = [r.numpy() for r in results if r.numpy().dtype.kind == "f"]
        return sum(float((r * w).sum()) for r, w in zip(floating, weights, strict=True))

    step = 1e-6
    numeric = (value(step) - value(-step)) / (2 * step)
    assert slope == pytest.approx(numeric, rel=1e-5, abs=1e-5)


@traceable
def test_the_lowered_graph_gives_eager_values_at_two_sizes(row: Row) -> None:
    opset = max(suite.OPSET, row.case.lowest)
    traced = suite.trace(row, opset)
    suite.check_lowering(row, traced, traced.model.to_onnx(), suite.run_in_onnxruntime)


@traceable
def test_a_session_gives_eager_values_at_two_sizes(row: Row) -> None:
    traced = suite.trace(row, max(suite.OPSET, row.case.lowest))
    session = om.Session(traced.model)

    def run(proto: Any, feeds: Any) -> list[np.ndarray]:
        return list(session.run(feeds).values())

    suite.check_lowering(row, traced, traced.model.to_onnx(), run)


@every_case
def test_a_strided_view_gives_the_same_as_a_contiguous_copy(row: Row) -> None:
    arrays = row.arrays(suite.TRACED_SIZES)
    wanted = suite.eager(row, arrays)
    views = [Tensor(_strided(array)) for array in arrays]
    found = [result.detach().numpy() for result in suite.leaves(row.call(*views))]
    for position, (one, other) in enumerate(zip(found, wanted, strict=True)):
        suite.same(one, other, row.case.tolerance, f"output {position}")


@every_case
def test_a_result_shares_memory_with_an_operand_only_as_a_view_of_its_storage(row: Row) -> None:
    tensors = [Tensor(np.array(array)) for array in row.arrays(suite.TRACED_SIZES)]
    for result in suite.leaves(row.call(*tensors)):
        for tensor in tensors:
            if result is not tensor and np.shares_memory(result.array, tensor.array):
                assert result._view
                assert result._storage is tensor._storage


@every_case
def test_what_a_graph_holds_of_an_operand_is_neither_written_nor_shared(row: Row) -> None:
    arrays = row.arrays(suite.TRACED_SIZES)
    tensors = [Tensor(np.array(array, order="C")) for array in arrays]
    held = [tensor._lend() for tensor in tensors]
    results = list(suite.leaves(row.call(*tensors)))
    for array, kept in zip(arrays, held, strict=True):
        assert kept is not None
        np.testing.assert_array_equal(kept, array)
        for result in results:
            alone = any(result is tensor for tensor in tensors)
            assert alone or not np.shares_memory(result.array, kept)


def _strided(array: np.ndarray) -> np.ndarray:
    """The same values in memory of the opposite axis order, every second element."""
    if array.ndim == 0:
        return array.copy()
    wide = np.zeros(tuple(2 * size for size in array.shape[::-1]), array.dtype)
    view = wide[(slice(None, None, 2),) * array.ndim].T
    view[...] = array
    return view


@every_case
@pytest.mark.parametrize("sizes", [suite.ONES, suite.NONE], ids=["one", "none"])
def test_an_axis_of_one_or_no_element_is_computed_or_refused_in_words(
    row: Row, sizes: tuple[int, ...]
) -> None:
    if not row.symbols():
        sizes = suite.TRACED_SIZES
    arrays = row.arrays(sizes)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's own, of means of nothing
            reference = row.case.reference(*arrays, **row.case.attributes)
            wanted: list[Any] | None = list(suite.leaves(reference))
    except (ValueError, IndexError, ZeroDivisionError, TypeError):
        wanted = None  # the reference itself has no answer
    try:
        found = suite.eager(row, arrays)
    except (ValueError, IndexError, TypeError, RuntimeError, ZeroDivisionError) as error:
        assert len(str(error)) > 15, "a refusal needs words"
        answered = wanted is not None and all(np.size(one) for one in wanted)
        assert sizes != suite.ONES or not answered, f"refused at size 1: {error}"
        return
    if wanted is not None:
        for position, (one, other) in enumerate(zip(found, wanted, strict=True)):
            suite.same(one, other, row.case.tolerance, f"output {position}")


@every_case
def test_infinities_and_nan_are_results_not_warnings(row: Row) -> None:
    arrays = row.arrays(suite.TRACED_SIZES)
    for position, spec in enumerate(row.case.specs()):
        if arrays[position].dtype.kind == "f" and spec.values is None and arrays[position].size:
            odd = np.resize([np.nan, np.inf, -np.inf, 0.0, -1e30, 1e30], arrays[position].size)
            arrays[position] = odd.reshape(arrays[position].shape).astype(arrays[position].dtype)
    tensors = [Tensor(array) for array in arrays]
    for tensor in tensors:
        if tensor.is_floating_point():
            tensor.requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            outputs = [r for r in suite.leaves(row.call(*tensors)) if r.requires_grad]
            om.backward(outputs, [om.ones_like(output.detach()) for output in outputs])
        except ValueError as error:
            assert str(error)  # such values may be refused, in words


def _in_place_rows() -> list[tuple[Row, str]]:
    return [
        (row, name)
        for row in ROWS
        if row.case.call is None and row.case.specs()
        for name in row.operator.inplace
    ]


@pytest.mark.parametrize(
    "row, name", _in_place_rows(), ids=lambda v: suite.row_id(v) if isinstance(v, Row) else v
)
def test_the_in_place_form_writes_the_same_or_says_what_does_not_fit(row: Row, name: str) -> None:
    arrays = row.arrays(suite.TRACED_SIZES)
    wanted = suite.eager(row, arrays)[0]
    target, *others = [Tensor(array.copy()) for array in arrays]
    fits = wanted.shape == arrays[0].shape and category(wanted.dtype) <= category(target.dtype)
    if not fits:
        with pytest.raises((TypeError, ValueError), match=name):
            getattr(target, name)(*others, **row.case.attributes)
        return
    version = target.version
    result = getattr(target, name)(*others, **row.case.attributes)
    assert result is target
    assert target.dtype == arrays[0].dtype
    assert target.version > version
    suite.same(target.numpy(), wanted.astype(target.dtype), row.case.tolerance, name)


@pytest.mark.parametrize(
    "row",
    [r for r in ROWS if r.operator.public and r.case.call is None and r.case.specs()],
    ids=suite.row_id,
)
def test_what_is_no_tensor_is_refused_in_words(row: Row) -> None:
    arrays = row.arrays(suite.TRACED_SIZES)
    for position in range(len(arrays)):
        given: list[Any] = [Tensor(array) for array in arrays]
        given[position] = "text"
        # The words name what came: the kind of the object, or the dtype NumPy makes of it.
        with pytest.raises(TypeError, match=r"\bstr\b|<U"):
            row.operator.declaration(*given, **row.case.attributes)


@pytest.mark.slow
@traceable
def test_every_opset_gives_eager_values_or_names_the_lowest_that_does(row: Row) -> None:
    traced = suite.trace(row, max(suite.OPSET, row.case.lowest))
    refused: dict[int, int | None] = {}
    for opset in range(7, 29):
        try:
            proto = traced.model.to_onnx(opset)
        except EmissionError as error:
            assert not error.fault, f"opset {opset}: {error}"
            refused[opset] = error.lowest
            continue
        try:
            suite.check_lowering(row, traced, proto, suite.run_in_onnxruntime)
        except Exception as error:
            raise AssertionError(f"opset {opset}: {error}") from error
    assert sorted(refused) == list(range(7, 7 + len(refused))), f"refused {refused}"
    for opset, lowest in refused.items():
        assert lowest is not None and lowest > opset, f"{opset} is refused without a way out"
    assert 7 + len(refused) == row.case.lowest, f"works from {7 + len(refused)} on"
