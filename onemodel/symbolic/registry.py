"""Symbolic functions by operator and opset: registration, inheritance, scoped overrides.

A symbolic function is one thin function ``(g, <parameters of the operator>)`` that writes an
operator as nodes. It is written once at the opset from which ONNX can express the operator and
again only where ONNX changed: a target takes the newest registration not above it. Opset 9 is
the base; targets 7 and 8 take their own registrations, else the base function, whose every node
is then checked to exist there. Knows no graph and no protobuf.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

BASE_OPSET = 9
"""The opset that older targets fall back to, node by node."""

LOWEST_OPSET = 7
"""The oldest opset that can be asked for."""

POSITIONAL = "_takes_arguments_by_position"
"""Attribute of functions that ``parse_args`` made: how many arguments they take, in order."""

F = TypeVar("F", bound=Callable[..., Any])

_NAME = re.compile(r"[A-Za-z_][\w.-]*::[A-Za-z_]\w*")


@dataclass(frozen=True)
class Registration:
    """``function`` writes ``name`` for targets from ``opset`` on. ``custom``: an override."""

    name: str
    opset: int
    function: Callable[..., Any]
    custom: bool = False

    @cached_property
    def _takes_self(self) -> bool:
        names = list(inspect.signature(self.function).parameters)[1:]
        return bool(names) and names[0] == "self"

    def write(self, g: Any, arguments: Mapping[str, Any]) -> Any:
        """Call the function with ``arguments``, by name in the operator's own order.

        Functions of ``parse_args`` take them by position, and a first parameter called
        ``self`` stands for the operator's first: so PyTorch's functions port over.
        """
        if hasattr(self.function, POSITIONAL):
            return self.function(g, *arguments.values())
        if self._takes_self and "self" not in arguments and arguments:
            first, *rest = arguments.items()
            arguments = {"self": first[1], **dict(rest)}
        return self.function(g, **arguments)

    @cached_property
    def label(self) -> str:
        """``onemodel.operators.softmax.opset_13``: how a fault names it."""
        function = inspect.unwrap(self.function)
        return f"{function.__module__}.{getattr(function, '__qualname__', repr(function))}"


def check_name(name: str) -> str:
    """``domain::operator``, spelt exactly so. Raises ValueError for anything else."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise ValueError(f"a symbolic function is registered as 'domain::operator', not {name!r}")
    return name


def opset_versions(opset: int | Iterable[int]) -> tuple[int, ...]:
    """One opset or several as a sorted tuple. Raises ValueError outside what can be."""
    if isinstance(opset, (bool, str, bytes)) or not isinstance(opset, (int, Iterable)):
        raise ValueError(f"an opset is an integer or a sequence of them, not {opset!r}")
    versions = (opset,) if isinstance(opset, int) else tuple(opset)
    if not versions:
        raise ValueError("no opset was named")
    for version in versions:
        if isinstance(version, bool) or not isinstance(version, int) or version < LOWEST_OPSET:
            raise ValueError(f"opset {version!r} is not an integer of {LOWEST_OPSET} or more")
    return tuple(sorted(set(versions)))


def check_parameters(name: str, function: Callable[..., Any], parameters: Sequence[str]) -> None:
    """Hold a symbolic function to the operator's own parameter names.

    Dispatch is by keyword, so a function must take every parameter by its name (or ``**rest``)
    and nothing else without a default. Raises ValueError naming the difference.
    """
    count = getattr(function, POSITIONAL, None)
    if count is not None:
        if count > len(parameters):
            raise ValueError(
                f"the symbolic function {function.__qualname__} takes {count} arguments, "
                f"{name} has {len(parameters)} ({', '.join(parameters)})"
            )
        return
    given = list(inspect.signature(function).parameters.values())[1:]
    if given and given[0].name == "self" and "self" not in parameters:
        parameters = ("self", *parameters[1:])
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in given):
        return
    takes_rest = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in given)
    names = [p.name for p in given if p.kind is not inspect.Parameter.VAR_KEYWORD]
    required = [p.name for p in given if p.default is inspect.Parameter.empty and p.name in names]
    unknown = [n for n in required if n not in parameters]
    missing = [] if takes_rest else [n for n in parameters if n not in names]
    if unknown or missing:
        problems = []
        if unknown:
            problems.append(f"it takes {', '.join(unknown)}, which {name} does not have")
        if missing:
            problems.append(f"it does not take {', '.join(missing)}")
        raise ValueError(
            f"the symbolic function {function.__qualname__} does not fit {name}: "
            f"{'; '.join(problems)} (parameters of {name}: {', '.join(parameters)})"
        )


class SymbolicRegistry:
    """Registrations by name, each with its versions. Later floors read it; nothing is global."""

    def __init__(self) -> None:
        self._versions: dict[str, dict[int, Registration]] = {}
        self._parameters: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[str, int], Registration | None] = {}

    def declare(self, name: str, parameters: Sequence[str]) -> None:
        """Make an operator known by its parameter names, before its functions arrive."""
        self._parameters[check_name(name)] = tuple(parameters)

    def parameters(self, name: str) -> tuple[str, ...] | None:
        return self._parameters.get(name)

    def register(self, name: str, opset: int | Iterable[int], function: Callable[..., Any]) -> None:
        """Add ``function`` for the opsets named.

        Raises ValueError for a bad name or opset, a taken version, or other parameter names
        than the operator's.
        """
        check_name(name)
        parameters = self._parameters.get(name)
        if parameters is not None:
            check_parameters(name, function, parameters)
        versions = self._versions.setdefault(name, {})
        self._found.clear()
        for version in opset_versions(opset):
            if version in versions:
                raise ValueError(f"{name} has a symbolic function for opset {version} already")
            versions[version] = Registration(name, version, function)

    def names(self) -> list[str]:
        """Every name with at least one function, sorted."""
        return sorted(self._versions)

    def versions(self, name: str) -> list[int]:
        """The opsets at which ``name`` was written, rising."""
        return sorted(self._versions.get(name, ()))

    def lowest(self, name: str) -> int | None:
        """The lowest registered opset, or None where there is no function."""
        return min(self._versions.get(name, ()), default=None)

    def find(
        self, name: str, opset: int, overrides: Overrides | None = None
    ) -> Registration | None:
        """What writes ``name`` for the target ``opset``, or None."""
        if overrides is not None:
            custom = overrides.find(name, opset)
            if custom is not None:
                return custom
        key = (name, opset)
        if key not in self._found:
            self._found[key] = self._newest(name, opset)
        return self._found[key]

    def _newest(self, name: str, opset: int) -> Registration | None:
        versions = self._versions.get(name, {})
        usable = [version for version in versions if version <= opset]
        if usable:
            return versions[max(usable)]
        if opset < BASE_OPSET and BASE_OPSET in versions:
            return versions[BASE_OPSET]
        return None


class Overrides:
    """A user's own symbolic functions, for the traces and exports they are handed to.

    ::

        overrides = om.Overrides()

        @overrides.onnx_symbolic("om::gelu", opset=range(9, 29))
        def my_gelu(g, input, approximate):
            return g.op("Gelu", input, domain="com.example")

        om.trace(model, x, overrides=overrides)

    An override holds for exactly the opsets it names and always wins inside them.
    """

    def __init__(self) -> None:
        self._functions: dict[tuple[str, int], Registration] = {}
        self.used: set[tuple[str, int]] = set()

    def onnx_symbolic(
        self,
        name: str,
        opset: int | Iterable[int],
        decorate: Sequence[Callable[[Callable[..., Any]], Callable[..., Any]]] | None = None,
    ) -> Callable[[F], F]:
        """Decorator that adds an override and returns the function itself.

        ``decorate`` is applied in order, so that the last one is outermost. Raises ValueError
        for a bad name or opset.
        """
        check_name(name)
        versions = opset_versions(opset)

        def wrapper(function: F) -> F:
            decorated: Callable[..., Any] = function
            for decorator in decorate or ():
                decorated = decorator(decorated)
            for version in versions:
                self._functions[name, version] = Registration(name, version, decorated, True)
            return function

        return wrapper

    def find(self, name: str, opset: int) -> Registration | None:
        found = self._functions.get((name, opset))
        if found is not None:
            self.used.add((name, opset))
        return found

    def check(self, registry: SymbolicRegistry) -> None:
        """Hold every override to its operator. Raises ValueError naming the difference."""
        for name, version in self._functions:
            parameters = registry.parameters(name)
            if parameters is None:
                raise ValueError(f"there is no operator {name} to override")
            check_parameters(name, self._functions[name, version].function, parameters)

    def unused(self, opset: int) -> list[str]:
        """Sentences about overrides that an export at ``opset`` did not come to.

        Either the operator was not called, or the override names other opsets only and the
        built-in function (or none) stood in.
        """
        by_name: dict[str, list[int]] = {}
        for name, version in self._functions:
            by_name.setdefault(name, []).append(version)
        found = []
        for name, versions in sorted(by_name.items()):
            if opset not in versions:
                named = ", ".join(str(v) for v in sorted(versions))
                found.append(f"the override of {name} is for opset {named}, the target is {opset}")
            elif (name, opset) not in self.used:
                found.append(f"the override of {name} was not used: the model does not call it")
        return found

    def __len__(self) -> int:
        return len(self._functions)


REGISTRY = SymbolicRegistry()
"""The built-in functions, filled from the operators' own files."""


def onnx_symbolic(
    name: str,
    opset: int | Iterable[int],
    decorate: Sequence[Callable[[Callable[..., Any]], Callable[..., Any]]] | None = None,
    *,
    registry: SymbolicRegistry | None = None,
) -> Callable[[F], F]:
    """Register a symbolic function in the built-in registry and return it unchanged.

    For a function that should hold only for some exports use :class:`Overrides`.
    """
    target = REGISTRY if registry is None else registry
    check_name(name)
    versions = opset_versions(opset)

    def wrapper(function: F) -> F:
        decorated: Callable[..., Any] = function
        for decorator in decorate or ():
            decorated = decorator(decorated)
        target.register(name, versions, decorated)
        return function

    return wrapper


def fill(registry: SymbolicRegistry, operators: Mapping[str, Any]) -> None:
    """Enter every operator of a table: its parameters, then its functions by opset."""
    for name, operator in operators.items():
        if not getattr(operator, "forward", None):
            continue
        qualified = f"om::{name}"
        tensors = tuple(n.lstrip("*") for n in operator.tensor_names)
        registry.declare(qualified, (*tensors, *operator.attribute_names))
        for opset, function in sorted(operator.symbolic.items()):
            registry.register(qualified, opset, function)
