"""A stable printed form of a graph: one line per value, the same on every machine.

Golden files compare it, so nothing here depends on hashes, addresses or set order.
Small whole-number constants are shown (they are shapes and axes); of all other
constants only dtype and shape.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onemodel.graph.ir import Attribute, Graph, Node, Value, format_shape

_SHOWN = 8
"""Constants and attribute lists up to this many elements are written out."""


def to_text(graph: Graph, *, origins: bool = False) -> str:
    """``graph`` as text, ending in a newline.

    Args:
        graph: any graph; subgraphs are printed indented below their node.
        origins: also write each node's place in the user's source and its scope.
    """
    return "\n".join(_graph_lines(graph, "", origins)) + "\n"


def _graph_lines(graph: Graph, indent: str, origins: bool) -> Iterator[str]:
    opsets = ", ".join(f"{domain or 'ai.onnx'} {v}" for domain, v in sorted(graph.opsets.items()))
    yield f"{indent}graph {quote(graph.name)}" + (f" ({opsets})" if opsets else "") + " {"
    inner = indent + "  "
    fed = set(graph.inputs)
    for value in graph.inputs:
        default = graph.initializers.get(value)
        yield f"{inner}input {_typed(value)}" + ("" if default is None else f" = {_array(default)}")
    for value, array in graph.initializers.items():
        if value not in fed:
            yield f"{inner}constant {_typed(value)} = {_array(array)}"
    for node in graph.nodes:
        yield from _node_lines(node, inner, origins)
    yield f"{inner}return " + ", ".join(name_of(value) for value in graph.outputs)
    yield indent + "}"


def _node_lines(node: Node, indent: str, origins: bool) -> Iterator[str]:
    left = ", ".join(_typed(value) if value.name else "_" for value in node.outputs)
    right = ", ".join("_" if value is None else name_of(value) for value in node.inputs)
    bodies: list[tuple[str, Graph]] = []
    shown = []
    for name in sorted(node.attributes):
        attribute = node.attributes[name]
        if isinstance(attribute, Graph):
            bodies.append((name, attribute))
        elif isinstance(attribute, list) and attribute and isinstance(attribute[0], Graph):
            bodies.extend((f"{name}[{i}]", g) for i, g in enumerate(attribute))  # type: ignore
        else:
            shown.append(f"{name}={_attribute(attribute)}")
    operator = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    attributes = f"<{', '.join(shown)}>" if shown else ""
    yield f"{indent}{left} = {operator}{attributes}({right})" + _origin(node, origins)
    for name, body in bodies:
        yield f"{indent}  {name}:"
        yield from _graph_lines(body, indent + "    ", origins)


def _origin(node: Node, origins: bool) -> str:
    if not origins or node.origin is None:
        return ""
    parts = [node.origin.scope]
    if node.origin.site is not None:
        parts.append(node.origin.site.place)
    text = " ".join(part for part in parts if part)
    return f"  # {text}" if text else ""


def _typed(value: Value) -> str:
    if value.type_text:
        return f"{name_of(value)}: {value.type_text}"
    dtype = "?" if value.dtype is None else dtype_name(value.dtype)
    return f"{name_of(value)}: {dtype}{format_shape(value.shape)}"


def dtype_name(dtype: np.dtype) -> str:
    """``float32``; ``string`` for arrays of ``str``."""
    return "string" if dtype.kind in "OUS" else dtype.name


def name_of(value: Value) -> str:
    """``%name``, quoted where the name holds anything but letters, digits and ``_.-/:``."""
    if value.name and all(c.isascii() and (c.isalnum() or c in "_.-/:") for c in value.name):
        return f"%{value.name}"
    return "%" + quote(value.name)


def quote(text: str) -> str:
    """``text`` in double quotes with everything unprintable escaped."""
    body = text.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    return f'"{body}"'


def _array(array: np.ndarray) -> str:
    head = f"{dtype_name(array.dtype)}[{', '.join(map(str, array.shape))}]"
    if array.dtype.kind in "iub" and array.size <= _SHOWN:
        return f"{head} {array.tolist()}"
    return head


def _attribute(attribute: Attribute) -> str:
    if isinstance(attribute, np.ndarray):
        return _array(attribute)
    if isinstance(attribute, bool | int):
        return str(int(attribute))
    if isinstance(attribute, float):
        return repr(float(attribute))
    if isinstance(attribute, str):
        return quote(attribute)
    if isinstance(attribute, bytes):
        return f"bytes[{len(attribute)}]"
    if isinstance(attribute, list):
        if len(attribute) > _SHOWN:
            return f"[{len(attribute)} items]"
        return "[" + ", ".join(_attribute(item) for item in attribute) + "]"
    return type(attribute).__name__
