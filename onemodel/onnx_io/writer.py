"""Graphs as ONNX models: equal graphs give equal bytes, whatever the machine or hash seed.

Nodes and types are encoded by :mod:`onemodel.onnx_io.wire`, the rest as protobuf messages; the
weights are put between them as they lie in memory, in field-number order, so that saving needs
no second copy of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

from onemodel.graph.check import check, describe
from onemodel.graph.errors import GraphError
from onemodel.graph.ir import Attribute, Graph, Node, Value
from onemodel.graph.schema import schema_for
from onemodel.onnx_io.external import DataFile, atomic_write
from onemodel.onnx_io.tensors import raw_bytes, tensor_header, tensor_proto
from onemodel.onnx_io.types import parse_type, type_of
from onemodel.onnx_io.wire import RECORD, NodeEncoder, TypeEncoder, field, varint

PRODUCER = "onemodel"

MAX_PROTO = 2**31 - 1
"""Protobuf's own limit of a message, in bytes."""

EXTERNAL_FROM = 1024
"""Tensors of fewer bytes stay in the model even when the others lie outside."""

_BY_KIND = {
    "i": AttributeProto.INT,
    "f": AttributeProto.FLOAT,
    "s": AttributeProto.STRING,
    "t": AttributeProto.TENSOR,
    "g": AttributeProto.GRAPH,
    "type": AttributeProto.TYPE_PROTO,
    "ints": AttributeProto.INTS,
    "floats": AttributeProto.FLOATS,
    "strings": AttributeProto.STRINGS,
    "tensors": AttributeProto.TENSORS,
    "graphs": AttributeProto.GRAPHS,
    "types": AttributeProto.TYPE_PROTOS,
}


def to_model_proto(graph: Graph, *, strip_metadata: bool = False) -> ModelProto:
    """``graph`` as a ``ModelProto`` with all weights inside.

    Args:
        graph: a graph that passes :func:`onemodel.graph.check.check`.
        strip_metadata: leave out where nodes came from, metadata and doc strings.

    Raises:
        GraphError: where the graph breaks a rule, lacks a dtype that ONNX demands, or is
            larger than a protobuf message may be.
    """
    return ModelProto.FromString(to_bytes(graph, strip_metadata=strip_metadata))


def to_bytes(graph: Graph, *, strip_metadata: bool = False) -> bytes:
    """The bytes of an ``.onnx`` file with all weights inside.

    Raises:
        GraphError: as :func:`to_model_proto`.
    """
    check(graph)
    pieces = _pieces(graph, strip_metadata, _embedded(graph))
    size = sum(len(piece) for piece in pieces)
    if size > MAX_PROTO:
        raise GraphError(
            f"graph {graph.name!r} needs {size} bytes, a model in one piece may have {MAX_PROTO}; "
            "save it with external_data=True",
            graph=graph.name,
        )
    return b"".join(pieces)


def save(
    graph: Graph,
    path: str | PathLike[str],
    external_data: bool | str = "auto",
    *,
    strip_metadata: bool = False,
) -> None:
    """Write ``graph`` to ``path``; the file is complete or not there at all.

    Args:
        graph: the graph to save.
        path: the ``.onnx`` file.
        external_data: True puts weights of :data:`EXTERNAL_FROM` bytes or more into
            ``<name>.data`` beside the model, False never does, "auto" does above 2 GiB.
        strip_metadata: leave out where nodes came from, metadata and doc strings.

    Raises:
        GraphError: as :func:`to_model_proto`; too large with ``external_data=False``.
        OSError: where the files cannot be written.
    """
    if external_data not in (True, False, "auto"):
        raise ValueError(f"external_data is {external_data!r}; it may be True, False or 'auto'")
    path = Path(path)
    check(graph)
    pieces = _pieces(graph, strip_metadata, _embedded(graph))
    size = sum(len(piece) for piece in pieces)
    if external_data == "auto":
        external_data = size > MAX_PROTO
    data: DataFile | None = None
    if external_data:
        data = DataFile(path.name + ".data")
        pieces = _pieces(graph, strip_metadata, _outside(graph, data))
        size = sum(len(piece) for piece in pieces)
    if size > MAX_PROTO:
        raise GraphError(
            f"graph {graph.name!r} needs {size} bytes in {path.name}, ONNX allows {MAX_PROTO}; "
            "save it with external_data=True",
            graph=graph.name,
        )
    if data is not None and data.pieces:
        atomic_write(path.with_name(data.location), data.pieces)
    atomic_write(path, pieces)


# -- bytes -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tensor:
    """An initializer on its way out: its header, and the data that follow in field 9."""

    header: bytes
    data: memoryview | None


def _embedded(graph: Graph) -> Iterator[_Tensor]:
    for value, array in graph.initializers.items():
        header = tensor_header(array, value.name)
        text = header.data_type == TensorProto.STRING
        yield _Tensor(header.SerializeToString(), None if text else raw_bytes(array))


def _outside(graph: Graph, data: DataFile) -> Iterator[_Tensor]:
    for value, array in graph.initializers.items():
        header = tensor_header(array, value.name)
        raw = raw_bytes(array)
        if header.data_type != TensorProto.STRING and len(raw) >= EXTERNAL_FROM:
            data.add(header, raw)
            yield _Tensor(header.SerializeToString(), None)
        else:
            text = header.data_type == TensorProto.STRING
            yield _Tensor(header.SerializeToString(), None if text else raw)


def _pieces(graph: Graph, strip: bool, tensors: Iterator[_Tensor]) -> list[bytes | memoryview]:
    """The model as consecutive pieces, fields in number order; weights are not copied."""
    inner: list[bytes | memoryview] = list(_graph_head(graph, strip))
    for tensor in tensors:
        body: list[bytes | memoryview] = [tensor.header]
        if tensor.data is not None:
            body += [b"\x4a" + varint(len(tensor.data)), tensor.data]
        inner.append(b"\x2a" + varint(sum(map(len, body))))
        inner += body
    inner += _graph_tail(graph, strip)
    before = ModelProto(ir_version=_ir_version(graph), producer_name=PRODUCER)
    return [
        before.SerializeToString(),
        b"\x3a" + varint(sum(map(len, inner))),
        *inner,
        _after(graph, strip).SerializeToString(),
    ]


def _graph_head(graph: Graph, strip: bool) -> Iterator[bytes]:
    """Nodes and name: what comes before the weights."""

    def attribute(node: Node, name: str, value: Attribute) -> bytes:
        return _attribute_of(node, name, value, strip, graph.opsets).SerializeToString()

    encoder = NodeEncoder(attribute, origin_metadata, strip=strip)
    for node in graph.nodes:
        yield field(b"\x0a", encoder.encode(node))
    yield field(b"\x12", (graph.name or "graph").encode("utf-8"))


def _graph_tail(graph: Graph, strip: bool) -> Iterator[bytes]:
    """Doc string, inputs, outputs and the types of all other values."""
    if graph.doc and not strip:
        yield field(b"\x52", graph.doc.encode("utf-8"))
    encoder = TypeEncoder(_type_bytes)
    for tag, values in ((b"\x5a", graph.inputs), (b"\x62", graph.outputs)):
        for value in values:
            kind = encoder.type_of(value)
            if kind is None:
                raise _no_dtype(graph, value)
            yield field(tag, encoder.encode(value, kind))
    ends = {*graph.inputs, *graph.outputs, *graph.initializers}
    for value in graph.values():
        if value not in ends:
            kind = encoder.type_of(value)
            if kind is not None:
                yield field(b"\x6a", encoder.encode(value, kind))


def _type_bytes(value: Value) -> bytes | None:
    kind = type_of(value)
    return None if kind is None else kind.SerializeToString()


def _after(graph: Graph, strip: bool) -> ModelProto:
    """What follows the graph in a model."""
    model = ModelProto()
    for domain, version in sorted(graph.opsets.items()):
        model.opset_import.add(domain=domain, version=version)
    if not strip:
        for key, value in sorted(graph.metadata.items()):
            model.metadata_props.add(key=key, value=value)
    for (domain, name), body in sorted(graph.functions.items(), key=lambda item: item[0]):
        model.functions.append(_function(domain, name, body, strip))
    return model


# -- messages --------------------------------------------------------------------------------


def _ir_version(graph: Graph) -> int:
    """The graph's own version, raised to what its contents need."""
    least = 3
    inputs = set(graph.inputs)
    if any(value not in inputs for value in graph.initializers):
        least = 4
    if graph.functions:
        least = 8
    return max(graph.ir_version, least)


def _fill_graph(proto: GraphProto, graph: Graph, strip: bool, opsets: Mapping[str, int]) -> None:
    """The body of a node: everything as messages."""
    proto.name = graph.name or "graph"
    for node in graph.nodes:
        proto.node.append(_node(node, strip, opsets))
    proto.initializer.extend(
        tensor_proto(array, value.name) for value, array in graph.initializers.items()
    )
    if graph.doc and not strip:
        proto.doc_string = graph.doc
    ends = {*graph.inputs, *graph.outputs, *graph.initializers}
    for value in graph.inputs:
        _value_info(proto.input.add(), value)
    for value in graph.outputs:
        _value_info(proto.output.add(), value)
    for value in graph.values():
        if value not in ends and type_of(value) is not None:
            _value_info(proto.value_info.add(), value)


def _value_info(proto: onnx.ValueInfoProto, value: Value) -> None:
    proto.name = value.name
    kind = type_of(value)
    if kind is not None:
        proto.type.CopyFrom(kind)


def _no_dtype(graph: Graph, value: Value) -> GraphError:
    return GraphError(
        f"graph {graph.name!r}: ONNX demands a dtype for input or output {value.name!r}, "
        "and none is known",
        graph=graph.name,
        value=value.name,
    )


def _node(node: Node, strip: bool, opsets: Mapping[str, int]) -> NodeProto:
    proto = NodeProto(op_type=node.op_type)
    if node.name:
        proto.name = node.name
    if node.domain:
        proto.domain = node.domain
    proto.input.extend("" if value is None else value.name for value in node.inputs)
    proto.output.extend(value.name for value in node.outputs)
    for name in sorted(node.attributes):
        proto.attribute.append(_attribute_of(node, name, node.attributes[name], strip, opsets))
    if not strip:
        entries = {**node.metadata, **origin_metadata(node)}
        if node.origin is not None and node.origin.record is not None:
            entries[RECORD] = str(node.origin.record)
        for key, value in sorted(entries.items()):
            proto.metadata_props.add(key=key, value=value)
    return proto


def _attribute_of(
    node: Node, name: str, value: Attribute, strip: bool, opsets: Mapping[str, int]
) -> AttributeProto:
    """One attribute, typed by the schema where there is one. Raises GraphError."""
    schema = schema_for(node.op_type, opsets.get(node.domain, 0), node.domain, deprecated=True)
    formal = None if schema is None else schema.attributes.get(name)
    kind = _BY_KIND.get(formal.kind) if formal is not None else None
    proto = AttributeProto()
    try:
        _attribute(proto, name, value, kind, strip, opsets)
    except (TypeError, ValueError) as error:
        raise GraphError(
            f"{describe(node)}: attribute {name!r} cannot be written: {error}",
            node=describe(node),
        ) from error
    return proto


def origin_metadata(node: Node) -> dict[str, str]:
    """What ``node.origin`` knows but its record number; keys are ours but ``namespace``."""
    origin = node.origin
    if origin is None:
        return {}
    found = {"namespace": origin.scope, "onemodel.operator": origin.operator}
    if origin.site is not None:
        found["onemodel.place"] = origin.site.place
        found["onemodel.function"] = origin.site.function
        found["onemodel.source"] = origin.site.expression
    return {key: value for key, value in found.items() if value}


def _attribute(
    proto: AttributeProto,
    name: str,
    value: Attribute,
    kind: int | None,
    strip: bool,
    opsets: Mapping[str, int],
) -> None:
    proto.name = name
    kind = _guess(value) if kind is None else kind
    proto.type = kind  # type: ignore[assignment]
    if kind == AttributeProto.INT:
        proto.i = int(value)  # type: ignore[arg-type]
    elif kind == AttributeProto.FLOAT:
        proto.f = float(value)  # type: ignore[arg-type]
    elif kind == AttributeProto.STRING:
        proto.s = _text(value)
    elif kind == AttributeProto.TENSOR:
        proto.t.CopyFrom(tensor_proto(np.asarray(value)))
    elif kind == AttributeProto.GRAPH:
        _fill_graph(proto.g, value, strip, opsets)  # type: ignore[arg-type]
    elif kind == AttributeProto.TYPE_PROTO:
        proto.tp.CopyFrom(parse_type(str(value)))
    elif kind == AttributeProto.INTS:
        proto.ints.extend(int(item) for item in value)  # type: ignore[union-attr, arg-type]
    elif kind == AttributeProto.FLOATS:
        proto.floats.extend(float(item) for item in value)  # type: ignore[union-attr, arg-type]
    elif kind == AttributeProto.STRINGS:
        proto.strings.extend(_text(item) for item in value)  # type: ignore[union-attr]
    elif kind == AttributeProto.TENSORS:
        proto.tensors.extend(tensor_proto(np.asarray(item)) for item in value)  # type: ignore
    elif kind == AttributeProto.GRAPHS:
        for item in value:  # type: ignore[union-attr]
            _fill_graph(proto.graphs.add(), item, strip, opsets)  # type: ignore
    else:
        raise TypeError(f"ONNX attribute type {kind} is not supported")


def _guess(value: Attribute) -> int:
    """The attribute type of a value whose schema is unknown."""
    if isinstance(value, list | tuple):
        first = _guess(value[0]) if value else AttributeProto.INT
        if any(isinstance(item, float) for item in value):
            first = AttributeProto.FLOAT
        lists: dict[int, int] = {
            AttributeProto.INT: AttributeProto.INTS,
            AttributeProto.FLOAT: AttributeProto.FLOATS,
            AttributeProto.STRING: AttributeProto.STRINGS,
            AttributeProto.TENSOR: AttributeProto.TENSORS,
            AttributeProto.GRAPH: AttributeProto.GRAPHS,
        }
        return lists[first]
    if isinstance(value, bool | int | np.integer):
        return AttributeProto.INT
    if isinstance(value, float | np.floating):
        return AttributeProto.FLOAT
    if isinstance(value, str | bytes):
        return AttributeProto.STRING
    if isinstance(value, np.ndarray):
        return AttributeProto.TENSOR
    if isinstance(value, Graph):
        return AttributeProto.GRAPH
    raise TypeError(f"a {type(value).__name__} is no ONNX attribute")


def _text(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8")


def _function(domain: str, name: str, body: Graph, strip: bool) -> FunctionProto:
    proto = FunctionProto(domain=domain, name=name)
    proto.input.extend(value.name for value in body.inputs)
    proto.output.extend(value.name for value in body.outputs)
    for node in body.nodes:
        proto.node.append(_node(node, strip, body.opsets))
    for imported, version in sorted(body.opsets.items()):
        proto.opset_import.add(domain=imported, version=version)
    if body.doc and not strip:
        proto.doc_string = body.doc
    return proto
