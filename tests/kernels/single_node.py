"""Runs an ONNX graph without control flow by looking every node up in the kernel table.

Small on purpose: attribute decoding and a loop, so that what is tested is the kernels.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, numpy_helper

from onemodel.kernels import _table


class NoKernelError(LookupError):
    """A node type that the table does not hold."""


def attribute(proto: AttributeProto) -> Any:
    """An attribute as kernels take it: str for bytes, ndarray for tensors."""
    if proto.type == AttributeProto.STRING:
        return proto.s.decode()
    if proto.type == AttributeProto.STRINGS:
        return [text.decode() for text in proto.strings]
    if proto.type == AttributeProto.TENSOR:
        return numpy_helper.to_array(proto.t)
    if proto.type == AttributeProto.TENSORS:
        return [numpy_helper.to_array(tensor) for tensor in proto.tensors]
    if proto.type == AttributeProto.SPARSE_TENSOR:
        return dense(proto.sparse_tensor)
    value = onnx.helper.get_attribute_value(proto)
    return list(value) if proto.type in (AttributeProto.INTS, AttributeProto.FLOATS) else value


def dense(sparse: onnx.SparseTensorProto) -> np.ndarray:
    values = numpy_helper.to_array(sparse.values)
    indices = numpy_helper.to_array(sparse.indices)
    result = np.zeros(tuple(sparse.dims), values.dtype)
    if indices.ndim == 1:
        result.reshape(-1)[indices] = values
    else:
        result[tuple(indices.T)] = values
    return result


def subgraph(
    graph: onnx.GraphProto, opsets: dict[str, int], exact: bool = False
) -> Callable[..., tuple]:
    """A graph attribute as a function of its inputs."""
    return lambda *inputs: tuple(run_graph(graph, opsets, inputs, exact))


def run_node(
    node: onnx.NodeProto, opsets: dict[str, int], inputs: Sequence[Any], exact: bool = False
) -> tuple:
    """All outputs the kernel computes."""
    kernel = _table.find(node.op_type, opsets.get(node.domain, 1), node.domain, exact=exact)
    if kernel is None:
        raise NoKernelError(f"{node.domain}::{node.op_type}")
    attributes = {a.name: attribute(a) for a in node.attribute}
    for name, value in attributes.items():
        if isinstance(value, onnx.GraphProto):
            attributes[name] = subgraph(value, opsets, exact)
    if "num_outputs" in inspect.signature(kernel).parameters:
        attributes.setdefault("num_outputs", len(node.output))
    result = kernel(*inputs, **attributes)
    return result if isinstance(result, tuple) else (result,)


def run_model(model: onnx.ModelProto, inputs: Sequence[Any], exact: bool = False) -> list:
    """The graph's outputs; inputs follow ``model.graph.input``."""
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    opsets.setdefault("", opsets.get("ai.onnx", 1))
    return run_graph(model.graph, opsets, inputs, exact)


def run_graph(
    graph: onnx.GraphProto, opsets: dict[str, int], inputs: Sequence[Any], exact: bool = False
) -> list:
    """The outputs of one graph."""
    values: dict[str, Any] = {"": None}
    for tensor in graph.initializer:
        values[tensor.name] = numpy_helper.to_array(tensor)
    for declared, given in zip(graph.input, inputs, strict=False):
        values[declared.name] = given
    for node in graph.node:
        outputs = run_node(node, opsets, [values[name] for name in node.input], exact)
        for name, value in zip(node.output, outputs, strict=False):
            values[name] = value
    return [values[output.name] for output in graph.output]
