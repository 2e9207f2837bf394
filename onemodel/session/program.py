"""A graph as a flat list of steps over numbered slots.

A step is (function, gather, slot, freed): the function is called with what ``gather`` takes
from the slots, its result goes to ``slot``, and the slots in ``freed`` are emptied. The run
loop does nothing else: no names, no shapes, no dtypes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from onemodel.graph.bind import Mode, bind, is_control_flow, may_return_tuple
from onemodel.graph.ir import Graph, Node, Value
from onemodel.session.errors import RunError
from onemodel.session.small import MAX_COPIED, Fact, into_buffer, nbytes, prepared, small_step

Step: TypeAlias = "tuple[Callable[..., Any], Callable[[list], Sequence], int, tuple[int, ...]]"

ControlFlow: TypeAlias = Callable[[Node, Mapping[str, int], list[Value], Mode], Callable[..., Any]]
"""Makes the function of a node with bodies; it also takes the captured values, in order."""


def silent_context() -> Context:
    """A context without floating-point warnings: ONNX knows none.

    Entering it costs a fifth of ``np.errstate``.
    """
    context = Context()  # an empty one, so that it holds on to nothing of the caller's
    context.run(np.seterr, all="ignore")
    return context


@dataclass(frozen=True)
class Small:
    """A step that a ufunc may write into a buffer: its index, operand slots and result slot."""

    index: int
    ufunc: np.ufunc
    operands: tuple[int, ...]
    slot: int
    fact: Fact


@dataclass(frozen=True)
class Spread:
    """A small input, copied to a slot in the shape in which small steps read it."""

    slot: int
    input: int
    fact: Fact


@dataclass(frozen=True)
class Frame:
    """Slots with buffers, and the steps over them.

    ``kept`` holds the ids of all arrays that stay inside; ``inputs`` the buffers that small
    inputs are copied to, so that what reads them is as fixed as the rest. Where nothing but
    buffers and constants takes part, ``calls`` does the whole work and ``results`` are the
    buffers it ends in. A frame is in the hands of one run at a time, so it also brings the
    ``context`` that the run is in.
    """

    slots: list[Any]
    steps: tuple[Step, ...]
    kept: frozenset[int]
    inputs: tuple[tuple[np.ndarray, int], ...]
    calls: tuple[Callable[[], Any], ...] = ()
    results: tuple[np.ndarray, ...] = ()
    context: Context = field(default_factory=silent_context)

    def run(self, arguments: Sequence[Any]) -> tuple[np.ndarray, ...]:
        """The results, where ``calls`` is all there is to do."""
        for buffer, index in self.inputs:
            buffer[...] = arguments[index]
        for call in self.calls:
            call()
        return self.results


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
        small: steps whose result may lie in a buffer.
        spread: inputs that small steps read from a buffer.
    """

    template: list[Any]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    steps: tuple[Step, ...]
    nodes: tuple[Node, ...]
    values: tuple[Value | None, ...]
    constants: frozenset[int]
    small: tuple[Small, ...] = ()
    spread: tuple[Spread, ...] = ()

    def run(self, arguments: Sequence[Any], frame: Frame | None = None) -> list[Any]:
        """The results for ``arguments``, one per input, which are neither checked nor changed.

        ``frame`` brings buffers for small results; results may be views of them.

        Raises:
            RunError: where a node fails.
        """
        if frame is None:
            slots, steps = self.template.copy(), self.steps
            for spread in self.spread:
                slots[spread.slot] = np.broadcast_to(arguments[spread.input], spread.fact[0])
        else:
            slots, steps = frame.slots.copy(), frame.steps
            for buffer, index in frame.inputs:
                buffer[...] = arguments[index]
        for slot, argument in zip(self.inputs, arguments, strict=True):
            slots[slot] = argument
        step: Step | None = None
        try:
            for step in steps:
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

    def frame(self) -> Frame:
        """Fresh buffers, and the steps that use them."""
        slots = self.template.copy()
        for small in self.small:
            shape, dtype = small.fact
            slots[small.slot] = np.empty(shape, dtype)
        inputs = []
        for spread in self.spread:
            slots[spread.slot] = np.empty(*spread.fact)
            inputs.append((slots[spread.slot], spread.input))
        kept = self.constants | {id(slots[small.slot]) for small in self.small}
        kept |= {id(buffer) for buffer, _ in inputs}
        steps = tuple(self._with_batches(slots))
        if len(steps) == 1 and steps[0][1] is _nothing and steps[0][2] == 0:
            results = tuple(slots[slot] for slot in self.outputs)
            if all(result is not None for result in results):
                calls = steps[0][0].args[0]  # type: ignore[attr-defined] - a batch is a partial
                return Frame(slots, steps, kept, tuple(inputs), calls, results)
        return Frame(slots, steps, kept, tuple(inputs))

    def _with_batches(self, slots: list[Any]) -> Iterator[Step]:
        """The steps, with those that read nothing but buffers and constants put together."""
        by_index = {small.index: small for small in self.small}
        batch: list[Callable[[], Any]] = []
        for index, step in enumerate(self.steps):
            small = by_index.get(index)
            if small is not None and all(slots[place] is not None for place in small.operands):
                operands = [slots[place] for place in small.operands]
                batch.append(prepared(small.ufunc, operands, slots[small.slot]))
                continue
            if batch:
                yield partial(_all, tuple(batch)), _nothing, 0, ()
                batch = []
            yield step
        if batch:
            yield partial(_all, tuple(batch)), _nothing, 0, ()

    def _node_of(self, step: Step | None) -> Node:
        for node, candidate in zip(self.nodes, self.steps, strict=True):
            if candidate is step:
                return node
        # Ufuncs over buffers of the right shape: only running out of memory is left to fail.
        return self.nodes[self.small[0].index]


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
    facts: Mapping[Value, Fact] | None = None,
    mode: Mode = "fast",
) -> Program:
    """The steps that lead from ``inputs`` to ``outputs``; nodes that no output needs are left out.

    Args:
        graph: nodes in topological order, with initializers.
        inputs: values that a run is given; they hide initializers of the same value.
        outputs: values that a run returns.
        opsets: version by domain.
        control_flow: makes functions of nodes with bodies.
        known: values that are already computed and need no node.
        facts: shapes and dtypes that hold in every run; with them small nodes get buffers.
        mode: which kernels.
    """
    constants: dict[Value, Any] = {**graph.initializers, **(known or {})}
    for value in inputs:
        constants.pop(value, None)
    needed = _needed(graph, outputs, {*inputs, *constants})
    kept = [node for node in graph.nodes if node in needed]
    builder = _Builder(opsets, control_flow, constants, facts or {}, inputs, set(outputs), mode)
    last = _last_reads(kept, outputs)
    for position, node in enumerate(kept):
        builder.node(node, needed[node], last, position)
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

    def __init__(
        self,
        opsets: Mapping[str, int],
        control_flow: ControlFlow,
        constants: Mapping[Value, Any],
        facts: Mapping[Value, Fact],
        inputs: Sequence[Value],
        outputs: set[Value],
        mode: Mode,
    ) -> None:
        self._opsets = opsets
        self._control_flow = control_flow
        self._given = constants
        self._facts = facts
        self._outputs = outputs
        self._mode: Mode = mode
        self._buffered: set[Value] = set()
        self._smalls: list[Small] = []
        self._spread: dict[tuple[Value, tuple[int, ...]], Spread] = {}
        self._inputs = {value: index for index, value in enumerate(inputs)}
        self._slots: dict[Value, int] = {}
        self._template: list[Any] = [None]  # slot 0 is what omitted inputs read
        self._steps: list[Step] = []
        self._nodes: list[Node] = []
        self._values: list[Value | None] = []
        self._constants: set[int] = set()
        self._written: set[Value] = set()

    def slot(self, value: Value) -> int:
        """The slot of ``value``, a new one at first; constants lie in theirs from the start."""
        found = self._slots.get(value)
        if found is None:
            found = self._slots[value] = self._fresh(self._given.get(value))
            if value in self._given:
                self._constants.add(id(self._given[value]))
        return found

    def _fresh(self, content: Any = None) -> int:
        self._template.append(content)
        return len(self._template) - 1

    def node(
        self, node: Node, used: frozenset[Value], last: Mapping[Value, int], position: int
    ) -> None:
        """Add the step of ``node``, and one per output where it has several."""
        # Inputs, constants and buffers stay: they are not ours to free.
        done = {v for v in reads(node) if v in self._written and last[v] == position}
        freed = tuple(sorted(self._slots[value] for value in done))
        if self._small(node, freed):
            return
        gather = _gather([0 if v is None else self.slot(v) for v in reads(node)])
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

    def _small(self, node: Node, freed: tuple[int, ...]) -> bool:
        """Add ``node`` as a small step, where it is one."""
        opset = self._opsets.get("", 0)
        step = small_step(node, opset, self._facts, self._given, self._buffered, self._mode)
        output = node.outputs[0]
        if step is None or (output in self._outputs and nbytes(step.fact) > MAX_COPIED):
            return False
        operands = [self._operand(item, step.fact[0]) for item in step.operands]
        slot = self.slot(output)
        self._buffered.add(output)
        index = len(self._steps)
        self._smalls.append(Small(index, step.ufunc, tuple(operands), slot, step.fact))
        gather = _gather([*operands, slot])
        self._add(into_buffer(step.ufunc), gather, output, freed, node)
        return True

    def _operand(self, item: Value | np.ndarray, shape: tuple[int, ...]) -> int:
        """The slot of an operand; small inputs are read from a buffer of the full shape."""
        if not isinstance(item, Value):
            return self._fresh(item)
        index = self._inputs.get(item)
        if index is None:
            return self.slot(item)
        dtype = self._facts[item][1]
        if nbytes((shape, dtype)) > MAX_COPIED:
            return self.slot(item)
        found = self._spread.get((item, shape))
        if found is None:
            found = Spread(self._fresh(), index, (shape, dtype))
            self._spread[item, shape] = found
        return found.slot

    def _function(self, node: Node, used: frozenset[Value]) -> Callable[..., Any]:
        if is_control_flow(node):
            function = self._control_flow(node, self._opsets, captures(node), self._mode)
            self._constants.update(getattr(function, "constants", ()))
            return function
        if any(True for _ in node.subgraphs()):
            return self._with_bodies(node)
        count = max(i for i, value in enumerate(node.outputs, 1) if value in used)
        function = bind(node, self._opsets, count, self._mode)
        assert function is not None, "sessions ask for kernels before they compile"
        return function

    def _with_bodies(self, node: Node) -> Callable[..., Any]:
        """A kernel that takes its bodies as functions of arrays."""
        outside = captures(node)
        programs = {
            name: compile_program(
                body,
                [*body.inputs, *outside],
                body.outputs,
                self._opsets,
                self._control_flow,
                mode=self._mode,
            )
            for name, body in node.attributes.items()
            if isinstance(body, Graph)
        }
        for program in programs.values():
            self._constants.update(program.constants)
        rest = {n: a for n, a in node.attributes.items() if n not in programs}
        kernel = bind(replace(node, attributes=rest), self._opsets, mode=self._mode)
        assert kernel is not None, "sessions ask for kernels before they compile"

        def run(*arguments: Any) -> Any:
            inner = arguments[len(node.inputs) :]
            bodies = {name: _as_function(program, inner) for name, program in programs.items()}
            return kernel(*arguments[: len(node.inputs)], **bodies)

        return run

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
            inputs=tuple(self.slot(value) for value in inputs),
            outputs=tuple(self.slot(value) for value in outputs),
            steps=tuple(self._steps),
            nodes=tuple(self._nodes),
            values=tuple(self._values),
            constants=frozenset(self._constants),
            small=tuple(self._smalls),
            spread=tuple(self._spread.values()),
        )


def _gather(slots: Sequence[int]) -> Callable[[list], Sequence]:
    """Takes the arguments out of the slots: a C call where there is one."""
    if not slots:
        return _nothing
    if len(slots) == 1:  # of one index itemgetter returns the bare item
        return operator.itemgetter(slice(slots[0], slots[0] + 1))
    return operator.itemgetter(*slots)


def _as_function(program: Program, outside: Sequence[Any]) -> Callable[..., list[Any]]:
    """The body as a function of its inputs that returns the list of its outputs."""

    def body(*arguments: Any) -> list[Any]:
        return program.run([*arguments, *outside])

    return body


def _all(calls: Sequence[Callable[[], Any]]) -> None:
    for call in calls:
        call()


def _nothing(_: list) -> Sequence:
    return ()


def _first_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The first result of ``function``, whether it returns one or a tuple."""

    def first(*arguments: Any) -> Any:
        result = function(*arguments)
        return result[0] if isinstance(result, tuple) else result

    return first
