"""Weights in safetensors files: no code in them, the same names as a state dict.

Format: https://huggingface.co/docs/safetensors. The state dict of a PyTorch model of the same
structure, saved with ``safetensors.torch.save_file``, loads as it is.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from onemodel.nn.module import Module
from onemodel.nn.state import LoadResult
from onemodel.tensors.dtypes import ALL, DType, bfloat16

_NAMES = {
    "F64": np.dtype(np.float64),
    "F32": np.dtype(np.float32),
    "F16": np.dtype(np.float16),
    "BF16": bfloat16,
    "I64": np.dtype(np.int64),
    "I32": np.dtype(np.int32),
    "I16": np.dtype(np.int16),
    "I8": np.dtype(np.int8),
    "U64": np.dtype(np.uint64),
    "U32": np.dtype(np.uint32),
    "U16": np.dtype(np.uint16),
    "U8": np.dtype(np.uint8),
    "BOOL": np.dtype(np.bool_),
}


def save_weights(module: Module, path: str | os.PathLike[str]) -> None:
    """Write the state dict of ``module`` into a safetensors file.

    The file appears whole or not at all: it is written beside ``path`` and then renamed.
    Raises TypeError for a dtype that the format has not (complex), OSError where it cannot be
    written.
    """
    import safetensors.numpy

    arrays = {}
    for name, tensor in module.state_dict().items():
        if tensor.dtype not in _NAMES.values():
            raise TypeError(f"save_weights: {name} is {tensor.dtype}, which safetensors has not")
        arrays[name] = np.array(tensor.array, order="C")  # 0-d stays 0-d
    # The mark that loaders of PyTorch weights look for.
    data = safetensors.numpy.save(arrays, metadata={"format": "pt"})
    _write_whole(Path(path), data)


def load_weights(module: Module, path: str | os.PathLike[str], strict: bool = True) -> LoadResult:
    """Read a safetensors file into ``module``, all or nothing.

    Raises ValueError for a file that is damaged or no safetensors, RuntimeError with one list
    of every name, shape and dtype that does not fit (see ``load_state_dict``), OSError where it
    cannot be read. Weights that the module uses under several names may stand in the file
    under one of them.
    """
    arrays = read_arrays(path)
    _share_tied(module, arrays)
    return module.load_state_dict(arrays, strict)


def read_arrays(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file by name. Raises ValueError for a damaged file."""
    import safetensors

    data = Path(path).read_bytes()
    try:
        entries = safetensors.deserialize(data)
    except safetensors.SafetensorError as error:
        raise ValueError(
            f"{os.fspath(path)} is no readable safetensors file ({len(data)} bytes): {error}"
        ) from error
    return {name: _array(path, name, entry) for name, entry in entries}


def _array(path: Any, name: str, entry: dict[str, Any]) -> np.ndarray:
    dtype: DType | None = _NAMES.get(entry["dtype"])
    if dtype is None or dtype not in ALL:
        raise ValueError(
            f"{os.fspath(path)}: tensor {name!r} has dtype {entry['dtype']}, which tensors have not"
        )
    return np.frombuffer(entry["data"], dtype).reshape(entry["shape"])


def _share_tied(module: Module, arrays: dict[str, np.ndarray]) -> None:
    """Give every name of a shared tensor the array that one of its names brought."""
    given: dict[int, np.ndarray] = {}
    state = module.state_dict(keep_vars=True)
    for name, tensor in state.items():
        if name in arrays:
            given[id(tensor)] = arrays[name]
    for name, tensor in state.items():
        if name not in arrays and id(tensor) in given:
            arrays[name] = given[id(tensor)]


def _write_whole(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
