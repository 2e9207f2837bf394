"""Sessions: a graph, or anything that holds one, ready to run on NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import onnx

from onemodel.axes.extent import Extent
from onemodel.format.reader import from_bytes as format_from_bytes
from onemodel.format.reader import is_format
from onemodel.format.reader import load as load_format
from onemodel.graph.bind import Mode, has_kernel
from onemodel.graph.check import check, describe
from onemodel.graph.copy import copy_graph
from onemodel.graph.ir import Graph, Value
from onemodel.onnx_io.errors import UnsupportedOperatorsError
from onemodel.onnx_io.reader import from_bytes, from_model_proto, load
from onemodel.passes.pipeline import PASSES, optimize
from onemodel.passes.result import PassResult
from onemodel.passes.rewire import graphs
from onemodel.session.errors import FeedError, InexactOperatorsError
from onemodel.session.feeds import check_feeds, require_mapping
from onemodel.session.gradient import attach_bodies
from onemodel.session.ort import OrtRunner
from onemodel.session.plan import Plan, PlanCache, Progress
from onemodel.session.profile import NodeProfile, profile_program

PROVIDERS = ("onemodel", "onnxruntime")
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True)
class PassReport:
    """What one pass did: ``changed`` counts changes, ``notes`` say them."""

    name: str
    changed: int
    notes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.changed} changed", *(f"  {note}" for note in self.notes)]
        return "\n".join(lines)


class Session:
    """Runs a graph. Safe to use from several threads.

    Args:
        source: a ``Graph``, an ``onnx.ModelProto``, the bytes or the path of an ``.onnx``
            or ``.om`` file, or an object whose ``graph`` is a ``Graph``. A graph is copied.
        passes: names of passes to run first (see :mod:`onemodel.passes.pipeline`), in order;
            None for all, ``()`` for none.
        mode: "fast" takes the fastest kernels; "exact" those whose results have the same bits
            on every machine, with any number of threads, any NumPy and any BLAS.
        provider: "onemodel" runs NumPy kernels, "onnxruntime" hands the graph to ONNX Runtime.
        plans: how many input shapes are remembered at most.

    Raises:
        ModelError: for a file or model that cannot be read.
        GraphError: for a graph that breaks a rule.
        UnsupportedOperatorsError: for node types without a kernel, all of them at once.
        InexactOperatorsError: in exact mode, for node types without an exact kernel, all of
            them at once.
        ImportError: for the provider "onnxruntime" where it is not installed.
        TypeError: for another source, or ``passes`` that is a single text.
        ValueError: for an unknown pass, mode or provider, and for the exact mode of another
            provider.
    """

    def __init__(
        self,
        source: Any,
        *,
        mode: Mode = "fast",
        passes: Sequence[str] | None = None,
        provider: str = "onemodel",
        plans: int = 32,
    ) -> None:
        if provider not in PROVIDERS:
            raise ValueError(f"provider {provider!r} is unknown; there are {', '.join(PROVIDERS)}")
        if mode not in MODES:
            raise ValueError(f"mode {mode!r} is unknown; there are {', '.join(MODES)}")
        if mode == "exact" and provider != "onemodel":
            raise ValueError(
                f"the provider {provider!r} promises no bits; leave it out for mode='exact'"
            )
        if isinstance(passes, str):
            raise TypeError(
                f"passes is a sequence of names, not the text {passes!r}; write passes=[...] with "
                f"names of {', '.join(PASSES)}"
            )
        self._mode: Mode = mode
        self._original = _graph_of(source)
        self._ort = OrtRunner(self._original) if provider == "onnxruntime" else None
        self._graph = self._original
        self._results: list[tuple[str, PassResult]] = []
        if self._ort is None:
            attach_bodies(self._original)
            _require_kernels(self._original, mode)
            self._graph = copy_graph(self._original)
            self._results = optimize(self._graph, passes, mode)
        self._plans = PlanCache(plans)
        self._defaults = set(self._graph.inputs) & set(self._graph.initializers)
        self._names = tuple(value.name for value in self._graph.inputs)
        self._available = _named(self._graph)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **options: Any) -> Session:
        """A session of an ``.om`` or ``.onnx`` file; options and errors as for the class."""
        return cls(os.fspath(path), **options)

    @property
    def mode(self) -> Mode:
        """Whose bits the results have: "fast" or "exact"."""
        return self._mode

    @property
    def graph(self) -> Graph:
        """The graph as it runs, after passes. Not to be changed."""
        return self._graph

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs that have to be fed; those with a default are left out."""
        return tuple(v.name for v in self._graph.inputs if v not in self._defaults)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs, in order."""
        return tuple(value.name for value in self._graph.outputs)

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the symbolic sizes of the inputs, in order of appearance."""
        found: dict[str, None] = {}
        for value in self._graph.inputs:
            for size in value.shape or ():
                if isinstance(size, Extent):
                    found.update(dict.fromkeys(sorted(size.symbols())))
        return tuple(found)

    def report(self) -> tuple[PassReport, ...]:
        """What each pass did when the session was made."""
        return tuple(PassReport(n, r.changed, tuple(r.notes)) for n, r in self._results)

    def run(
        self,
        feeds: Mapping[str, np.ndarray],
        outputs: Sequence[str] | None = None,
        *,
        progress: Progress | None = None,
    ) -> dict[str, np.ndarray]:
        """The outputs for ``feeds``, by name, in the order asked for.

        Args:
            feeds: one array per input name; a list for a sequence. Inputs with a default may
                be left out. What is no array (a tensor, a list, a number) goes through
                ``np.asarray`` and has to come out with the input's dtype.
            outputs: names of any values of the graph, intermediate ones too; None for the
                graph's own outputs. What is asked for does not change the others' bits.
            progress: called before every step with the steps done, the steps in all and the
                name of the next node, and once at the end; where it returns False the run
                ends. Only for the provider "onemodel".

        Returns:
            Arrays that share no memory with the feeds, the session or each other.

        Raises:
            TypeError: where ``feeds`` is no mapping or ``outputs`` is a single text.
            FeedError: for wrong names, dtypes, ranks or sizes; says what was expected.
            RunError: where a node fails; names it.
            CancelledError: where ``progress`` ended the run.
            ValueError: for ``progress`` with another provider.
        """
        if type(feeds) is not dict:
            require_mapping(feeds, self._names)
        if isinstance(outputs, str):
            raise TypeError(f"outputs is a sequence of names; write [{outputs!r}]")
        if progress is not None:
            return self._run_watched(feeds, outputs, progress)
        if self._ort is not None:
            return self._run_ort(feeds, outputs)
        arrays = [feeds.get(name) for name in self._names]
        asked = None if outputs is None else tuple(outputs)
        if not all(isinstance(array, np.ndarray) for array in arrays):
            # A default, a list, a tensor, an absent optional.
            return self._run_checked(feeds, asked)
        key = (asked, len(feeds), *[(a.shape, a.dtype) for a in arrays])  # type: ignore
        plan = self._plans.get(key)
        if plan is None:
            return self._run_checked(feeds, asked)
        return plan.run(arrays)

    def profile(self, feeds: Mapping[str, np.ndarray], repeat: int = 1) -> tuple[NodeProfile, ...]:
        """Seconds, bytes and shape per step of a run; the median of ``repeat`` runs."""
        if self._ort is not None:
            raise ValueError("only the provider 'onemodel' can be profiled")
        self.run(feeds)  # so that the plan of this shape is made
        arrays, plan = self._prepared(feeds, None)
        with np.errstate(all="ignore"):
            return profile_program(plan.program, arrays, repeat)

    def _run_watched(
        self, feeds: Mapping[str, np.ndarray], outputs: Sequence[str] | None, progress: Progress
    ) -> dict[str, np.ndarray]:
        if self._ort is not None:
            raise ValueError("only the provider 'onemodel' tells its progress")
        arrays, plan = self._prepared(feeds, None if outputs is None else tuple(outputs))
        return plan.run_watched(arrays, progress)

    def _run_checked(
        self, feeds: Mapping[str, np.ndarray], asked: tuple[str, ...] | None
    ) -> dict[str, np.ndarray]:
        arrays, plan = self._prepared(feeds, asked)
        return plan.run(arrays)

    def _prepared(
        self, feeds: Mapping[str, np.ndarray], asked: tuple[str, ...] | None
    ) -> tuple[list[Any], Plan]:
        """The arguments and the plan of a run, everything checked."""
        every = check_feeds(feeds, self._graph.inputs, self._defaults)
        given = [
            (value, array)
            for value, array in zip(self._graph.inputs, every, strict=True)
            if array is not None or value not in self._defaults
        ]
        arrays = [array for _, array in given]
        key = _signature(asked, len(feeds), [v.name for v, _ in given], arrays, self._names)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans.put(key, self._plan([value for value, _ in given], asked))
        return arrays, plan

    def _plan(self, inputs: list[Value], asked: tuple[str, ...] | None) -> Plan:
        if asked is None:
            return Plan(self._graph, inputs, self._graph.outputs, self._mode)
        graph, available = self._graph, self._available
        if any(name not in available for name in asked):
            # A pass removed it. Passes are exact, so the graph before them has the same bits.
            graph, available = self._original, _named(self._original)
        for name in asked:
            if name not in available:
                raise FeedError(
                    f"there is no value {name!r} to return; outputs are "
                    f"{', '.join(self.output_names)}",
                    name=name,
                )
        names = [value.name for value in inputs]
        given = [available[name] for name in names]
        return Plan(graph, given, [available[name] for name in asked], self._mode)

    def _run_ort(
        self, feeds: Mapping[str, np.ndarray], outputs: Sequence[str] | None
    ) -> dict[str, np.ndarray]:
        assert self._ort is not None
        arrays = check_feeds(feeds, self._graph.inputs, self._defaults)
        given = {
            value.name: array
            for value, array in zip(self._graph.inputs, arrays, strict=True)
            if array is not None
        }
        names = self.output_names if outputs is None else tuple(outputs)
        for name in names:
            if name not in self._available:
                raise FeedError(f"there is no value {name!r} to return", name=name)
        return self._ort.run(given, names)


def _signature(
    asked: tuple[str, ...] | None,
    count: int,
    names: list[str],
    arrays: list[Any],
    all_names: tuple[str, ...],
) -> Hashable:
    """The key of a plan; for plain tensors the very key that ``run`` builds first."""
    parts = [(a.shape, a.dtype) if isinstance(a, np.ndarray) else type(a).__name__ for a in arrays]
    if len(names) == len(all_names):
        return (asked, count, *parts)
    return (asked, tuple(names), *parts)


def _named(graph: Graph) -> dict[str, Value]:
    return {value.name: value for value in graph.values()}


def _graph_of(source: Any) -> Graph:
    if isinstance(source, onnx.ModelProto):
        return from_model_proto(source)
    if isinstance(source, bytes | bytearray | memoryview):
        data = bytes(source)
        return format_from_bytes(data) if is_format(data) else from_bytes(data)
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        return load_format(path) if path.endswith(".om") else load(path)
    graph = source if isinstance(source, Graph) else getattr(source, "graph", None)
    if not isinstance(graph, Graph):
        raise TypeError(
            f"a session cannot run a {type(source).__name__}; give a graph, a traced model, an "
            "onnx.ModelProto, the bytes of a model or a path"
        )
    check(graph)
    return copy_graph(graph)


def _require_kernels(graph: Graph, mode: Mode) -> None:
    missing = _without_kernel(graph, "fast")
    if missing:
        raise UnsupportedOperatorsError(missing)
    inexact = _without_kernel(graph, "exact") if mode == "exact" else []
    if inexact:
        raise InexactOperatorsError(inexact)


def _without_kernel(graph: Graph, mode: Mode) -> list[tuple[str, str]]:
    """Node type with its opset, and the place, of every node that has no kernel."""
    missing = []
    for part in graphs(graph):
        for index, node in enumerate(part.nodes):
            if not has_kernel(node, graph.opsets, mode):
                label = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
                version = graph.opsets.get(node.domain)
                missing.append((f"{label} (opset {version})", describe(node, index)))
    return missing
