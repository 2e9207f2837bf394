"""GraphContext: what a symbolic function writes nodes with.

Every node is checked against ``onnx.defs`` at the target opset when it is written: it must
exist there, take that many operands of those dtypes, and have those attributes. A fault is an
:class:`EmissionError` naming the symbolic function; the tracer adds the user's call.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from onemodel.axes.extent import Axes, Extent, as_extent
from onemodel.graph.ir import Graph, Node, Origin, Value
from onemodel.graph.schema import NEWEST_OPSET, NodeSchema, schema_for
from onemodel.symbolic import sizes
from onemodel.symbolic.helpers import squeeze
from onemodel.symbolic.registry import Overrides, Registration, SymbolicRegistry

_SUFFIXES = {"i", "f", "s", "t", "g"}


class EmissionError(Exception):
    """A node that ONNX does not have in this form at the target opset.

    ``lowest`` is the lowest opset at which it exists, where the opset is the reason.
    """

    def __init__(self, message: str, lowest: int | None = None, fault: bool = True) -> None:
        super().__init__(message)
        self.lowest = lowest
        self.fault = fault


@dataclass
class Writer:
    """Where nodes and constants of one graph go, and what is known of its sizes.

    ``sources`` maps a symbolic extent to a (value, axis) that carries it, ``shaped`` all axes
    to a value that has them. ``size_values`` and ``memo`` hold what is written already.
    """

    graph: Graph
    registry: SymbolicRegistry
    opset: int
    overrides: Overrides | None = None
    names: set[str] = field(default_factory=set)
    sources: dict[Extent, tuple[Value, int]] = field(default_factory=dict)
    constants: dict[Any, Value] = field(default_factory=dict)
    shaped: dict[Axes, Value] = field(default_factory=dict)
    size_values: dict[Extent, Value] = field(default_factory=dict)
    memo: dict[Hashable, Value] = field(default_factory=dict)
    views: dict[str, int] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    checked: dict[Any, Any] = field(default_factory=dict)
    learned: Axes = ()

    def unique(self, wanted: str) -> str:
        """``wanted``, with a number behind it where it is taken."""
        if wanted not in self.names:
            self.names.add(wanted)
            return wanted
        count = self.counters.get(wanted, 0)
        while True:
            count += 1
            name = f"{wanted}_{count}"
            if name not in self.names:
                self.counters[wanted] = count
                self.names.add(name)
                return name

    def initializer(self, array: np.ndarray, name: str) -> Value:
        """A new constant with its own name."""
        value = Value(self.unique(name), array.dtype, tuple(array.shape))
        self.graph.initializers[value] = array
        return value

    def view_name(self, name: str) -> str:
        """A name for the next view of the constant ``name``."""
        count = self.views.get(name, 0)
        self.views[name] = count + 1
        return f"{name}.view_{count}"

    def learn(self, value: Value, axes: Axes) -> None:
        """Remember which sizes can be read from ``value``."""
        if axes is self.learned:  # of one element-wise operator after the other
            return
        self.learned = axes
        symbolic = False
        for axis, extent in enumerate(axes):
            if not extent.is_static:
                symbolic = True
                self.sources.setdefault(extent, (value, axis))
        if symbolic:
            self.shaped.setdefault(tuple(axes), value)


@dataclass
class GraphContext:
    """The first argument of every symbolic function.

    Attributes:
        graph: the graph under construction. opset: the target.
        original_record: the eager record being written (None inside ``call`` of a user).
        result_axes, result_dtypes: what eager computed, per result.
        env: eager values -> graph values. params: named weights by name.
        new_nodes: every node written through this context, in order.
    """

    writer: Writer
    registration: Registration
    origin: Origin
    result_axes: tuple[Axes, ...]
    result_dtypes: tuple[np.dtype, ...]
    original_record: Any = None
    env: Mapping[Any, Value] = field(default_factory=dict)
    params: Mapping[str, Value] = field(default_factory=dict)
    new_nodes: list[Node] = field(default_factory=list)
    scope: str = ""

    @property
    def graph(self) -> Graph:
        return self.writer.graph

    @property
    def opset(self) -> int:
        return self.writer.opset

    # --- nodes ----------------------------------------------------------------------------

    def op(
        self,
        op_type: str,
        *inputs: Value | np.ndarray | None,
        outputs: int = 1,
        domain: str = "",
        **attributes: Any,
    ) -> Any:
        """Write one node; its output Value, or a tuple of them where ``outputs`` > 1.

        Attributes may carry PyTorch's suffixes (``axis_i``, ``alpha_f``, ``mode_s``,
        ``value_t``) or be plain, typed from the schema; None leaves one out. ``"domain::Op"``
        is taken for a node of another domain. Raises EmissionError.
        """
        if "::" in op_type:
            domain, op_type = op_type.split("::", 1)
            domain = "" if domain == "onnx" else domain
        values = [self.constant(v) if isinstance(v, np.ndarray) else v for v in inputs]
        while values and values[-1] is None:
            values.pop()
        typed, dtypes = self._checked(op_type, domain, values, attributes, outputs)
        stem = f"{self.scope}/{op_type}" if self.scope else op_type
        name = self.writer.unique(stem)
        results = [
            Value(self.writer.unique(f"{name}_output" if outputs == 1 else f"{name}_output{i}"), d)
            for i, d in enumerate(dtypes)
        ]
        node = Node(op_type, values, results, typed, domain, name, self.origin)
        for result in results:
            result.producer = node
        if domain and domain not in self.graph.opsets:
            self.graph.opsets[domain] = 1
        self.graph.nodes.append(node)
        self.new_nodes.append(node)
        return results[0] if outputs == 1 else tuple(results)

    def call(self, name: str, *inputs: Any, **attributes: Any) -> Any:
        """Write another operator through the registry, so that overrides hold inside, too.

        Inputs may be positional in the operator's own order. Raises EmissionError where the
        operator cannot be written at this opset.
        """
        found = self.writer.registry.find(name, self.opset, self.writer.overrides)
        if found is None:
            lowest = self.writer.registry.lowest(name)
            raise EmissionError(
                f"{name} has no symbolic function at opset {self.opset}", lowest, fault=False
            )
        parameters = self.writer.registry.parameters(name) or ()
        bound = dict(zip(parameters, inputs, strict=False)) | attributes
        inner = GraphContext(
            self.writer,
            found,
            self.origin,
            (),
            (),
            self.original_record,
            self.env,
            self.params,
            self.new_nodes,
            self.scope,
        )
        return found.write(inner, bound)

    def refuse_below(self, opset: int, what: str) -> None:
        """Raise where the target is older than ``opset``, which ``what`` needs."""
        if self.opset < opset:
            raise EmissionError(
                f"{what} needs opset {opset}, the target is {self.opset}", opset, fault=False
            )

    def unsupported(self, message: str, lowest: int | None = None) -> EmissionError:
        """An error to raise: this call cannot be written (``lowest``: from which opset it can)."""
        return EmissionError(message, lowest, fault=False)

    def fault(self, message: str) -> EmissionError:
        """An error to raise: the symbolic function asks for what cannot be."""
        return EmissionError(message)

    # --- constants and sizes --------------------------------------------------------------

    def constant(self, data: Any, dtype: Any = None) -> Value:
        """An initializer holding ``data``; equal constants are written once."""
        array = np.asarray(data, dtype)
        if array.dtype == np.float64 and dtype is None and not isinstance(data, np.ndarray):
            array = array.astype(np.float32)
        array = np.ascontiguousarray(array).reshape(array.shape)
        key = (array.dtype, array.shape, array.tobytes())
        found = self.writer.constants.get(key)
        if found is None:
            found = self.writer.constants[key] = self.writer.initializer(array, "constant")
        return found

    def like(self, number: Any, value: Value) -> Value:
        """A number as a 0-d constant of ``value``'s dtype."""
        if value.dtype is None:
            raise EmissionError(f"the dtype of {value.name} is not known")
        return self.constant(np.asarray(number).astype(value.dtype))

    def ints(self, numbers: Sequence[int]) -> Value:
        """A 1-D int64 constant."""
        return self.constant(np.asarray(list(numbers), np.int64))

    def array(self, value: Value | None) -> np.ndarray | None:
        """The array of a constant value, or None where it is computed."""
        return None if value is None else self.graph.initializers.get(value)

    def cast(self, value: Value, dtype: Any) -> Value:
        """``value`` in ``dtype``; nothing is written where it has it already."""
        from_onnx = np.dtype(dtype)
        if value.dtype == from_onnx:
            return value
        known = self.array(value)
        if known is not None and known.ndim == 0:
            return self.constant(known.astype(from_onnx))
        return self.op("Cast", value, to=element_type(from_onnx))

    def view(self, value: Value, array: np.ndarray, *how: Any) -> Value:
        """A constant made of the constant ``value``: ``array``, ``how`` tells views apart.

        It is named ``<name>.view_<n>``, as another view of a weight in the user's code is.
        """
        key = ("view", value, *how)
        found = self.writer.memo.get(key)
        if found is None:
            name = self.writer.view_name(value.name)
            found = self.writer.memo[key] = self.writer.initializer(array, name)
        return found

    def once(self, key: Hashable, write: Callable[[], Value]) -> Value:
        """What ``write`` writes, the same value for each later call with ``key``.

        For subgraphs of sizes and constants alone, which do not belong to one call.
        """
        found = self.writer.memo.get(key)
        if found is None:
            found = self.writer.memo[key] = write()
        return found

    def sizes(self, dims: Sequence[int | Extent], minus_one: bool = False) -> Value:
        """A 1-D int64 operand holding ``dims``.

        All constant: an initializer. With ``minus_one`` (Reshape), exactly one symbolic size:
        a constant with one -1. Otherwise Shape, Mul, Add ... joined by Concat, each one once.
        """
        extents = tuple(as_extent(d) for d in dims)
        symbolic = sum(not e.is_static for e in extents)
        if not symbolic:
            return self.ints([e.value for e in extents])
        if minus_one and symbolic == 1 and not any(e == 0 for e in extents):
            return self.ints([e.value if e.is_static else -1 for e in extents])
        return self.once(("sizes", extents), lambda: sizes.vector(self, extents))

    def size(self, extent: int | Extent) -> Value:
        """A 1-D int64 operand of one element: the size ``extent``, read or computed."""
        extent = as_extent(extent)
        return self.ints([extent.value]) if extent.is_static else sizes.one(self, extent)

    def scalar(self, extent: int | Extent) -> Value:
        """The size ``extent`` as a 0-d int64 operand."""
        extent = as_extent(extent)
        if extent.is_static:
            return self.constant(np.asarray(extent.value, np.int64))
        return self.once(("scalar", extent), lambda: squeeze(self, self.size(extent), [0]))

    def accepts(self, op_type: str, dtype: Any, position: int = 0) -> bool:
        """Whether the node type takes ``dtype`` at the target opset."""
        return _accepts(op_type, self.opset, np.dtype(dtype), position)

    # --- checks ---------------------------------------------------------------------------

    def _checked(
        self,
        op_type: str,
        domain: str,
        values: Sequence[Value | None],
        attributes: Mapping[str, Any],
        outputs: int,
    ) -> tuple[dict[str, Any], Sequence[np.dtype | None]]:
        """Typed attributes and output dtypes; equal nodes are checked once per graph."""
        operands = tuple(None if v is None else v.dtype for v in values)
        key = _cache_key(op_type, domain, operands, attributes, outputs)
        known = self.writer.checked.get(key) if key is not None else None
        if known is None:
            schema = self._schema(op_type, domain)
            typed = self._attributes(schema, op_type, attributes)
            known = typed, self._check(schema, op_type, domain, values, typed, outputs)
            if key is not None:
                self.writer.checked[key] = known
        return dict(known[0]), known[1]

    def _schema(self, op_type: str, domain: str) -> NodeSchema | None:
        if domain:
            return schema_for(op_type, self.graph.opsets.get(domain, 1), domain)
        schema = schema_for(op_type, self.opset)
        if schema is None:
            lowest = lowest_opset(op_type)
            if lowest is None:
                raise EmissionError(
                    f"{self.registration.label} writes a node {op_type}, which ONNX does not have"
                )
            if lowest <= self.opset:
                raise EmissionError(
                    f"{self.registration.label} writes a node {op_type}, "
                    f"which opset {self.opset} has given up"
                )
            raise EmissionError(
                f"{op_type} exists from opset {lowest} on, the target is {self.opset}",
                lowest,
                fault=False,
            )
        return schema

    def _attributes(
        self, schema: NodeSchema | None, op_type: str, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        typed: dict[str, Any] = {}
        for key in sorted(given):
            raw = given[key]
            if raw is None:
                continue
            name, kind = self._attribute_name(schema, op_type, key)
            typed[name] = self._attribute_value(op_type, name, kind, raw)
        if schema is not None:
            for name, attribute in schema.attributes.items():
                if attribute.required and name not in typed:
                    raise EmissionError(
                        f"{self.registration.label} writes {op_type} without its attribute {name}"
                    )
        return typed

    def _attribute_name(self, schema: NodeSchema | None, op_type: str, key: str) -> tuple[str, str]:
        if schema is not None and key in schema.attributes:
            return key, schema.attributes[key].kind
        stem, _, suffix = key.rpartition("_")
        if stem and suffix in _SUFFIXES:
            if schema is None:
                return stem, suffix
            if stem in schema.attributes:
                return stem, schema.attributes[stem].kind
        if schema is None:
            return key, ""
        known = ", ".join(sorted(schema.attributes)) or "none"
        raise EmissionError(
            f"{self.registration.label} gives {op_type} an attribute {key}, which it does not "
            f"have at opset {self.opset} (it has {known})"
        )

    def _attribute_value(self, op_type: str, name: str, kind: str, raw: Any) -> Any:
        try:
            return _KINDS[kind](raw) if kind in _KINDS else raw
        except (TypeError, ValueError):
            raise EmissionError(
                f"{self.registration.label} gives {op_type} the attribute {name} as "
                f"{type(raw).__name__}, expected kind {kind}"
            ) from None

    def _check(
        self,
        schema: NodeSchema | None,
        op_type: str,
        domain: str,
        values: Sequence[Value | None],
        attributes: Mapping[str, Any],
        outputs: int,
    ) -> Sequence[np.dtype | None]:
        if schema is None:
            return [None] * outputs
        if not schema.min_inputs <= len(values) <= schema.max_inputs:
            raise EmissionError(
                f"{self.registration.label} gives {op_type} {len(values)} inputs, at opset "
                f"{self.opset} it takes {schema.min_inputs} to {schema.max_inputs}"
            )
        if not schema.min_outputs <= outputs <= schema.max_outputs:
            raise EmissionError(
                f"{self.registration.label} asks {op_type} for {outputs} outputs, at opset "
                f"{self.opset} it has {schema.min_outputs} to {schema.max_outputs}"
            )
        for position, value in enumerate(values):
            allowed = schema.input_dtypes(position)
            if value is None or value.dtype is None or not allowed or value.dtype in allowed:
                continue
            raise EmissionError(
                f"{op_type} does not take {value.dtype} as input {position} at opset {self.opset}",
                _lowest_for_dtype(op_type, position, value.dtype, self.opset),
                fault=False,
            )
        return schema.infer_output_dtypes(
            [None if v is None else v.dtype for v in values], attributes, outputs
        )


@lru_cache(maxsize=4096)
def _accepts(op_type: str, opset: int, dtype: np.dtype, position: int) -> bool:
    schema = schema_for(op_type, opset)
    return schema is not None and dtype in schema.input_dtypes(position)


def _cache_key(
    op_type: str,
    domain: str,
    operands: tuple[np.dtype | None, ...],
    attributes: Mapping[str, Any],
    outputs: int,
) -> Any:
    """What decides whether a node is right; None where an attribute cannot be compared."""
    parts: list[Any] = [op_type, domain, operands, outputs]
    for name, value in attributes.items():
        kind = type(value)
        if kind is list or kind is tuple:
            if any(type(item) is not int for item in value):
                return None
            value = (kind, *value)
        elif kind not in (int, float, str, bool, type(None)):
            return None
        parts.append((name, value))
    return tuple(parts)


def lowest_opset(op_type: str) -> int | None:
    """The first opset that has the node type, or None."""
    return next((v for v in range(1, NEWEST_OPSET + 1) if schema_for(op_type, v)), None)


def _lowest_for_dtype(op_type: str, position: int, dtype: np.dtype, above: int) -> int | None:
    for version in range(above + 1, NEWEST_OPSET + 1):
        schema = schema_for(op_type, version)
        if schema is not None and dtype in schema.input_dtypes(position):
            return version
    return None


def _sequence(convert: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    def apply(raw: Any) -> list[Any]:
        if isinstance(raw, (str, bytes)) or not hasattr(raw, "__iter__"):
            raise TypeError
        return [convert(item) for item in raw]

    return apply


def _integer(raw: Any) -> int:
    if isinstance(raw, float) and not raw.is_integer():
        raise ValueError
    return int(raw)


def _text(raw: Any) -> str:
    if not isinstance(raw, (str, bytes)):
        raise TypeError
    return raw.decode() if isinstance(raw, bytes) else raw


_KINDS: dict[str, Callable[[Any], Any]] = {
    "i": _integer,
    "f": float,
    "s": _text,
    "t": np.asarray,
    "ints": _sequence(_integer),
    "floats": _sequence(float),
    "strings": _sequence(_text),
}

_ELEMENT_TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
    "bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14,
    "complex128": 15, "bfloat16": 16,
}  # fmt: skip


def element_type(dtype: Any) -> int:
    """ONNX's number of a dtype (``TensorProto.FLOAT`` is 1)."""
    return _ELEMENT_TYPES[np.dtype(dtype).name]


def iterate(values: Any) -> Iterator[Value]:
    """The values of a symbolic function's answer: one, or several."""
    if isinstance(values, (tuple, list)):
        yield from values
    else:
        yield values
