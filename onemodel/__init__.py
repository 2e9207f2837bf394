"""OneModel: tensors with autograd, a tracer to ONNX that refuses what it cannot follow, a runtime.

``import onemodel as om``. Tensors and operators are loaded at once; whatever needs ``onnx``
(tracing, sessions, comparison, modules) on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from onemodel import autograd as _autograd
from onemodel import operators as _operators
from onemodel.autograd.functional import backward, grad
from onemodel.autograd.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from onemodel.errors import CallSite, TraceErrorKind, TraceException
from onemodel.tensors.dtypes import (
    bfloat16,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    int8,
    int16,
    int32,
    int64,
    long,
    promote_types,
    result_type,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from onemodel.tensors.dtypes import bool_ as bool_
from onemodel.tensors.generator import Generator, manual_seed
from onemodel.tensors.storage import Storage
from onemodel.tensors.tensor import Tensor

if TYPE_CHECKING:
    from onemodel import nn, training
    from onemodel.compare import compare
    from onemodel.compare.opsets import opset_table, unconvertible
    from onemodel.session.session import Session
    from onemodel.symbolic.parse_args import parse_args
    from onemodel.symbolic.registry import Overrides, onnx_symbolic
    from onemodel.tracing.model import TracedModel
    from onemodel.tracing.trace import refusals, trace
    from onemodel.tracing.tracer import Tracer

__version__ = "0.1.0"

# Lazy names: (module, attribute); an empty attribute is the module itself.
_LAZY = {
    "Overrides": ("onemodel.symbolic.registry", "Overrides"),
    "Session": ("onemodel.session.session", "Session"),
    "TracedModel": ("onemodel.tracing.model", "TracedModel"),
    "Tracer": ("onemodel.tracing.tracer", "Tracer"),
    "compare": ("onemodel.compare", "compare"),
    "nn": ("onemodel.nn", ""),
    "opset_table": ("onemodel.compare.opsets", "opset_table"),
    "parse_args": ("onemodel.symbolic.parse_args", "parse_args"),
    "unconvertible": ("onemodel.compare.opsets", "unconvertible"),
    "onnx_symbolic": ("onemodel.symbolic.registry", "onnx_symbolic"),
    "refusals": ("onemodel.tracing.trace", "refusals"),
    "trace": ("onemodel.tracing.trace", "trace"),
    "training": ("onemodel.training", ""),
}

globals().update({name: op.declaration for name, op in _operators.TABLE.items() if op.public})

__all__ = sorted(
    {name for name, op in _operators.TABLE.items() if op.public}
    | set(_LAZY)
    | {
        "CallSite", "Generator", "Storage", "Tensor", "TraceErrorKind", "TraceException",
        "backward", "bfloat16", "bool_", "complex128", "complex64", "double", "enable_grad",
        "float16", "float32", "float64", "get_default_dtype", "grad", "half", "int16", "int32",
        "int64", "int8", "is_grad_enabled", "long", "manual_seed", "no_grad", "promote_types",
        "result_type", "set_default_dtype", "set_grad_enabled", "uint16", "uint32", "uint64",
        "uint8",
    }
)  # fmt: skip


def __getattr__(name: str) -> Any:
    try:
        module_name, attribute = _LAZY[name]
    except KeyError:
        raise AttributeError(f"module 'onemodel' has no attribute {name!r}") from None
    module = import_module(module_name)
    found = getattr(module, attribute) if attribute else module
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
