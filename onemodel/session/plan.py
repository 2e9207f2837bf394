"""Plans: one per concrete shape of the inputs, with all that these shapes fix computed already.

The first run of a shape goes through the whole program and keeps the values that its shapes
fix (shape chains, masks, positions). Later runs of the same shape skip the nodes behind them.
The kept values come out of the very kernels a run would use, so bits do not change.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onemodel.graph.bind import Mode
from onemodel.graph.check import describe
from onemodel.graph.ir import Graph, Node, Value
from onemodel.kernels.exact.nan import canonical_nan
from onemodel.session.control import control_flow
from onemodel.session.determined import fixed_values
from onemodel.session.errors import CancelledError, RunError
from onemodel.session.program import Frame, Program, compile_program
from onemodel.session.small import Fact

Progress = Callable[[int, int, str], object]
"""Told how many steps are done, of how many, and which node is next; False ends the run."""

MAX_KEPT = 1 << 20
"""Largest value, in bytes, that a plan keeps; a larger one is computed in every run."""


MOST_FRAMES = 4
"""How many sets of buffers a plan keeps: one for each thread that runs it at the same time."""


@dataclass(frozen=True)
class _State:
    program: Program
    learned: bool


class Plan:
    """What runs for one signature: the whole program at first, then the short one.

    Safe to use from several threads: whoever comes first also shortens.
    """

    def __init__(
        self,
        graph: Graph,
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        mode: Mode = "fast",
    ) -> None:
        self._graph = graph
        self._inputs = tuple(inputs)
        self._outputs = tuple(outputs)
        self._mode: Mode = mode
        constants = set(graph.initializers) - set(inputs)
        self._fixed, self._shaped = fixed_values(graph, inputs, constants, graph.opsets)
        self.names = tuple(value.name for value in outputs)
        self.used = 0
        self._state = _State(self._compile({}, {}), False)
        # Appending and popping are atomic, so threads share the frames without a lock.
        self._frames: deque[Frame] = deque(maxlen=MOST_FRAMES)

    @property
    def program(self) -> Program:
        """What a run does now."""
        return self._state.program

    def _compile(self, known: Mapping[Value, Any], facts: Mapping[Value, Fact]) -> Program:
        return compile_program(
            self._graph,
            self._inputs,
            self._outputs,
            self._graph.opsets,
            control_flow,
            known,
            facts,
            self._mode,
        )

    def run(self, arrays: Sequence[Any]) -> dict[str, Any]:
        """Outputs by name; none of them shares memory with an input, a constant or another.

        Arrays in another memory order are copied to C order first, so that equal feeds give
        equal bits. Infinities and NaN are results and raise no floating-point warnings.
        """
        arrays = [
            array if type(array) is not np.ndarray or array.flags.c_contiguous else array.copy()
            for array in arrays
        ]
        state = self._state
        if not state.learned:
            with np.errstate(all="ignore"):
                results = self._learn(state.program, arrays)
            return self._finished(self._named(results, arrays, state.program.constants))
        try:
            frame = self._frames.pop()
        except IndexError:  # every frame is in use by another thread
            frame = state.program.frame()
        if frame.calls:
            found = frame.context.run(frame.run, arrays)
            # All of them are buffers, so every result is copied.
            named = {name: result.copy() for name, result in zip(self.names, found, strict=True)}
        else:
            found = frame.context.run(state.program.run, arrays, frame)
            named = self._named(found, arrays, frame.kept)
        self._frames.append(frame)
        return self._finished(named)

    def run_watched(self, arrays: Sequence[Any], progress: Progress) -> dict[str, Any]:
        """As :meth:`run`, with the same bits, asking ``progress`` before every step.

        Raises:
            CancelledError: where ``progress`` returns False.
        """
        arrays = [
            array if type(array) is not np.ndarray or array.flags.c_contiguous else array.copy()
            for array in arrays
        ]
        program = self._state.program
        total = len(program.steps)
        steps = tuple(
            (_asked(step[0], progress, place, total, node), *step[1:])
            for place, (step, node) in enumerate(zip(program.steps, program.nodes, strict=True))
        )
        try:
            with np.errstate(all="ignore"):
                results = replace(program, steps=steps).run(arrays)
        except RunError as error:
            if isinstance(error.__cause__, CancelledError):
                raise error.__cause__ from None
            raise
        progress(total, total, "")
        return self._finished(self._named(results, arrays, program.constants))

    def _named(
        self, results: Sequence[Any], arrays: Sequence[Any], kept: frozenset[int]
    ) -> dict[str, Any]:
        """Results by name, copied where the caller may not have them."""
        taken = {id(array) for array in arrays}
        for array in arrays:
            if isinstance(array, list):
                taken.update(map(id, array))
        named = {}
        for name, result in zip(self.names, results, strict=True):
            named[name] = _own(result, taken, kept)
        return named

    def _finished(self, named: dict[str, Any]) -> dict[str, Any]:
        return named if self._mode == "fast" else _with_one_nan(named)

    def _learn(self, program: Program, arrays: Sequence[Any]) -> list[Any]:
        known: dict[Value, Any] = {}
        facts: dict[Value, Fact] = {
            value: (array.shape, array.dtype)
            for value, array in zip(self._inputs, arrays, strict=True)
            if isinstance(array, np.ndarray)
        }

        def keep(value: Value, result: Any) -> None:
            if not isinstance(result, np.ndarray | np.generic):
                return
            if value in self._fixed and result.nbytes <= MAX_KEPT:
                known[value] = _frozen(result)
            # A buffer is in C order, so it may stand for no result of another order.
            whole = isinstance(result, np.ndarray) and result.flags.c_contiguous
            if whole and value in self._shaped:
                facts[value] = (result.shape, result.dtype)

        results = observed_run(program, arrays, keep)
        self._state = _State(self._compile(known, facts), True)
        return results


def _frozen(result: Any) -> np.ndarray:
    """A copy that nobody can change, as a view may hold on to a large array.

    It keeps the order of the axes in memory, on which the last bit of a later sum may depend.
    """
    copy = np.array(result, order="K")
    copy.flags.writeable = False
    return copy


def observed_run(
    program: Program, arrays: Sequence[Any], observe: Callable[[Value, Any], None]
) -> list[Any]:
    """As ``program.run``, telling ``observe`` each value that a step computes."""
    steps = tuple(
        (_watched(step[0], value, observe), *step[1:]) if value is not None else step
        for step, value in zip(program.steps, program.values, strict=True)
    )
    return replace(program, steps=steps).run(arrays)


def _asked(
    function: Callable[..., Any], progress: Progress, done: int, total: int, node: Node
) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        if progress(done, total, node.name or node.op_type) is False:
            raise CancelledError(done, total, describe(node))
        return function(*arguments)

    return call


def _watched(
    function: Callable[..., Any], value: Value, observe: Callable[[Value, Any], None]
) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        result = function(*arguments)
        observe(value, result)
        return result

    return call


def _own(result: Any, taken: set[int], constants: frozenset[int]) -> Any:
    """``result`` where the caller may have it, else a copy."""
    if type(result) is np.ndarray:
        if result.base is not None or id(result) in taken or id(result) in constants:
            result = result.copy()
        taken.add(id(result))
        return result
    if isinstance(result, list):
        return [_own(item, taken, constants) for item in result]
    return np.asarray(result) if isinstance(result, np.generic) else result


def _with_one_nan(results: dict[str, Any]) -> dict[str, Any]:
    """``results`` with the same bits for every NaN; processors differ in its sign."""

    def one(result: Any) -> Any:
        if isinstance(result, list):
            return [one(item) for item in result]
        return canonical_nan(result) if isinstance(result, np.ndarray) else result

    return {name: one(result) for name, result in results.items()}


class PlanCache:
    """The plans used last, at most ``limit`` of them.

    Looking up takes no lock: a dict read is atomic, and which plan is the oldest only has to
    be right when one is thrown away.
    """

    def __init__(self, limit: int = 32) -> None:
        self._limit = max(1, limit)
        self._lock = threading.Lock()
        self._plans: dict[Hashable, Plan] = {}
        self._clock = itertools.count(1)

    def get(self, key: Hashable) -> Plan | None:
        """The plan for ``key``, now the youngest, or None."""
        plan = self._plans.get(key)
        if plan is not None:
            plan.used = next(self._clock)
        return plan

    def put(self, key: Hashable, plan: Plan) -> Plan:
        """Keep ``plan``; where another thread was faster, its plan is returned."""
        with self._lock:
            plan = self._plans.setdefault(key, plan)
            plan.used = next(self._clock)
            while len(self._plans) > self._limit:
                oldest = min(self._plans, key=lambda item: self._plans[item].used)
                del self._plans[oldest]
            return plan

    def __len__(self) -> int:
        return len(self._plans)
