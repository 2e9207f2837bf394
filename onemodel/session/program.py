"""A graph as a flat list of steps over numbered slots.

A step is (function, gather, slot, freed): the function is called with what ``gather`` takes
from the slots, its result goes to ``slot``, and the slots in ``freed`` are emptied. The run
loop does nothing else: no names, no shapes, no dtypes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from onemodel.graph.bind import bind, is_control_flow, may_return_tuple
from onemodel.graph.ir import Graph, Node, Value
from onemodel.session.errors import RunError

Step: TypeAlias = "tuple[Callable[..., Any], Callable[[list], Sequence], int, tuple[int, ...]]"

ControlFlow: TypeAlias = Callable[[Node, Mapping[str, int], list[Value]], Callable[..., Any]]
"""Makes the function of a node with bodies; it also takes the captured values, in order."""


@dataclass(frozen=True)
class Program:
    """Steps and the slots they work on.

    Attributes:
        template: the slots before a run, constants in place.
        inputs: slots of the arguments, in order.
        outputs: slots of the results, in order.
        steps: what is done, in order.
        nodes: the node behind each step.
        values: the value that each step makes, None for a bundle of several.
        constants: ids of every constant array, those of bodies included.
    """

    template: list[Any]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    steps: tuple[Step, ...]
    nodes: tuple[Node, ...]
    values: tuple[Value | None, ...]
    constants: frozenset[int]

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """The results for ``arguments``, one per input, which are neither checked nor changed.

        Raises:
            RunError: where a node fails.
        """
        slots = self.template.copy()
        for slot, argument in zip(self.inputs, arguments, strict=True):
            slots[slot] = argument
        step: Step | None = None
        try:
            for step in self.steps:
                function, gather, slot, freed = step
                slots[slot] = function(*gather(slots))
                if freed:
                    for empty in freed:
                        slots[empty] = None
        except RunError:
            raise  # from inside a body, whose node is nearer to the cause
        except Exception as error:
            raise RunError(self._node_of(step), error) from error
        return [slots[slot] for slot in self.outputs]

    def _node_of(self, step: Step | None) -> Node:
        for node, candidate in zip(self.nodes, self.steps, strict=True):
            if candidate is step:
                return node
        raise AssertionError("a program without steps cannot fail")


def captures(node: Node) -> list[Value]:
    """Values of outer graphs that the bodies of ``node`` read, each once, in order."""
    found: dict[Value, None] = {}
    for body in node.subgraphs():
        own = set(body.values())
        for inner in body.nodes:
            for value in (*inner.inputs, *captures(inner)):
                if value is not None and value not in own:
                    found.setdefault(value)
        for value in body.outputs:
            if value not in own:
                found.setdefault(value)
    return list(found)


def reads(node: Node) -> list[Value | None]:
    """Inputs of ``node`` (None where omitted), then what its bodies capture."""
    return [*node.inputs, *captures(node)]


def compile_program(
    graph: Graph,
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    opsets: Mapping[str, int],
    control_flow: ControlFlow,
    known: Mapping[Value, Any] | None = None,
) -> Program:
    """The steps that lead from ``inputs`` to ``outputs``; nodes that no output needs are left out.

    Args:
        graph: nodes in topological order, with initializers.
        inputs: values that a run is given; they hide initializers of the same value.
        outputs: values that a run returns.
        opsets: version by domain.
        control_flow: makes functions of nodes with bodies.
        known: values that are already computed and need no node.
    """
    constants: dict[Value, Any] = {**graph.initializers, **(known or {})}
    for value in inputs:
        constants.pop(value, None)
    builder = _Builder(opsets, control_flow)
    for value in inputs:
        builder.slot(value)
    needed = _needed(graph, outputs, {*inputs, *constants})
    kept = [node for node in graph.nodes if node in needed]
    last = _last_reads(kept, outputs)
    for position, node in enumerate(kept):
        for value in reads(node):
            if value in constants:
                builder.constant(value, constants[value])
        builder.node(node, needed[node], last, position)
    for value in outputs:
        if value in constants:
            builder.constant(value, constants[value])
    return builder.program(inputs, outputs)


def _needed(
    graph: Graph, outputs: Iterable[Value], given: set[Value]
) -> dict[Node, frozenset[Value]]:
    """Nodes that ``outputs`` depend on, each with the outputs of it that are read."""
    wanted = {value for value in outputs if value not in given}
    needed: dict[Node, frozenset[Value]] = {}
    for node in reversed(graph.nodes):
        used = frozenset(value for value in node.outputs if value in wanted)
        if used:
            needed[node] = used
            wanted.update(v for v in reads(node) if v is not None and v not in given)
    return needed


def _last_reads(nodes: Sequence[Node], outputs: Iterable[Value]) -> dict[Value, int]:
    last: dict[Value, int] = {}
    for position, node in enumerate(nodes):
        for value in reads(node):
            if value is not None:
                last[value] = position
    last.update(dict.fromkeys(outputs, len(nodes)))
    return last


class _Builder:
    """Slots and steps while a program is put together."""

    def __init__(self, opsets: Mapping[str, int], control_flow: ControlFlow) -> None:
        self._opsets = opsets
        self._control_flow = control_flow
        self._slots: dict[Value, int] = {}
        self._template: list[Any] = [None]  # slot 0 is what omitted inputs read
        self._steps: list[Step] = []
        self._nodes: list[Node] = []
        self._values: list[Value | None] = []
        self._constants: set[int] = set()
        self._written: set[Value] = set()

    def slot(self, value: Value) -> int:
        """The slot of ``value``, a new one at first."""
        found = self._slots.get(value)
        if found is None:
            found = self._slots[value] = self._fresh()
        return found

    def _fresh(self) -> int:
        self._template.append(None)
        return len(self._template) - 1

    def constant(self, value: Value, array: Any) -> None:
        """Let ``value`` be ``array`` from the start."""
        self._template[self.slot(value)] = array
        self._constants.add(id(array))

    def node(
        self, node: Node, used: frozenset[Value], last: Mapping[Value, int], position: int
    ) -> None:
        """Add the step of ``node``, and one per output where it has several."""
        gather = _gather([0 if v is None else self._slots[v] for v in reads(node)])
        # Inputs and constants stay: they are not ours to free.
        done = {v for v in reads(node) if v in self._written and last[v] == position}
        freed = tuple(sorted(self._slots[value] for value in done))
        self._written.update(used)
        function = self._function(node, used)
        first = node.outputs[0]
        if not may_return_tuple(node, self._opsets):
            self._add(function, gather, first, freed, node)
        elif used == {first} and not is_control_flow(node):
            self._add(_first_of(function), gather, first, freed, node)
        else:
            self._add(function, gather, None, freed, node)
            bundle = self._steps[-1][2]
            places = [index for index, value in enumerate(node.outputs) if value in used]
            for index in places:
                emptied = (bundle,) if index == places[-1] else ()
                take = operator.itemgetter(index)
                self._add(take, _gather([bundle]), node.outputs[index], emptied, node)

    def _function(self, node: Node, used: frozenset[Value]) -> Callable[..., Any]:
        if is_control_flow(node):
            function = self._control_flow(node, self._opsets, captures(node))
            self._constants.update(getattr(function, "constants", ()))
            return function
        count = max(i for i, value in enumerate(node.outputs, 1) if value in used)
        function = bind(node, self._opsets, count)
        assert function is not None, "sessions ask for kernels before they compile"
        return function

    def _add(
        self,
        function: Callable[..., Any],
        gather: Callable[[list], Sequence],
        value: Value | None,
        freed: tuple[int, ...],
        node: Node,
    ) -> None:
        slot = self._fresh() if value is None else self.slot(value)
        self._steps.append((function, gather, slot, freed))
        self._nodes.append(node)
        self._values.append(value)

    def program(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> Program:
        """What was put together."""
        return Program(
            template=self._template,
            inputs=tuple(self._slots[value] for value in inputs),
            outputs=tuple(self._slots[value] for value in outputs),
            steps=tuple(self._steps),
            nodes=tuple(self._nodes),
            values=tuple(self._values),
            constants=frozenset(self._constants),
        )


def _gather(slots: Sequence[int]) -> Callable[[list], Sequence]:
    """Takes the arguments out of the slots: a C call where there is one."""
    if not slots:
        return _nothing
    if len(slots) == 1:  # of one index itemgetter returns the bare item
        return operator.itemgetter(slice(slots[0], slots[0] + 1))
    return operator.itemgetter(*slots)


def _nothing(_: list) -> Sequence:
    return ()


def _first_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The first result of ``function``, whether it returns one or a tuple."""

    def first(*arguments: Any) -> Any:
        result = function(*arguments)
        return result[0] if isinstance(result, tuple) else result

    return first
