"""What a file that is no model looks like instead."""

from __future__ import annotations

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from onnx import TensorProto

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip archive (a PyTorch checkpoint, perhaps)"),
    (b"\x1f\x8b", "a gzip file; unpack it first"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF", "an HDF5 file (a Keras model, perhaps)"),
    (b"<!DOCTYPE", "an HTML page: the download went wrong"),
    (b"<html", "an HTML page: the download went wrong"),
)

_LFS = b"version https://git-lfs"

_FIELDS = {
    1: "ir_version",
    2: "producer_name",
    3: "producer_version",
    4: "domain",
    5: "model_version",
    6: "doc_string",
    7: "graph",
    8: "opset_import",
    14: "metadata_props",
    20: "training_info",
    25: "functions",
}
"""Fields of ModelProto by number."""


def not_a_model(data: bytes) -> tuple[str, str] | None:
    """Why ``data`` cannot be a model, as reason and field, or None where it may be one.

    Looks at the first bytes and at the lengths of the outermost fields; allocates nothing.
    """
    if not data:
        return "the file has 0 bytes", ""
    if data.startswith(_LFS):
        return "the file is a git-lfs pointer, not the model; run 'git lfs pull'", ""
    for magic, what in _MAGIC:
        if data.startswith(magic):
            return f"the file is {what}", ""
    if _is_text(data[:512]):
        return f"the file is text ({len(data)} bytes)", ""
    return _walk(data)


def _is_text(head: bytes) -> bool:
    # A model starts with the byte 0x08 (field 1, a number), which text never does.
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return all(character.isprintable() or character in "\r\n\t" for character in text)


def _walk(data: bytes) -> tuple[str, str] | None:
    place = 0
    while place < len(data):
        start = place
        tag, place = _varint(data, place)
        if tag is None:
            return f"truncated at byte {len(data)}, inside a field tag", ""
        number, wire = tag >> 3, tag & 7
        name = _FIELDS.get(number, f"field {number}")
        if number == 0 or wire in (3, 4, 6, 7):
            return f"byte {start} starts no protobuf field; the file is damaged or no model", ""
        if wire == 2:
            length, place = _varint(data, place)
            if length is None or place + length > len(data):
                return _truncated(len(data), name, start, length), name
            place += length
        elif wire == 0:
            value, place = _varint(data, place)
            if value is None:
                return _truncated(len(data), name, start, None), name
        else:
            place += 4 if wire == 5 else 8
            if place > len(data):
                return _truncated(len(data), name, start, None), name
    return None


def _truncated(size: int, name: str, start: int, length: int | None) -> str:
    wanted = "" if length is None else f", which needs {length} bytes"
    return f"truncated at byte {size}, inside {name} (from byte {start}){wanted}"


def _varint(data: bytes, place: int) -> tuple[int | None, int]:
    value = shift = 0
    while place < len(data) and shift < 70:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7
    return None, place


# Everything else in a tensor is numbers, and copying them to look would double the weights.
_TENSOR_TEXT = ("name", "doc_string")


def invalid_text(message: Message, path: str = "model") -> str | None:
    """The first text field below ``message`` that is not valid UTF-8, or None.

    Protobuf hands such fields out as bytes, which nothing further on expects.
    """
    if isinstance(message, TensorProto):
        for name in _TENSOR_TEXT:
            if isinstance(getattr(message, name), bytes):
                return f"{path}.{name}"
        for entry in message.external_data:
            if isinstance(entry.key, bytes) or isinstance(entry.value, bytes):
                return f"{path}.external_data"
        return None
    for field, content in message.ListFields():
        if field.type == FieldDescriptor.TYPE_STRING:
            items = (content,) if isinstance(content, str | bytes) else content
            if any(isinstance(item, bytes) for item in items):
                return f"{path}.{field.name}"
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            single = isinstance(content, Message)
            for index, item in enumerate((content,) if single else content):
                place = f"{path}.{field.name}" + ("" if single else f"[{index}]")
                found = invalid_text(item, place)
                if found is not None:
                    return found
    return None
