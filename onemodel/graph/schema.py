"""A thin, cached face of ``onnx.defs``: what a node of a given opset may look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import numpy as np
import onnx

from onemodel.graph.dtypes import dtype_of_element, dtype_of_type

NEWEST_OPSET: int = onnx.defs.onnx_opset_version()
"""The newest version of the standard domain that the installed ``onnx`` knows."""

UNBOUNDED = 2**31 - 1
"""``max_inputs`` and ``max_outputs`` of a variadic node type."""

_KINDS = {
    "FLOAT": "f",
    "INT": "i",
    "STRING": "s",
    "TENSOR": "t",
    "GRAPH": "g",
    "FLOATS": "floats",
    "INTS": "ints",
    "STRINGS": "strings",
    "TENSORS": "tensors",
    "GRAPHS": "graphs",
    "SPARSE_TENSOR": "sparse_tensor",
    "SPARSE_TENSORS": "sparse_tensors",
    "TYPE_PROTO": "type",
    "TYPE_PROTOS": "types",
}

# Attributes that choose an output's element type where no input does.
_DTYPE_ATTRIBUTES = ("to", "dtype", "output_dtype", "output_datatype")


@dataclass(frozen=True)
class AttributeSchema:
    """``kind`` is i, f, s, t, g, ints, floats, strings, tensors, graphs, type, ..."""

    name: str
    kind: str
    required: bool
    default: Any = None


@dataclass(frozen=True)
class ParameterSchema:
    """A formal input or output.

    ``type_text`` is a type variable (``T``) or a fixed type (``tensor(int64)``);
    ``types`` every type it admits; ``dtypes`` the tensor dtypes among them.
    """

    name: str
    type_text: str
    types: frozenset[str]
    dtypes: frozenset[np.dtype]
    optional: bool
    variadic: bool
    homogeneous: bool


@dataclass(frozen=True)
class NodeSchema:
    """What ``onnx.defs`` says of a node type at an opset. Compare ``since_version``."""

    op_type: str
    domain: str
    since_version: int
    min_inputs: int
    max_inputs: int
    min_outputs: int
    max_outputs: int
    inputs: tuple[ParameterSchema, ...]
    outputs: tuple[ParameterSchema, ...]
    attributes: Mapping[str, AttributeSchema] = field(compare=False)
    deprecated: bool = False
    deterministic: bool = True

    def input(self, index: int) -> ParameterSchema | None:
        """The formal input at ``index``; the last one repeats where it is variadic."""
        return _formal(self.inputs, index)

    def output(self, index: int) -> ParameterSchema | None:
        """The formal output at ``index``; the last one repeats where it is variadic."""
        return _formal(self.outputs, index)

    def input_dtypes(self, index: int) -> frozenset[np.dtype]:
        """Tensor dtypes allowed at input ``index``; empty where it takes no tensor."""
        formal = self.input(index)
        return frozenset() if formal is None else formal.dtypes

    def infer_output_dtypes(
        self,
        input_dtypes: Sequence[np.dtype | None],
        attributes: Mapping[str, Any],
        count: int | None = None,
    ) -> list[np.dtype | None]:
        """Dtypes of the outputs, None where the schema does not settle one.

        Args:
            input_dtypes: per input; None where omitted or unknown.
            attributes: the node's attributes, as in :class:`onemodel.graph.ir.Node`.
            count: number of outputs the node has (default: all that are declared).
        """
        bound: dict[str, np.dtype] = {}
        for index, dtype in enumerate(input_dtypes):
            formal = self.input(index)
            if dtype is not None and formal is not None and dtype in formal.dtypes:
                bound.setdefault(formal.type_text, dtype)
        total = len(self.outputs) if count is None else count
        return [self._output_dtype(index, bound, attributes) for index in range(total)]

    def _output_dtype(
        self, index: int, bound: Mapping[str, np.dtype], attributes: Mapping[str, Any]
    ) -> np.dtype | None:
        formal = self.output(index)
        if formal is None or not formal.dtypes or "g" in {a.kind for a in self.attributes.values()}:
            return None
        if self.op_type == "Constant" and not self.domain:
            return _constant_dtype(attributes)
        named = self._named_dtype(attributes)
        # EyeLike and *Like follow their input only where no attribute says otherwise.
        free = formal.type_text not in bound or self._explicit(attributes)
        if named is not None and named in formal.dtypes and free:
            return named
        if formal.type_text in bound:
            return bound[formal.type_text]
        if len(formal.types) == 1:
            return next(iter(formal.dtypes))
        if self.op_type == "ConstantOfShape" and not self.domain:
            value = attributes.get("value")
            return value.dtype if isinstance(value, np.ndarray) else np.dtype(np.float32)
        if "dtype" in self.attributes and bound:
            return next(iter(bound.values()))
        return None

    def _explicit(self, attributes: Mapping[str, Any]) -> bool:
        return any(attributes.get(name) for name in _DTYPE_ATTRIBUTES if name in self.attributes)

    def _named_dtype(self, attributes: Mapping[str, Any]) -> np.dtype | None:
        for name in (*_DTYPE_ATTRIBUTES, "stash_type"):
            schema = self.attributes.get(name)
            if schema is None or schema.kind != "i":
                continue
            element = attributes.get(name, schema.default)
            if isinstance(element, int) and element:
                return dtype_of_element(element)
        return None


def _formal(formals: tuple[ParameterSchema, ...], index: int) -> ParameterSchema | None:
    if index < len(formals):
        return formals[index]
    return formals[-1] if formals and formals[-1].variadic else None


def _constant_dtype(attributes: Mapping[str, Any]) -> np.dtype | None:
    value = attributes.get("value")
    if isinstance(value, np.ndarray):
        return value.dtype
    for prefix, dtype in (("value_float", np.float32), ("value_int", np.int64)):
        if prefix in attributes or prefix + "s" in attributes:
            return np.dtype(dtype)
    if "value_string" in attributes or "value_strings" in attributes:
        return np.dtype(object)
    return None


def normal_domain(domain: str) -> str:
    """``""`` for both spellings of the standard domain."""
    return "" if domain == "ai.onnx" else domain


@lru_cache(maxsize=4096)
def schema_for(
    op_type: str, opset: int, domain: str = "", *, deprecated: bool = False
) -> NodeSchema | None:
    """The schema in force for ``op_type`` at version ``opset`` of ``domain``, or None.

    None also where the node type is deprecated at that opset (``Upsample`` at 10), unless
    ``deprecated`` asks for those too.
    """
    try:
        schema = onnx.defs.get_schema(op_type, opset, normal_domain(domain))
    except onnx.defs.SchemaError:
        return None
    if schema.deprecated and not deprecated:
        return None
    return _convert(schema)


def known_op_types(domain: str = "") -> frozenset[str]:
    """Names of every node type that any version of ``domain`` has."""
    return _names().get(normal_domain(domain), frozenset())


@cache
def _names() -> dict[str, frozenset[str]]:
    names: dict[str, set[str]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        names.setdefault(schema.domain, set()).add(schema.name)
    return {domain: frozenset(ops) for domain, ops in names.items()}


def _convert(schema: onnx.defs.OpSchema) -> NodeSchema:
    return NodeSchema(
        op_type=schema.name,
        domain=schema.domain,
        since_version=schema.since_version,
        min_inputs=schema.min_input,
        max_inputs=schema.max_input,
        min_outputs=schema.min_output,
        max_outputs=schema.max_output,
        inputs=tuple(_parameter(p) for p in schema.inputs),
        outputs=tuple(_parameter(p) for p in schema.outputs),
        attributes={name: _attribute(a) for name, a in sorted(schema.attributes.items())},
        deprecated=schema.deprecated,
        deterministic=_deterministic(schema),
    )


def _deterministic(schema: onnx.defs.OpSchema) -> bool:
    determinism = schema.node_determinism  # type: ignore[attr-defined]  # absent from its stubs
    return determinism != onnx.defs.OpSchema.NodeDeterminism.NonDeterministic


def _parameter(parameter: onnx.defs.OpSchema.FormalParameter) -> ParameterSchema:
    option = onnx.defs.OpSchema.FormalParameterOption
    types = frozenset(parameter.types)
    return ParameterSchema(
        name=parameter.name,
        type_text=parameter.type_str,
        types=types,
        dtypes=frozenset(d for d in map(dtype_of_type, types) if d is not None),
        optional=parameter.option == option.Optional,
        variadic=parameter.option == option.Variadic,
        homogeneous=parameter.is_homogeneous,
    )


def _attribute(attribute: onnx.defs.OpSchema.Attribute) -> AttributeSchema:
    kind = _KINDS.get(attribute.type.name, "")  # type: ignore[attr-defined]
    default = None
    if attribute.default_value.name:
        default = onnx.helper.get_attribute_value(attribute.default_value)
        if isinstance(default, bytes):
            default = default.decode("utf-8")
        elif kind in ("ints", "floats", "strings"):
            default = [item.decode() if isinstance(item, bytes) else item for item in default]
    return AttributeSchema(attribute.name, kind, attribute.required, default)
