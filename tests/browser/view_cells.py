"""The notebook that the tests of views drive: a cell per view; and a question for its state."""

from __future__ import annotations

SETUP = """
import json, linecache
import ipywidgets
import numpy as np
import onemodel as om
from onemodel import nn
from onemodel.lessons import LESSONS
from onemodel_widgets import AxesView, DiffView, ErrorView, GraphView, Workbench
from tests.widgets import samples


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.lift = nn.Linear(8, 8)

    def forward(self, x):
        return x + om.gelu(self.lift(self.norm(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Block(), Block()
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        x = self.second(self.first(x))
        return self.head(om.cat([x, x])).softmax(-1)


om.manual_seed(0)
x = om.tensor(np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 8))
traced = om.trace(Net(), x, axes={"x": {0: "batch"}})
arrays = dict(om.compare(traced, against=("session", "onnxruntime")).arrays["session"])
planted = next(n for n in traced.graph.nodes if n.op_type == "Gelu")
arrays[planted.outputs[0].name] = arrays[planted.outputs[0].name] + np.float32(0.5)
columns = ("session", ("planted", arrays))
"""

REFUSED = '''
def refusal(code):
    """The exception of a lesson's failing program, with its source kept."""
    name = f"lesson {code}"
    program = LESSONS[code].failing
    linecache.cache[name] = (len(program), None, program.splitlines(keepends=True), name)
    try:
        exec(compile(program, name, "exec"), {"om": om, "nn": nn, "np": np, "x": x[:, :4]})
    except om.TraceException as error:
        return error
    finally:
        om.Tracer.reset()


for code in ("OM101", "OM201", "OM301", "OM401", "OM520", "OM601"):
    display(ErrorView(refusal(code)))
'''

HOSTILE = """
hostile = samples.hostile()
display(GraphView(hostile), AxesView(hostile), Workbench(hostile))
"""

BIG = """
from onemodel_widgets.views import graph as pictures
def weigh(scene, weight=pictures.weight):  # thousands of boxes would take the time of the test
    return 10**6 if scene.name == "chain" and len(scene.boxes) > 20 else weight(scene)
pictures.weight = weigh
big = GraphView(samples.chain(2000, scopes=8), budget=20)
waited = []
big.observe(lambda change: waited.append(change.new), "laying_out")
big
"""

FIRST = """
import threading
answer = threading.Event()
def lay_out(scene, *limit, real=pictures.lay_out):
    aside = threading.current_thread().name == "layout"
    if aside and scene.name == "chain" and len(scene.boxes) > 40:
        answer.wait(30)  # an engine that takes as long as the test needs to look
    return real(scene, *limit)
pictures.lay_out = lay_out
first = GraphView(samples.chain(40, scopes=4), budget=100)
first
"""

ROUND = """
if "shown" in globals():
    shown.close()
shown = [GraphView, AxesView, Workbench][len(counts) % 3](traced)
counts.append(len(ipywidgets.widget._instances))
shown
"""

STATE = """
print(json.dumps({
    "graph": view.selected,
    "expanded": view.expanded,
    "query": view.query,
    "sizes": axes.sizes,
    "diff": diff.selected,
    "bench": bench.selected,
    "opset": bench.opset,
    "planted": diff.report.first_introduced.node.outputs[0].name == planted.outputs[0].name,
    "widgets": counts,
    "waited": waited,
}))
"""

CELLS = {
    "setup": SETUP,
    "graph": "counts = []\nview = GraphView(traced, budget=6)\nview",
    "axes": "axes = AxesView(traced)\naxes",
    "diff": "diff = DiffView(traced, against=columns)\ndiff",
    "bench": "bench = Workbench(traced, against=columns)\nbench",
    "refused": REFUSED,
    "hostile": HOSTILE,
    "big": BIG,
    "first": FIRST,
    "round": ROUND,
}
