"""The passes by name, and how a session runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onemodel.graph.bind import Mode
from onemodel.graph.ir import Graph
from onemodel.passes import common_subexpressions, dead_code, fold_constants, remove_identity
from onemodel.passes.result import PassResult

PASSES: dict[str, Callable[..., PassResult]] = {
    "remove_identity": remove_identity.run,
    "fold_constants": fold_constants.run,
    "common_subexpressions": common_subexpressions.run,
    "dead_code": dead_code.run,
}
"""Every pass, in the order in which a session runs them by default."""


_COMPUTES = frozenset({"fold_constants"})
"""Passes that run kernels, and take the mode for them."""


def optimize(
    graph: Graph, names: Sequence[str] | None = None, mode: Mode = "fast"
) -> list[tuple[str, PassResult]]:
    """Run the passes of those names over ``graph``, in place.

    Args:
        graph: a graph that the caller owns.
        names: keys of :data:`PASSES` in order; None for all.
        mode: which kernels compute what a pass computes ahead.

    Raises:
        ValueError: for a name that is no pass.
    """
    chosen = list(PASSES) if names is None else list(names)
    unknown = [name for name in chosen if name not in PASSES]
    if unknown:
        raise ValueError(f"no pass is called {unknown[0]!r}; there are {', '.join(PASSES)}")
    return [
        (name, PASSES[name](graph, mode) if name in _COMPUTES else PASSES[name](graph))
        for name in chosen
    ]
