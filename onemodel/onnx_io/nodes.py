"""Nodes of a file as nodes of a graph: attributes, checks against the schema, functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, ValueInfoProto

from onemodel.errors import CallSite
from onemodel.graph.dtypes import dtype_of_type
from onemodel.graph.ir import Attribute, Graph, Node, Origin, Value
from onemodel.graph.schema import NodeSchema, known_op_types, normal_domain, schema_for
from onemodel.kernels._table import find
from onemodel.onnx_io.errors import ModelError
from onemodel.onnx_io.order import called, in_order
from onemodel.onnx_io.tensors import External, read_sparse, read_tensor
from onemodel.onnx_io.types import read_type, type_text

MAX_NODES = 2_000_000
"""Most nodes after inlining; functions that call functions multiply."""

MAX_CALLS = 64
"""How deep functions may call each other."""

GraphReader = Callable[[GraphProto, "NodeReader", "Scope", str], Graph]


class Scope:
    """Names in force: those of a graph, then those of the graphs around it.

    ``rename`` maps names of a function's body to those of the caller; ``arguments`` holds the
    attributes a function was called with.
    """

    def __init__(
        self,
        outer: Scope | None = None,
        *,
        rename: Mapping[str, str] | None = None,
        arguments: Mapping[str, AttributeProto] | None = None,
        prefix: str = "",
        closed: bool = False,
    ) -> None:
        self._values: dict[str, Value | None] = {}
        self._outer = None if closed else outer
        inherited = None if closed else outer
        self.rename = rename or {}
        self.prefix = prefix or (inherited.prefix if inherited else "")
        self.arguments = arguments
        if arguments is None and inherited is not None:
            self.arguments = inherited.arguments

    def get(self, name: str) -> Value | None:
        """The value of that name here or outside, None where there is none."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._values:
                return scope._values[name]
            scope = scope._outer
        return None

    def visible(self, name: str) -> bool:
        """Whether the name is defined here or outside (an omitted argument counts)."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._values:
                return True
            scope = scope._outer
        return False

    def owns(self, name: str) -> bool:
        """Whether this graph itself defines the name (an omitted argument counts)."""
        return name in self._values

    def local(self, name: str) -> Value | None:
        """The value of that name in this graph alone."""
        return self._values.get(name)

    def put(self, name: str, value: Value | None) -> None:
        """Let ``name`` mean ``value`` from here on."""
        self._values[name] = value


@dataclass
class NodeReader:
    """Turns ``NodeProto`` into ``Node``; one for a whole model.

    Attributes:
        opsets: domain to version; grows by what functions import.
        function_protos: the model's functions.
        external: reader of external tensors, or None.
        read_graph: reads a body.
        unknown: pairs of node type and node that ONNX does not know.
        notes: what was changed on the way.
    """

    opsets: dict[str, int]
    function_protos: Sequence[FunctionProto]
    external: External | None
    read_graph: GraphReader
    unknown: list[tuple[str, str]] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)
    _functions: dict[tuple[str, str, str], FunctionProto] = field(default_factory=dict)
    _stack: list[tuple[str, str, str]] = field(default_factory=list)
    _count: int = 0
    _calls: int = 0

    def __post_init__(self) -> None:
        for index, proto in enumerate(self.function_protos):
            key = (normal_domain(proto.domain), proto.name, _overload(proto))
            if key in self._functions:
                raise ModelError(
                    f"function {proto.name!r} is defined twice", field=f"functions[{index}]"
                )
            self._functions[key] = proto

    def define(self, name: str, scope: Scope, where: str) -> Value:
        """A new value of ``name`` in ``scope``; renamed where an outer graph uses the name.

        Raises:
            ModelError: where the name is taken in the same graph.
        """
        if scope.local(name) is not None:
            raise ModelError(f"the name {name!r} is defined twice", field=where)
        full = scope.rename.get(name) or (f"{scope.prefix}{name}" if name else "")
        if name and scope.visible(name) and name not in scope.rename:
            full = self._fresh(full)
            self.notes[f"renamed.{full}"] = f"{where} had the name {name!r} of an outer value"
        self._taken.add(full)
        value = Value(full)
        if name:
            scope.put(name, value)
        return value

    def _fresh(self, name: str) -> str:
        number = 1
        while f"{name}__{number}" in self._taken:
            number += 1
        return f"{name}__{number}"

    def read(
        self,
        proto: NodeProto,
        scope: Scope,
        where: str,
        declared: Mapping[str, ValueInfoProto],
    ) -> Iterator[Node]:
        """The node of ``proto``, or the nodes of the function it calls.

        Raises:
            ModelError: names the node and the field.
        """
        try:
            yield from self._read(proto, scope, where, declared)
        except ModelError as error:
            raise error.at(node=called(proto), field=where) from error.__cause__

    def _read(
        self,
        proto: NodeProto,
        scope: Scope,
        where: str,
        declared: Mapping[str, ValueInfoProto],
    ) -> Iterator[Node]:
        self._count += 1
        if self._count > MAX_NODES:
            raise ModelError(f"the model has more than {MAX_NODES} nodes after inlining")
        key = (normal_domain(proto.domain), proto.op_type, _overload(proto))
        if key in self._functions:
            yield from self._call(key, proto, scope, where, declared)
            return
        yield self._plain(proto, scope, where, declared)

    def _plain(
        self,
        proto: NodeProto,
        scope: Scope,
        where: str,
        declared: Mapping[str, ValueInfoProto],
    ) -> Node:
        if not proto.op_type:
            raise ModelError("the node has no op_type", field=f"{where}.op_type")
        domain = normal_domain(proto.domain)
        schema = self._schema(proto, domain)
        inputs = self._inputs(proto, scope)
        attributes = self._attributes(proto, scope, where)
        node = Node(proto.op_type, inputs, [], attributes, domain)
        node.name = f"{scope.prefix}{proto.name}" if proto.name else ""
        node.metadata = {entry.key: entry.value for entry in proto.metadata_props}
        node.origin = _origin(node.metadata)
        if schema is not None:
            check_node(node, len(proto.output), schema)
        self._outputs(node, proto, scope, where, declared, schema)
        return node

    def _schema(self, proto: NodeProto, domain: str) -> NodeSchema | None:
        version = self.opsets.get(domain)
        if version is None and known_op_types(domain):
            raise ModelError(
                f"domain {domain or 'ai.onnx'!r} is used and not imported", field="opset_import"
            )
        schema = None
        if version is not None:
            schema = schema_for(proto.op_type, version, domain, deprecated=True)
        if schema is None and not self._has_foreign_kernel(proto, domain, version):
            label = f"{domain}::{proto.op_type}" if domain else proto.op_type
            if proto.op_type in known_op_types(domain):
                label += f" (not at opset {version})"
            self.unknown.append((label, called(proto)))
        return schema

    @staticmethod
    def _has_foreign_kernel(proto: NodeProto, domain: str, version: int | None) -> bool:
        """Whether a node type of nobody's schema can be run all the same."""
        if version is None or known_op_types(domain):
            return False
        return find(proto.op_type, version, domain) is not None

    def _inputs(self, proto: NodeProto, scope: Scope) -> list[Value | None]:
        inputs = [scope.get(name) if name else None for name in proto.input]
        while inputs and inputs[-1] is None:  # trailing omissions say nothing
            inputs.pop()
        return inputs

    def _outputs(
        self,
        node: Node,
        proto: NodeProto,
        scope: Scope,
        where: str,
        declared: Mapping[str, ValueInfoProto],
        schema: NodeSchema | None,
    ) -> None:
        dtypes: list[np.dtype | None] = [None] * len(proto.output)
        if schema is not None:
            known = [None if v is None else v.dtype for v in node.inputs]
            dtypes = schema.infer_output_dtypes(known, node.attributes, len(proto.output))
        for name, dtype in zip(proto.output, dtypes, strict=True):
            value = self.define(name, scope, f"{where}.output")
            value.producer = node
            node.outputs.append(value)
            value.dtype = dtype
            declare(value, declared.get(name) if name else None)

    # -- attributes --------------------------------------------------------------------------

    def _attributes(self, proto: NodeProto, scope: Scope, where: str) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {}
        for attribute in self._resolved(proto, scope):
            field_name = f"{where}.attribute[{attribute.name!r}]"
            if not attribute.name or attribute.name in found:
                raise ModelError(
                    f"attribute name {attribute.name!r} is empty or used twice", field=field_name
                )
            name, value = self._attribute(attribute, scope, field_name)
            found[name] = value
        return found

    def _resolved(self, proto: NodeProto, scope: Scope) -> Iterator[AttributeProto]:
        """Attributes with references to the arguments of the enclosing function resolved."""
        for attribute in proto.attribute:
            if not attribute.ref_attr_name:
                yield attribute
                continue
            if scope.arguments is None:
                raise ModelError(
                    f"attribute {attribute.name!r} refers to {attribute.ref_attr_name!r} outside "
                    "of a function"
                )
            argument = scope.arguments.get(attribute.ref_attr_name)
            if argument is not None:
                twin = AttributeProto()
                twin.CopyFrom(argument)
                twin.name = attribute.name
                yield twin

    def _attribute(
        self, proto: AttributeProto, scope: Scope, field_name: str
    ) -> tuple[str, Attribute]:
        kind = proto.type or _guessed_kind(proto)
        simple = _SIMPLE.get(kind)
        if simple is not None:
            return proto.name, simple(proto)
        if kind == AttributeProto.TENSOR:
            return proto.name, read_tensor(proto.t, field_name, self.external)
        if kind == AttributeProto.TENSORS:
            return proto.name, [read_tensor(t, field_name, self.external) for t in proto.tensors]
        if kind == AttributeProto.GRAPH:
            return proto.name, self.read_graph(proto.g, self, scope, field_name)
        if kind == AttributeProto.GRAPHS:
            return proto.name, [self.read_graph(g, self, scope, field_name) for g in proto.graphs]
        if kind == AttributeProto.TYPE_PROTO:
            return proto.name, type_text(proto.tp, field_name)
        if kind == AttributeProto.SPARSE_TENSOR and proto.name == "sparse_value":
            return "value", read_sparse(proto.sparse_tensor, field_name, self.external)
        raise ModelError(f"attribute type {kind} is not supported", field=field_name)

    # -- functions ---------------------------------------------------------------------------

    def _call(
        self,
        key: tuple[str, str, str],
        proto: NodeProto,
        scope: Scope,
        where: str,
        declared: Mapping[str, ValueInfoProto],
    ) -> Iterator[Node]:
        function = self._functions[key]
        if key in self._stack:
            raise ModelError(f"function {function.name!r} calls itself")
        if len(self._stack) >= MAX_CALLS:
            raise ModelError(f"functions call each other more than {MAX_CALLS} deep")
        self._import_opsets(function)
        inner = self._enter(function, proto, scope)
        self._stack.append(key)
        try:
            yield from self._body(function, inner, f"functions[{function.name!r}]")
        finally:
            self._stack.pop()
        for formal, actual in zip(function.output, proto.output, strict=False):
            if not actual:
                continue
            value = inner.get(formal)
            if value is None:
                raise ModelError(f"output {formal!r} of function {function.name!r} is not computed")
            if value.name == inner.rename.get(formal):
                scope.put(actual, value)
                declare(value, declared.get(actual))
            else:  # the function hands an input, or one value twice, through
                result = self.define(actual, scope, f"{where}.output")
                node = Node("Identity", [value], [result])
                result.producer, result.dtype, result.shape = node, value.dtype, value.shape
                result.type_text = value.type_text
                declare(result, declared.get(actual))
                yield node

    def _enter(self, function: FunctionProto, proto: NodeProto, scope: Scope) -> Scope:
        if len(proto.input) > len(function.input) or len(proto.output) > len(function.output):
            raise ModelError(
                f"function {function.name!r} has {len(function.input)} inputs and "
                f"{len(function.output)} outputs, the call {len(proto.input)} and "
                f"{len(proto.output)}"
            )
        self._calls += 1
        arguments = {a.name: a for a in function.attribute_proto}
        arguments.update({a.name: a for a in self._resolved(proto, scope)})
        written = {name for node in function.node for name in node.output}
        rename: dict[str, str] = {}
        for formal, actual in zip(function.output, proto.output, strict=False):
            if actual and formal in written and formal not in rename:
                if scope.local(actual) is not None:
                    raise ModelError(f"the name {actual!r} is defined twice")
                rename[formal] = scope.rename.get(actual) or f"{scope.prefix}{actual}"
        label = proto.name or f"{function.name}_{self._calls}"
        inner = Scope(
            scope,
            rename=rename,
            arguments=arguments,
            prefix=f"{scope.prefix}{label}/",
            closed=True,
        )
        actuals = self._inputs(proto, scope)
        actuals += [None] * (len(function.input) - len(actuals))
        for formal, value in zip(function.input, actuals, strict=True):
            inner.put(formal, value)
        return inner

    def _body(self, function: FunctionProto, inner: Scope, where: str) -> Iterator[Node]:
        declared = {info.name: info for info in function.value_info}
        ordered, _ = in_order(function.node, inner, where)
        for index in ordered:
            yield from self.read(function.node[index], inner, f"{where}.node[{index}]", declared)

    def _import_opsets(self, function: FunctionProto) -> None:
        for entry in function.opset_import:
            domain = normal_domain(entry.domain)
            have = self.opsets.setdefault(domain, entry.version)
            if have == entry.version:
                continue
            for node in function.node:
                if normal_domain(node.domain) != domain:
                    continue
                theirs = schema_for(node.op_type, entry.version, domain)
                ours = schema_for(node.op_type, have, domain)
                if theirs != ours:
                    raise ModelError(
                        f"function {function.name!r} uses {node.op_type} of opset "
                        f"{entry.version}, the model imports {have}, which changed it",
                        field="functions.opset_import",
                    )


def declare(value: Value, info: ValueInfoProto | None) -> None:
    """Add to ``value`` what the file says of its type.

    Raises:
        ModelError: where the file says another dtype than the node makes.
    """
    if info is None or not info.HasField("type"):
        return
    field_name = f"value_info[{info.name!r}].type"
    said = Value(info.name)
    read_type(said, info.type, field_name)
    if said.dtype is not None and value.dtype is not None and said.dtype != value.dtype:
        made = "" if value.producer is None else f" {value.producer.op_type}"
        raise ModelError(
            f"value {info.name!r} is declared {said.dtype}, the node{made} makes {value.dtype}",
            field=field_name,
        )
    value.dtype = said.dtype if value.dtype is None else value.dtype
    value.shape = said.shape if value.shape is None else value.shape
    value.type_text = value.type_text or said.type_text


def check_node(node: Node, outputs: int, schema: NodeSchema) -> None:
    """Arity, attributes and dtypes of ``node`` against its schema.

    Raises:
        ModelError: names the attribute or input that does not fit.
    """
    label = f"{node.op_type} (since opset {schema.since_version})"
    if not schema.min_inputs <= len(node.inputs) <= schema.max_inputs:
        most = "any number" if schema.max_inputs > 1 << 30 else str(schema.max_inputs)
        raise ModelError(
            f"{label} takes {schema.min_inputs} to {most} inputs, {len(node.inputs)} are given"
        )
    if not schema.min_outputs <= outputs <= schema.max_outputs:
        raise ModelError(
            f"{label} has {schema.min_outputs} to {schema.max_outputs} outputs, {outputs} are named"
        )
    _check_attributes(node, schema, label)
    _check_dtypes(node, schema, label)


def _check_attributes(node: Node, schema: NodeSchema, label: str) -> None:
    for name, value in node.attributes.items():
        formal = schema.attributes.get(name)
        if formal is None:
            known = ", ".join(schema.attributes) or "none"
            raise ModelError(f"{label} has no attribute {name!r}; it has {known}")
        if not _fits(value, formal.kind):
            raise ModelError(
                f"attribute {name!r} of {label} has to be of kind {formal.kind}, "
                f"it is a {type(value).__name__}"
            )
    for name, formal in schema.attributes.items():
        if formal.required and name not in node.attributes:
            raise ModelError(f"{label} needs the attribute {name!r}")


_PYTHON_KINDS: dict[str, type | tuple[type, ...]] = {
    "i": int,
    "f": float,
    "s": (str, bytes),
    "t": np.ndarray,
    "sparse_tensor": np.ndarray,
    "g": Graph,
    "type": str,
}


def _fits(value: Attribute, kind: str) -> bool:
    single = _PYTHON_KINDS.get(kind)
    if single is not None:
        return isinstance(value, single)
    item = _PYTHON_KINDS.get({"tensors": "t", "graphs": "g"}.get(kind, kind[:1]), object)
    return isinstance(value, list) and all(isinstance(entry, item) for entry in value)


def _check_dtypes(node: Node, schema: NodeSchema, label: str) -> None:
    bound: dict[str, tuple[np.dtype, str]] = {}
    for index, value in enumerate(node.inputs):
        formal = schema.input(index)
        if value is None or value.dtype is None or formal is None:
            continue
        if value.dtype not in formal.dtypes:
            raise ModelError(
                f"input {index} of {label}, {value.name!r}, is {value.dtype}, "
                "which is not allowed there"
            )
        if formal.variadic and not formal.homogeneous:
            continue
        if dtype_of_type(formal.type_text) is not None:
            continue
        dtype, name = bound.setdefault(formal.type_text, (value.dtype, value.name))
        if dtype != value.dtype:
            raise ModelError(
                f"inputs {name!r} and {value.name!r} of {label} have to be of one dtype, "
                f"they are {dtype} and {value.dtype}"
            )


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


_SIMPLE: dict[int, Callable[[AttributeProto], Any]] = {
    AttributeProto.INT: lambda proto: proto.i,
    AttributeProto.FLOAT: lambda proto: proto.f,
    AttributeProto.STRING: lambda proto: _text(proto.s),
    AttributeProto.INTS: lambda proto: list(proto.ints),
    AttributeProto.FLOATS: lambda proto: list(proto.floats),
    AttributeProto.STRINGS: lambda proto: [_text(item) for item in proto.strings],
}


def _guessed_kind(proto: AttributeProto) -> int:
    """The type of an attribute of the first IR versions, which did not write it."""
    for name, kind in (
        ("f", AttributeProto.FLOAT),
        ("i", AttributeProto.INT),
        ("s", AttributeProto.STRING),
        ("t", AttributeProto.TENSOR),
        ("g", AttributeProto.GRAPH),
    ):
        if proto.HasField(name):
            return kind
    for name, kind in (("floats", AttributeProto.FLOATS), ("strings", AttributeProto.STRINGS)):
        if getattr(proto, name):
            return kind
    return AttributeProto.INTS


def _overload(proto: NodeProto | FunctionProto) -> str:
    return getattr(proto, "overload", "")


_CELL = re.compile(r"In\[(\d+)\]:(\d+)")
_PLACE = re.compile(r"(.*):(\d+)", re.DOTALL)


def _origin(metadata: dict[str, str]) -> Origin | None:
    """The origin that the writer left in ``metadata``; its keys are taken out."""
    place = metadata.pop("onemodel.place", "")
    function = metadata.pop("onemodel.function", "")
    source = metadata.pop("onemodel.source", "")
    operator = metadata.pop("onemodel.operator", "")
    number = metadata.pop("onemodel.record", "")
    scope = metadata.pop("namespace", "")
    if not (place or operator or number or scope):
        return None
    record = int(number) if number.isdigit() and len(number) < 18 else None
    return Origin(_site(place, function, source), scope, operator, record)


def _site(place: str, function: str, source: str) -> CallSite | None:
    cell = _CELL.fullmatch(place)
    if cell:
        line = int(cell[2][:9])
        return CallSite("", line, line, None, None, function, source, int(cell[1][:9]))
    plain = _PLACE.fullmatch(place)
    if plain is None:
        return None
    line = int(plain[2][:9])
    return CallSite(plain[1], line, line, None, None, function, source)
