"""Short words for attributes, constants, shapes and nodes, as labels and inspectors show them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from onemodel.graph.ir import Attribute, Graph, Node, Shape, Value, format_shape
from onemodel_widgets.views.names import clean, shorten

MAX_LABEL = 34
"""Longest line in a box, in characters."""

_PREVIEW = 6
_ELEMENT_TYPES = """
    undefined float32 uint8 int8 uint16 int16 int32 int64 string bool float16 float64 uint32
    uint64 complex64 complex128 bfloat16
""".split()  # noqa: SIM905
"""ONNX element types by their number."""


def shape_text(shape: Shape, limit: int = 60) -> str:
    """``[batch, 3]``, cleaned and capped."""
    return shorten(format_shape(shape), limit)


def type_text(value: Value) -> str:
    """``float32[batch, 3]``: dtype and shape, or the ONNX type where it is no tensor."""
    if value.type_text:
        return shorten(value.type_text, 60)
    dtype = "?" if value.dtype is None else str(value.dtype)
    return f"{dtype}{shape_text(value.shape)}"


def number(value: object) -> str:
    """A number in at most about seven characters."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    try:
        return f"{float(value):.5g}"  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return shorten(str(value), 20)


def array_text(array: np.ndarray, preview: int = _PREVIEW) -> str:
    """What an array is; its elements too where there are few."""
    if array.ndim == 0:
        return number(array[()])
    if array.ndim == 1 and array.size <= preview:
        return "[" + ", ".join(number(item) for item in array.tolist()) + "]"
    return f"{array.dtype}[{', '.join(str(size) for size in array.shape)}]"


def attribute_text(value: Attribute) -> str:
    """An attribute for the inspector: numbers in full up to a dozen, arrays by size."""
    if isinstance(value, Graph):
        return f"graph of {len(value.nodes)} nodes"
    if isinstance(value, np.ndarray):
        return array_text(value, preview=12)
    if isinstance(value, bytes):
        return shorten(value[:200].decode("utf-8", errors="replace"), 80)
    if isinstance(value, str):
        return shorten(value, 120)
    if isinstance(value, list):
        shown = ", ".join(attribute_text(item) for item in value[:12])
        more = f", \N{HORIZONTAL ELLIPSIS} {len(value)} in all" if len(value) > 12 else ""
        return f"[{shown}{more}]"
    return number(value)


def operator_title(node: Node) -> str:
    """``Conv``, or ``com.microsoft Gelu`` outside the standard domain."""
    name = shorten(node.op_type, 28)
    if node.domain in ("", "ai.onnx"):
        return name
    return f"{shorten(node.domain, 16)} {name}"


def attribute_summary(node: Node) -> str:
    """The one or two attributes that tell nodes of a type apart: ``3x3 /2``, ``axis 1``."""
    attributes = node.attributes
    parts: list[str] = []
    kernel = attributes.get("kernel_shape")
    if isinstance(kernel, list) and kernel:
        parts.append("\N{MULTIPLICATION SIGN}".join(number(size) for size in kernel))
        strides = attributes.get("strides")
        if isinstance(strides, list) and any(stride != 1 for stride in strides):
            same = len(set(map(number, strides))) == 1
            parts.append("/" + (number(strides[0]) if same else attribute_text(strides)))
    group = attributes.get("group")
    if isinstance(group, int) and group > 1:
        parts.append(f"groups {group}")
    for name in ("axis", "perm", "axes", "to", "equation", "hidden_size", "epsilon", "alpha"):
        value = attributes.get(name)
        if value is None or len(parts) >= 2:
            continue
        if name in ("epsilon", "alpha") and (parts or node.op_type == "Gemm"):
            continue
        parts.append(f"{name} {_element_type(name, value)}")
    return shorten("  ".join(parts), MAX_LABEL)


def _element_type(name: str, value: Attribute) -> str:
    if name == "to" and isinstance(value, int) and 0 <= value < len(_ELEMENT_TYPES):
        return _ELEMENT_TYPES[value]
    return attribute_text(value)


def constant_text(value: Value, arrays: Mapping[Value, np.ndarray]) -> str:
    """``weight [32, 1, 3, 3]``; a scalar or a short vector shows its numbers.

    What is computed from constants is called by the first of them.
    """
    array = arrays.get(value)
    root = _root(value, arrays)
    name = clean(root.name)
    short = name.rsplit("/", 1)[-1].rsplit(".", 1)[-1] or name
    producer = value.producer
    if producer is not None and producer.op_type == "Identity":
        array = arrays.get(root)
    elif root is not value and value.shape is None and root in arrays:
        how = operator_title(producer).lower() if producer is not None else "computed"
        return f"{how} of {shorten(short, 16)}"
    if array is not None and (array.ndim == 0 or (array.ndim == 1 and array.size <= 4)):
        return array_text(array)
    shape = array.shape if array is not None else value.shape
    return f"{shorten(short, 16)} {shape_text(shape, 24)}"


def _root(value: Value, arrays: Mapping[Value, np.ndarray]) -> Value:
    """The constant that ``value`` is, or was first computed from."""
    current = value
    for _ in range(100):
        producer = current.producer
        operands = [] if producer is None else [v for v in producer.inputs if v is not None]
        if current in arrays or not operands:
            break
        current = operands[0]
    return current
