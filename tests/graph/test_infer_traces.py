"""An imported graph shows its axes as the trace does that wrote it."""

from __future__ import annotations

import pytest

import onemodel as om
from onemodel.graph.copy import copy_graph
from onemodel.graph.infer.shapes import infer_shapes
from onemodel.graph.ir import format_shape
from tests.graph.shape_runs import forget
from tests.zoo.architectures import ARCHITECTURES, Architecture


@pytest.mark.parametrize("architecture", [a for a in ARCHITECTURES if not a.refused], ids=str)
def test_inferred_axes_are_those_of_the_trace(architecture: Architecture) -> None:
    om.manual_seed(0)
    drawn = architecture.draw(architecture.traced)
    graph = om.trace(architecture.module(), *drawn, axes=list(architecture.axes)).graph
    traced = {value.name: value.shape for value in graph.values()}
    imported = forget(copy_graph(graph))
    infer_shapes(imported)
    compared = 0
    for node in imported.nodes:
        for value in node.outputs:
            if traced.get(value.name) is not None:
                assert format_shape(value.shape) == format_shape(traced[value.name]), value.name
                assert value.shape == traced[value.name]
                compared += 1
    assert compared
