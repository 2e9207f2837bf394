"""ONNX models as graphs. Files are not trusted: everything is checked before it is used.

Model-local functions are inlined, nodes are put in order, sparse initializers become dense,
and shapes that the file leaves out are inferred.
What was changed on the way is noted in ``graph.metadata`` under keys that start with
:data:`NOTE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import GraphProto, ModelProto, TensorProto

from onemodel.graph.check import check
from onemodel.graph.errors import GraphError
from onemodel.graph.infer.shapes import infer_shapes
from onemodel.graph.ir import Graph, Value
from onemodel.graph.schema import NEWEST_OPSET, normal_domain
from onemodel.onnx_io.errors import ModelError, UnsupportedOperatorsError
from onemodel.onnx_io.external import ExternalReader
from onemodel.onnx_io.nodes import NodeReader, Scope, declare
from onemodel.onnx_io.order import in_order
from onemodel.onnx_io.sniff import invalid_text, not_a_model
from onemodel.onnx_io.tensors import read_sparse, read_tensor
from onemodel.onnx_io.types import read_type

NOTE = "onemodel.note."
"""Metadata keys under which the reader says what it changed."""

MAX_FILE = 2**31 - 1
"""Largest model file: what protobuf itself can read."""


def load(path: str | PathLike[str], *, allow_unknown: bool = False) -> Graph:
    """The graph of an ``.onnx`` file.

    Args:
        path: the file; external data are read from its folder.
        allow_unknown: keep node types that ONNX does not know instead of refusing them.

    Raises:
        FileNotFoundError: where there is no such file.
        ModelError: for anything that is no valid model; names file, node and field.
        UnsupportedOperatorsError: for unknown node types, all of them at once.
    """
    path = Path(path)
    if path.is_dir():
        raise ModelError("this is a folder, not a model file", file=str(path))
    size = path.stat().st_size
    if not path.is_file():  # a pipe or device may never end
        raise ModelError("this is no plain file", file=str(path))
    if size > MAX_FILE:
        raise ModelError(
            f"the file has {size} bytes, protobuf reads at most {MAX_FILE}",
            file=str(path),
            hint="save the model with external data",
        )
    return from_bytes(path.read_bytes(), path.parent, file=str(path), allow_unknown=allow_unknown)


def from_bytes(
    data: bytes,
    base_dir: str | Path | None = None,
    *,
    file: str = "",
    allow_unknown: bool = False,
) -> Graph:
    """The graph of a serialized ``ModelProto``; arguments and errors as :func:`load`.

    Args:
        data: the bytes of an ``.onnx`` file.
        base_dir: the folder of external data; without one they are refused.
        file: how errors call the model.
        allow_unknown: as for :func:`load`.
    """
    wrong = not_a_model(data)
    if wrong is not None:
        raise ModelError(wrong[0], file=file, field=wrong[1])
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, RuntimeError) as error:
        raise ModelError(f"the {len(data)} bytes are no ONNX model: {error}", file=file) from None
    return from_model_proto(model, base_dir, file=file, allow_unknown=allow_unknown)


def from_model_proto(
    model: ModelProto,
    base_dir: str | Path | None = None,
    *,
    file: str = "",
    allow_unknown: bool = False,
) -> Graph:
    """The graph of a ``ModelProto``; arguments and errors as :func:`from_bytes`."""
    try:
        return _model(model, base_dir, allow_unknown)
    except ModelError as error:
        raise error.at(file=file) from error.__cause__
    except GraphError as error:
        raise ModelError(str(error), file=file, node=error.node) from error


def _model(model: ModelProto, base_dir: str | Path | None, allow_unknown: bool) -> Graph:
    damaged = invalid_text(model)
    if damaged is not None:
        raise ModelError("the text is not valid UTF-8", field=damaged)
    _check_ir_version(model)
    if not model.HasField("graph"):
        raise ModelError("the model has no graph", field="graph")
    opsets = _opsets(model)
    external = None if base_dir is None else ExternalReader(base_dir)
    nodes = NodeReader(opsets, model.functions, external, read_graph)
    graph = read_graph(model.graph, nodes, Scope(), "graph")
    if nodes.unknown and not allow_unknown:
        raise UnsupportedOperatorsError(nodes.unknown)
    graph.opsets = opsets
    graph.ir_version = model.ir_version
    if model.ir_version < 4:  # initializers had to be listed as inputs, and were constants
        graph.inputs = [v for v in graph.inputs if v not in graph.initializers]
    graph.metadata.update({entry.key: entry.value for entry in model.metadata_props})
    graph.metadata.update({NOTE + key: text for key, text in nodes.notes.items()})
    graph.doc = graph.doc or model.doc_string
    check(graph)
    infer_shapes(graph)
    return graph


def _check_ir_version(model: ModelProto) -> None:
    if not model.ir_version:
        raise ModelError(
            "there is no ir_version: this is no ONNX model, or an empty one", field="ir_version"
        )
    if not 1 <= model.ir_version <= onnx.IR_VERSION:
        raise ModelError(
            f"ir_version {model.ir_version} was found, versions 1 to {onnx.IR_VERSION} are read",
            field="ir_version",
            hint="install a newer onnx, or export the model for an older version",
        )


def _newest(domain: str) -> int | None:
    """The newest version of a domain of the standard, None for foreign domains."""
    if not domain:
        return NEWEST_OPSET
    versions = [version for (name, version) in onnx.helper.OP_SET_ID_VERSION_MAP if name == domain]
    return max(versions, default=None)


def _opsets(model: ModelProto) -> dict[str, int]:
    opsets: dict[str, int] = {}
    for entry in model.opset_import:
        domain = normal_domain(entry.domain)
        called = domain or "ai.onnx"
        if domain in opsets and opsets[domain] != entry.version:
            raise ModelError(
                f"domain {called!r} is imported twice, at {opsets[domain]} and {entry.version}",
                field="opset_import",
            )
        newest = _newest(domain)
        if entry.version < 1 or (newest is not None and entry.version > newest):
            raise ModelError(
                f"opset {entry.version} of {called} was found, versions 1 to {newest} are read",
                field="opset_import",
                hint="install a newer onnx, or export the model for an older opset",
            )
        opsets[domain] = entry.version
    if not opsets and model.ir_version < 3:
        opsets[""] = 1  # opset_import came with IR version 3
    if not opsets:
        raise ModelError("the model imports no opset", field="opset_import")
    return opsets


# -- one graph -------------------------------------------------------------------------------


def read_graph(proto: GraphProto, nodes: NodeReader, outer: Scope, field: str) -> Graph:
    """One graph or body; ``outer`` holds what its nodes may read from outside.

    Raises:
        ModelError: for duplicate, undefined or empty names and anything below.
    """
    scope = Scope(outer)
    graph = Graph(name=proto.name, doc=proto.doc_string)
    _read_inputs(proto, graph, nodes, scope, field)
    _read_initializers(proto, graph, nodes, scope, field)
    declared = {info.name: info for info in (*proto.value_info, *proto.output)}
    ordered, moved = in_order(proto.node, scope, field)
    if moved:
        nodes.notes[f"{field}.order"] = "nodes were not in topological order and have been sorted"
    for index in ordered:
        graph.nodes.extend(nodes.read(proto.node[index], scope, f"{field}.node[{index}]", declared))
    if _give_distinct_names(graph):
        nodes.notes[f"{field}.names"] = "nodes of the same name have been given different ones"
    for info in proto.output:
        value = scope.get(info.name)
        if value is None:
            raise ModelError(
                f"output {info.name!r} is not computed by any node", field=f"{field}.output"
            )
        declare(value, info)
        graph.outputs.append(value)
    for entry in proto.metadata_props:
        graph.metadata[entry.key] = entry.value
    return graph


def _give_distinct_names(graph: Graph) -> bool:
    """Number nodes whose name another one has; some exporters care for names of values alone."""
    taken = {node.name for node in graph.nodes}
    if len(taken) == len(graph.nodes):
        return False
    seen: set[str] = set()
    next_number: dict[str, int] = {}
    for node in graph.nodes:
        name = node.name
        if name and name in seen:
            number = next_number.get(name, 2)
            while f"{name}_{number}" in taken:
                number += 1
            next_number[name] = number + 1
            node.name = f"{name}_{number}"
            taken.add(node.name)
        seen.add(node.name)
    return bool(next_number)


def _read_inputs(
    proto: GraphProto, graph: Graph, nodes: NodeReader, scope: Scope, field: str
) -> None:
    for index, info in enumerate(proto.input):
        where = f"{field}.input[{index}]"
        if not info.name:
            raise ModelError("an input has no name", field=where)
        value = nodes.define(info.name, scope, where)
        if info.HasField("type"):
            read_type(value, info.type, f"{field}.input[{info.name!r}].type")
        graph.inputs.append(value)


def _read_initializers(
    proto: GraphProto, graph: Graph, nodes: NodeReader, scope: Scope, field: str
) -> None:
    inputs = {value.name: value for value in graph.inputs}
    for tensor in (*proto.initializer, *proto.sparse_initializer):
        dense = isinstance(tensor, TensorProto)
        name = tensor.name if dense else tensor.values.name
        where = f"{field}.initializer[{name!r}]"
        if not name:
            raise ModelError("an initializer has no name", field=f"{field}.initializer")
        read = read_tensor if dense else read_sparse
        array = read(tensor, where, nodes.external)  # type: ignore[arg-type]
        local = scope.local(name)
        if local is not None and local in graph.initializers:
            raise ModelError("two initializers have this name", field=where)
        value = inputs.get(name) or nodes.define(name, scope, where)
        _check_default(value, array.dtype, array.shape, where)
        value.dtype, value.shape = array.dtype, tuple(array.shape)
        graph.initializers[value] = array


def _check_default(value: Value, dtype: object, shape: Sequence[int], where: str) -> None:
    if value.dtype is not None and value.dtype != dtype:
        raise ModelError(
            f"the input says {value.dtype}, the initializer holds {dtype}", field=where
        )
    if value.shape is None:
        return
    fits = len(value.shape) == len(shape) and all(
        not isinstance(want, int) or want == have
        for want, have in zip(value.shape, shape, strict=True)
    )
    if not fits:
        raise ModelError(
            f"the input says {list(map(str, value.shape))}, the initializer has {list(shape)}",
            field=where,
        )
