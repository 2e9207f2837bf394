"""One run per engine with every value of the graph as an output."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from onemodel.graph.bind import Mode
from onemodel.graph.ir import Graph, Value
from onemodel.onnx_io import reader, writer
from onemodel.session.feeds import expected
from onemodel.session.session import Session

ENGINES = ("eager", "session", "onnxruntime")
"""The engines of a comparison where none are asked for."""

ENGINE_NAMES = ("eager", "session", "session:passes", "session:exact", "onnxruntime")
"""Every engine. ``session`` runs the graph as it is, ``session:passes`` after all passes, and
``session:exact`` as it is by the exact kernels: its bits are the same on every machine."""

_NEAR = 5

_MESSAGE_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class Subject:
    """What is compared: a graph, and what it came from."""

    graph: Graph
    traced: Any = None
    model: onnx.ModelProto | None = None
    path: Path | None = None

    def model_proto(self) -> onnx.ModelProto:
        """The model as others read it: the file itself, or the graph written."""
        if self.model is not None:
            return self.model
        if self.path is not None:
            return onnx.load(str(self.path))
        return writer.to_model_proto(self.graph)


@dataclass(frozen=True)
class Column:
    """One engine's answer: arrays by value name, or why there are none."""

    label: str
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    error: str = ""


def subject_of(source: Any) -> Subject:
    """Takes a ``TracedModel``, a ``Graph``, a ``ModelProto`` or the path of an ``.onnx`` file.

    Raises:
        TypeError: for anything else, naming its type.
    """
    if isinstance(source, Subject):
        return source
    if isinstance(source, Graph):
        return Subject(source)
    if isinstance(source, onnx.ModelProto):
        return Subject(reader.from_model_proto(source), model=source)
    if isinstance(source, (str, Path)):
        path = Path(source)
        return Subject(reader.load(path), path=path)
    graph = getattr(source, "graph", None)
    # A report or a session holds a graph too, but neither is a trace of one.
    if isinstance(graph, Graph) and hasattr(source, "eager_values"):
        return Subject(graph, traced=source)
    raise TypeError(
        f"cannot take a {type(source).__name__} for a model: give a TracedModel, a graph, an onnx "
        "ModelProto or the path of an .onnx file"
    )


def plain_feeds(subject: Subject, feeds: Mapping[str, Any] | None) -> dict[str, np.ndarray]:
    """Feeds as arrays; the example of the trace where none are given.

    Raises:
        TypeError: for feeds that are no mapping.
        ValueError: naming inputs that are missing or unknown.
    """
    if feeds is not None and not isinstance(feeds, Mapping):
        raise TypeError(
            "feeds is a dict of input name -> array, for instance "
            f"{_feeds_example(subject)}, not a {type(feeds).__name__}"
        )
    needed = [v.name for v in subject.graph.inputs if v not in subject.graph.initializers]
    if feeds is None:
        known = getattr(subject.traced, "values", {})
        feeds = {name: known[name] for name in needed if name in known}
    arrays = {name: to_array(value) for name, value in feeds.items()}
    missing = [name for name in needed if name not in arrays]
    known_names = {value.name for value in subject.graph.inputs}
    unknown = [name for name in arrays if name not in known_names]
    if missing or unknown:
        parts = [f"no array for input {', '.join(map(repr, missing))}"] if missing else []
        parts += [f"no input named {', '.join(map(repr, unknown))}"] if unknown else []
        inputs = [v for v in subject.graph.inputs if v.name in needed]
        listed = ", ".join(f"{value.name!r}: {expected(value)}" for value in inputs) or "none"
        raise ValueError(
            f"{'; '.join(parts)}; the inputs are {listed}; write {_feeds_example(subject)}"
        )
    return arrays


def _feeds_example(subject: Subject) -> str:
    graph = subject.graph
    names = [value.name for value in graph.inputs if value not in graph.initializers]
    return f"feeds={{{', '.join(f'{name!r}: array' for name in names)}}}"


def to_array(value: Any) -> np.ndarray:
    """An ndarray from an ndarray, a tensor of the library, or anything NumPy takes."""
    array = getattr(value, "array", None)
    return array if isinstance(array, np.ndarray) else np.asarray(value)


def check_against(against: Any, graph: Graph) -> tuple[Any, ...]:
    """The entries of ``against``, before anything runs.

    Raises:
        TypeError: for an entry of another kind, or no sequence at all.
        ValueError: for fewer than two entries, an unknown engine, or a mapping with a name that
            no value of the graph has.
    """
    if isinstance(against, str | Mapping):
        against = (against,)
    try:
        entries = tuple(against)
    except TypeError:
        raise TypeError(
            f"against is a sequence of columns, not a {type(against).__name__}; write "
            "against=['session', 'onnxruntime']"
        ) from None
    labels = []
    for entry in entries:
        label, what = _labelled(entry)
        labels.append(label)
        if isinstance(what, Mapping):
            _check_names(what, graph)
        elif isinstance(what, str) and what not in ENGINE_NAMES and not Path(what).suffix:
            raise ValueError(f"no engine named {what!r}; there are {', '.join(ENGINE_NAMES)}")
    if len(entries) < 2:
        only = f"; against has only {labels[0]!r}" if labels else ""
        raise ValueError(
            "a comparison needs at least two columns, for instance "
            f"against=['session', 'onnxruntime']{only}"
        )
    return entries


def _check_names(given: Mapping[Any, Any], graph: Graph) -> None:
    known = list(dict.fromkeys(value.name for value in graph.values()))
    unknown = [name for name in given if name not in known]
    if not unknown:
        return
    near = difflib.get_close_matches(str(unknown[0]), known, n=_NEAR, cutoff=0.4)
    hint = f"; near it are {', '.join(map(repr, near))}" if near else ""
    more = f" (and {len(unknown) - 1} more names are unknown)" if len(unknown) > 1 else ""
    raise ValueError(f"no value of the graph is named {unknown[0]!r}{more}{hint}")


def run_column(
    engine: Any, subject: Subject, feeds: Mapping[str, np.ndarray], values: Sequence[Value]
) -> Column:
    """Runs one entry of ``against``; a failing engine gives a column with its error.

    ``engine`` is a name, a mapping of arrays, or a pair (label, mapping or model).
    """
    label, what = _labelled(engine)
    try:
        return Column(label, _run(what, subject, feeds, values))
    except Exception as error:  # the other engines' answers are still worth having
        return Column(label, {}, f"{type(error).__name__}: {error}")


def _labelled(engine: Any) -> tuple[str, Any]:
    if isinstance(engine, str):
        return engine, engine
    if isinstance(engine, Mapping):
        return "given", engine
    if isinstance(engine, tuple) and len(engine) == 2:
        return str(engine[0]), engine[1]
    raise TypeError(
        f"cannot compare against a {type(engine).__name__}: give {', '.join(ENGINE_NAMES)}, a "
        "mapping from value names to arrays, or a pair of a label and such a mapping or another "
        "model"
    )


def _run(
    what: Any, subject: Subject, feeds: Mapping[str, np.ndarray], values: Sequence[Value]
) -> Mapping[str, Any]:
    names = [value.name for value in values]
    if isinstance(what, Mapping):
        return {name: to_array(what[name]) for name in names if name in what}
    if what == "eager":
        return run_eager(subject, feeds, names)
    if what == "onnxruntime":
        return run_onnxruntime(subject, feeds, names)
    if what in ("session", "session:passes", "session:exact"):
        mode = "exact" if what == "session:exact" else "fast"
        passes = what == "session:passes"
        return run_session(subject.graph, feeds, names, passes=passes, mode=mode)
    other = subject_of(what).graph
    shared = {value.name for value in other.values()}
    return run_session(other, feeds, [name for name in names if name in shared])


def run_eager(
    subject: Subject, feeds: Mapping[str, np.ndarray], names: Sequence[str]
) -> dict[str, np.ndarray]:
    """The eager library's values: those of the trace at its example, else of a fresh run.

    Raises:
        LookupError: where the subject has no eager code.
        ValueError: at other feeds than the example, for a trace without a function to repeat.
    """
    if subject.traced is None:
        raise LookupError("a file has no eager code; give arrays by name instead")
    known = subject.traced.eager_values(dict(feeds))
    return {name: to_array(known[name]) for name in names if name in known}


def run_session(
    graph: Graph,
    feeds: Mapping[str, np.ndarray],
    names: Sequence[str],
    *,
    passes: bool = False,
    mode: Mode = "fast",
) -> dict[str, np.ndarray]:
    """Values of ``names`` from one run of our session; ``passes`` may leave some out."""
    session = Session(graph, mode=mode) if passes else Session(graph, mode=mode, passes=())
    left = {value.name for value in session.graph.values()}
    return session.run(dict(feeds), outputs=[name for name in names if name in left])


def run_onnxruntime(
    subject: Subject, feeds: Mapping[str, np.ndarray], names: Sequence[str]
) -> dict[str, np.ndarray]:
    """Every value of ``names`` from one run of ONNX Runtime, without its optimisations.

    Raises:
        ImportError: where onnxruntime is not installed.
        ValueError: where the model is too large for one message.
    """
    try:
        import onnxruntime
    except ImportError:
        raise ImportError("onnxruntime is not installed: pip install onnxruntime") from None
    original = subject.model_proto()
    model = onnx.ModelProto()
    model.CopyFrom(original)
    offered = {value.name for value in model.graph.output}
    made = {name for node in model.graph.node for name in node.output if name}
    wanted = [name for name in names if name in made or name in offered]
    for name in wanted:
        if name not in offered:
            model.graph.output.append(onnx.ValueInfoProto(name=name))
    if model.ByteSize() > _MESSAGE_LIMIT:
        raise ValueError("the model is larger than 2 GiB, onnxruntime cannot take it as bytes")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    taken = {item.name for item in session.get_inputs()}
    inputs = {name: np.ascontiguousarray(a) for name, a in feeds.items() if name in taken}
    results = session.run(wanted, inputs)
    return {
        name: result
        for name, result in zip(wanted, results, strict=True)
        if isinstance(result, np.ndarray)
    }
