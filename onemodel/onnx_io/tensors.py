"""Tensors between NumPy and protobuf, with sizes checked before anything is allocated."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from onnx import SparseTensorProto, TensorProto, numpy_helper

from onemodel.graph.dtypes import STRING, dtype_of_element, element_of_dtype
from onemodel.onnx_io.errors import ModelError
from onemodel.onnx_io.types import MAX_RANK

MAX_DENSE = 1 << 28
"""Most elements a sparse tensor may have when it is written out."""

# Bits per element of the types that ONNX packs; everything else is whole bytes.
_PACKED = {"uint4": 4, "int4": 4, "float4e2m1": 4, "uint2": 2, "int2": 2}
_PACKED_ELEMENTS = {
    getattr(TensorProto, name.upper()): bits
    for name, bits in _PACKED.items()
    if hasattr(TensorProto, name.upper())
}
_SIX_BITS = {
    getattr(TensorProto, name)
    for name in ("FLOAT6E2M3", "FLOAT6E3M2")
    if hasattr(TensorProto, name)
}

_TYPED_FIELDS = (
    "float_data",
    "int32_data",
    "string_data",
    "int64_data",
    "double_data",
    "uint64_data",
)

External = Callable[[TensorProto, int], np.ndarray]
"""Reads the bytes of an external tensor, given the proto and the bytes it must have."""


def tensor_header(array: np.ndarray, name: str) -> TensorProto:
    """The ``TensorProto`` of ``array`` without its ``raw_data``; strings are complete.

    Raises:
        TypeError: for a dtype that ONNX does not have.
    """
    proto = TensorProto(data_type=element_of_dtype(array.dtype), name=name)
    proto.dims.extend(array.shape)
    if proto.data_type == TensorProto.STRING:
        proto.string_data.extend(_encode(item) for item in array.ravel().tolist())
    return proto


def _encode(item: object) -> bytes:
    return item if isinstance(item, bytes) else str(item).encode("utf-8")


def raw_bytes(array: np.ndarray) -> memoryview:
    """The elements as ONNX stores them: little-endian, row-major, 2 and 4 bit types packed."""
    element = element_of_dtype(array.dtype)
    if element == TensorProto.STRING:
        return memoryview(b"")
    if element in _SIX_BITS:
        return memoryview(numpy_helper.from_array(array).raw_data)
    flat = np.ascontiguousarray(array).reshape(-1)
    if element in _PACKED_ELEMENTS:
        return _pack(flat.view(np.uint8), _PACKED_ELEMENTS[element]).data
    if flat.dtype.byteorder == ">" or (flat.dtype.byteorder == "=" and not np.little_endian):
        flat = flat.astype(flat.dtype.newbyteorder("<"))
    return flat.view(np.uint8).data


def _pack(codes: np.ndarray, bits: int) -> np.ndarray:
    per_byte = 8 // bits
    codes = codes & np.uint8((1 << bits) - 1)
    padded = np.zeros(-(-codes.size // per_byte) * per_byte, np.uint8)
    padded[: codes.size] = codes
    shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(bits)
    return np.bitwise_or.reduce(padded.reshape(-1, per_byte) << shifts, axis=1, dtype=np.uint8)


def _unpack(packed: np.ndarray, bits: int, dtype: np.dtype, count: int) -> np.ndarray:
    shifts = np.arange(8 // bits, dtype=np.uint8) * np.uint8(bits)
    codes = ((packed[:, None] >> shifts) & np.uint8((1 << bits) - 1)).reshape(-1)[:count]
    if dtype.name.startswith("int"):  # ml_dtypes keeps signed ones sign-extended
        sign = np.uint8(1 << (bits - 1))
        codes = (codes ^ sign) - sign
    return codes.view(dtype)


def tensor_proto(array: np.ndarray, name: str = "") -> TensorProto:
    """The whole ``TensorProto`` of ``array``."""
    proto = tensor_header(array, name)
    if proto.data_type != TensorProto.STRING:
        proto.raw_data = bytes(raw_bytes(array))
    return proto


def read_tensor(proto: TensorProto, field: str, external: External | None = None) -> np.ndarray:
    """The array of ``proto``; read-only where it shares the bytes of the file.

    Args:
        proto: any tensor of a model.
        field: how errors call it.
        external: reader of external data; without one external tensors are refused.

    Raises:
        ModelError: for unknown types, impossible sizes, or data that do not fit them.
    """
    dtype, shape, count = _described(proto, field)
    if proto.HasField("segment"):
        raise ModelError("segmented tensors are not supported", field=field)
    if proto.data_location == TensorProto.EXTERNAL:
        if dtype == STRING:
            raise ModelError("strings cannot lie in an external file", field=field)
        if external is None:
            raise ModelError(
                "the data lie in another file and no folder is known",
                field=field,
                hint="load the model from its path, or give base_dir",
            )
        return _from_raw(
            external(proto, _byte_count(proto, count)), proto, dtype, count, field
        ).reshape(shape)
    if proto.HasField("raw_data"):
        if dtype == STRING:
            raise ModelError("strings must lie in string_data, not raw_data", field=field)
        return _from_raw(proto.raw_data, proto, dtype, count, field).reshape(shape)
    return _from_typed(proto, dtype, count, field).reshape(shape)


def _described(proto: TensorProto, field: str) -> tuple[np.dtype, tuple[int, ...], int]:
    dtype = dtype_of_element(proto.data_type)
    if dtype is None:
        raise ModelError(f"element type {proto.data_type} is not known", field=f"{field}.data_type")
    shape = tuple(proto.dims)
    if len(shape) > MAX_RANK:
        raise ModelError(f"rank {len(shape)} is above {MAX_RANK}", field=f"{field}.dims")
    if any(size < 0 for size in shape):
        raise ModelError(f"sizes {list(shape)} hold a negative one", field=f"{field}.dims")
    # NumPy multiplies all sizes but the zero ones, so an empty array can overflow too.
    if math.prod(size for size in shape if size) >= 1 << 62:
        raise ModelError(f"sizes {list(shape)} are beyond any memory", field=f"{field}.dims")
    return dtype, shape, math.prod(shape)


def _byte_count(proto: TensorProto, count: int) -> int:
    if proto.data_type in _SIX_BITS:
        return -(-count * 6 // 8)
    bits = _PACKED_ELEMENTS.get(proto.data_type)
    if bits is not None:
        return -(-count * bits // 8)
    dtype = dtype_of_element(proto.data_type)
    assert dtype is not None
    return count * dtype.itemsize


def _from_raw(
    raw: bytes | np.ndarray, proto: TensorProto, dtype: np.dtype, count: int, field: str
) -> np.ndarray:
    expected = _byte_count(proto, count)
    if proto.data_type in _SIX_BITS and len(raw) == expected:
        twin = TensorProto(data_type=proto.data_type, dims=[count], raw_data=bytes(raw))
        return numpy_helper.to_array(twin)
    if len(raw) != expected:
        raise ModelError(
            f"sizes {list(proto.dims)} of {dtype} need {expected} bytes, {len(raw)} are there",
            field=f"{field}.raw_data",
        )
    data = np.frombuffer(raw, np.uint8)
    bits = _PACKED_ELEMENTS.get(proto.data_type)
    if bits is not None:
        return _unpack(data, bits, dtype, count)
    if dtype.kind == "b":
        return data != 0  # any other byte than 0 and 1 would be undefined as a bool
    if np.little_endian:
        return data.view(dtype)
    return data.view(dtype.newbyteorder("<")).astype(dtype)


def _from_typed(proto: TensorProto, dtype: np.dtype, count: int, field: str) -> np.ndarray:
    name = _typed_field(proto.data_type)
    per_entry = {4: 2, 2: 4}.get(_PACKED_ELEMENTS.get(proto.data_type, 0), 1)
    entries = -(-count // per_entry)
    if proto.data_type in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
        entries = 2 * count
    there = len(getattr(proto, name))
    if there != entries and proto.data_type not in _SIX_BITS:
        raise ModelError(
            f"sizes {list(proto.dims)} of {dtype} need {entries} entries, {there} are there",
            field=f"{field}.{name}",
        )
    if dtype == STRING:
        return _strings(proto, field)
    twin = TensorProto()
    twin.CopyFrom(proto)
    del twin.dims[:]
    twin.dims.append(count)
    try:
        array = numpy_helper.to_array(twin)
    except (ValueError, TypeError, OverflowError) as error:
        raise ModelError(f"the data do not fit the type: {error}", field=field) from None
    return array.view(dtype) if array.dtype != dtype else array


def _typed_field(element: int) -> str:
    if element in (TensorProto.FLOAT, TensorProto.COMPLEX64):
        return "float_data"
    if element in (TensorProto.DOUBLE, TensorProto.COMPLEX128):
        return "double_data"
    if element == TensorProto.INT64:
        return "int64_data"
    if element in (TensorProto.UINT64, TensorProto.UINT32):
        return "uint64_data"
    return "string_data" if element == TensorProto.STRING else "int32_data"


def _strings(proto: TensorProto, field: str) -> np.ndarray:
    array = np.empty(len(proto.string_data), object)
    for index, item in enumerate(proto.string_data):
        try:
            array[index] = item.decode("utf-8")
        except UnicodeDecodeError:
            raise ModelError(
                f"string {index} is not valid UTF-8", field=f"{field}.string_data"
            ) from None
    return array


def read_sparse(
    proto: SparseTensorProto, field: str, external: External | None = None
) -> np.ndarray:
    """The dense array of a sparse tensor.

    Raises:
        ModelError: for sizes above :data:`MAX_DENSE` elements or indices out of range.
    """
    shape = tuple(proto.dims)
    if any(size < 0 for size in shape) or len(shape) > MAX_RANK or math.prod(shape) > MAX_DENSE:
        raise ModelError(
            f"sizes {list(shape)} are no dense tensor of at most {MAX_DENSE} elements",
            field=f"{field}.dims",
        )
    values = read_tensor(proto.values, f"{field}.values", external)
    indices = read_tensor(proto.indices, f"{field}.indices", external)
    if values.ndim != 1 or indices.dtype != np.int64 or indices.shape[:1] != values.shape:
        raise ModelError("values and indices do not belong together", field=f"{field}.indices")
    if indices.ndim == 2:
        if indices.shape[1] != len(shape):
            raise ModelError("indices have another rank than dims", field=f"{field}.indices")
        if ((indices < 0) | (indices >= np.array(shape))).any():
            raise ModelError("an index is out of range", field=f"{field}.indices")
        indices = np.ravel_multi_index(tuple(indices.T), shape) if len(indices) else indices[:, 0]
    if indices.ndim != 1 or (indices < 0).any() or (indices >= math.prod(shape)).any():
        raise ModelError("an index is out of range", field=f"{field}.indices")
    dense = np.zeros(math.prod(shape), values.dtype)
    dense[indices] = values
    return dense.reshape(shape)
