"""Module: a tree of named parameters, buffers and modules with a ``forward``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from onemodel.nn.hooks import Handle, Hook, HookTable
from onemodel.nn.parameter import Buffer, Parameter, replace_array
from onemodel.nn.state import LoadResult, load_into
from onemodel.tensors import seam
from onemodel.tensors.dtypes import as_dtype, bfloat16, float16, float32, float64, is_floating
from onemodel.tensors.tensor import Tensor
from onemodel.tracing.model import TracedModel
from onemodel.tracing.trace import trace
from onemodel.tracing.tracer import Tracer

Self = TypeVar("Self", bound="Module")


class Module:
    """Base of all layers and models; ``forward`` is yours to write.

    ::

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.hidden = nn.Linear(4, 8)

            def forward(self, x):
                return self.hidden(x).relu()

    A :class:`Parameter`, :class:`Buffer` or Module assigned to an attribute is registered under
    that name; names joined by dots are the paths of the state dict, the same as PyTorch's.
    Source: ``torch.nn.Module``.
    """

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _transient: set[str]
    _modules: dict[str, Module | None]
    _pre_hooks: HookTable
    _hooks: HookTable

    def __init__(self) -> None:
        # Straight into __dict__: __setattr__ below needs these tables to be there.
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _transient=set(),
            _modules={},
            _pre_hooks=HookTable(),
            _hooks=HookTable(),
        )

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes. Raises NotImplementedError where a subclass wrote none."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Pre-hooks, ``forward``, hooks. While a trace records, all of it carries our path."""
        tracer = None if seam.listener() is None else Tracer.active()
        if tracer is None:
            if not self._pre_hooks and not self._hooks:
                return self.forward(*args, **kwargs)
            return self._hooked(args, kwargs)
        with tracer.module(self):
            return self._hooked(args, kwargs)

    def _hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook in list(self._pre_hooks.values()):
            args, kwargs = hook.before(self, args, kwargs)
        result = self.forward(*args, **kwargs)
        for hook in list(self._hooks.values()):
            result = hook.after(self, args, kwargs, result)
        return result

    def trace(self, *examples: Any, **options: Any) -> TracedModel:
        """Record one run on ``examples`` as a graph: :func:`onemodel.trace` of this module.

        ``options``: ``axes``, ``opset``, ``verify``, ``strict_sizes``, ``overrides`` and examples
        by name. Raises TraceException at the call that cannot be followed.
        """
        return trace(self, *examples, **options)

    # --- attributes -----------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        tables = self.__dict__
        if isinstance(value, Parameter):
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._forget(name, "_modules")
            self.add_module(name, value)
        elif isinstance(value, Buffer):
            self._forget(name, "_buffers")
            self.register_buffer(name, value, value.persistent)
        elif name in tables.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"{type(self).__name__}.{name} is a parameter; assign an nn.Parameter or None, "
                    f"not {type(value).__name__}"
                )
            self._parameters[name] = None
        elif name in tables.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"{type(self).__name__}.{name} is a module; assign a Module or None, "
                    f"not {type(value).__name__}"
                )
            self._modules[name] = None
        elif name in tables.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"{type(self).__name__}.{name} is a buffer; assign a tensor or None, "
                    f"not {type(value).__name__}"
                )
            self._buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        tables = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if name in tables.get(table, ()):
                return tables[table][name]
        if "_modules" not in tables:
            raise AttributeError(f"{type(self).__name__}: __init__ did not call super().__init__()")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for table in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                self._transient.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._parameters, *self._buffers, *self._modules})

    def _forget(self, name: str, keep: str) -> None:
        """Take ``name`` out of every place but the table it is about to enter."""
        if "_parameters" not in self.__dict__:
            raise AttributeError(
                f"{type(self).__name__}: call super().__init__() before assigning {name!r}"
            )
        self.__dict__.pop(name, None)
        for table in ("_parameters", "_buffers", "_modules"):
            if table != keep:
                self.__dict__[table].pop(name, None)

    def _check_name(self, name: str, table: str, kind: str) -> None:
        if not isinstance(name, str) or not name or "." in name:
            raise KeyError(f"{type(self).__name__}: {name!r} cannot be the name of a {kind}")
        if name not in self.__dict__[table] and hasattr(self, name):
            raise KeyError(f"{type(self).__name__}: there already is an attribute {name!r}")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter (None: a weight that this configuration has not).

        Raises KeyError for a bad or taken name, TypeError for anything but a leaf Parameter.
        """
        self._check_name(name, "_parameters", "parameter")
        if param is not None and not isinstance(param, Parameter):
            kind = type(param).__name__
            raise TypeError(f"{type(self).__name__}.{name}: expected an nn.Parameter, not {kind}")
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but no weight; ``persistent``: part of the state dict.

        Raises KeyError for a bad or taken name, TypeError for anything but a tensor.
        """
        self._check_name(name, "_buffers", "buffer")
        if tensor is not None and not isinstance(tensor, Tensor):
            kind = type(tensor).__name__
            raise TypeError(f"{type(self).__name__}.{name}: expected a tensor, not {kind}")
        self._buffers[name] = tensor
        if persistent:
            self._transient.discard(name)
        else:
            self._transient.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child. Raises KeyError for a bad or taken name, TypeError for no Module."""
        self._check_name(name, "_modules", "module")
        if module is not None and not isinstance(module, Module):
            kind = type(module).__name__
            raise TypeError(f"{type(self).__name__}.{name}: expected a Module, not {kind}")
        self._modules[name] = module

    register_module = add_module

    # --- walking --------------------------------------------------------------------------

    def named_modules(
        self, memo: set[int] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module under ``prefix`` and all below it under their dotted paths."""
        memo = set() if memo is None else memo
        if remove_duplicate and id(self) in memo:
            return
        memo.add(id(self))
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, _join(prefix, name), remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all below it, each once."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below this one, each once."""
        seen: set[int] = set()
        for name, child in self._modules.items():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                yield name, child

    def children(self) -> Iterator[Module]:
        """The modules directly below this one, each once."""
        for _, child in self.named_children():
            yield child

    def _members(
        self, table: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        owners = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        seen: set[int] = set()
        for path, module in owners:
            for name, member in getattr(module, table).items():
                if member is None or (remove_duplicate and id(member) in seen):
                    continue
                seen.add(id(member))
                yield _join(path, name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Parameters by state-dict path; one that is used twice comes once."""
        return self._members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Parameters, each once: what an optimiser wants."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Buffers by path, those that are no part of the state dict included."""
        return self._members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Module:
        """The module at a dotted path. Raises AttributeError where there is none."""
        module = self
        for part in target.split(".") if target else ():
            child = module._modules.get(part)
            if child is None:
                raise AttributeError(f"{type(self).__name__} has no module at {target!r}")
            module = child
        return module

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path. Raises AttributeError where there is none."""
        path, _, name = target.rpartition(".")
        found = self.get_submodule(path)._parameters.get(name)
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no parameter at {target!r}")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path. Raises AttributeError where there is none."""
        path, _, name = target.rpartition(".")
        found = self.get_submodule(path)._buffers.get(name)
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no buffer at {target!r}")
        return found

    # --- state ----------------------------------------------------------------------------

    def state_dict(self, *, prefix: str = "", keep_vars: bool = False) -> dict[str, Tensor]:
        """Parameters and persistent buffers by path; they share memory with the module.

        ``keep_vars`` gives the parameters themselves instead of detached tensors.
        """
        state: dict[str, Tensor] = {}
        for path, module in self.named_modules(prefix=prefix, remove_duplicate=False):
            for name, tensor in module._own_state():
                state[_join(path, name)] = tensor if keep_vars else tensor.detach()
        return state

    def _own_state(self) -> Iterator[tuple[str, Tensor]]:
        for name, parameter in self._parameters.items():
            if parameter is not None:
                yield name, parameter
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._transient:
                yield name, buffer

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> LoadResult:
        """Copy values in by path, from tensors or arrays.

        Either everything is loaded or nothing. Raises RuntimeError with one list of every key
        that is missing or unexpected (with ``strict``) and every shape or dtype that differs.
        Returns the missing and the unexpected keys.
        """
        return load_into(type(self).__name__, self.state_dict(keep_vars=True), state_dict, strict)

    # --- modes and conversions --------------------------------------------------------------

    def train(self: Self, mode: bool = True) -> Self:
        """Set training mode here and below: dropout draws, batch norm learns its statistics."""
        for module in self.modules():
            module.__dict__["training"] = bool(mode)
        return self

    def eval(self: Self) -> Self:
        """Set evaluation mode here and below; what a trace needs."""
        return self.train(False)

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Ask for (or decline) gradients of every parameter."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of every parameter, or fill them with zeros."""
        for parameter in self.parameters():
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad = Tensor(np.zeros_like(parameter.grad.array))

    def apply(self: Self, fn: Callable[[Module], Any]) -> Self:
        """Call ``fn`` with every module, children first. Returns this module."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def to(self: Self, dtype: Any) -> Self:
        """Convert floating parameters and buffers to a floating ``dtype``, in place.

        Raises TypeError for any other dtype. Returns this module.
        """
        wanted = as_dtype(dtype)
        if not is_floating(wanted):
            raise TypeError(f"{type(self).__name__}.to() needs a floating dtype, not {wanted}")
        for tensor in [*self.parameters(), *self.buffers()]:
            if is_floating(tensor.dtype) and tensor.dtype != wanted:
                replace_array(tensor, tensor.array.astype(wanted))
                if tensor.grad is not None:
                    tensor.grad = Tensor(tensor.grad.array.astype(wanted))
        return self

    def float(self: Self) -> Self:
        """Floating parameters and buffers as float32."""
        return self.to(float32)

    def double(self: Self) -> Self:
        """Floating parameters and buffers as float64."""
        return self.to(float64)

    def half(self: Self) -> Self:
        """Floating parameters and buffers as float16."""
        return self.to(float16)

    def bfloat16(self: Self) -> Self:
        """Floating parameters and buffers as bfloat16."""
        return self.to(bfloat16)

    # --- hooks ----------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> Handle:
        """Call ``hook(module, args)`` before ``forward``; what it returns replaces the arguments.

        With ``with_kwargs``: ``hook(module, args, kwargs)`` returning None or (args, kwargs).
        ``handle.remove()`` takes it away again.
        """
        return self._pre_hooks.add(Hook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> Handle:
        """Call ``hook(module, args, output)`` after ``forward``; a result replaces the output.

        With ``with_kwargs``: ``hook(module, args, kwargs, output)``.
        ``handle.remove()`` takes it away again.
        """
        return self._hooks.add(Hook(hook, with_kwargs), prepend)

    # --- text -----------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """The configuration, as it stands between the brackets of ``repr``."""
        return ""

    def _child_lines(self) -> Iterator[str]:
        for name, child in self._modules.items():
            yield f"({name}): {_indent(repr(child))}"

    def __repr__(self) -> str:
        name, extra = type(self).__name__, self.extra_repr()
        children = list(self._child_lines())
        lines = extra.split("\n") if extra else []
        if not children and len(lines) < 2:
            return f"{name}({extra})"
        body = "\n".join(f"  {line}" for line in [*lines, *children])
        return f"{name}(\n{body}\n)"


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _indent(text: str) -> str:
    return text.replace("\n", "\n  ")
