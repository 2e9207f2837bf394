"""Modules that hold modules and parameters: in a row, in a list, under names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import index as as_index
from typing import Any

from onemodel.nn.module import Module
from onemodel.nn.parameter import Parameter
from onemodel.tensors.tensor import Tensor


class _Numbered(Module):
    """Children under the names "0", "1", ...; what Sequential and ModuleList share."""

    def _position(self, index: int, size: int | None = None) -> str:
        size = len(self) if size is None else size
        position = as_index(index)
        if not -size <= position < size:
            raise IndexError(f"{type(self).__name__}: index {index} with {size} modules")
        return list(self._modules)[position]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._modules.values()))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)._of(list(self._modules.items())[index])
        return self._modules[self._position(index)]

    @classmethod
    def _of(cls, items: list[tuple[str, Any]]) -> Any:
        raise NotImplementedError

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._position(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)
        doomed = names[index] if isinstance(index, slice) else [self._position(index)]
        kept = [child for name, child in self._modules.items() if name not in doomed]
        self._modules.clear()
        self._modules.update({str(i): child for i, child in enumerate(kept)})

    def append(self, module: Module) -> Any:
        """Add a module at the end; returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add modules at the end; returns the container."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Put a module before position ``index``; returns the container."""
        children = list(self._modules.values())
        children.insert(index, module)
        self.add_module(str(len(self)), module)  # checks what it is
        self._modules.update({str(i): child for i, child in enumerate(children)})
        return self

    def pop(self, index: int = -1) -> Module:
        """Take a module out and return it."""
        module = self[index]
        del self[index]
        return module


class Sequential(_Numbered):
    """Modules called one after the other, each with the result of the one before.

    ``Sequential(a, b)`` or ``Sequential({"name": a, ...})``. Paths: ``0``, ``1``, ... or the
    names. Source: ``torch.nn.Sequential``.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self.extend(args)

    @classmethod
    def _of(cls, items: list[tuple[str, Any]]) -> Sequential:
        return cls(dict(items))

    def forward(self, x: Any) -> Any:
        for module in self._modules.values():
            x = module(x)  # type: ignore[misc]
        return x


class ModuleList(_Numbered):
    """A list of modules; it has no ``forward``. Paths: ``0``, ``1``, ...

    Source: ``torch.nn.ModuleList``.
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    @classmethod
    def _of(cls, items: list[tuple[str, Any]]) -> ModuleList:
        return cls(module for _, module in items)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def _child_lines(self) -> Iterator[str]:
        # Equal neighbours in one line, ``(0-1): 2 x Linear(...)``, as PyTorch prints them.
        runs: list[tuple[int, int, str]] = []
        for position, child in enumerate(self._modules.values()):
            text = repr(child).replace("\n", "\n  ")
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], position, text)
            else:
                runs.append((position, position, text))
        for first, last, text in runs:
            many = last > first
            yield f"({first}-{last}): {last - first + 1} x {text}" if many else f"({first}): {text}"


class ModuleDict(Module):
    """Modules by name, in the order in which they were added; it has no ``forward``.

    Source: ``torch.nn.ModuleDict``.
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._modules))

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def keys(self) -> Iterable[str]:
        """Names."""
        return self._modules.keys()

    def values(self) -> Iterable[Any]:
        """Modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and modules."""
        return self._modules.items()

    def update(self, modules: Any) -> None:
        """Add the modules of a mapping or of pairs (name, module)."""
        pairs = modules.items() if hasattr(modules, "items") else modules
        for name, module in pairs:
            self[name] = module

    def pop(self, key: str) -> Any:
        """Take a module out and return it."""
        module = self[key]
        del self[key]
        return module

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()


class ParameterList(Module):
    """A list of parameters. Paths: ``0``, ``1``, ... Tensors become parameters.

    Source: ``torch.nn.ParameterList``.
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.extend(values or ())

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._parameters.values()))

    def __getitem__(self, index: int | slice) -> Any:
        values = list(self._parameters.values())
        return ParameterList(values[index]) if isinstance(index, slice) else values[index]

    def __setitem__(self, index: int, value: Any) -> None:
        size, position = len(self), as_index(index)
        if not -size <= position < size:
            raise IndexError(f"ParameterList: index {index} with {size} parameters")
        self.register_parameter(str(position % size), _parameter(value))

    def append(self, value: Any) -> ParameterList:
        """Add a parameter at the end."""
        self.register_parameter(str(len(self)), _parameter(value))
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add parameters at the end."""
        for value in values:
            self.append(value)
        return self

    def _child_lines(self) -> Iterator[str]:
        for name, value in self._parameters.items():
            assert value is not None
            yield _parameter_line(name, value)


class ParameterDict(Module):
    """Parameters by name. Tensors become parameters. Source: ``torch.nn.ParameterDict``."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return self._parameters[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.register_parameter(key, _parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._parameters[key]

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._parameters))

    def __contains__(self, key: object) -> bool:
        return key in self._parameters

    def keys(self) -> Iterable[str]:
        """Names."""
        return self._parameters.keys()

    def values(self) -> Iterable[Any]:
        """Parameters."""
        return self._parameters.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and parameters."""
        return self._parameters.items()

    def update(self, parameters: Any) -> None:
        """Add the parameters of a mapping or of pairs (name, parameter)."""
        pairs = parameters.items() if hasattr(parameters, "items") else parameters
        for name, value in pairs:
            self[name] = value

    def _child_lines(self) -> Iterator[str]:
        for name, value in self._parameters.items():
            assert value is not None
            yield _parameter_line(name, value)


def _parameter(value: Any) -> Parameter:
    return value if isinstance(value, Parameter) else Parameter(value)


def _parameter_line(name: str, value: Tensor) -> str:
    sizes = "x".join(map(str, value.array.shape))
    return f"({name}): Parameter containing: [{value.dtype} of size {sizes}]"
