"""``%load_ext onemodel_widgets`` in a real kernel, through one notebook."""

from __future__ import annotations

import re

import pytest
from IPython.core.interactiveshell import InteractiveShell

import onemodel_widgets
from onemodel.errors import TraceException
from onemodel_widgets import extension
from tests.widgets.test_static_views import refusal

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

SETUP = """\
import numpy as np
import onemodel as om
%load_ext onemodel_widgets
%load_ext onemodel_widgets
from onemodel_widgets import GraphView, last_error
x = om.Tensor(np.ones((4, 6), np.float32))
axes = {"x": {0: "batch"}}
def good(x):
    return om.relu(x) * 2
"""

BROKEN = """\
def broken(x):
    y = om.relu(x)
    if y.sum() > 0:
        return y * 2
    return y
om.trace(broken, x, axes=axes)"""

WRAPPED = """\
try:
    om.trace(broken, x, axes=axes)
except om.TraceException as error:
    raise RuntimeError("while exporting") from error"""

CELLS = {
    "setup": SETUP,
    "traced": "om.trace(good, x, axes=axes)",
    "report": "om.compare(om.trace(good, x, axes=axes), against=('session', 'onnxruntime'))",
    "broken": BROKEN,
    "timed": f"%%time\n{BROKEN.replace('broken', 'timed')}",
    "wrapped": WRAPPED,
    "ordinary": "1 / 0",
    "syntax": "def (",
    "last": "last_error()",
    "misused": "om.trace(good, x[:1], axes=axes)",
    "view": "view = GraphView(om.trace(good, x, axes=axes)); view",
    "node": "view.select('relu'); print(view.selected_node.op_type, view.inspector['place'])",
    "magic": "%%trace -i x:batch,_ -o kept --opset 17\ny = om.relu(x)\ny * 2",
    "kept": "print(kept); 'y' in globals()",
    "magic refused": "%%trace -i x:batch\ny = om.relu(x)\nfloat(y.sum())",
    "magic misused": "%%trace -i nothing\n1",
    "unloaded": f"%unload_ext onemodel_widgets\n{BROKEN}",
    "plain": "om.trace(good, x, axes=axes)",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    client = nbclient.NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        allow_errors=True,
        store_widget_state=False,
        resources={"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}},
    )
    client.execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def cards(cell) -> list[str]:
    found = []
    for output in cell:
        html = output.get("data", {}).get("text/html", "")
        if "om-error-view" in html:
            found.append(html)
    return found


def traceback(cell) -> str:
    (error,) = [output for output in cell if output.output_type == "error"]
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))


def number_of(name):
    """The execution count of a cell."""
    return list(CELLS).index(name) + 1


def test_a_trace_and_a_report_at_the_end_of_a_cell_are_pictures(outputs):
    for name, css in (("traced", "om-graph-view"), ("report", "om-diff-view")):
        (output,) = outputs[name]
        assert css in output.data["text/html"]
        assert "application/vnd.jupyter.widget-view+json" in output.data
        assert "0x" not in output.data["text/plain"]


def test_a_refused_cell_shows_short_text_and_then_one_card(outputs):
    cell = outputs["broken"]
    assert [o.output_type for o in cell] == ["error", "display_data"]
    text = traceback(cell)
    assert text.splitlines()[0].startswith("DataDependent OM101")
    assert "In[4]:3 in broken" in text
    assert "ipykernel" not in text
    assert "tracer.py" not in text
    (card,) = cards(cell)
    assert '<mark class="om-offence">y.sum() &gt; 0</mark>' in card
    assert "In[4]:3" in card
    assert "ipykernel" not in card


def test_the_error_keeps_its_name_for_whoever_reads_the_notebook(outputs):
    (error,) = [o for o in outputs["broken"] if o.output_type == "error"]
    assert error.ename == "TraceException"
    assert error.evalue.startswith("DataDependent OM101")


def test_under_time_the_call_is_underlined_in_the_cell_as_it_is_written(outputs):
    (card,) = cards(outputs["timed"])
    assert '<mark class="om-offence">y.sum() &gt; 0</mark>' in card
    assert "In[5]:4" in card
    assert "In[5]:4 in timed" in traceback(outputs["timed"])


def test_a_wrapped_refusal_shows_its_card_beside_the_outer_error(outputs):
    (card,) = cards(outputs["wrapped"])
    assert "y.sum() &gt; 0" in card
    assert "RuntimeError" in traceback(outputs["wrapped"])


def test_other_errors_are_left_alone(outputs):
    for name, kind in (("ordinary", "ZeroDivisionError"), ("syntax", "SyntaxError")):
        assert cards(outputs[name]) == []
        assert kind in traceback(outputs[name])


def test_the_last_card_can_be_asked_for_again(outputs):
    (card,) = cards(outputs["last"])
    assert "y.sum() &gt; 0" in card


def test_a_view_answers_in_later_cells_with_the_number_of_the_cell(outputs):
    (output,) = outputs["node"]
    assert output.text == "Relu In[1]:9\n"


def test_a_trace_cell_is_a_model_whose_last_expression_is_its_output(outputs):
    (output,) = outputs["magic"]
    assert "om-graph-view" in output.data["text/html"]
    assert f"In[{number_of('magic')}]:2" in output.data["text/html"]
    printed, inside = outputs["kept"]
    assert printed.text.startswith("TracedModel(x float32[batch, 6]")
    assert "opset 17" in printed.text
    assert inside.data["text/plain"] == "False"


def test_a_refusal_in_a_trace_cell_marks_its_call_and_line(outputs):
    (card,) = cards(outputs["magic refused"])
    assert '<mark class="om-offence">float(y.sum())</mark>' in card
    assert f"In[{number_of('magic refused')}]:3" in card


def test_a_misused_trace_cell_says_what_to_write(outputs):
    assert "there is no 'nothing' in this notebook" in traceback(outputs["magic misused"])


def test_unloading_brings_the_old_ways_back(outputs):
    assert cards(outputs["unloaded"]) == []
    assert "Traceback" in traceback(outputs["unloaded"])
    (output,) = outputs["plain"]
    assert "text/html" not in output.data


def test_loading_and_unloading_leave_no_trace_in_a_shell_without_a_kernel():
    shell = InteractiveShell()
    callbacks = shell.events.callbacks["post_run_cell"]
    before = list(callbacks)
    onemodel_widgets.load_ipython_extension(shell)
    onemodel_widgets.load_ipython_extension(shell)
    assert len(callbacks) == len(before) + 1
    assert hasattr(TraceException, "_render_traceback_")
    onemodel_widgets.unload_ipython_extension(shell)
    onemodel_widgets.unload_ipython_extension(shell)
    assert callbacks == before
    assert not hasattr(TraceException, "_render_traceback_")


def test_rendering_never_raises(monkeypatch):
    def broken(_exception):
        raise RuntimeError("no card")

    monkeypatch.setattr(extension, "error_card", broken)
    lines = extension._render_traceback(refusal())
    assert lines == ["TraceException: bool() reads mean"]


def test_the_calls_of_a_refusal_end_with_the_cell_and_leave_out_who_ran_it(outputs):
    (error,) = [out for out in outputs["misused"] if out["output_type"] == "error"]
    assert "OM505" in error["evalue"] and "x[:1]" in error["evalue"]
    assert "IPython" not in error["evalue"]
    assert not [out for out in outputs["misused"] if "interactiveshell" in str(out)]
