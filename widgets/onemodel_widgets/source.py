"""What a view is shown: a trace, a graph, a model or a file, with what is known of its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onemodel.compare.engines import Subject, subject_of
from onemodel.graph.ir import Graph


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
    subject = subject_of(shown)
    traced = subject.traced
    if traced is None:
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
