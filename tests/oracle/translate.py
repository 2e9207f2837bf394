"""The same call in PyTorch: an operator's counterpart, and a case's code with PyTorch's functions.

Names and parameters are PyTorch's, so that nearly every operator is found under its own name.
What is not stands in ``COUNTERPARTS``, one line each. A case's ``call`` is rebuilt with the
operators it names replaced by their counterparts; it then runs on PyTorch's tensors as it is.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from onemodel.operators import TABLE
from onemodel.tensors.dtypes import as_dtype
from onemodel.tensors.tensor import Tensor
from tests.oracle.differences import RANDOM

# Where an operator of this name lives: the first that has it.
PLACES = (F, torch, torch.linalg, torch.Tensor)

_MODES = {"tanh": "rnn_tanh", "relu": "rnn_relu"}


def _slice(input: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    whole = (slice(None),) * (dim % input.dim())
    return input[(*whole, slice(start, end, step))]


def _setitem(input: Any, index: Any, value: Any) -> None:
    input[index] = value


def _batch_norm_training(input: Any, weight: Any, bias: Any, eps: float = 1e-5) -> Any:
    axes = [axis for axis in range(input.dim()) if axis != 1]
    variance, mean = torch.var_mean(input, axes, correction=0)
    return F.batch_norm(input, None, None, weight, bias, True, eps=eps), mean, variance


def _recurrent(name: str) -> Callable[..., Any]:
    def call(
        input: Any,
        hx: Any,
        weights: Any,
        bias: bool = True,
        num_layers: int = 1,
        dropout: float = 0.0,
        training: bool = False,
        bidirectional: bool = False,
        batch_first: bool = False,
        *,
        nonlinearity: str = "tanh",
        lengths: Any = None,
    ) -> Any:
        function = getattr(torch, _MODES[nonlinearity] if name == "rnn" else name)
        weights = list(weights)
        hx = _states(
            hx, name, input, weights, num_layers * (2 if bidirectional else 1), batch_first
        )
        common = (weights, bias, num_layers, dropout, training, bidirectional)
        if lengths is None:
            return function(input, hx, *common, batch_first)
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            input, torch.as_tensor(lengths), batch_first, enforce_sorted=False
        )
        order = packed.sorted_indices
        hx = tuple(h[:, order] for h in hx) if name == "lstm" else hx[:, order]
        data, *last = function(packed.data, packed.batch_sizes, hx, *common)
        output, _ = torch.nn.utils.rnn.pad_packed_sequence(
            torch.nn.utils.rnn.PackedSequence(
                data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices
            ),
            batch_first,
            total_length=input.shape[1 if batch_first else 0],
        )
        return (output, *(state[:, packed.unsorted_indices] for state in last))

    return call


def _states(
    hx: Any, name: str, input: Any, weights: list[Any], layers: int, batch_first: bool
) -> Any:
    """The given initial state, or zeros of its shape."""
    if hx is not None:
        return hx
    batch = input.shape[0 if batch_first else 1]
    zeros = torch.zeros(layers, batch, weights[1].shape[1], dtype=input.dtype)
    return (zeros, zeros) if name == "lstm" else zeros


def _rnn_cell(
    input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, *,
    nonlinearity: str = "tanh",
) -> Any:  # fmt: skip
    function = torch.rnn_tanh_cell if nonlinearity == "tanh" else torch.rnn_relu_cell
    return function(input, hx, w_ih, w_hh, b_ih, b_hh)


def _whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """A normalisation that takes one size as well as a tuple of them."""

    def call(input: Any, normalized_shape: Any, *rest: Any, **named: Any) -> Any:
        if isinstance(normalized_shape, int):
            normalized_shape = (normalized_shape,)
        return function(input, tuple(normalized_shape), *rest, **named)

    return call


def _drawing(name: str) -> Callable[..., Any]:
    """A random function without the generator, which is ours."""
    function = getattr(torch, name)
    return lambda *given, generator=None, **named: function(*given, **named)


def _index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    return torch.ops.aten.index_put(input, list(indices), values, accumulate)


def _scatter(input: Any, dim: int, index: Any, src: Any) -> Any:
    return torch.scatter(input, dim, index, src.expand(index.shape) if src.dim() == 0 else src)


def _affine_grid(theta: Any, size: Any, align_corners: bool = False) -> Any:
    return F.affine_grid(theta, [len(theta), *size[1:]], align_corners)


def _repeat_interleave(input: Any, repeats: Any, dim: int | None = None) -> Any:
    return torch.repeat_interleave(input, torch.as_tensor(repeats), dim)


COUNTERPARTS: dict[str, Callable[..., Any]] = {
    "norm": torch.norm,
    "where_method": torch.Tensor.where,
    "unfold_dimension": torch.Tensor.unfold,
    "getitem": torch.Tensor.__getitem__,
    "setitem": _setitem,
    "slice": _slice,
    "index": lambda input, indices: input[tuple(slice(None) if i is None else i for i in indices)],
    "log_sigmoid": F.logsigmoid,
    "concat": torch.cat,
    "resize2d": F.interpolate,
    "xlogx": lambda input: -torch.special.entr(input),
    "binary_cross_entropy_elements": lambda input, target: F.binary_cross_entropy(
        input, target, reduction="none"
    ),
    "batch_norm_training": _batch_norm_training,
    "rnn": _recurrent("rnn"),
    "rnn_tanh": _recurrent("rnn"),
    "rnn_relu": lambda *given, **options: _recurrent("rnn")(*given, nonlinearity="relu", **options),
    "lstm": _recurrent("lstm"),
    "gru": _recurrent("gru"),
    "rnn_cell": _rnn_cell,
    "softmin": F.softmin,
    "layer_norm": _whole(F.layer_norm),
    "rms_norm": _whole(F.rms_norm),
    "index_put": _index_put,
    "scatter": _scatter,
    "affine_grid": _affine_grid,  # ours takes the batch from theta
    "repeat_interleave": _repeat_interleave,
    "to_plain": torch.Tensor.to_dense,
    "empty": torch.zeros,  # memory as it was found may hold NaN
    "empty_like": torch.zeros_like,
    **{name: _drawing(name) for name in RANDOM},
}
"""Counterparts that PyTorch does not have under the operator's own name and parameters."""


def counterpart(name: str) -> Callable[..., Any]:
    """PyTorch's function for an operator. Raises LookupError where there is none."""
    found = COUNTERPARTS.get(name)
    for place in PLACES:
        found = found or getattr(place, name, None)
    if found is None:
        raise LookupError(f"PyTorch has no {name}")
    return found


def to_torch(value: Any) -> Any:
    """Arrays, tensors and dtypes in nested arguments as PyTorch's; the rest unchanged."""
    if isinstance(value, Tensor):
        value = value.detach().numpy()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.array(value, order="C"))
    if isinstance(value, np.dtype):
        return getattr(torch, value.name)
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)(to_torch(item) for item in value)
    return value


def options(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments of a case, dtypes as PyTorch's."""
    return {
        name: to_torch(as_dtype(value)) if name == "dtype" else to_torch(value)
        for name, value in attributes.items()
    }


def translate(value: Any) -> Any:
    """Code of a case, with PyTorch's counterparts in place of the operators it names."""
    name = _NAMES.get(id(value))
    if name is not None:
        return _taking_dtypes(counterpart(name))
    if value is Tensor:
        return to_torch
    if isinstance(value, types.ModuleType) and value.__name__.startswith("onemodel.operators"):
        return types.SimpleNamespace(
            **{key: translate(item) for key, item in vars(value).items() if callable(item)}
        )
    if isinstance(value, types.FunctionType) and value.__module__.startswith("onemodel."):
        return _rebuilt(value)
    return value


_NAMES = {id(operator.declaration): name for name, operator in TABLE.items()}


def _taking_dtypes(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*given: Any, **named: Any) -> Any:
        return function(*to_torch(given), **options(named))

    return call


def _rebuilt(function: types.FunctionType) -> types.FunctionType:
    known = _REBUILT.get(function)
    if known is not None:
        return known
    names: dict[str, Any] = {"__builtins__": builtins}
    cells = tuple(types.CellType() for _ in function.__closure__ or ())
    made = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, cells
    )
    made.__kwdefaults__ = function.__kwdefaults__
    _REBUILT[function] = made  # before its names, one of which may be itself
    for name in _names_in(function.__code__):
        if name in function.__globals__:
            names[name] = translate(function.__globals__[name])
    for cell, original in zip(cells, function.__closure__ or (), strict=True):
        cell.cell_contents = translate(original.cell_contents)
    return made


_REBUILT: dict[types.FunctionType, types.FunctionType] = {}


def _names_in(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_in(constant)
    return names
