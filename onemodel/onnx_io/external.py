"""Weights outside the model file: written aligned and atomically, read only from beside it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np
from onnx import TensorProto

from onemodel.onnx_io.errors import ModelError

ALIGNMENT = 4096
"""Offsets are multiples of it, so that readers may map the file page by page."""


class DataFile:
    """Collects tensors for one external file: pieces of bytes with padding between."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.pieces: list[bytes | memoryview] = []
        self._size = 0

    def add(self, header: TensorProto, raw: memoryview) -> None:
        """Append ``raw`` and let ``header`` point at it."""
        gap = -self._size % ALIGNMENT
        if gap:
            self.pieces.append(bytes(gap))
        offset = self._size + gap
        self.pieces.append(raw)
        self._size = offset + len(raw)
        header.data_location = TensorProto.EXTERNAL
        for key, value in (
            ("location", self.location),
            ("offset", str(offset)),
            ("length", str(len(raw))),
        ):
            header.external_data.add(key=key, value=value)


def atomic_write(path: Path, pieces: Sequence[bytes | memoryview]) -> None:
    """Write ``pieces`` to a temporary file beside ``path`` and rename it over ``path``."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path.name}: there is no folder {path.parent}")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class ExternalReader:
    """Reads external tensors from files in ``folder`` or below it, and from nowhere else."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def __call__(self, proto: TensorProto, expected: int) -> np.ndarray:
        """The ``expected`` bytes of ``proto``.

        Raises:
            ModelError: for absolute or climbing locations, links that lead out of the folder,
                files that are missing, no plain files, or too short, and lengths that do not fit.
        """
        entries = {entry.key: entry.value for entry in proto.external_data}
        field = f"external_data of {proto.name!r}"
        location = entries.get("location", "")
        path = self._resolve(location, field)
        offset = _number(entries.get("offset", "0"), "offset", field)
        length = _number(entries.get("length", str(expected)), "length", field)
        if length != expected:
            raise ModelError(
                f"sizes {list(proto.dims)} need {expected} bytes, length says {length}", field=field
            )
        size = path.stat().st_size
        if offset + length > size:
            raise ModelError(
                f"bytes {offset} to {offset + length} are wanted, {location!r} has {size}",
                field=field,
            )
        data = np.fromfile(path, np.uint8, count=length, offset=offset)
        data.flags.writeable = False
        return data

    def _resolve(self, location: str, field: str) -> Path:
        if not location or "\0" in location:
            raise ModelError("external data without a location", field=field)
        # A model may come from either kind of system, so both readings have to be harmless.
        for pure in (PurePosixPath(location), PureWindowsPath(location)):
            if pure.is_absolute() or pure.drive or pure.root or ".." in pure.parts:
                raise ModelError(
                    f"location {location!r} leads out of the model's folder", field=field
                )
        path = self._folder / location
        folder = os.path.realpath(self._folder)
        real = os.path.realpath(path)
        if os.path.commonpath([folder, real]) != folder:
            raise ModelError(
                f"location {location!r} is a link out of the model's folder", field=field
            )
        if not os.path.exists(real):
            raise ModelError(f"the file {location!r} is not beside the model", field=field)
        if not os.path.isfile(real):
            raise ModelError(f"location {location!r} is no plain file", field=field)
        return Path(real)


def _number(text: str, key: str, field: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise ModelError(f"{key} is {text[:40]!r}, not a whole number", field=field)
    return int(text)
