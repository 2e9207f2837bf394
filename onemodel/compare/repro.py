"""A folder that shows a difference to somebody else: model, inputs, values, a script.

The node that introduces the difference is cut out as a model of its own, with
the reference's operands as its inputs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from onemodel.compare.report import Report
from onemodel.graph.ir import Graph, Node, Value
from onemodel.onnx_io.writer import save

_SCRIPT = '''\
"""Runs model.onnx (and node.onnx, the node where a difference begins) in ONNX Runtime.

Arrays are stored as array_0, array_1, ...; names.json says which is which.
"""

import json
from pathlib import Path

import numpy as np
import onnxruntime

HERE = Path(__file__).parent
NAMES = json.loads((HERE / "names.json").read_text(encoding="utf-8"))


def stored(file):
    with np.load(HERE / file) as arrays:
        return {name: arrays[f"array_{i}"] for i, name in enumerate(NAMES[file])}


def run(model, feeds, expected):
    session = onnxruntime.InferenceSession(str(HERE / model), providers=["CPUExecutionProvider"])
    inputs = [item.name for item in session.get_inputs()]
    outputs = [item.name for item in session.get_outputs()]
    results = session.run(outputs, {name: feeds[name] for name in inputs})
    for name, result in zip(outputs, results):
        known = expected.get(name)
        if known is None or known.shape != np.shape(result):
            print(f"{model}: {name!r}: shape {np.shape(result)}, nothing to compare with")
            continue
        error = np.abs(np.asarray(result, dtype=np.float64) - known.astype(np.float64))
        print(f"{model}: {name!r}: largest absolute difference {np.nanmax(error, initial=0):.3g}")


run("model.onnx", stored("inputs.npz"), stored("reference.npz"))
if (HERE / "node.onnx").exists():
    run("node.onnx", stored("operands.npz"), stored("reference.npz"))
'''


def save_repro(report: Report, folder: str | Path) -> Path:
    """Writes a folder: model.onnx, inputs.npz, reference.npz, run.py, report.md and .json.

    ``node.onnx`` and ``operands.npz`` are added where a difference begins at a node whose
    operands the reference has. Returns the folder.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names: dict[str, list[str]] = {}
    save(report.graph, folder / "model.onnx")
    _save_arrays(folder, "inputs.npz", report.feeds, names)
    known = report.arrays[report.reference]
    kept = {value.name for value in report.graph.outputs}
    first = report.first_introduced
    if first is not None:
        kept |= {value.name for value in first.node.outputs}
        operands = _operands(report, first.node)
        if operands is not None:
            save(_cut_out(report.graph, first.node), folder / "node.onnx")
            _save_arrays(folder, "operands.npz", operands, names)
    _save_arrays(folder, "reference.npz", {n: known[n] for n in known if n in kept}, names)
    (folder / "names.json").write_text(json.dumps(names, indent=1), encoding="utf-8")
    (folder / "report.json").write_text(json.dumps(report.to_dict(), indent=1), encoding="utf-8")
    (folder / "report.md").write_text(report.to_markdown(), encoding="utf-8")
    (folder / "run.py").write_text(_SCRIPT, encoding="utf-8")
    return folder


def _save_arrays(
    folder: Path, file: str, arrays: Mapping[str, Any], names: dict[str, list[str]]
) -> None:
    # Names from a model may hold anything; as keys of an archive they would be paths.
    names[file] = list(arrays)
    numbered = {f"array_{i}": np.asarray(array) for i, array in enumerate(arrays.values())}
    np.savez(folder / file, allow_pickle=False, **numbered)


def _operands(report: Report, node: Node) -> dict[str, np.ndarray] | None:
    """Arrays of a node's operands, or None where one is unknown or the node has bodies."""
    if any(True for _ in node.subgraphs()):
        return None
    known = report.arrays[report.reference]
    initializers = {value.name: array for value, array in report.graph.initializers.items()}
    found: dict[str, np.ndarray] = {}
    for value in _distinct(node.inputs):
        for arrays in (known, report.feeds, initializers):
            if value.name in arrays:
                found[value.name] = np.asarray(arrays[value.name])
                break
        else:
            return None
    return found


def _distinct(values: Sequence[Value | None]) -> list[Value]:
    return [value for value in dict.fromkeys(values) if value is not None]


def _cut_out(graph: Graph, node: Node) -> Graph:
    """The node alone, its operands as graph inputs."""
    inputs = {v: Value(v.name, v.dtype, v.shape) for v in _distinct(node.inputs)}
    alone = Node(
        node.op_type,
        [None if v is None else inputs[v] for v in node.inputs],
        [],
        dict(node.attributes),
        node.domain,
        node.name,
    )
    alone.outputs = [Value(v.name, v.dtype, v.shape, alone) for v in node.outputs]
    return Graph(
        name="node",
        inputs=list(inputs.values()),
        outputs=[value for value in alone.outputs if value.name],
        nodes=[alone],
        opsets=dict(graph.opsets),
        ir_version=graph.ir_version,
    )
