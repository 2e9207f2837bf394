"""Every kind of refusal, at several entry points, at the exact line and columns."""

from __future__ import annotations

import inspect
import io
import json
import pickle
import subprocess
import sys
import threading
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from rich.console import Console

import onemodel as om
from onemodel.codes import CODES

ROOT = Path(__file__).resolve().parents[2]


def _load() -> ModuleType:
    path = Path(__file__).with_name("entry_points.py")
    spec = spec_from_file_location("entry_points", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["entry_points"] = module
    spec.loader.exec_module(module)
    return module


POINTS = _load()


@pytest.fixture(autouse=True)
def fresh_state():
    POINTS.KEPT.clear()
    POINTS.COUNTER[0] = 0
    yield
    om.Tracer.reset()


def example() -> np.ndarray:
    return np.arange(1, 13, dtype=np.float32).reshape(3, 4) / 4


def refusal(function, *arguments, **options) -> om.TraceException:
    with pytest.raises(om.TraceException) as caught:
        om.trace(function, *arguments, **options)
    return caught.value


@pytest.mark.parametrize("point", POINTS.ENTRY_POINTS, ids=str)
def test_the_offending_call_is_refused_at_its_line_and_columns(point):
    error = refusal(point.function, example(), axes=point.axes)
    assert error.code == point.code
    assert error.kind is CODES[point.code].kind
    site = error.call_site
    assert site is not None
    lines, first = inspect.getsourcelines(point.function)
    marked = [first + i for i, line in enumerate(lines) if "# offence" in line]
    assert [site.line] == marked
    assert site.file == POINTS.__file__
    text = Path(POINTS.__file__).read_text().splitlines()[site.line - 1]
    assert text[site.column : site.end_column] == point.expression == site.expression
    assert site.function == point.function.__name__


def test_every_kind_has_at_least_three_entry_points():
    kinds = Counter(CODES[point.code].kind for point in POINTS.ENTRY_POINTS)
    assert set(kinds) == set(om.TraceErrorKind)
    assert min(kinds.values()) >= 3


def test_a_swallowed_refusal_poisons_the_trace():
    def swallow(x):
        try:
            scale = float(x.sum())
        except Exception:
            scale = 1.0
        return x * scale

    error = refusal(swallow, example())
    assert error.code == "OM102" and error.call_site.expression == "float(x.sum())"


def test_reading_is_allowed_after_finish_and_repr_never_raises():
    with om.Tracer.begin() as tracer:
        x = tracer.input("x", example(), {0: "batch"})
        y = x * 2
        assert "batch" in repr(y) and "mul" in str(y)
        assert f"{y}" == str(y)
        tracer.finish({"y": y})
    assert np.array_equal(y.numpy(), example() * 2)
    assert float((y - 1).sum()) == float((example() * 2 - 1).sum())


def test_the_message_says_what_where_whence_and_what_instead():
    error = refusal(POINTS.truth, example(), axes={"x": {0: "batch"}})
    text = str(error)
    for part in ("DataDependent OM101", "bool()", "entry_points.py", "^^^", "batch", "om.where"):
        assert part in text
    assert [step.operation for step in error.provenance] == ["input", "sum", "gt"]


def test_the_chain_of_user_calls_leads_to_the_innermost():
    def inner(v):
        return float(v.max())

    def middle(v):
        return v * inner(v)

    def outer(x):
        return middle(x + 1)

    error = refusal(outer, example())
    names = [site.function.rpartition(".")[2] for site in error.call_chain]
    assert names == ["outer", "middle", "inner"]


def test_a_refusal_is_json_and_pickles_without_its_graph():
    error = refusal(POINTS.truth, example())
    json.dumps(error.to_dict())
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) and copy.kind is error.kind and copy.partial is None
    assert error.partial is not None and len(error.partial.nodes) == 2


def test_messages_never_hold_array_contents():
    secret = np.full((3, 4), 123456.789, np.float32)
    for point in POINTS.ENTRY_POINTS:
        POINTS.KEPT.clear()
        try:
            om.trace(point.function, secret, axes=point.axes)
        except om.TraceException as error:
            assert "123456" not in json.dumps(error.to_dict())


def test_columns_are_missing_but_nothing_fails_without_debug_ranges():
    program = (
        "import numpy as np, onemodel as om\n"
        "def f(x):\n"
        "    return x * float(x.sum())\n"
        "try:\n"
        "    om.trace(f, np.ones((2, 3), np.float32))\n"
        "except om.TraceException as error:\n"
        "    print(error.code, error.call_site.line, error.call_site.column, bool(str(error)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "no_debug_ranges", "-c", program],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["OM102", "3", "None", "True"]


# --- usage of a trace -----------------------------------------------------------------------


def test_a_symbol_whose_example_size_is_one_names_input_axis_and_size():
    error = refusal(lambda x: x * 2, np.ones((1, 3), np.float32), axes={"x": {0: "B"}})
    assert error.code == "OM505"
    for part in ("InvalidUsage", "'x'", "'B'", "1"):
        assert part in str(error)


def test_two_symbols_of_one_size_are_refused():
    error = refusal(lambda x: x * 2, np.ones((3, 3), np.float32), axes=[("B", "T")])
    assert error.code == "OM506"


def test_names_are_used_once():
    with om.Tracer.begin() as tracer:
        x = tracer.input("x", example())
        with pytest.raises(om.TraceException, match="'x'"):
            tracer.input("x", example())
        tracer.input("X", example())
        with pytest.raises(om.TraceException, match="'x'"):
            tracer.finish({"x": x * 2})


def test_a_finished_trace_is_finished():
    with om.Tracer.begin() as tracer:
        x = tracer.input("x", example())
        tracer.finish({"y": x * 2})
        for use in (lambda: tracer.input("z", example()), lambda: tracer.finish({"y": x})):
            with pytest.raises(om.TraceException) as caught:
                use()
            assert caught.value.code == "OM509"


def test_an_output_without_an_input_is_refused():
    error = refusal(lambda x: om.ones(2, 3) * 2, example())
    assert error.code == "OM504"


def test_another_thread_cannot_take_part():
    def threaded(x):
        found = []

        def work():
            try:
                found.append(x * 2)
            except om.TraceException as error:
                found.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return found[0]

    assert refusal(threaded, example()).code == "OM503"


@pytest.mark.parametrize("opset", [6, 99, "20", True])
def test_opsets_outside_the_range_are_refused_before_the_model_runs(opset):
    ran = []

    def model(x):
        ran.append(x)
        return x

    assert refusal(model, example(), opset=opset).code == "OM510"
    assert not ran


def test_a_trace_does_not_begin_inside_no_grad():
    with om.no_grad():
        assert refusal(lambda x: x * 2, example()).code == "OM302"
    om.trace(lambda x: x * 2, example())


def test_an_abandoned_trace_can_be_reset():
    om.Tracer.begin()
    with pytest.raises(om.TraceException, match="OM501"):
        om.Tracer.begin()
    om.Tracer.reset()
    om.trace(lambda x: x * 2, example())


def test_a_user_error_in_the_model_is_the_users_error():
    def broken(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        om.trace(broken, example())
    assert om.Tracer.active() is None


def test_a_terminal_shows_the_same_facts_and_reads_no_markup():
    def model(x):
        return x * float(x.mean())

    error = refusal(model, example(), axes={"x": {0: "[bold]batch"}})
    console = Console(width=100, file=io.StringIO(), color_system=None)
    console.print(error)
    text = console.file.getvalue()
    for part in ("DataDependent OM102", "^^^^", "float(x.mean())", "[bold]batch", "instead"):
        assert part in text
