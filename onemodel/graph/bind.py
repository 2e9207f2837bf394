"""Nodes as plain callables: the kernel of a node type with the node's attributes filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from onemodel.graph.ir import Node
from onemodel.graph.schema import schema_for
from onemodel.kernels._table import find

Bound = Callable[..., Any]

Mode = Literal["fast", "exact"]
"""Which kernels: the fastest here, or those whose bits are the same on every machine."""

TRAINING = "ai.onnx.preview.training"

CONTROL_FLOW = frozenset(
    {("", "If"), ("", "Loop"), ("", "Scan"), ("", "SequenceMap"), (TRAINING, "Gradient")}
)
"""Domain and node type of what a session runs itself, body by body; these have no kernel."""

# Before opset 18 the number of equal parts is the number of outputs.
_COUNTS_OUTPUTS = frozenset({"Split"})


def is_control_flow(node: Node) -> bool:
    """Whether ``node`` runs bodies."""
    return (node.domain, node.op_type) in CONTROL_FLOW


def has_kernel(node: Node, opsets: Mapping[str, int], mode: Mode = "fast") -> bool:
    """Whether ``node`` can be run: there is a kernel for ``mode``, or it is control flow."""
    if is_control_flow(node):
        return mode == "fast" or node.domain != TRAINING  # gradients have one arithmetic
    opset, exact = _opset(node, opsets), mode == "exact"
    return find(node.op_type, opset, node.domain, exact=exact) is not None


def bind(
    node: Node, opsets: Mapping[str, int], used: int | None = None, mode: Mode = "fast"
) -> Bound | None:
    """A function of the node's input arrays (None where omitted), or None without a kernel.

    Args:
        node: any node but control flow.
        opsets: version by domain.
        used: how many outputs matter, counted from the first (default: all of them).
        mode: which kernels.

    The function returns one value, or a tuple of at least ``used`` values where the node
    type has more than one output; see :func:`may_return_tuple`.
    """
    count = len(node.outputs) if used is None else used
    opset, exact = _opset(node, opsets), mode == "exact"
    kernel = find(node.op_type, opset, node.domain, outputs=count, exact=exact)
    if kernel is None:
        return None
    attributes = dict(node.attributes)
    if node.op_type in _COUNTS_OUTPUTS and not node.domain:
        attributes.setdefault("num_outputs", len(node.outputs))
    return partial(kernel, **attributes) if attributes else kernel


def may_return_tuple(node: Node, opsets: Mapping[str, int]) -> bool:
    """Whether the bound function can return a tuple, as its node type has several outputs."""
    schema = schema_for(node.op_type, _opset(node, opsets), node.domain, deprecated=True)
    return schema is None or schema.max_outputs != 1


def is_deterministic(node: Node, opsets: Mapping[str, int]) -> bool:
    """Whether equal inputs always give equal outputs; false for what draws random numbers."""
    if node.op_type in _RANDOM and not node.domain:
        return False
    if node.op_type == "Dropout" and not node.domain:
        # The third input switches training on; older versions had the attribute is_test.
        opset = _opset(node, opsets)
        return len(node.inputs) < 3 if opset >= 12 else opset >= 7
    return True


_RANDOM = frozenset(
    {
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)


def _opset(node: Node, opsets: Mapping[str, int]) -> int:
    return opsets.get(node.domain, 1)
