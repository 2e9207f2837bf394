"""Inferred shapes held against a run: what is known has to be what the run makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onemodel.axes.extent import Extent
from onemodel.graph.ir import Dim, Graph
from onemodel.session.session import Session


def forget(graph: Graph) -> Graph:
    """``graph`` without what a file declared of computed values, bodies included."""
    kept = set(graph.inputs) | set(graph.initializers)
    for value in graph.values():
        if value not in kept:
            value.shape = None
    for node in graph.nodes:
        for body in node.subgraphs():
            forget(body)
    return graph


def sizes(graph: Graph, feeds: Mapping[str, Any]) -> dict[str, int]:
    """Symbol to size, as the fed arrays say."""
    found = {}
    for value in graph.inputs:
        array = feeds.get(value.name)
        if isinstance(array, np.ndarray):
            for dim, size in zip(value.shape or (), array.shape, strict=False):
                if isinstance(dim, Extent) and dim.is_atom and not dim.atoms[0].operation:
                    found[dim.atoms[0].name] = size
    return found


def differs(shape: tuple[Dim, ...], array: np.ndarray, symbols: Mapping[str, int]) -> bool:
    """Whether ``array`` has another shape than the one inferred, as far as that is known."""
    if len(shape) != array.ndim:
        return True
    for dim, size in zip(shape, array.shape, strict=True):
        if dim is None or (isinstance(dim, Extent) and not dim.symbols() <= set(symbols)):
            continue
        if size != (dim if isinstance(dim, int) else dim.evaluate(symbols)):
            return True
    return False


def wrong_values(graph: Graph, feeds: Mapping[str, Any]) -> list[str]:
    """Every computed value of the graph whose inferred shape is not that of a run."""
    values = [v for node in graph.nodes for v in node.outputs if v.name and v.shape is not None]
    results = Session(graph, passes=()).run(feeds, [value.name for value in values])
    symbols = sizes(graph, feeds)
    return [
        f"{value}: {results[value.name].shape}"
        for value in values
        if isinstance(results[value.name], np.ndarray)
        and differs(value.shape or (), results[value.name], symbols)
    ]
