"""The library's own file: a recorded graph in a safetensors container (``.om``)."""

from onemodel.format.errors import FormatError
from onemodel.format.reader import from_bytes, load
from onemodel.format.writer import save, to_bytes

__all__ = ["FormatError", "from_bytes", "load", "save", "to_bytes"]
