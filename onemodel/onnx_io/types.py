"""ONNX types between protobuf, text (``seq(tensor(float))``) and dtype with shape."""

from __future__ import annotations

from onnx import TypeProto

from onemodel.axes.extent import Extent
from onemodel.graph.dtypes import dtype_of_element, dtype_of_name, element_name, element_of_dtype
from onemodel.graph.ir import Shape, Value
from onemodel.onnx_io.dims import read_dim
from onemodel.onnx_io.errors import ModelError

MAX_RANK = 64
"""NumPy's own limit."""


def type_of(value: Value) -> TypeProto | None:
    """The ``TypeProto`` of ``value``, or None where its dtype is unknown."""
    if value.type_text:
        return parse_type(value.type_text)
    if value.dtype is None:
        return None
    proto = TypeProto()
    proto.tensor_type.elem_type = element_of_dtype(value.dtype)
    if value.shape is not None:
        _write_shape(proto.tensor_type, value.shape)
    return proto


def _write_shape(tensor: TypeProto.Tensor, shape: tuple) -> None:
    tensor.shape.SetInParent()  # rank 0 is a shape too
    for size in shape:
        dim = tensor.shape.dim.add()
        if isinstance(size, Extent) and not size.is_static:
            dim.dim_param = str(size)
        elif size is not None:
            dim.dim_value = size.value if isinstance(size, Extent) else int(size)


def parse_type(text: str) -> TypeProto:
    """The type that ``text`` names, such as ``optional(seq(tensor(int64)))``.

    Raises:
        ValueError: for anything that is no ONNX type.
    """
    proto = TypeProto()
    head, _, rest = text.partition("(")
    if not rest.endswith(")"):
        raise ValueError(f"{text!r} is no ONNX type; write tensor(float), seq(tensor(int64)), ...")
    body = rest[:-1]
    if head in ("tensor", "sparse_tensor"):
        dtype = dtype_of_name(body)
        if dtype is None:
            raise ValueError(f"{body!r} in {text!r} is no ONNX element type")
        part = proto.tensor_type if head == "tensor" else proto.sparse_tensor_type
        part.elem_type = element_of_dtype(dtype)
    elif head == "seq":
        proto.sequence_type.elem_type.CopyFrom(parse_type(body))
    elif head == "optional":
        proto.optional_type.elem_type.CopyFrom(parse_type(body))
    elif head == "map":
        key, _, item = body.partition(",")
        dtype = dtype_of_name(key.strip())
        if dtype is None:
            raise ValueError(f"{key!r} in {text!r} is no ONNX element type")
        proto.map_type.key_type = element_of_dtype(dtype)
        proto.map_type.value_type.CopyFrom(parse_type(item.strip()))
    else:
        raise ValueError(f"{text!r} is no ONNX type; write tensor(float), seq(tensor(int64)), ...")
    return proto


def type_text(proto: TypeProto, field: str = "type") -> str:
    """``proto`` as text: ``tensor(float)``, ``seq(...)``, ``optional(...)``, ``map(k,v)``.

    Raises:
        ModelError: for an element type number that is not known.
    """
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return f"tensor({_element_text(proto.tensor_type.elem_type, field)})"
    if kind == "sparse_tensor_type":
        return f"sparse_tensor({_element_text(proto.sparse_tensor_type.elem_type, field)})"
    if kind == "sequence_type":
        return f"seq({type_text(proto.sequence_type.elem_type, field)})"
    if kind == "optional_type":
        return f"optional({type_text(proto.optional_type.elem_type, field)})"
    if kind == "map_type":
        key = _element_text(proto.map_type.key_type, field)
        return f"map({key},{type_text(proto.map_type.value_type, field)})"
    raise ModelError("the type is empty", field=field)


def _element_text(element: int, field: str) -> str:
    dtype = dtype_of_element(element)
    if dtype is None:
        raise ModelError(f"element type {element} is not known", field=field)
    return element_name(dtype)


def read_type(value: Value, proto: TypeProto, field: str) -> None:
    """Put what ``proto`` says into ``value``; a tensor of unknown element type stays unknown.

    Raises:
        ModelError: for unknown element types, ranks above :data:`MAX_RANK`, negative sizes.
    """
    if proto.WhichOneof("value") is None:
        return
    if proto.WhichOneof("value") != "tensor_type":
        value.type_text = type_text(proto, field)
        return
    tensor = proto.tensor_type
    if tensor.elem_type:
        value.dtype = dtype_of_element(tensor.elem_type)
        if value.dtype is None:
            raise ModelError(f"element type {tensor.elem_type} is not known", field=field)
    if tensor.HasField("shape"):
        value.shape = _read_shape(tensor, field)


NAMELESS = frozenset({"", "?", "*", "-1"})
"""What exporters write for a size that has no name: two of them need not be equal."""


def _read_shape(tensor: TypeProto.Tensor, field: str) -> Shape:
    if len(tensor.shape.dim) > MAX_RANK:
        raise ModelError(
            f"rank {len(tensor.shape.dim)} is above {MAX_RANK}", field=f"{field}.shape"
        )
    shape: list[int | Extent | None] = []
    for dim in tensor.shape.dim:
        kind = dim.WhichOneof("value")
        if kind == "dim_value" and dim.dim_value >= 0:
            shape.append(dim.dim_value)
        elif kind == "dim_value" and dim.dim_value != -1:
            raise ModelError(f"size {dim.dim_value} is negative", field=f"{field}.shape")
        elif kind == "dim_param" and dim.dim_param not in NAMELESS:
            extent = read_dim(dim.dim_param)
            shape.append(extent if not extent.is_static else extent.value)
        else:  # old exporters write -1 for an unknown size
            shape.append(None)
    return tuple(shape)
