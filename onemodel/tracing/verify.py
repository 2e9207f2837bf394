"""Verification by repeating: the same example, other values, other sizes.

A recorded run shows what happened once. Repeating it shows what depended on more than the
inputs (a counter, a clock), what left the graph and came back as a constant, and what was
decided by the example's sizes. What differs is refused, naming the node, its line and the number.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from onemodel.codes import CODES
from onemodel.errors import AxisInvolved, CallSite, Rewrite, TraceException
from onemodel.graph.ir import Graph, Node, Value
from onemodel.session.session import Session
from onemodel.tensors.generator import default_generator
from onemodel.tracing import sites
from onemodel.tracing.model import TracedModel
from onemodel.tracing.value import Specialisation, TraceRecord

Run = Callable[[Mapping[str, np.ndarray]], TracedModel]
EagerRun = Callable[[Mapping[str, np.ndarray]], Mapping[str, np.ndarray]]

SIZES_TRIED = 2
"""How many other assignments of the symbols must agree."""

_MOST_ELEMENTS = 1 << 24

_SHIFT = 98_765_432
"""Seconds by which the repeat on the same example has another clock."""

_STEPS = ((1, 1), (1, -1), (2, 0), (1, 3), (3, 0), (1, 2), (1, 5), (4, 0), (1, 8), (1, 11))


@dataclass(frozen=True)
class Difference:
    """The first thing in which two recordings of one model differ."""

    what: str
    node: Node | None
    number: str = ""

    @property
    def site(self) -> CallSite | None:
        origin = self.node.origin if self.node is not None else None
        return origin.site if origin is not None else None


def verify(first: TracedModel, feeds: Mapping[str, np.ndarray], run: Run, eager: EagerRun) -> str:
    """Repeat the run and compare; a sentence on what was shown.

    ``run`` records again on other feeds; ``eager`` gives the model's results without a trace.

    Raises TraceException: INVALID_USAGE where the same example gives another graph,
    DATA_DEPENDENT where other values do, SYMBOLIC_SHAPE where other sizes do.
    """
    generator = np.random.default_rng(0)
    with _generators_restored(), clock_shifted():
        again = run(feeds)
    _same_example(first, again)
    with _generators_restored():
        redrawn = {n: redraw(a, a.shape, generator) for n, a in feeds.items()}
        ran = _other_values(first, run, redrawn)
    if not first.symbols:
        return "verified: the same graph on the same example and on other values"
    tried, failed = _other_sizes(first, feeds, run, eager, generator)
    if not tried and failed is not None and ran:
        raise bound_size(first, *failed)
    if not tried:
        return (
            "verified: the same graph on the same example and on other values; "
            "the model itself ran at no other size that was tried"
        )
    sizes = "; ".join(", ".join(f"{k}={v}" for k, v in one.items()) for one in tried)
    return f"verified: the same graph and eager's values at {sizes}"


@contextmanager
def _generators_restored() -> Iterator[None]:
    """Global random generators go on after a repeat as if it had not been."""
    python_state, numpy_state = random.getstate(), np.random.get_state()
    own_state = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(own_state)
        random.setstate(python_state)
        np.random.set_state(numpy_state)


@contextmanager
def clock_shifted() -> Iterator[None]:
    """For this thread ``time.time()`` is three years later: a clock in the graph shows."""
    thread, real, real_ns = threading.get_ident(), time.time, time.time_ns

    def later() -> float:
        return real() + (_SHIFT if threading.get_ident() == thread else 0)

    def later_ns() -> int:
        return real_ns() + (_SHIFT * 10**9 if threading.get_ident() == thread else 0)

    time.time, time.time_ns = later, later_ns
    try:
        yield
    finally:
        time.time, time.time_ns = real, real_ns


def _same_example(first: TracedModel, again: TracedModel) -> None:
    difference = compare_graphs(first.graph, again.graph) or _compare_numbers(first, again)
    if difference is not None:
        raise _refusal(
            "OM520",
            f"the same example gave another graph the second time: {difference.what}",
            difference,
            again,
        )


def _compare_numbers(first: TracedModel, again: TracedModel) -> Difference | None:
    """Python numbers as they were before they were rounded to the dtype of a constant.

    Two readings of a clock are the same float32, and no repeat of theirs.
    """
    for one, two in zip(first.records, again.records, strict=False):
        for a, b in zip(one.inputs, two.inputs, strict=False):
            if first.numbers.get(a) != again.numbers.get(b):
                node = next((n for n in first.graph.nodes if _made_by(n, one)), None)
                return Difference(f"a number that {one.operator.name} was given", node)
    return None


def _made_by(node: Node, record: TraceRecord) -> bool:
    return node.origin is not None and node.origin.record == record.number


def _other_values(first: TracedModel, run: Run, feeds: Mapping[str, np.ndarray]) -> bool:
    """Whether the model ran on other values; raises where it then gave another graph."""
    try:
        other = run(feeds)
    except TraceException:
        raise
    except Exception:
        # The model refuses these values itself (an index out of a table, a domain error):
        # nothing can be said, and nothing wrong was recorded by it.
        return False
    difference = compare_graphs(first.graph, other.graph)
    if difference is not None:
        raise _refusal(
            "OM120",
            f"other values in the inputs gave another graph: {difference.what}",
            difference,
            other,
        )
    return True


def _other_sizes(
    first: TracedModel,
    feeds: Mapping[str, np.ndarray],
    run: Run,
    eager: EagerRun,
    generator: np.random.Generator,
) -> tuple[list[dict[str, int]], tuple[dict[str, int], Exception] | None]:
    """Assignments at which the model gave the same, and the first at which it failed."""
    tried: list[dict[str, int]] = []
    failed: tuple[dict[str, int], Exception] | None = None
    flips = list(_flips(first))
    session = Session(first.graph)
    for sizes in [*flips, *_assignments(first.symbols, _fixed_sizes(first.graph))]:
        if len(tried) >= SIZES_TRIED + len(flips):
            break
        resized = _resized(first, feeds, sizes, generator)
        if resized is None or sizes in tried:
            continue
        try:
            with _generators_restored():
                other = run(resized)
        except TraceException as error:
            if error.code == "OM407":
                continue  # these numbers meet the model's own; others tell more
            failure = _unless_right(error, session, eager, resized)
            failed = failed or (None if failure is None else (sizes, failure))
            continue
        except Exception as error:
            failed = failed or (sizes, error)
            continue  # the model itself does not run at this size
        _same_graph(first, other, sizes)
        _same_results(first, other, session, resized, sizes)
        tried.append(sizes)
    return tried, failed


def _unless_right(
    refusal: TraceException, session: Session, eager: EagerRun, feeds: Mapping[str, np.ndarray]
) -> Exception | None:
    """Raise what a run at another size refused, unless the graph of the first one is right there.

    Returns the model's own error, where it does not run there at all.
    """
    try:
        with _generators_restored():
            wanted = eager(feeds)
    except Exception as error:
        return error
    try:
        results = session.run(dict(feeds))
    except Exception:
        raise refusal from None
    if any(not close(results[name], array) for name, array in wanted.items()):
        raise refusal
    return None


def bound_size(first: TracedModel, sizes: Mapping[str, int], error: Exception) -> TraceException:
    """The model ran at no other size that was tried, though it did on other values."""
    site = sites.of_traceback(error.__traceback__)
    unrolled = any(
        s.operation == "len()" and _place(s.site) == _place(site) for s in first.specialisations
    )
    text = ", ".join(f"{k}={v}" for k, v in sizes.items())
    reason = (str(error).splitlines() or [""])[0][:200]
    found = _refusal(
        "OM402" if unrolled else "OM406",
        f"the model runs at no other size that was tried; at {text} it raises "
        f"{type(error).__name__}: {reason}",
        Difference("", None),
        first,
        site=site,
    )
    found.__cause__ = error
    return found


def _same_graph(first: TracedModel, other: TracedModel, sizes: Mapping[str, int]) -> None:
    difference = compare_graphs(first.graph, other.graph)
    if difference is None:
        return
    spent = _responsible(first, other, difference)
    code = "OM401"
    if spent is not None and spent.other is not None:
        code = "OM405"
    elif spent is not None and spent.operation in ("len()", "__index__"):
        code = "OM402" if not difference.number else "OM401"
    text = ", ".join(f"{k}={v}" for k, v in sizes.items())
    cause = f"; {spent.message}" if spent is not None else ""
    raise _refusal(
        code,
        f"at {text} the model gives another graph: {difference.what}{cause}",
        difference,
        first,
        spent=spent,
    )


def _responsible(
    first: TracedModel, other: TracedModel, difference: Difference
) -> Specialisation | None:
    """The consumed size that best explains a difference: same line, else a flipped comparison."""
    flipped = {(_place(s.site), s.operation, s.outcome) for s in other.specialisations}
    changed = [
        s
        for s in first.specialisations
        if s.operation != "__str__" and (_place(s.site), s.operation, s.outcome) not in flipped
    ]
    here = [s for s in changed if _place(s.site) == _place(difference.site)]
    decided = [s for s in changed if s.other is not None]
    return (here or decided or changed or [None])[0]


def _place(site: CallSite | None) -> str:
    return site.place if site is not None else ""


def _same_results(
    first: TracedModel,
    other: TracedModel,
    session: Session,
    feeds: Mapping[str, np.ndarray],
    sizes: Mapping[str, int],
) -> None:
    text = ", ".join(f"{k}={v}" for k, v in sizes.items())
    try:
        results = session.run(dict(feeds))
    except Exception as error:
        raise _refusal(
            "OM401",
            f"the graph does not run at {text}: {error}",
            Difference("", None),
            first,
        ) from error
    for name, value in other.outputs.items():
        got, wanted = results[name], value.array
        if not close(got, wanted):
            node = first.outputs[name].graph_value.producer
            raise _refusal(
                "OM401",
                f"at {text} the graph gives another {name!r} than the model "
                f"(shape {list(got.shape)} against {list(wanted.shape)})",
                Difference("", node),
                first,
            )


def close(got: np.ndarray, wanted: np.ndarray, tolerance: float = 1e-4) -> bool:
    """Equal within ``tolerance`` of the largest magnitude; NaN and infinities in place."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return False
    if wanted.dtype.kind not in "fcV":
        return bool(np.array_equal(got, wanted))
    if wanted.dtype.itemsize == 2:
        tolerance = 2e-2
    a = got.astype(np.complex128 if wanted.dtype.kind == "c" else np.float64)
    b = wanted.astype(a.dtype)
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return False
    scale = max(1.0, float(np.abs(b[finite]).max(initial=0.0)))
    return bool(np.all(np.abs(a[finite] - b[finite]) <= tolerance * scale))


# --- comparing recordings -------------------------------------------------------------------


def compare_graphs(first: Graph, other: Graph) -> Difference | None:
    """The first node, constant or axis in which two recordings differ, or None."""
    for one, two in zip(first.nodes, other.nodes, strict=False):
        found = _compare_nodes(one, two, first, other)
        if found is not None:
            return found
    if len(first.nodes) != len(other.nodes):
        longer = first if len(first.nodes) > len(other.nodes) else other
        node = longer.nodes[min(len(first.nodes), len(other.nodes))]
        return Difference(f"{len(first.nodes)} nodes against {len(other.nodes)}", node)
    for one, two in zip(first.outputs, other.outputs, strict=False):
        if one.name != two.name or _constant(first, one) != _constant(other, two):
            return Difference(f"output {one.name!r}", one.producer)
    return None


def _compare_nodes(one: Node, two: Node, first: Graph, other: Graph) -> Difference | None:
    if one.op_type != two.op_type or one.domain != two.domain:
        return Difference(f"a node {one.op_type} against {two.op_type}", one)
    if len(one.inputs) != len(two.inputs):
        return Difference(f"{one.op_type} with {len(one.inputs)} against {len(two.inputs)}", one)
    for a, b in zip(one.inputs, two.inputs, strict=True):
        if a is None or b is None:
            if a is not b:
                return Difference(f"{one.op_type} with and without an operand", one)
            continue
        left, right = first.initializers.get(a), other.initializers.get(b)
        if left is not None and right is not None:
            if not _equal(left, right):
                numbers = _numbers(left, right)
                return Difference(f"constant {a.name!r} of {one.op_type}{numbers}", one, numbers)
        elif a.name != b.name:
            return Difference(f"{one.op_type} reads {a.name!r} against {b.name!r}", one)
    if not _equal_attributes(one.attributes, two.attributes):
        return Difference(f"attributes of {one.op_type}", one)
    for a, b in zip(one.outputs, two.outputs, strict=False):
        if str(a.shape) != str(b.shape):
            return Difference(f"{a.name!r} has axes {_axes(a)} against {_axes(b)}", one)
    return None


def _axes(value: Value) -> str:
    shape = value.shape or ()
    return "[" + ", ".join(str(d) for d in shape) + "]"


def _constant(graph: Graph, value: Value) -> bytes | None:
    array = graph.initializers.get(value)
    return None if array is None else array.tobytes()


def _equal(left: np.ndarray, right: np.ndarray) -> bool:
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    return left is right or left.tobytes() == right.tobytes()


def _numbers(left: np.ndarray, right: np.ndarray) -> str:
    """The baked sizes, where the constants are sizes; shapes otherwise. Never data."""
    if left.shape != right.shape:
        return f" (shape {list(left.shape)} against {list(right.shape)})"
    if left.dtype == np.int64 == right.dtype and left.size <= 8:
        return f" ({left.ravel().tolist()} against {right.ravel().tolist()})"
    return f" (shape {list(left.shape)}, other contents)"


def _equal_attributes(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    if left.keys() != right.keys():
        return False
    for name, one in left.items():
        two = right[name]
        if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
            if not _equal(one, two):
                return False
        elif one != two:
            return False
    return True


# --- other inputs ---------------------------------------------------------------------------


def redraw(
    example: np.ndarray, shape: tuple[int, ...], generator: np.random.Generator
) -> np.ndarray:
    """Other values of the same kind: drawn from the example's own, floats jittered.

    Integers and bool are resampled, so that indices stay inside their tables.
    """
    if example.size == 0:
        return np.zeros(shape, example.dtype)
    drawn = example.ravel()[generator.integers(0, example.size, size=shape)]
    if example.dtype.kind not in "fV":
        return np.asarray(drawn, example.dtype)
    wide = np.asarray(drawn, np.float64)
    spread = float(np.nanstd(np.where(np.isfinite(wide), wide, np.nan))) if wide.size else 0.0
    noise = generator.normal(0.0, (spread or 1.0) * 0.3, size=shape)
    return np.asarray(wide + noise).astype(example.dtype)


def _resized(
    first: TracedModel,
    feeds: Mapping[str, np.ndarray],
    sizes: Mapping[str, int],
    generator: np.random.Generator,
) -> dict[str, np.ndarray] | None:
    """Feeds at another assignment, or None where they would be too large."""
    resized = {}
    for value in first.inputs:
        shape = tuple(e.evaluate(sizes) for e in value.axes)
        if np.prod(shape, dtype=np.float64) > _MOST_ELEMENTS:
            return None
        resized[value.name] = redraw(feeds[value.name], shape, generator)
    return resized


def _fixed_sizes(graph: Graph) -> set[int]:
    """Sizes that the model itself has: a symbol of the same size tells less."""
    fixed: set[int] = set()
    for value in graph.values():
        fixed.update(dim for dim in value.shape or () if isinstance(dim, int))
    for array in graph.initializers.values():
        if array.dtype == np.int64 and array.size <= 8:
            fixed.update(int(number) for number in array.ravel())
    return fixed


def _assignments(symbols: Mapping[str, int], fixed: set[int]) -> Iterator[dict[str, int]]:
    """Other sizes, all different: a little more, the double, a little less ...

    First the ones that avoid the model's ``fixed`` sizes, then, for models that only run at
    multiples of something, those that do not; last, for models whose sizes are one apart, the
    same step for all.
    """
    later = []
    for sizes in _spread(symbols):
        if fixed.isdisjoint(sizes.values()):
            yield sizes
        else:
            later.append(sizes)
    yield from later
    if len(symbols) > 1:
        yield from ({symbol: size + step for symbol, size in symbols.items()} for step in (1, 2))


def _spread(symbols: Mapping[str, int]) -> Iterator[dict[str, int]]:
    for scale, offset in _STEPS:
        sizes: dict[str, int] = {}
        for position, (symbol, size) in enumerate(symbols.items()):
            wanted = max(2, size * scale + offset * (1 + position))
            while wanted in sizes.values():
                wanted += size if scale > 1 else 1
            sizes[symbol] = wanted
        if sizes != dict(symbols):
            yield sizes


def _flips(first: TracedModel) -> Iterator[dict[str, int]]:
    """For every recorded comparison of a size, an assignment at which it comes out otherwise."""
    seen: list[dict[str, int]] = []
    for spent in first.specialisations:
        if spent.other is None or not isinstance(spent.outcome, (bool, np.bool_)):
            continue
        found = _flip(spent, first.symbols)
        if found is not None and found not in seen:
            seen.append(found)
            yield found
        if len(seen) >= 8:
            return


def _flip(spent: Specialisation, symbols: Mapping[str, int]) -> dict[str, int] | None:
    compare = _COMPARISONS.get(spent.operation)
    if compare is None or spent.other is None:
        return None
    for symbol in sorted(spent.extent.symbols() | spent.other.symbols()):
        at = {**symbols, symbol: 0}
        targets = {spent.other.evaluate(at), spent.extent.evaluate(at)} | set(symbols.values())
        near = [t + d for t in sorted(targets) for d in (-1, 0, 1, 2)]
        for candidate in [*near, 2, symbols[symbol] * 2, symbols[symbol] + 1]:
            sizes = {**symbols, symbol: candidate}
            if candidate < 2 or len(set(sizes.values())) != len(sizes):
                continue
            if compare(spent.extent.evaluate(sizes), spent.other.evaluate(sizes)) != spent.outcome:
                return sizes
    return None


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def _refusal(
    code_id: str,
    message: str,
    difference: Difference,
    model: TracedModel,
    spent: Specialisation | None = None,
    site: CallSite | None = None,
) -> TraceException:
    code = CODES[code_id]
    if site is None:
        site = spent.site if spent is not None and spent.site is not None else difference.site
    axes = []
    if spent is not None:
        axes = [AxisInvolved("", None, str(spent.extent), spent.value)]
    rewrites: tuple[Rewrite, ...] = code.rewrites
    return TraceException(
        kind=code.kind,
        code=code.id,
        operation=difference.node.op_type if difference.node is not None else "verification",
        message=message,
        call_site=site,
        call_chain=(site,) if site is not None else (),
        axes=tuple(axes),
        suggestions=rewrites,
        value=difference.node.outputs[0].name if difference.node is not None else "",
        partial=model.graph,
    )
