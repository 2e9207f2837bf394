"""Verification by repeating: the same example, other values, other sizes.

A recorded run shows what happened once. Repeating it shows what depended on more than the
inputs (a counter, a clock), what left the graph and came back as a constant, and what was
decided by the example's sizes. What differs is refused, naming the node, its line and the number.
"""

from __future__ import annotations

import random
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from onemodel.codes import CODES
from onemodel.errors import AxisInvolved, CallSite, Rewrite, TraceException
from onemodel.graph.ir import Node
from onemodel.session.session import Session
from onemodel.tensors.generator import default_generator
from onemodel.tracing import sites
from onemodel.tracing.assignments import (
    assignments,
    beyond_tables,
    comes_out,
    fixed_sizes,
    flips,
    redraw,
    resized,
)
from onemodel.tracing.differences import Difference, close, compare_graphs
from onemodel.tracing.distant import far_sizes
from onemodel.tracing.model import TracedModel
from onemodel.tracing.value import Specialisation, TraceRecord

Run = Callable[[Mapping[str, np.ndarray]], TracedModel]
EagerRun = Callable[[Mapping[str, np.ndarray]], Mapping[str, np.ndarray]]

SIZES_TRIED = 2
"""How many other assignments of the symbols must agree."""

DRAWS_TRIED = 8
"""How many other states of the global generators must agree, where a run draws from them."""

_SHIFT = 98_765_432
"""Seconds by which the repeat on the same example has another clock."""


class Steps(Protocol):
    """Where a long verification shows that it goes on: a tqdm bar, or nothing."""

    def update(self, n: int = 1) -> Any: ...


@contextmanager
def steps(show: bool) -> Iterator[Steps | None]:
    """A bar of the runs so far where ``show``; an interrupt leaves nothing behind."""
    if not show:
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(desc="om.trace verifies", unit="run", leave=False) as bar:
        yield bar


def verify(
    first: TracedModel,
    feeds: Mapping[str, np.ndarray],
    run: Run,
    eager: EagerRun,
    *,
    show: bool = False,
) -> str:
    """Repeat the run and compare; a sentence on what was shown.

    ``run`` records again on other feeds; ``eager`` gives the model's results without a trace.
    ``show``: a progress bar, for models that take long.

    Raises TraceException: INVALID_USAGE where the same example gives another graph,
    DATA_DEPENDENT where other values do, SYMBOLIC_SHAPE where other sizes do.
    """
    with steps(show) as bar:

        def counted_run(other: Mapping[str, np.ndarray]) -> TracedModel:
            if bar is not None:
                bar.update()
            return run(other)

        def counted_eager(other: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
            if bar is not None:
                bar.update()
            return eager(other)

        return _verify(first, feeds, counted_run, counted_eager)


def _verify(first: TracedModel, feeds: Mapping[str, np.ndarray], run: Run, eager: EagerRun) -> str:
    generator = np.random.default_rng(0)
    with _unnoticed(), clock_shifted():
        before = _random_states()
        again = run(feeds)
        drew = before != _random_states()
    _same_example(first, again)
    if drew:
        _other_draws(first, feeds, run)
    with _unnoticed():
        redrawn = {n: redraw(a, a.shape, generator) for n, a in feeds.items()}
        ran = _other_values(first, run, redrawn)
    if not first.symbols:
        if ran:
            _same_values(first, redrawn, eager)
        return "verified: the same graph on the same example and on other values"
    other = _OtherSizes(first, feeds, run, eager)
    try:
        other.explore()
        if ran:
            _same_values(first, redrawn, eager)
        if not other.tried and other.failed is not None and ran:
            raise bound_size(first, *other.failed)
    finally:
        other.failed = None  # its traceback leads back to this very frame
    if not other.tried:
        return (
            "verified: the same graph on the same example and on other values; "
            "the model itself ran at no other size that was tried"
        )
    sizes = "; ".join(", ".join(f"{k}={v}" for k, v in one.items()) for one in other.tried)
    return f"verified: the same graph and eager's values at {sizes}"


def _random_states() -> tuple[Any, ...]:
    """Where the global generators are that anything may draw from."""
    _, keys, position, *rest = np.random.get_state()
    return random.getstate(), np.asarray(keys).tobytes(), position, *rest


def _other_draws(first: TracedModel, feeds: Mapping[str, np.ndarray], run: Run) -> None:
    """Repeat a run that drew from a global generator: of few numbers, two may be alike."""
    for seed in range(DRAWS_TRIED):
        with _unnoticed():
            random.seed(seed)
            np.random.seed(seed)
            again = run(feeds)
        _same_example(first, again)


@contextmanager
def _unnoticed() -> Iterator[None]:
    """Global random generators go on after a repeat as if it had not been.

    Numerical warnings of sizes and values that nobody asked for are not shown.
    """
    python_state, numpy_state = random.getstate(), np.random.get_state()
    own_state = default_generator.get_state()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
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


def _same_values(first: TracedModel, feeds: Mapping[str, np.ndarray], eager: EagerRun) -> None:
    """Compare results with those of a run that nobody records: a model may ask who does."""
    try:
        with _unnoticed():
            wanted = eager(feeds)
            results = Session(first.graph).run(dict(feeds))
    except Exception:
        return  # loud in either: nothing wrong that is silent
    for name, array in wanted.items():
        if name not in results or not close(results[name], array):
            node = first.outputs[name].graph_value.producer if name in first.outputs else None
            raise _refusal(
                "OM520",
                f"a run that nobody records gives another {name!r} than the graph",
                Difference("", node),
                first,
            )


class _OtherSizes:
    """Runs of the model at other assignments of its symbols.

    ``tried`` are those at which the model gave the same, ``failed`` the first at which it does
    not run itself, with its error.
    """

    def __init__(
        self, first: TracedModel, feeds: Mapping[str, np.ndarray], run: Run, eager: EagerRun
    ) -> None:
        self.first = first
        self.feeds = feeds
        self.run = run
        self.eager = eager
        self.session = Session(first.graph)
        self.generator = np.random.default_rng(1)
        self.tried: list[dict[str, int]] = []
        self.failed: tuple[dict[str, int], Exception] | None = None

    def explore(self) -> None:
        """Flip every comparison of a size that a run comes to, then try a few sizes besides."""
        known: set[Any] = set()
        pending = list(flips(self.first, known))
        while pending:
            other = self._attempt(pending.pop(0))
            if other is not None:
                pending += flips(other, known)
        for sizes in beyond_tables(self.first):
            self._attempt(sizes)
        wanted = len(self.tried) + SIZES_TRIED
        for sizes in assignments(self.first.symbols, fixed_sizes(self.first.graph)):
            if len(self.tried) >= wanted:
                break
            self._attempt(sizes)
        for sizes in far_sizes(self.first):
            self._attempt(sizes)
        if self.tried:
            self._attempt(dict.fromkeys(self.first.symbols, 1))

    def _attempt(self, sizes: dict[str, int]) -> TracedModel | None:
        """One run; the recording of it where there is one. Raises where it gave another graph."""
        feeds = resized(self.first, self.feeds, sizes, self.generator)
        if feeds is None or sizes in self.tried:
            return None
        if min(sizes.values()) < 2:
            self._at_size_one(feeds, sizes)
            return None
        try:
            with _unnoticed():
                other = self.run(feeds)
        except TraceException as error:
            if error.code == "OM407":
                return None  # these numbers meet the model's own; others tell more
            self._note(sizes, _unless_right(error, self.session, self.eager, feeds))
            return None
        except Exception as error:
            # The model itself does not run at this size.
            self._note(sizes, error)
            return None
        _same_graph(self.first, other, sizes)
        wanted = {name: value.array for name, value in other.outputs.items()}
        _same_results(self.first, wanted, self.session, feeds, sizes)
        self.tried.append(sizes)
        return other

    def _note(self, sizes: dict[str, int], error: Exception | None) -> None:
        if error is not None:
            self.failed = self.failed or (sizes, error)

    def _at_size_one(self, feeds: Mapping[str, np.ndarray], sizes: dict[str, int]) -> None:
        """Compare results where no trace can begin.

        A size of 1 broadcasts, and models ask for it: ``if x.shape[0] == 1``.
        """
        try:
            with _unnoticed():
                wanted = self.eager(feeds)
        except Exception:
            return
        _same_results(self.first, wanted, self.session, feeds, sizes)
        self.tried.append(sizes)


def _unless_right(
    refusal: TraceException, session: Session, eager: EagerRun, feeds: Mapping[str, np.ndarray]
) -> Exception | None:
    """Raise what a run at another size refused, unless the graph of the first one is right there.

    Returns the model's own error, where it does not run there at all. Where an operator gave
    another shape than its axes say, the graph declares wrong shapes, whatever it computes.
    """
    try:
        with _unnoticed():
            wanted = eager(feeds)
    except Exception as error:
        return error
    try:
        try:
            results = session.run(dict(feeds)) if refusal.code != "OM401" else {}
        except Exception:
            raise refusal from None
        if any(n not in results or not close(results[n], array) for n, array in wanted.items()):
            raise refusal
    finally:
        del refusal  # a frame of its own traceback must not hold it
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
    wanted: Mapping[str, np.ndarray],
    session: Session,
    feeds: Mapping[str, np.ndarray],
    sizes: Mapping[str, int],
) -> None:
    text = ", ".join(f"{k}={v}" for k, v in sizes.items())
    spent = next((s for s in first.specialisations if comes_out(s, sizes) is False), None)
    code = "OM401" if spent is None else "OM405"
    cause = "" if spent is None else f"; {spent.message}"
    try:
        results = session.run(dict(feeds))
    except Exception as error:
        message = f"the graph does not run at {text}: {error}{cause}"
        raise _refusal(code, message, Difference("", None), first, spent) from error
    for name, array in wanted.items():
        if name not in results or not close(results[name], array):
            got = list(results[name].shape) if name in results else "none"
            node = first.outputs[name].graph_value.producer if name in first.outputs else None
            raise _refusal(
                code,
                f"at {text} the graph gives another {name!r} than the model "
                f"(shape {got} against {list(array.shape)}){cause}",
                Difference("", node),
                first,
                spent,
            )


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
