"""Plans: one per concrete shape of the inputs, with all that these shapes fix computed already.

The first run of a shape goes through the whole program and keeps the values that its shapes
fix (shape chains, masks, positions). Later runs of the same shape skip the nodes behind them.
The kept values come out of the very kernels a run would use, so bits do not change.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from onemodel.graph.ir import Graph, Value
from onemodel.session.control import control_flow
from onemodel.session.determined import fixed_values
from onemodel.session.program import Program, compile_program

MAX_KEPT = 1 << 20
"""Largest value, in bytes, that a plan keeps; a larger one is computed in every run."""


class Plan:
    """What runs for one signature: the whole program at first, then the short one.

    Safe to use from several threads: whoever comes first also shortens.
    """

    def __init__(
        self,
        graph: Graph,
        inputs: Sequence[Value],
        outputs: Sequence[Value],
    ) -> None:
        self._graph = graph
        self._inputs = tuple(inputs)
        self._outputs = tuple(outputs)
        self._fixed = fixed_values(
            graph, inputs, set(graph.initializers) - set(inputs), graph.opsets
        )
        self.names = tuple(value.name for value in outputs)
        self.program = self._compile({})
        self._learned = not self._fixed

    def _compile(self, known: Mapping[Value, Any]) -> Program:
        return compile_program(
            self._graph, self._inputs, self._outputs, self._graph.opsets, control_flow, known
        )

    def run(self, arrays: Sequence[Any]) -> dict[str, Any]:
        """Outputs by name; none of them shares memory with an input, a constant or another."""
        if self._learned:
            program = self.program
            results = program.run(arrays)
        else:
            program = self.program
            results = self._learn(program, arrays)
        return dict(zip(self.names, _owned(results, arrays, program.constants), strict=True))

    def _learn(self, program: Program, arrays: Sequence[Any]) -> list[Any]:
        known: dict[Value, Any] = {}

        def keep(value: Value, result: Any) -> None:
            if value not in self._fixed or not isinstance(result, np.ndarray | np.generic):
                return
            if result.nbytes <= MAX_KEPT:
                known[value] = _frozen(result)

        results = observed_run(program, arrays, keep)
        if known:
            self.program = self._compile(known)
        self._learned = True
        return results


def _frozen(result: Any) -> np.ndarray:
    """A copy that nobody can change, as a view may hold on to a large array."""
    copy = np.array(result, order="C")
    copy.flags.writeable = False
    return copy


def observed_run(
    program: Program, arrays: Sequence[Any], observe: Callable[[Value, Any], None]
) -> list[Any]:
    """As ``program.run``, telling ``observe`` each value that a step computes."""
    watched = Program(
        program.template,
        program.inputs,
        program.outputs,
        tuple(
            (_watched(step[0], value, observe), *step[1:]) if value is not None else step
            for step, value in zip(program.steps, program.values, strict=True)
        ),
        program.nodes,
        program.values,
        program.constants,
    )
    return watched.run(arrays)


def _watched(
    function: Callable[..., Any], value: Value, observe: Callable[[Value, Any], None]
) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        result = function(*arguments)
        observe(value, result)
        return result

    return call


def _owned(results: Sequence[Any], arrays: Sequence[Any], constants: frozenset[int]) -> list[Any]:
    taken = {id(array) for array in arrays}
    return [_own(result, taken, constants) for result in results]


def _own(result: Any, taken: set[int], constants: frozenset[int]) -> Any:
    """``result`` where the caller may have it, else a copy."""
    if isinstance(result, np.ndarray):
        if result.base is not None or id(result) in taken or id(result) in constants:
            result = result.copy()
        taken.add(id(result))
        return result
    if isinstance(result, list):
        return [_own(item, taken, constants) for item in result]
    return np.asarray(result) if isinstance(result, np.generic) else result


class PlanCache:
    """The plans used last, at most ``limit`` of them."""

    def __init__(self, limit: int = 32) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._plans: OrderedDict[Hashable, Plan] = OrderedDict()

    def get(self, key: Hashable) -> Plan | None:
        """The plan for ``key``, now the youngest, or None."""
        with self._lock:
            plan = self._plans.get(key)
            if plan is not None:
                self._plans.move_to_end(key)
            return plan

    def put(self, key: Hashable, plan: Plan) -> Plan:
        """Keep ``plan``; where another thread was faster, its plan is returned."""
        with self._lock:
            plan = self._plans.setdefault(key, plan)
            self._plans.move_to_end(key)
            while len(self._plans) > self._limit:
                self._plans.popitem(last=False)
            return plan

    def __len__(self) -> int:
        return len(self._plans)
