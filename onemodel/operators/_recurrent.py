"""Recurrent layers: stacking, directions and lengths around a cell, with gradients and nodes.

A cell is one direction of one layer: ``run`` goes through the steps and keeps what ``back``
needs. Gates are computed for all steps at once from the input, and step by step from the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes, Extent
from onemodel.kernels._dtypes import widen
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, Refusal, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._random import draw_with
from onemodel.operators._spatial import check_floating
from onemodel.operators.dropout import draw_mask
from onemodel.operators.squeeze import squeeze
from onemodel.operators.unsqueeze import unsqueeze
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Weights:
    """Weights of one direction of one layer, gates in PyTorch's order."""

    w_ih: np.ndarray
    w_hh: np.ndarray
    b_ih: np.ndarray | None
    b_hh: np.ndarray | None


class Cell(Protocol):
    """One kind of recurrence. ``gates``: weight rows per hidden element; ``states``: h, or h and c.

    ``run``: (x (T, B, I), weights, initial states, inside (T, B, 1) or None)
    -> (states after every step (T+1, B, H), final states, kept for ``back``).
    ``back``: (kept, x, weights, dh per step (T, B, H), d of final states, inside)
    -> (dx, d initial states, dw_ih, dw_hh, db_ih, db_hh).
    """

    gates: int
    states: int

    def run(
        self, x: np.ndarray, w: Weights, start: Arrays, inside: np.ndarray | None
    ) -> tuple[np.ndarray, Arrays, Any]: ...

    def back(
        self,
        kept: Any,
        x: np.ndarray,
        w: Weights,
        dy: np.ndarray,
        final: Arrays,
        inside: np.ndarray | None,
    ) -> tuple[np.ndarray, Arrays, np.ndarray, np.ndarray, np.ndarray, np.ndarray]: ...


# --- the public function --------------------------------------------------------------------


def recur(
    operator: Operator,
    cell: Cell,
    input: Any,
    hx: Any,
    flat_weights: Sequence[Tensor],
    bias: bool,
    num_layers: int,
    dropout: float,
    training: bool,
    bidirectional: bool,
    batch_first: bool,
    lengths: Any,
    generator: Any,
    extra: Mapping[str, Any] | None = None,
) -> tuple[Tensor, ...]:
    """Check the arguments of a recurrent layer and run it: (output, final states...)."""
    name = operator.name
    input = as_tensor(name, "input", input)
    states = _states(name, cell, hx)
    single = input.ndim == 2
    if single:
        input = unsqueeze(input, 1)
        states = [unsqueeze(state, 1) for state in states]
        batch_first = False
    if input.ndim != 3:
        raise ValueError(
            f"{name}: expected an input of rank 3 (or 2 without a batch), "
            f"not {list(input._array.shape)}"
        )
    weights = [as_tensor(name, "flat_weights", weight) for weight in flat_weights]
    _check(name, cell, input, states, weights, bias, num_layers, bidirectional, batch_first)
    tensors = [input, *states, *weights]
    if lengths is not None:
        tensors.append(_lengths(name, lengths, input, batch_first))
    drops = bool(training) and dropout > 0 and num_layers > 1
    if drops and input._mark is None:  # a traced input is refused below, as dropout
        generator = draw_with(name, generator)
    attributes = {
        "states": len(states),
        "bias": bool(bias),
        "num_layers": int(num_layers),
        "dropout": float(dropout) if drops else 0.0,
        "bidirectional": bool(bidirectional),
        "batch_first": bool(batch_first),
        "packed": lengths is not None,
        "generator": generator,
    }
    result = apply(operator, tensors, attributes | dict(extra or {}))
    return tuple(squeeze(part, 1) for part in result) if single else result


def _states(name: str, cell: Cell, hx: Any) -> list[Tensor]:
    if hx is None:
        return []
    given = list(hx) if isinstance(hx, (tuple, list)) else [hx]
    if len(given) != cell.states:
        wanted = "(h0, c0)" if cell.states == 2 else "h0"
        raise ValueError(f"{name}: the initial state must be {wanted}, not {len(given)} tensors")
    return [as_tensor(name, "hx", state) for state in given]


def _check(
    name: str,
    cell: Cell,
    input: Tensor,
    states: Sequence[Tensor],
    weights: Sequence[Tensor],
    bias: bool,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> None:
    directions = 2 if bidirectional else 1
    per_cell = 4 if bias else 2
    if len(weights) != num_layers * directions * per_cell:
        raise ValueError(
            f"{name}: {num_layers} layer(s) in {directions} direction(s) with bias={bias} need "
            f"{num_layers * directions * per_cell} weights, not {len(weights)}"
        )
    named = {f"flat_weights[{i}]": weight for i, weight in enumerate(weights)}
    check_floating(name, input=input, **named, **{f"hx[{i}]": s for i, s in enumerate(states)})
    hidden = weights[1]._array.shape[-1]
    batch = input._array.shape[0 if batch_first else 1]
    for i, weight in enumerate(weights):
        layer = i // per_cell // directions
        width = input._array.shape[2] if layer == 0 else hidden * directions
        rows = cell.gates * hidden
        wanted = ((rows, width), (rows, hidden), (rows,), (rows,))[i % per_cell]
        if weight._array.shape != wanted:
            raise ValueError(
                f"{name}: flat_weights[{i}] has shape {list(weight._array.shape)}, "
                f"expected {list(wanted)}"
            )
    for state in states:
        if state._array.shape != (num_layers * directions, batch, hidden):
            raise ValueError(
                f"{name}: an initial state has shape {list(state._array.shape)}, "
                f"expected {[num_layers * directions, batch, hidden]}"
            )


def _lengths(name: str, lengths: Any, input: Tensor, batch_first: bool) -> Tensor:
    if not isinstance(lengths, Tensor):
        lengths = Tensor(np.asarray(lengths))
    batch, steps = input._array.shape[:2] if batch_first else input._array.shape[1::-1]
    array = lengths._array
    if category(array.dtype) != 1 or array.shape != (batch,):
        raise ValueError(
            f"{name}: lengths must be {batch} integers, not {array.dtype}{list(array.shape)}"
        )
    if array.size and (array.min() < 0 or array.max() > steps):
        raise ValueError(f"{name}: lengths must lie between 0 and the {steps} steps of the input")
    return lengths


# --- running --------------------------------------------------------------------------------


@dataclass
class Kept:
    """What one layer leaves for the gradient: per direction (x in reading order, kept, weights)."""

    directions: list[tuple[np.ndarray, Any, Weights]] = field(default_factory=list)
    mask: np.ndarray | None = None


@dataclass(frozen=True)
class Parts:
    """The tensors of one call, sorted."""

    input: Any
    states: Sequence[Any]
    weights: Sequence[Any]
    lengths: Any

    @staticmethod
    def of(values: Sequence[Any], states: int, packed: bool) -> Parts:
        input, *rest = values
        lengths = rest.pop() if packed else None
        return Parts(input, rest[:states], rest[states:], lengths)

    def cell(self, number: int, bias: bool) -> list[Any]:
        """w_ih, w_hh, b_ih, b_hh of direction ``number``, counted through all layers."""
        if bias:
            return list(self.weights[4 * number : 4 * number + 4])
        return [*self.weights[2 * number : 2 * number + 2], None, None]


def _wide(arrays: Sequence[Any]) -> Weights:
    return Weights(*(array if array is None else widen(array) for array in arrays))  # type: ignore[arg-type]


def turned(steps: np.ndarray, lengths: np.ndarray | None) -> np.ndarray:
    """(T, B, ...) read backwards, each sequence within its own length. Its own inverse."""
    if lengths is None:
        return steps[::-1]
    time = np.arange(len(steps))[:, None]
    index = np.where(time < lengths, lengths - 1 - time, time)
    return steps[index, np.arange(steps.shape[1])]


def inside_of(lengths: np.ndarray | None, steps: int) -> np.ndarray | None:
    """(T, B, 1): whether a step belongs to its sequence."""
    return None if lengths is None else (np.arange(steps)[:, None] < lengths)[..., None]


def run(
    cell: Cell,
    arrays: Sequence[np.ndarray],
    states: int,
    bias: bool,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    batch_first: bool,
    packed: bool,
    generator: Any,
) -> tuple[Arrays, list[Kept]]:
    """The forward of every recurrent layer: ((output, final states...), kept per layer)."""
    parts = Parts.of(arrays, states, packed)
    dtype = parts.input.dtype
    x = widen(parts.input.swapaxes(0, 1) if batch_first else parts.input)
    steps, batch = x.shape[:2]
    hidden = parts.weights[1].shape[-1]
    directions = 2 if bidirectional else 1
    inside = inside_of(parts.lengths, steps)
    finals: list[Arrays] = []
    layers = []
    for layer in range(num_layers):
        kept = Kept()
        outputs = []
        for d in range(directions):
            number = layer * directions + d
            w = _wide(parts.cell(number, bias))
            start = tuple(widen(state[number]) for state in parts.states)
            start = start or (np.zeros((batch, hidden), x.dtype),) * cell.states
            source = turned(x, parts.lengths) if d else x
            h, final, memory = cell.run(source, w, start, inside)
            y = h if inside is None else h * inside
            outputs.append(turned(y, parts.lengths) if d else y)
            finals.append(final)
            kept.directions.append((source, memory, w))
        x = outputs[0] if directions == 1 else np.concatenate(outputs, axis=2)
        if dropout and layer + 1 < num_layers:
            kept.mask = draw_mask(x.shape, dropout, x.dtype, generator)
            x = x * kept.mask
        layers.append(kept)
    output = x.swapaxes(0, 1) if batch_first else x
    last = (np.stack(state).astype(dtype, copy=False) for state in zip(*finals, strict=True))
    return (np.ascontiguousarray(output).astype(dtype, copy=False), *last), layers


def back(cell: Cell, record: BackwardRecord, grads: Arrays) -> tuple[np.ndarray | None, ...]:
    """The gradient of every recurrent layer, layer by layer from the last."""
    attributes = record.attributes
    bias, bidirectional = attributes["bias"], attributes["bidirectional"]
    parts = Parts.of(record.arrays, attributes["states"], attributes["packed"])
    dy = widen(grads[0].swapaxes(0, 1) if attributes["batch_first"] else grads[0])
    steps = dy.shape[0]
    inside = inside_of(parts.lengths, steps)
    directions = 2 if bidirectional else 1
    per_cell = 4 if bias else 2
    weights: list[np.ndarray | None] = [None] * len(parts.weights)
    shape = (attributes["num_layers"] * directions, *grads[1].shape[1:])
    starts = [np.zeros(shape, dy.dtype) for _ in range(cell.states)]
    for layer in reversed(range(attributes["num_layers"])):
        kept = record.saved[layer]
        if kept.mask is not None:
            dy = dy * kept.mask
        total = None
        for d, (x, memory, w) in enumerate(kept.directions):
            number = layer * directions + d
            hidden = w.w_hh.shape[-1]
            part = dy[..., d * hidden : (d + 1) * hidden]
            part = turned(part, parts.lengths) if d else part
            part = part if inside is None else part * inside
            final = tuple(widen(grad[number]) for grad in grads[1:])
            dx, start, *dw = cell.back(memory, x, w, part, final, inside)
            dx = turned(dx, parts.lengths) if d else dx
            total = dx if total is None else total + dx
            weights[number * per_cell : (number + 1) * per_cell] = dw[:per_cell]
            for state, value in zip(starts, start, strict=True):
                state[number] = value
        assert total is not None
        dy = total
    dx = dy.swapaxes(0, 1) if attributes["batch_first"] else dy
    given = starts if attributes["states"] else []
    return (dx, *given, *weights, *([None] if attributes["packed"] else []))


def product(x: np.ndarray, w: np.ndarray, *biases: np.ndarray | None) -> np.ndarray:
    """x w' + biases for all steps in one product."""
    result = np.matmul(np.ascontiguousarray(x).reshape(-1, x.shape[-1]), w.T)
    for bias in biases:
        if bias is not None:
            result += bias
    return result.reshape(*x.shape[:2], len(w))


def weight_products(
    x: np.ndarray, before: np.ndarray, dz_x: np.ndarray, dz_h: np.ndarray, w_ih: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(dx, dw_ih, dw_hh, db_ih, db_hh) from the gate gradients of all steps at once."""
    flat_x, flat_h = dz_x.reshape(-1, dz_x.shape[-1]), dz_h.reshape(-1, dz_h.shape[-1])
    dx = (flat_x @ w_ih).reshape(x.shape)
    dw_ih = flat_x.T @ np.ascontiguousarray(x).reshape(-1, x.shape[-1])
    dw_hh = flat_h.T @ before.reshape(-1, before.shape[-1])
    db_ih = flat_x.sum(axis=0)
    return dx, dw_ih, dw_hh, db_ih, db_ih if dz_x is dz_h else flat_h.sum(axis=0)


def sigmoid(z: np.ndarray) -> np.ndarray:
    """The logistic function in place, through tanh, which cannot overflow."""
    z *= 0.5
    np.tanh(z, out=z)
    z *= 0.5
    z += 0.5
    return z


# --- axes, refusal, nodes -------------------------------------------------------------------


def axes_of(
    cell: Cell,
    all_axes: Sequence[Axes],
    states: int,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
    packed: bool,
) -> tuple[Axes, ...]:
    """Axes of the output and of every final state."""
    parts = Parts.of(all_axes, states, packed)
    batch, steps = (parts.input[0], parts.input[1]) if batch_first else parts.input[1::-1]
    directions = 2 if bidirectional else 1
    hidden = parts.weights[1][-1]
    for state in parts.states:
        batch = rules.same_extent(batch, state[1], "the batch of an initial state")
    if parts.lengths is not None:
        rules.same_extent(batch, parts.lengths[0], "the batch of the lengths")
    width = hidden * directions
    output = (batch, steps, width) if batch_first else (steps, batch, width)
    final = (Extent(num_layers * directions), batch, hidden)
    return (output, *(final,) * cell.states)


def refuses(attributes: Mapping[str, Any]) -> Refusal | None:
    """Dropout between layers cannot be traced."""
    if not attributes["dropout"]:
        return None
    return Refusal(
        "OM601",
        "dropout between recurrent layers draws random numbers in training mode; "
        "a graph for inference has none",
        (("switch the module to evaluation before tracing", "model.eval()"),),
    )


def write(
    g: Any,
    cell: Cell,
    node: str,
    order: Sequence[int],
    values: Sequence[Any],
    attributes: Mapping[str, Any],
    options: Mapping[str, Any],
) -> tuple[Any, ...]:
    """One ``node`` (LSTM, GRU, RNN) per layer; ``order``: ONNX's gates as PyTorch counts them.

    Without an initial state the node gets none, so that the batch stays free.
    """
    parts = Parts.of(values, attributes["states"], attributes["packed"])
    bias, batch_first = attributes["bias"], attributes["batch_first"]
    directions = 2 if attributes["bidirectional"] else 1
    hidden = g.result_axes[1][2].value
    x = g.op("Transpose", parts.input, perm=[1, 0, 2]) if batch_first else parts.input
    lengths = None if parts.lengths is None else g.cast(parts.lengths, np.int32)
    finals: list[list[Any]] = [[] for _ in range(cell.states)]
    for layer in range(attributes["num_layers"]):
        numbers = range(layer * directions, (layer + 1) * directions)
        cells = [parts.cell(number, bias) for number in numbers]
        w = gate_weights(g, [[c[0]] for c in cells], order, hidden)
        r = gate_weights(g, [[c[1]] for c in cells], order, hidden)
        b = gate_weights(g, [c[2:] for c in cells], order, hidden) if bias else None
        starts = [
            initial_state(g, s, layer, directions, attributes["num_layers"]) for s in parts.states
        ]
        y, *last = g.op(
            node,
            x,
            w,
            r,
            b,
            lengths,
            *starts,
            outputs=1 + cell.states,
            hidden_size=hidden,
            direction="bidirectional" if directions == 2 else "forward",
            **{k: v * directions if isinstance(v, list) else v for k, v in options.items()},
        )
        final = layer + 1 == attributes["num_layers"]
        x = joined(g, y, directions, hidden, batch_first and final)
        for states, state in zip(finals, last, strict=True):
            states.append(state)
    rest = [s[0] if len(s) == 1 else g.op("Concat", *s, axis=0) for s in finals]
    return (x, *rest)


def joined(g: Any, y: Any, directions: int, hidden: int, batch_first: bool) -> Any:
    """(T, D, B, H) as (T, B, D * H), or batch first."""
    perm = [2, 0, 1, 3] if batch_first else [0, 2, 1, 3]
    moved = g.op("Transpose", y, perm=perm)
    return g.op("Reshape", moved, g.ints([0, 0, directions * hidden]))


def initial_state(g: Any, state: Any, layer: int, directions: int, num_layers: int) -> Any:
    """The part of an initial state (L * D, B, H) that belongs to one layer."""
    if num_layers == 1:
        return state
    rows = g.ints(range(layer * directions, (layer + 1) * directions))
    return g.op("Gather", state, rows, axis=0)


def gate_weights(g: Any, groups: Sequence[Sequence[Any]], order: Sequence[int], hidden: int) -> Any:
    """Weights of all directions as ONNX wants them: (D, gates * H, ...), gates reordered.

    ``groups``: per direction the values that follow each other in one row (the two biases).
    Constants are rearranged here; computed weights by Gather and Concat in the graph.
    """
    rows = np.concatenate([np.arange(gate * hidden, (gate + 1) * hidden) for gate in order])
    known = [[g.array(value) for value in group] for group in groups]
    if all(array is not None for group in known for array in group):
        parts = [np.concatenate([array[rows] for array in group]) for group in known]
        return keep_constant(g, np.stack(parts), groups[0][0].name)
    sides = []
    for group in groups:
        moved = [g.op("Gather", value, g.ints(rows), axis=0) for value in group]
        whole = moved[0] if len(moved) == 1 else g.op("Concat", *moved, axis=0)
        shape = [1, len(group) * len(rows)]
        shape += [-1] if len(group) == 1 and group[0].rank == 2 else []
        sides.append(g.op("Reshape", whole, g.ints(shape)))
    return sides[0] if len(sides) == 1 else g.op("Concat", *sides, axis=0)


def keep_constant(g: Any, array: np.ndarray, name: str) -> Any:
    """A constant named after the weight it was made from; equal ones are written once."""
    array = np.ascontiguousarray(array)
    key = (array.dtype, array.shape, array.tobytes())
    constants = g.writer.constants
    if key not in constants:
        constants[key] = g.writer.initializer(array, f"{name}.gates")
    return constants[key]


# --- cases ----------------------------------------------------------------------------------


def reference(step: Callable[..., Arrays], states: int) -> Callable[..., tuple[np.ndarray, ...]]:
    """The textbook equations (``step``), sample by sample and step by step, in float64."""

    def compute(
        input: np.ndarray,
        *tensors: np.ndarray,
        bias: bool = True,
        num_layers: int = 1,
        bidirectional: bool = False,
        batch_first: bool = False,
        has_state: bool = False,
        lengths: Sequence[int] | None = None,
    ) -> tuple[np.ndarray, ...]:
        x = np.asarray(input, np.float64)
        x = x if batch_first else x.swapaxes(0, 1)
        given = tensors[:states] if has_state else None
        weights = [np.asarray(v, np.float64) for v in tensors[states if has_state else 0 :]]
        count, directions = 4 if bias else 2, 2 if bidirectional else 1
        hidden = weights[1].shape[-1]
        finals: list[list[np.ndarray]] = [[] for _ in range(states)]
        for layer in range(num_layers):
            columns = []
            for d in range(directions):
                number = layer * directions + d
                w = weights[number * count : (number + 1) * count]
                y = np.zeros((*x.shape[:2], hidden))
                last = np.zeros((states, len(x), hidden))
                for b in range(len(x)):
                    if given is not None:
                        last[:, b] = [state[number, b] for state in given]
                    total = x.shape[1] if lengths is None else lengths[b]
                    for t in range(total)[:: -1 if d else 1]:
                        last[:, b] = step(w, x[b, t], tuple(last[:, b]), bias)
                        y[b, t] = last[0, b]
                columns.append(y)
                for final, value in zip(finals, last, strict=True):
                    final.append(value)
            x = np.concatenate(columns, axis=2)
        return x if batch_first else x.swapaxes(0, 1), *(np.stack(f) for f in finals)

    return compute


def cases(
    declaration: Any, reference: Any, gates: int, states: int, inputs: int = 3, hidden: int = 4
) -> tuple[Case, ...]:
    """The cases of a recurrent layer of ``gates`` gates and ``states`` states."""

    def weights(layers: int = 1, directions: int = 1, bias: bool = True) -> tuple[In, ...]:
        found = []
        for layer in range(layers):
            width = inputs if layer == 0 else hidden * directions
            for _ in range(directions):
                rows = gates * hidden
                shapes = [(rows, width), (rows, hidden), *([(rows,), (rows,)] if bias else [])]
                found += [In(shape, low=-0.7, high=0.7, constant=True) for shape in shapes]
        return tuple(found)

    def call(x: Tensor, *rest: Tensor, has_state: bool = False, **options: Any) -> Any:
        hx = (rest[:states] if states > 1 else rest[0]) if has_state else None
        flat = rest[states:] if has_state else rest
        return declaration(x, hx, flat, **options)

    two = {"num_layers": 2, "bidirectional": True}
    state = tuple(In((4, "batch", hidden)) for _ in range(states))
    first = {"batch_first": True}
    return (
        Case((("time", "batch", inputs), *weights()), call=call, reference=reference),
        Case((("batch", "time", inputs), *weights(2, 2)), {**two, **first}, call=call,
             reference=reference, name="two layers, both directions, batch first"),
        Case((("time", "batch", inputs), *state, *weights(2, 2, False)),
             {**two, "bias": False, "has_state": True}, call=call, reference=reference,
             name="initial state, no bias"),
        Case(((4, 3, inputs), *weights(1, 2)), {"bidirectional": True, "lengths": [4, 1, 2]},
             call=call, reference=reference, name="lengths"),
        Case(((4, "batch", inputs), *(In(w.shape, low=-0.7, high=0.7) for w in weights(1, 2))),
             {"bidirectional": True}, call=call, reference=reference, name="computed weights"),
    )  # fmt: skip
