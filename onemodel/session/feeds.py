"""Checks of what a run is fed: names, dtypes, ranks, sizes, and one size per symbol."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from onemodel.axes.extent import AxesError, Extent
from onemodel.graph.ir import Value, format_shape
from onemodel.graph.text import dtype_name
from onemodel.session.errors import FeedError


def require_mapping(feeds: Any, names: Sequence[str]) -> None:
    """Raises TypeError for feeds that are no mapping, with a call that would do."""
    if isinstance(feeds, Mapping):
        return
    example = ", ".join(f"{name!r}: array" for name in names[:3])
    more = ", ..." if len(names) > 3 else ""
    raise TypeError(
        "feeds is a dict of input name -> array: "
        f"session.run({{{example}{more}}}), not a {type(feeds).__name__}"
    )


def check_feeds(
    feeds: Mapping[str, Any], inputs: Sequence[Value], optional: set[Value]
) -> list[Any]:
    """The feeds in the order of ``inputs``, None where an optional one is missing.

    Args:
        feeds: arrays, or what ``np.asarray`` takes, by input name; lists for sequences, None
            for an absent optional.
        inputs: the inputs of the graph.
        optional: inputs that have a default.

    Raises:
        FeedError: says which input is wrong and what was expected.
    """
    by_name = {value.name: value for value in inputs}
    for name in feeds:
        if name not in by_name:
            raise FeedError(_unknown(name, by_name), name=str(name))
    for value in inputs:
        absent = feeds.get(value.name) is None
        if absent and value not in optional and not value.type_text.startswith("optional("):
            raise FeedError(
                f"input {value.name!r} is missing; it is {expected(value)}", name=value.name
            )
    arrays = [_converted(value, feeds.get(value.name)) for value in inputs]
    _check_symbols(inputs, arrays)
    return arrays


def expected(value: Value) -> str:
    """``float32[batch, 3]``: what an input takes."""
    if value.type_text:
        return value.type_text
    dtype = "a tensor of any dtype" if value.dtype is None else dtype_name(value.dtype)
    return dtype + ("" if value.shape is None else format_shape(value.shape))


def _unknown(name: object, by_name: Mapping[str, Value]) -> str:
    close = difflib.get_close_matches(str(name), by_name, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    listed = ", ".join(f"{known}: {expected(value)}" for known, value in by_name.items())
    return f"there is no input {name!r}{hint} Inputs are {listed or 'none'}"


def _converted(value: Value, feed: Any) -> Any:
    if value.type_text.startswith("optional(") and feed is None:
        return None
    if value.type_text:
        return [np.asarray(item) for item in feed] if isinstance(feed, list | tuple) else feed
    if feed is None:
        return None
    array = _array(value, feed)
    if value.dtype is not None and array.dtype != value.dtype:
        source = "" if isinstance(feed, np.ndarray | np.generic) else f" (a {type(feed).__name__})"
        raise FeedError(
            f"input {value.name!r}{source} is {dtype_name(array.dtype)}, expected "
            f"{expected(value)}; {_conversion(value.dtype, feed)}",
            name=value.name,
        )
    if value.shape is not None and not _fits(array.shape, value.shape):
        raise FeedError(
            f"input {value.name!r} has shape {list(array.shape)}, expected {expected(value)}",
            name=value.name,
        )
    return array


def _conversion(dtype: np.dtype, feed: Any) -> str:
    if dtype.kind == "O":
        return "give an array of str"
    prefix = "np" if dtype.isbuiltin == 1 else "ml_dtypes"
    if not hasattr(feed, "astype"):
        return f"write np.asarray(..., {prefix}.{dtype.name})"
    return f"write .astype({prefix}.{dtype.name})"


def _array(value: Value, feed: Any) -> np.ndarray:
    try:
        array = np.asarray(feed)
    except (TypeError, ValueError) as error:
        raise _no_array(value, feed) from error
    if array.dtype == object and value.dtype != object:
        # NumPy wraps what it does not understand.
        raise _no_array(value, feed)
    if array.dtype.kind in "US" and value.dtype == object:
        return array.astype(object)
    if not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder("="))
    return array


def _no_array(value: Value, feed: Any) -> FeedError:
    return FeedError(
        f"input {value.name!r} is a {type(feed).__name__} that makes no array, expected a NumPy "
        f"array ({expected(value)})",
        name=value.name,
    )


def _fits(shape: tuple[int, ...], wanted: Sequence[Any]) -> bool:
    if len(shape) != len(wanted):
        return False
    for have, want in zip(shape, wanted, strict=True):
        size = want.value if isinstance(want, Extent) and want.is_static else want
        if isinstance(size, int) and size != have:
            return False
    return True


def _check_symbols(inputs: Sequence[Value], arrays: Sequence[Any]) -> None:
    """One size per symbol; derived sizes (``2*batch``) have to come out right too."""
    seen: dict[str, tuple[int, str]] = {}
    derived: list[tuple[Extent, int, str]] = []
    for value, array in zip(inputs, arrays, strict=True):
        if not isinstance(array, np.ndarray) or value.shape is None:
            continue
        for axis, (want, have) in enumerate(zip(value.shape, array.shape, strict=True)):
            if not isinstance(want, Extent) or want.is_static:
                continue
            where = f"axis {axis} of {value.name!r}"
            if not (want.is_atom and not want.atoms[0].operation):
                derived.append((want, have, where))
                continue
            size, first = seen.setdefault(str(want), (have, where))
            if size != have:
                raise FeedError(
                    f"{want} is {size} ({first}) and {have} ({where}); expected one size",
                    name=value.name,
                )
    assignment = {name: size for name, (size, _) in seen.items()}
    for extent, have, where in derived:
        if not extent.symbols() <= assignment.keys():
            continue
        try:
            size = extent.evaluate(assignment)
        except (AxesError, ZeroDivisionError):
            continue
        if size != have:
            known = ", ".join(f"{name} = {assignment[name]}" for name in sorted(extent.symbols()))
            raise FeedError(f"{where} is {have}, expected {extent} = {size} ({known})")
