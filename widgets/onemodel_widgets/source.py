"""What a view is shown: a trace, a graph, a model or a file, with what is known of its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import onnx
import onnx.shape_inference

from onemodel.axes.extent import Extent
from onemodel.compare.engines import Subject, subject_of
from onemodel.graph.ir import Dim, Graph, Value
from onemodel.onnx_io.errors import ModelError
from onemodel.onnx_io.types import read_type


@dataclass(frozen=True)
class Source:
    """A graph, and the arrays, symbols and specialisations of its trace where it has one."""

    subject: Subject
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    symbols: Mapping[str, int] = field(default_factory=dict)
    specialisations: tuple[Any, ...] = ()
    facts: tuple[str, ...] = ()

    @property
    def graph(self) -> Graph:
        return self.subject.graph

    @property
    def traced(self) -> Any:
        """The ``TracedModel``, or None."""
        return self.subject.traced


def source_of(shown: Any) -> Source:
    """Takes a ``TracedModel``, a ``Graph``, a ``ModelProto`` or the path of an ``.onnx`` file.

    Raises:
        TypeError: for anything else, naming its type.
    """
    if isinstance(shown, Source):
        return shown
    try:
        subject = subject_of(shown)
    except TypeError:
        raise TypeError(
            f"cannot take a {type(shown).__name__} for a model: this view takes a TracedModel, a "
            "graph, an onnx ModelProto or the path of an .onnx file"
        ) from None
    traced = subject.traced
    if traced is None:
        if subject.model is not None or subject.path is not None:
            _fill_shapes(subject)
        return Source(subject)
    fixed = tuple(traced.specialisations)
    facts = (f"{len(fixed)} size{'s' if len(fixed) != 1 else ''} fixed",) if fixed else ()
    return Source(
        subject=subject,
        values=traced.named_values(),
        symbols=dict(traced.symbols),
        specialisations=fixed,
        facts=facts,
    )


def _fill_shapes(subject: Subject) -> None:
    """Adds what ONNX's shape inference knows to a graph that was read from a model.

    Best effort: many files carry no types for inner values, and pictures want shapes.
    """
    try:
        inferred = onnx.shape_inference.infer_shapes(subject.model_proto(), data_prop=True)
    except (ValueError, RuntimeError, onnx.shape_inference.InferenceError):
        return
    known = {info.name: info for info in inferred.graph.value_info}
    for value in subject.graph.values():
        info = known.get(value.name)
        if info is None or value.shape is not None or value.type_text:
            continue
        try:
            read_type(value, info.type, value.name)
        except ModelError:
            continue
        _forget_invented(value)


def _forget_invented(value: Value) -> None:
    if value.shape is not None:
        value.shape = tuple(None if _invented(dim) else dim for dim in value.shape)


def _invented(dim: Dim) -> bool:
    """Whether a size is a name that shape inference made up for what it does not know."""
    return isinstance(dim, Extent) and str(dim).startswith("unk__")
