"""Nodes and value types as protobuf wire bytes, fields in number order.

What a graph has by the ten thousand (nodes, their metadata, the types of values) is encoded
here; the rest of a model stays protobuf messages. The bytes are those that protobuf gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from onemodel.graph.ir import Node, Value

_SMALL = tuple(bytes([n]) if n < 128 else bytes([n & 127 | 128, n >> 7]) for n in range(16384))


def varint(number: int) -> bytes:
    """An unsigned integer, seven bits a byte, lowest first."""
    if number < 16384:
        return _SMALL[number]
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(tag: bytes, body: bytes) -> bytes:
    """A length-delimited field; ``tag`` is its number and wire type."""
    return tag + varint(len(body)) + body


class NodeEncoder:
    """Encodes the nodes of one graph; what repeats from node to node is encoded once.

    Args:
        attribute: (node, name, value) -> the bytes of an ``AttributeProto``.
        origin: node -> its metadata besides ``node.metadata``, the record's number left out.
        strip: leave metadata out.
    """

    def __init__(
        self,
        attribute: Callable[[Node, str, Any], bytes],
        origin: Callable[[Node], Mapping[str, str]],
        *,
        strip: bool,
    ) -> None:
        self._attribute = attribute
        self._origin = origin
        self._strip = strip
        self._texts: dict[str, bytes] = {}
        self._attributes: dict[Any, bytes] = {}
        self._metadata: dict[Any, tuple[bytes, bytes]] = {}

    def encode(self, node: Node) -> bytes:
        """A ``NodeProto``."""
        text = self._text
        parts = [b"\x0a" + text("" if v is None else v.name) for v in node.inputs]
        parts += [b"\x12" + text(v.name) for v in node.outputs]
        if node.name:
            parts.append(b"\x1a" + text(node.name))
        parts.append(b"\x22" + text(node.op_type))
        if node.attributes:
            parts += [
                field(b"\x2a", self._encode_attribute(node, name, node.attributes[name]))
                for name in sorted(node.attributes)
            ]
        if node.domain:
            parts.append(b"\x3a" + text(node.domain))
        if not self._strip:
            parts.append(self._encode_metadata(node))
        return b"".join(parts)

    def _text(self, value: str) -> bytes:
        """Length and bytes of a string. Names of values come twice: as output and as input."""
        known = self._texts.get(value)
        if known is None:
            raw = value.encode("utf-8")
            known = self._texts[value] = varint(len(raw)) + raw
        return known

    def _encode_attribute(self, node: Node, name: str, value: Any) -> bytes:
        kind = type(value)
        if kind is list and all(type(item) is int for item in value):
            key: Any = (node.op_type, node.domain, name, tuple(value))
        elif kind in (int, float, str):
            key = (node.op_type, node.domain, name, kind, value)
            if value == 0:  # 0.0 and -0.0 are equal and differ
                key = (*key, str(value))
        else:
            return self._attribute(node, name, value)
        known = self._attributes.get(key)
        if known is None:
            known = self._attributes[key] = self._attribute(node, name, value)
        return known

    def _encode_metadata(self, node: Node) -> bytes:
        origin = node.origin
        record = None if origin is None else origin.record
        if node.metadata or origin is None or record is None:
            own = {} if record is None else {RECORD: str(record)}
            return _entries({**node.metadata, **self._origin(node), **own})
        key = (origin.scope, origin.operator, id(origin.site))
        known = self._metadata.get(key)
        if known is None:
            entries = self._origin(node)
            before = {k: v for k, v in entries.items() if k < RECORD}
            after = {k: v for k, v in entries.items() if k > RECORD}
            known = self._metadata[key] = (_entries(before), _entries(after))
        return known[0] + _entry(RECORD, str(record)) + known[1]


RECORD = "onemodel.record"
"""The one entry that differs from node to node of the same call."""


def _entries(entries: Mapping[str, str]) -> bytes:
    return b"".join(_entry(key, entries[key]) for key in sorted(entries))


def _entry(key: str, value: str) -> bytes:
    body = field(b"\x0a", key.encode("utf-8")) + field(b"\x12", value.encode("utf-8"))
    return field(b"\x4a", body)


class TypeEncoder:
    """Encodes ``ValueInfoProto``; a type that several values have is encoded once."""

    def __init__(self, type_bytes: Callable[[Value], bytes | None]) -> None:
        self._type_bytes = type_bytes
        self._types: dict[Any, bytes | None] = {}

    def type_of(self, value: Value) -> bytes | None:
        """The bytes of the ``TypeProto``, or None where the type is unknown."""
        key = (value.dtype, value.shape, value.type_text)
        try:
            return self._types[key]
        except KeyError:
            found = self._types[key] = self._type_bytes(value)
            return found

    def encode(self, value: Value, kind: bytes | None) -> bytes:
        """A ``ValueInfoProto`` of the type ``kind``."""
        body = field(b"\x0a", value.name.encode("utf-8"))
        return body if kind is None else body + field(b"\x12", kind)
