"""Every row of the catalogue: refused at its line, or right in two runtimes at every size."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import onemodel as om
from onemodel.codes import CODES


def _load() -> ModuleType:
    path = Path(__file__).with_name("catalogue.py")
    spec = spec_from_file_location("catalogue", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["catalogue"] = module
    spec.loader.exec_module(module)
    return module


CATALOGUE = _load()
ROWS = CATALOGUE.ROWS


@pytest.fixture(autouse=True)
def fresh_state():
    om.Tracer.reset()
    yield
    om.Tracer.reset()


def run(row) -> tuple[om.TracedModel, Callable[..., Any]]:
    """The row's traced model and what it stands for. Any warning is an error."""
    example = row.draw(row.sizes, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if row.is_script:
            return row.program(*example)
        model = row.model()
        return om.trace(model, *example, axes=row.axes), model


def close(got: np.ndarray, wanted: np.ndarray) -> None:
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    tolerance = 2e-3 if wanted.dtype == np.float16 else 1e-5
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def feeds_of(row, traced: om.TracedModel) -> list[dict[str, np.ndarray]]:
    """The example, other values, and two other sizes, by the names of the graph's inputs."""
    runs = [(row.sizes, 0), (row.sizes, 1)]
    runs += [(sizes, 2 + i) for i, sizes in enumerate(row.other_sizes()) if traced.symbols]
    names = [value.name for value in traced.inputs]
    found = []
    for sizes, seed in runs:
        arrays = row.draw(sizes, seed)
        extra = [value.array for value in traced.inputs[len(arrays) :]]
        found.append(dict(zip(names, [*arrays, *extra], strict=True)))
    return found


def eager(model: Callable[..., Any], feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    result = model(*(om.tensor(array) for array in feeds.values()))
    results = list(result.values()) if isinstance(result, dict) else [result]
    return [tensor.detach().numpy() for tensor in results]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_row_is_refused_at_its_line_or_right_at_every_size(row):
    try:
        traced, model = run(row)
    except om.TraceException as error:
        assert error.code == row.outcome
        assert error.kind is CODES[row.outcome].kind
        assert error.call_site is not None
        assert error.call_site.line == row.marked_line()
        assert error.call_site.file == inspect.getsourcefile(row.program)
        assert error.suggestions
        return
    except Exception as error:
        assert type(error).__name__ == row.outcome
        return
    assert row.outcome == CATALOGUE.PASS
    assert row.marked_line() is None
    proto = traced.to_onnx()
    onnx.checker.check_model(proto, full_check=True)
    judge = onnxruntime.InferenceSession(proto.SerializeToString())
    session = om.Session(traced)
    for feeds in feeds_of(row, traced):
        wanted = eager(model, feeds)
        for results in (judge.run(None, feeds), list(session.run(feeds).values())):
            for got, want in zip(results, wanted, strict=True):
                close(np.asarray(got), want)


def test_the_catalogue_holds_every_number_once_and_every_outcome_is_known():
    numbers = [row.number for row in ROWS]
    assert len(set(numbers)) == len(numbers)
    assert {n for n in numbers if n.isdigit()} == {f"{n:02}" for n in range(1, 86)}
    for row in ROWS:
        assert row.outcome in CODES or row.outcome in (CATALOGUE.PASS, "KeyError", "AttributeError")


def test_every_program_that_can_pass_is_tried_with_a_symbolic_axis():
    for row in ROWS:
        if row.outcome == CATALOGUE.PASS and not row.is_script:
            assert any(row.axes)
            assert all(s >= 1 for sizes in row.other_sizes() for s in sizes.values())


def test_no_row_asks_for_a_warning_or_a_wrong_graph():
    outcomes = {"pass", "refused", "own error"}
    found = {
        row.number: "pass"
        if row.outcome == CATALOGUE.PASS
        else "refused"
        if row.outcome in CODES
        else "own error"
        for row in ROWS
    }
    assert set(found.values()) <= outcomes
    assert sum(v == "own error" for v in found.values()) == 2


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("07", ["numpy.linalg.norm()"]),
        ("14", ["assert x.min() > -100"]),
        ("10", ["om.maximum(x[0, 0], x[0, 1])"]),
        ("15", ["caught at", "except Exception:", "limits_values.py"]),
        ("15b", ["caught at", "except Exception:"]),
        ("15c", ["caught at", "with suppress(Exception):"]),
        ("24", ["batch=4", "batch > 3 was False"]),
        ("29", ["[2, 2*b", "[b"]),
        ("59", ["runs at no other size", "cannot reshape"]),
        ("73", ["2400000000 bytes"]),
        ("84", ["Tracer.reset()", "begun at", "limits_state.py"]),
    ],
)
def test_the_message_says_what_the_reader_needs(number, words):
    (row,) = [r for r in ROWS if r.number == number]
    with pytest.raises(om.TraceException) as caught:
        run(row)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("number", ["01", "10", "11", "12", "47", "76", "77b"])
def test_what_is_offered_instead_of_a_branch_can_be_traced(number):
    (row,) = [r for r in ROWS if r.number == number]
    with pytest.raises(om.TraceException) as caught:
        run(row)
    offered = caught.value.suggestions[0].code

    def mended(x):
        space = {"om": om, "x": x, "y": x, "s": x.sum(), "a": x * 2, "b": x - 1}
        return eval(offered, space) + 0 * x

    traced = om.trace(mended, *row.draw(row.sizes, 0), axes=row.axes)
    assert len(traced.graph.nodes) > 2


def test_a_refusal_that_was_caught_is_the_context_of_the_users_own_error():
    (row,) = [r for r in ROWS if r.number == "83b"]
    with pytest.raises(AttributeError) as caught:
        run(row)
    context = caught.value.__context__
    assert isinstance(context, om.TraceException) and context.code == "OM102"


def test_printing_a_traced_tensor_shows_no_values(capsys):
    def show(x):
        print(f"hidden {x}")  # noqa: T201
        return x * 2

    om.trace(show, np.full((3, 4), 123456.789, np.float32), axes={"x": {0: "batch"}})
    printed = capsys.readouterr().out
    assert "float32[batch, 4]" in printed and "123456" not in printed


def test_peers_are_counted_as_they_were_measured():
    """The counts that the measurements were published with."""
    expected = {
        "jit": (23, 8, 3, 25, 0, 0),
        "ox-l": (24, 3, 3, 25, 4, 0),
        "ex": (23, 31, 0, 0, 5, 0),
        "exA": (24, 20, 10, 0, 5, 0),
        "exS": (32, 24, 0, 0, 3, 0),
        "ox-d": (30, 14, 7, 0, 7, 1),
        "jj": (21, 23, 0, 0, 5, 0),
        "je": (13, 31, 0, 0, 5, 0),
        "tf": (9, 16, 0, 0, 5, 0),
        "mlx": (4, 16, 1, 0, 9, 0),
        "tg": (4, 12, 8, 0, 5, 0),
    }
    for tool, numbers in expected.items():
        found = CATALOGUE.counts(tool)
        assert tuple(found.get(k, 0) for k in ("ok", "L", "l", "w", "S", "crash")) == numbers
