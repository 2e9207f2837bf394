"""Graph -> bytes: canonical JSON in the metadata of a safetensors file. Equal graphs, equal bytes.

Any safetensors tool can read the weights. Dtypes that safetensors has no name for are stored as
bytes; the graph's JSON knows what they are.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from onemodel.errors import CallSite
from onemodel.format.dims import dim_to_json
from onemodel.format.errors import KIND, MAJOR, MAX_DEPTH, MINOR, FormatError
from onemodel.graph.ir import Attribute, Graph, Node, Origin, Value
from onemodel.onnx_io.external import atomic_write

SAFETENSORS = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16",
    "uint32": "U32", "int32": "I32", "uint64": "U64", "int64": "I64", "float16": "F16",
    "bfloat16": "BF16", "float32": "F32", "float64": "F64",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}  # fmt: skip
"""Dtype name -> safetensors' own; all others are stored as U8."""


def save(graph: Graph, path: str | Path) -> None:
    """Write ``graph`` to ``path``, atomically: a temporary file beside it, renamed over it."""
    atomic_write(Path(path), list(_pieces(graph)))


def to_bytes(graph: Graph) -> bytes:
    """The whole file in memory."""
    return b"".join(_pieces(graph))


def _pieces(graph: Graph) -> Iterator[bytes | memoryview]:
    tensors = _Tensors()
    text = canonical(_graph(graph, tensors, 0))
    entries: dict[str, Any] = {}
    offset = 0
    for name, array in tensors.ordered():
        kind = SAFETENSORS.get(array.dtype.name)
        shape = list(array.shape) if kind else [array.nbytes]
        entries[name] = {
            "dtype": kind or "U8",
            "shape": shape,
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    digest = hashlib.sha256(text.encode("utf-8"))
    for _, array in tensors.ordered():
        digest.update(_raw(array))
    metadata = {
        "checksum": f"sha256:{digest.hexdigest()}",
        "format": KIND,
        "graph": text,
        "producer": "onemodel",
        "version": f"{MAJOR}.{MINOR}",
    }
    header = canonical({"__metadata__": metadata, **entries}).encode("utf-8")
    # Data begin at a multiple of 8, so that a map of the file can be used as it is.
    header += b" " * (-len(header) % 8)
    yield struct.pack("<Q", len(header))
    yield header
    for _, array in tensors.ordered():
        yield _raw(array)


def canonical(data: Any) -> str:
    """JSON in one spelling: sorted keys, no spaces, no NaN."""
    return json.dumps(
        data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def _raw(array: np.ndarray) -> memoryview:
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.uint8).data if flat.size else memoryview(b"")


class _Tensors:
    """Arrays by the name they have in the file."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def add(self, wanted: str, array: np.ndarray) -> str:
        name, count = wanted, 0
        while name in self._arrays or name == "__metadata__":
            count += 1
            name = f"{wanted}#{count}"
        self._arrays[name] = array
        return name

    def ordered(self) -> Iterator[tuple[str, np.ndarray]]:
        """Widest items first, then by name: every tensor is aligned to its own item size."""
        yield from sorted(self._arrays.items(), key=lambda item: (-item[1].itemsize, item[0]))


def _graph(graph: Graph, tensors: _Tensors, depth: int) -> dict[str, Any]:
    if depth > MAX_DEPTH:
        raise FormatError(f"graphs nest deeper than {MAX_DEPTH}", place=graph.name)
    return {
        "name": graph.name,
        "doc": graph.doc,
        "ir_version": graph.ir_version,
        "opsets": dict(graph.opsets),
        "metadata": dict(graph.metadata),
        "values": [_value(value) for value in graph.values()],
        "inputs": [value.name for value in graph.inputs],
        "outputs": [value.name for value in graph.outputs],
        "initializers": [
            {"name": value.name, **_tensor(array, value.name, tensors)}
            for value, array in graph.initializers.items()
        ],
        "nodes": [_node(node, tensors, depth) for node in graph.nodes],
    }


def _value(value: Value) -> dict[str, Any]:
    shape = None if value.shape is None else [dim_to_json(dim) for dim in value.shape]
    data: dict[str, Any] = {"name": value.name, "shape": shape}
    data["dtype"] = None if value.dtype is None else value.dtype.name
    if value.type_text:
        data["type"] = value.type_text
    return data


def _tensor(array: np.ndarray, wanted: str, tensors: _Tensors) -> dict[str, Any]:
    if array.dtype == object:
        texts = [_text(item) for item in array.reshape(-1)]
        return {"strings": texts, "shape": list(array.shape)}
    name = tensors.add(wanted, array)
    return {"tensor": name, "dtype": array.dtype.name, "shape": list(array.shape)}


def _text(item: Any) -> Any:
    if isinstance(item, bytes):
        return {"bytes": base64.b64encode(item).decode("ascii")}
    return str(item)


def _node(node: Node, tensors: _Tensors, depth: int) -> dict[str, Any]:
    data: dict[str, Any] = {
        "op": node.op_type,
        "in": [None if value is None else value.name for value in node.inputs],
        "out": [value.name for value in node.outputs],
    }
    if node.name:
        data["name"] = node.name
    if node.domain:
        data["domain"] = node.domain
    if node.metadata:
        data["metadata"] = dict(node.metadata)
    if node.origin is not None:
        data["origin"] = _origin(node.origin)
    if node.attributes:
        label = node.name or (node.outputs[0].name if node.outputs else node.op_type)
        data["attributes"] = {
            name: _attribute(value, f"{label}.{name}", tensors, depth)
            for name, value in node.attributes.items()
        }
    return data


def _origin(origin: Origin) -> dict[str, Any]:
    site = origin.site
    return {
        "scope": origin.scope,
        "operator": origin.operator,
        "record": origin.record,
        "site": None if site is None else _site(site),
    }


def _site(site: CallSite) -> list[Any]:
    return [
        site.file, site.line, site.end_line, site.column, site.end_column, site.function,
        site.source, site.cell,
    ]  # fmt: skip


def _attribute(value: Attribute, wanted: str, tensors: _Tensors, depth: int) -> dict[str, Any]:
    if isinstance(value, list):
        return {"list": [_attribute(item, wanted, tensors, depth) for item in value]}
    if isinstance(value, bool):
        return {"i": int(value)}
    if isinstance(value, int):
        return {"i": value}
    if isinstance(value, float):
        return {"f": value.hex()}
    if isinstance(value, str):
        return {"s": value}
    if isinstance(value, bytes):
        return {"b": base64.b64encode(value).decode("ascii")}
    if isinstance(value, np.ndarray):
        return {"t": _tensor(value, wanted, tensors)}
    if isinstance(value, Graph):
        return {"g": _graph(value, tensors, depth + 1)}
    raise FormatError(f"an attribute of type {type(value).__name__} cannot be saved", place=wanted)
