"""Bytes -> graph, trusting nothing: sizes before allocation, names before use, no execution."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from onemodel.axes.extent import AxesError
from onemodel.errors import CallSite
from onemodel.format.dims import dim_from_json
from onemodel.format.errors import KIND, MAJOR, MAX_DEPTH, MAX_HEADER, FormatError
from onemodel.format.writer import SAFETENSORS
from onemodel.graph.check import check
from onemodel.graph.errors import GraphError
from onemodel.graph.ir import Attribute, Graph, Node, Origin, Value

MAX_VERSION = 2**31
"""Versions of opsets and of ONNX's IR are 32-bit numbers."""

_DTYPES: dict[str, np.dtype] = {
    **{n: np.dtype(n) for n in ("complex64", "complex128")},
    **{
        name: np.dtype(getattr(ml_dtypes, name, None) or name)
        for name in (
            *SAFETENSORS, "int4", "uint4", "int2", "uint2", "float4_e2m1fn", "float8_e4m3fnuz",
            "float8_e5m2fnuz", "float8_e8m0fnu",
        )
    },
}  # fmt: skip


def load(path: str | Path) -> Graph:
    """The graph of a file; its weights are read-only views of the mapped file.

    Raises FormatError naming the place for anything but a whole file of this format, and
    OSError where it cannot be read.
    """
    path = Path(path)
    if path.stat().st_size == 0:
        raise FormatError("the file is empty", place=path.name)
    return _read(np.asarray(np.memmap(path, np.uint8, mode="r")), path.name)


def from_bytes(data: bytes) -> Graph:
    """The graph of a whole file in memory. Raises FormatError."""
    return _read(np.frombuffer(data, np.uint8), "bytes")


def is_format(data: bytes) -> bool:
    """Whether ``data`` begins as a file of this format does: the size of a JSON header, and it."""
    size = int.from_bytes(data[:8], "little")
    return data[8:9] == b"{" and size <= len(data) - 8


def _read(data: np.ndarray, where: str) -> Graph:
    metadata, entries, body = _header(data, where)
    if metadata.get("format") != KIND:
        raise FormatError("this is a safetensors file, but no model of this format", place=where)
    _check_version(str(metadata.get("version")), where)
    text = metadata.get("graph")
    if not isinstance(text, str):
        raise FormatError("the graph is missing", place=f"{where}: metadata")
    tensors = {name: _entry(name, entry, body, where) for name, entry in entries.items()}
    in_order = sorted(entries, key=lambda name: (entries[name]["data_offsets"][0], name))
    _check_sum(metadata, text, [tensors[name] for name in in_order], where)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the graph is no JSON: {error}", place=f"{where}: graph") from None
    _check_text(text, content, f"{where}: graph")
    graph = _Reader(tensors).graph(content, {}, "graph", 0)
    try:
        check(graph)
    except GraphError as error:
        raise FormatError(str(error), place=f"{where}: graph") from None
    return graph


def _check_text(text: str, content: Any, place: str) -> None:
    """Half a surrogate pair is no text: nothing could print it or write it into another file."""
    if "\\ud" not in text.lower():
        return
    try:
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError("a text holds half a surrogate pair", place=place) from None


def _header(data: np.ndarray, where: str) -> tuple[dict[str, Any], dict[str, Any], np.ndarray]:
    if data.size < 8:
        raise FormatError("the file is too short for a header", place=where)
    size = int(data[:8].view("<u8")[0])
    if size > MAX_HEADER or size > data.size - 8:
        raise FormatError(
            f"the header claims {size} bytes, the file has {data.size - 8}",
            place=f"{where}: byte 0",
        )
    try:
        header = json.loads(bytes(data[8 : 8 + size]))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the header is no JSON: {error}", place=f"{where}: byte 8") from None
    if not isinstance(header, dict):
        raise FormatError("the header is no object", place=f"{where}: byte 8")
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict):
        raise FormatError("the header has no metadata", place=f"{where}: byte 8")
    return metadata, header, data[8 + size :]


def _check_version(version: str, where: str) -> None:
    major = version.split(".")[0]
    if not major.isdecimal():
        raise FormatError(f"the version {version[:20]!r} is none", place=f"{where}: metadata")
    if int(major) != MAJOR:
        raise FormatError(
            f"the file has format version {version[:20]}, this library reads {MAJOR}.x; "
            "read it with the library that wrote it, or update this one",
            place=f"{where}: metadata",
        )


def _entry(name: str, entry: Any, body: np.ndarray, where: str) -> np.ndarray:
    place = f"{where}: tensor {name[:80]!r}"
    try:
        begin, end = entry["data_offsets"]
        shape = [int(n) for n in entry["shape"]]
        kind = entry["dtype"]
    except (KeyError, TypeError, ValueError):
        raise FormatError("its entry lacks dtype, shape or offsets", place=place) from None
    if not (isinstance(begin, int) and isinstance(end, int) and 0 <= begin <= end <= body.size):
        raise FormatError(f"its bytes {begin} to {end} lie outside the file", place=place)
    if any(n < 0 for n in shape) or not isinstance(kind, str) or kind not in _BY_KIND:
        raise FormatError(f"dtype {kind!r} and shape {shape} are not possible", place=place)
    dtype = _BY_KIND[kind]
    if math.prod(shape) * dtype.itemsize != end - begin:
        raise FormatError(f"shape {shape} of {kind} does not fill its bytes", place=place)
    raw = body[begin:end]
    if begin % dtype.itemsize:
        raw = raw.copy()
    return raw.view(dtype).reshape(shape)


_BY_KIND = {kind: _DTYPES[name] for name, kind in SAFETENSORS.items()}


def _check_sum(
    metadata: Mapping[str, Any], text: str, tensors: Sequence[np.ndarray], where: str
) -> None:
    digest = hashlib.sha256(text.encode("utf-8", errors="surrogatepass"))
    for array in tensors:
        digest.update(array.reshape(-1).view(np.uint8).data if array.size else b"")
    if metadata.get("checksum") != f"sha256:{digest.hexdigest()}":
        raise FormatError("the checksum does not fit: the file is damaged", place=where)


class _Reader:
    """Turns JSON into a graph; every lookup is checked and names its place."""

    def __init__(self, tensors: Mapping[str, np.ndarray]) -> None:
        self._tensors = tensors

    def graph(self, data: Any, outer: Mapping[str, Value], place: str, depth: int) -> Graph:
        if depth > MAX_DEPTH:
            raise FormatError(f"graphs nest deeper than {MAX_DEPTH}", place=place)
        data = _object(data, place)
        graph = Graph(
            name=_string(data, "name", place),
            doc=_string(data, "doc", place),
            ir_version=_version(data, "ir_version", place),
            opsets={
                k: _version(data["opsets"], k, place) for k in _object(data.get("opsets"), place)
            },
            metadata={k: str(v) for k, v in _object(data.get("metadata"), place).items()},
        )
        own = {}
        for index, item in enumerate(_list(data, "values", place)):
            value = self._value(item, f"{place}.values[{index}]")
            own[value.name] = value
        known = {**outer, **own}
        graph.inputs = [_named(known, name, place) for name in _list(data, "inputs", place)]
        for index, item in enumerate(_list(data, "initializers", place)):
            where = f"{place}.initializers[{index}]"
            name = _object(item, where).get("name")
            graph.initializers[_named(own, name, where)] = self._tensor(item, where)
        for index, item in enumerate(_list(data, "nodes", place)):
            graph.nodes.append(self._node(item, known, f"{place}.nodes[{index}]", depth))
        graph.outputs = [
            _named(known, n, f"{place}.outputs") for n in _list(data, "outputs", place)
        ]
        return graph

    def _value(self, data: Any, place: str) -> Value:
        data = _object(data, place)
        shape = data.get("shape")
        if shape is not None:
            if not isinstance(shape, list):
                raise FormatError("a shape is no list", place=place)
            try:
                shape = tuple(dim_from_json(dim, place) for dim in shape)
            except AxesError as error:
                raise FormatError(str(error), place=place) from None
        dtype = data.get("dtype")
        return Value(
            _string(data, "name", place),
            None if dtype is None else _dtype(dtype, place),
            shape,
            type_text=str(data.get("type", "")),
        )

    def _tensor(self, data: Any, place: str) -> np.ndarray:
        data = _object(data, place)
        shape = [_size(n, place) for n in _list(data, "shape", place)]
        if "strings" in data:
            items = [_string_item(item, place) for item in _list(data, "strings", place)]
            if math.prod(shape) != len(items):
                raise FormatError("the strings do not fill their shape", place=place)
            array = np.empty(len(items), object)
            array[:] = items
            return array.reshape(shape)
        name = data.get("tensor")
        if not isinstance(name, str) or name not in self._tensors:
            raise FormatError(f"there is no tensor {str(name)[:80]!r}", place=place)
        stored, dtype = self._tensors[name], _dtype(data.get("dtype"), place)
        if stored.nbytes != math.prod(shape) * dtype.itemsize:
            raise FormatError("a tensor does not fill its shape", place=place)
        if stored.dtype != dtype:
            stored = stored.reshape(-1).view(dtype)
        return stored.reshape(shape)

    def _node(self, data: Any, known: Mapping[str, Value], place: str, depth: int) -> Node:
        data = _object(data, place)
        inputs = [
            None if name is None else _named(known, name, place)
            for name in _list(data, "in", place)
        ]
        outputs = [_named(known, name, place) for name in _list(data, "out", place)]
        attributes = {
            name: self._attribute(item, known, f"{place}.{name[:80]}", depth)
            for name, item in _object(data.get("attributes", {}), place).items()
        }
        node = Node(
            op_type=_string(data, "op", place),
            inputs=inputs,
            outputs=outputs,
            attributes=attributes,
            domain=str(data.get("domain", "")),
            name=str(data.get("name", "")),
            origin=_origin(data.get("origin"), place),
            metadata={k: str(v) for k, v in _object(data.get("metadata", {}), place).items()},
        )
        for value in outputs:
            value.producer = node
        return node

    def _attribute(
        self, data: Any, known: Mapping[str, Value], place: str, depth: int
    ) -> Attribute:
        data = _object(data, place)
        if len(data) != 1:
            raise FormatError("an attribute has not exactly one value", place=place)
        ((kind, value),) = data.items()
        try:
            if kind == "i" and isinstance(value, int) and -(2**63) <= value < 2**63:
                return value
            if kind == "f" and isinstance(value, str):
                return float.fromhex(value)
            if kind == "s" and isinstance(value, str):
                return value
            if kind == "b" and isinstance(value, str):
                return base64.b64decode(value, validate=True)
            if kind == "t":
                return self._tensor(value, place)
            if kind == "g":
                return self.graph(value, known, place, depth + 1)
            if kind == "list" and isinstance(value, list):
                return [self._attribute(v, known, place, depth) for v in value]  # type: ignore[return-value]
        except (TypeError, ValueError, binascii.Error) as error:
            if isinstance(error, FormatError):
                raise
        raise FormatError(f"an attribute of kind {kind[:20]!r} cannot be read", place=place)


def _origin(data: Any, place: str) -> Origin | None:
    if data is None:
        return None
    data = _object(data, place)
    site, record = data.get("site"), data.get("record")
    if record is not None and not isinstance(record, int):
        raise FormatError("a record is no number", place=place)
    scope, operator = str(data.get("scope", "")), str(data.get("operator", ""))
    if site is None:
        return Origin(None, scope, operator, record)
    kinds: Sequence[tuple[type, ...]] = (
        (str,), (int,), (int,), (int, type(None)), (int, type(None)), (str,), (str,),
        (int, type(None)),
    )  # fmt: skip
    if not isinstance(site, list) or len(site) != len(kinds):
        raise FormatError("a call site has not its eight fields", place=place)
    if not all(isinstance(field, kind) for field, kind in zip(site, kinds, strict=True)):
        raise FormatError("a call site has a field of another type", place=place)
    return Origin(CallSite(*site), scope, operator, record)


def _object(data: Any, place: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise FormatError("an object was expected", place=place)
    return data


def _list(data: Mapping[str, Any], key: str, place: str) -> list[Any]:
    found = data.get(key)
    if not isinstance(found, list):
        raise FormatError(f"{key} is no list", place=place)
    return found


def _string(data: Mapping[str, Any], key: str, place: str) -> str:
    found = data.get(key)
    if not isinstance(found, str):
        raise FormatError(f"{key} is no text", place=place)
    return found


def _version(data: Mapping[str, Any], key: str, place: str) -> int:
    found = _size(data.get(key), f"{place}.{key}")
    if found >= MAX_VERSION:
        raise FormatError(f"the version {key} is beyond every version", place=place)
    return found


def _size(number: Any, place: str) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**63:
        raise FormatError("a number of 0 to 2**63 - 1 was expected", place=place)
    return number


def _named(known: Mapping[str, Value], name: Any, place: str) -> Value:
    found = known.get(name) if isinstance(name, str) else None
    if found is None:
        raise FormatError(f"there is no value {str(name)[:80]!r}", place=place)
    return found


def _dtype(name: Any, place: str) -> np.dtype:
    if name == "object":
        return np.dtype(object)
    found = _DTYPES.get(name) if isinstance(name, str) else None
    if found is None:
        raise FormatError(f"the dtype {str(name)[:40]!r} is unknown", place=place)
    return found


def _string_item(item: Any, place: str) -> Any:
    if isinstance(item, str):
        return item
    try:
        return base64.b64decode(_object(item, place)["bytes"], validate=True)
    except (KeyError, TypeError, binascii.Error):
        raise FormatError("a string is neither text nor bytes", place=place) from None
