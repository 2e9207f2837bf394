"""``parse_args``: arguments of a symbolic function checked and unpacked by one-letter descriptors.

Kept for functions written for PyTorch's exporter. A decorated function takes its arguments by
position, in the operator's own order, whatever it calls them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from onemodel.symbolic.registry import POSITIONAL

DESCRIPTORS = {
    "v": "a graph value",
    "i": "an integer",
    "is": "integers",
    "f": "a float",
    "fs": "floats",
    "b": "a bool",
    "s": "a string",
    "t": "an array",
    "none": "nothing (None)",
}


def parse_args(*descriptors: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Unpack the arguments after ``g`` by ``descriptors``.

    ``v`` keeps a graph value; ``i f b s t`` take a Python value, or a constant graph value
    that holds one; ``is fs`` a sequence; ``none`` must be None. Fewer arguments than
    descriptors are allowed (an optional tail). Raises ValueError for an unknown descriptor
    at once, and in the call where an argument does not fit: naming the function, the
    argument, what was expected and what came.
    """
    unknown = [d for d in descriptors if d not in DESCRIPTORS]
    if unknown:
        known = ", ".join(DESCRIPTORS)
        raise ValueError(f"parse_args: {unknown[0]!r} is no descriptor; there are {known}")

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        names = list(inspect.signature(function).parameters)[1:]

        @wraps(function)
        def wrapper(g: Any, *arguments: Any, **named: Any) -> Any:
            given = [*arguments, *named.values()]
            if len(given) > len(descriptors):
                raise ValueError(
                    f"{function.__qualname__}: {len(given)} arguments for "
                    f"{len(descriptors)} descriptors ({', '.join(descriptors)})"
                )
            unpacked = [
                _unpack(g, function, name, descriptor, value)
                for name, descriptor, value in zip(names, descriptors, given, strict=False)
            ]
            return function(g, *unpacked)

        setattr(wrapper, POSITIONAL, len(descriptors))
        return wrapper

    return decorator


def _unpack(g: Any, function: Callable[..., Any], name: str, descriptor: str, value: Any) -> Any:
    is_value = hasattr(value, "producer")
    if descriptor == "v":
        return value
    if value is None:
        return None
    if is_value:
        array = g.array(value)
        if array is None:
            raise _mismatch(function, name, descriptor, f"the computed value {value.name!r}")
        value = array
    try:
        return _CONVERT[descriptor](value)
    except (TypeError, ValueError):
        raise _mismatch(function, name, descriptor, f"{type(value).__name__}") from None


def _mismatch(function: Callable[..., Any], name: str, descriptor: str, given: str) -> ValueError:
    return ValueError(
        f"{function.__qualname__}: argument {name} must be {DESCRIPTORS[descriptor]} "
        f"({descriptor!r}), not {given}"
    )


def _integer(value: Any) -> int:
    number = np.asarray(value)
    if number.size != 1 or (number.dtype.kind == "f" and number.item() != int(number.item())):
        raise ValueError
    return int(number.item())


def _float(value: Any) -> float:
    number = np.asarray(value)
    if number.size != 1 or number.dtype.kind not in "fiub":
        raise ValueError
    return float(number.item())


def _bool(value: Any) -> bool:
    number = np.asarray(value)
    if number.size != 1 or number.dtype.kind not in "biu":
        raise ValueError
    return bool(number.item())


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _sequence(convert: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    def apply(value: Any) -> list[Any]:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return [convert(item) for item in value]

    return apply


def _none(value: Any) -> None:
    raise TypeError


_CONVERT: dict[str, Callable[[Any], Any]] = {
    "i": _integer,
    "f": _float,
    "b": _bool,
    "s": _text,
    "t": np.asarray,
    "is": _sequence(_integer),
    "fs": _sequence(_float),
    "none": _none,
}
