"""If, Loop, Scan and SequenceMap: nodes that run bodies.

Each factory returns a function of the node's inputs followed by the values its bodies
capture; the function returns a list, one item per output of the node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from onemodel.graph.bind import Mode
from onemodel.graph.ir import Graph, Node, Value
from onemodel.session.body import Body
from onemodel.session.gradient import gradient
from onemodel.session.program import Program, compile_program


def control_flow(
    node: Node, opsets: Mapping[str, int], captured: list[Value], mode: Mode = "fast"
) -> Body:
    """The function of an If, Loop, Scan, SequenceMap or Gradient node."""
    match node.op_type:
        case "If":
            return _if(node, opsets, captured, mode)
        case "Loop":
            return _loop(node, opsets, captured, mode)
        case "Scan":
            return _scan(node, opsets, captured, mode)
        case "Gradient":
            return gradient(node, opsets, captured, control_flow)
        case _:
            return _sequence_map(node, opsets, captured, mode)


def _program(body: Graph, opsets: Mapping[str, int], captured: list[Value], mode: Mode) -> Program:
    inputs = [*body.inputs, *captured]
    return compile_program(body, inputs, body.outputs, opsets, control_flow, mode=mode)


def _body(node: Node, name: str) -> Graph:
    body = node.attributes[name]
    assert isinstance(body, Graph), "schemas demand it, and the reader checks them"
    return body


def _truth(value: Any, what: str) -> bool:
    array = np.asarray(value)
    if array.size != 1:
        raise ValueError(f"{what} has shape {array.shape}, one boolean is needed")
    return bool(array.reshape(()))


def _if(node: Node, opsets: Mapping[str, int], captured: list[Value], mode: Mode) -> Body:
    then = _program(_body(node, "then_branch"), opsets, captured, mode)
    other = _program(_body(node, "else_branch"), opsets, captured, mode)

    def run(condition: Any, *outside: Any) -> list[Any]:
        return (then if _truth(condition, "the condition") else other).run(outside)

    return Body(run, (then, other))


def _loop(node: Node, opsets: Mapping[str, int], captured: list[Value], mode: Mode) -> Body:
    body = _body(node, "body")
    program = _program(body, opsets, captured, mode)
    carried = len(body.inputs) - 2
    inputs = len(node.inputs)
    scanned = body.outputs[1 + carried :]

    def run(*arguments: Any) -> list[Any]:
        most, condition, *state = [*arguments[:inputs], *[None] * (2 - inputs)]
        outside = arguments[inputs:]
        limit = None if most is None else int(np.asarray(most).reshape(()))
        going = condition is None or _truth(condition, "the condition")
        state += [None] * (carried - len(state))
        stacks: list[list[Any]] = [[] for _ in scanned]
        turn = 0
        while going and (limit is None or turn < limit):
            results = program.run([np.array(turn), np.array(going), *state, *outside])
            going = _truth(results[0], "the body's condition")
            state = results[1 : 1 + carried]
            for stack, item in zip(stacks, results[1 + carried :], strict=True):
                stack.append(item)
            turn += 1
        return [*state, *map(_stacked, stacks, scanned)]

    return Body(run, (program,))


def _stacked(items: list[Any], value: Value, axis: int = 0) -> np.ndarray:
    if items:
        return np.stack(items, axis=axis)
    # No turn was made: what is known of the item's shape decides, unknown sizes are empty.
    known = value.shape or ()
    shape = [size if isinstance(size, int) else 0 for size in known]
    shape.insert(axis if axis >= 0 else len(shape) + 1 + axis, 0)
    return np.zeros(shape, value.dtype or np.float32)


def _scan(node: Node, opsets: Mapping[str, int], captured: list[Value], mode: Mode) -> Body:
    body = _body(node, "body")
    program = _program(body, opsets, captured, mode)
    count = node.attributes["num_scan_inputs"]
    assert isinstance(count, int)
    one = _one_scan(node, body, program, count)
    if opsets.get("", 1) >= 9:
        return Body(one, (program,))
    inputs = len(node.inputs)

    def batched(lengths: Any, *arguments: Any) -> list[Any]:
        values, outside = arguments[: inputs - 1], arguments[inputs - 1 :]
        rows = []
        for row in range(len(values[0])):
            parts = [value[row] for value in values]
            if lengths is not None:
                parts[-count:] = [part[: int(lengths[row])] for part in parts[-count:]]
            rows.append(one(*parts, *outside))
        return [_padded(column) for column in zip(*rows, strict=True)]

    return Body(batched, (program,))


def _padded(column: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of one output of Scan 8, the shorter ones filled up with zeros."""
    if len({item.shape for item in column}) == 1:
        return np.stack(column)
    longest = max(item.shape[0] for item in column)
    result = np.zeros((len(column), longest, *column[0].shape[1:]), column[0].dtype)
    for row, item in enumerate(column):
        result[row, : item.shape[0]] = item
    return result


def _one_scan(node: Node, body: Graph, program: Program, count: int) -> Callable[..., list[Any]]:
    states = len(body.inputs) - count
    scanned = body.outputs[states:]

    def option(name: str, length: int) -> list[int]:
        found = node.attributes.get(name)
        if found is None and length == count:
            found = node.attributes.get("directions")  # the name in opset 8
        return list(found) if isinstance(found, list) else [0] * length  # type: ignore[arg-type]

    in_axes = list(node.attributes.get("scan_input_axes") or [0] * count)  # type: ignore
    out_axes = list(node.attributes.get("scan_output_axes") or [0] * len(scanned))  # type: ignore
    in_backward = option("scan_input_directions", count)
    out_backward = list(node.attributes.get("scan_output_directions") or [0] * len(scanned))  # type: ignore

    def run(*arguments: Any) -> list[Any]:
        state = list(arguments[:states])
        series = [
            np.moveaxis(value, axis, 0)[::-1] if backward else np.moveaxis(value, axis, 0)
            for value, axis, backward in zip(
                arguments[states : states + count], in_axes, in_backward, strict=True
            )
        ]
        lengths = {len(item) for item in series}
        if len(lengths) != 1:
            raise ValueError(f"scan inputs have the lengths {sorted(lengths)}, not one")
        outside = arguments[states + count :]
        stacks: list[list[Any]] = [[] for _ in scanned]
        for turn in range(lengths.pop()):
            results = program.run([*state, *(item[turn] for item in series), *outside])
            state = results[:states]
            for stack, item in zip(stacks, results[states:], strict=True):
                stack.append(item)
        for stack, backward in zip(stacks, out_backward, strict=True):
            if backward:
                stack.reverse()
        return [*state, *map(_stacked, stacks, scanned, out_axes)]

    return run


def _sequence_map(node: Node, opsets: Mapping[str, int], captured: list[Value], mode: Mode) -> Body:
    program = _program(_body(node, "body"), opsets, captured, mode)
    inputs = len(node.inputs)

    def run(*arguments: Any) -> list[Any]:
        first, *more = arguments[:inputs]
        outside = arguments[inputs:]
        columns: list[list[Any]] = [[] for _ in program.outputs]
        for turn, item in enumerate(first):
            rest = [other[turn] if isinstance(other, list) else other for other in more]
            for column, result in zip(columns, program.run([item, *rest, *outside]), strict=True):
                column.append(result)
        return columns

    return Body(run, (program,))
