"""Random programs over sizes, shapes, reductions, products and indices, as source text.

A program is a list of assignments ``v3 = v1 + v2``, drawn with the example's tensors at hand, so
that each line runs at the example. Some lines use sizes as a user should, some freeze a number
of the example on purpose: those a trace must refuse, or follow.
"""

from __future__ import annotations

import linecache
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import onemodel as om

FILE = "<random program>"
SYMBOLS = ("b", "t")
MOST_ELEMENTS = 3000
OPSETS = (7, 23)


@dataclass(frozen=True)
class Program:
    """Source of ``model``, shapes of its inputs (names are symbols), sizes to run it at."""

    source: str
    shapes: tuple[tuple[int | str, ...], ...]
    example: dict[str, int]
    others: tuple[dict[str, int], ...]
    opset: int

    def __repr__(self) -> str:
        sizes = f"{self.shapes} at {self.example}, then {self.others}"
        return f"{sizes}, opset {self.opset}\n{self.source}"

    @property
    def axes(self) -> list[dict[int, str]]:
        return [{i: n for i, n in enumerate(s) if isinstance(n, str)} for s in self.shapes]

    def model(self) -> Callable[..., Any]:
        lines = self.source.splitlines(keepends=True)
        linecache.cache[FILE] = (len(self.source), None, lines, FILE)
        space: dict[str, Any] = {"om": om, "np": np, "F": om.nn.functional}
        exec(compile(self.source, FILE, "exec"), space)
        return space["model"]

    def draw(self, sizes: dict[str, int], seed: int) -> list[np.ndarray]:
        return [draw_input(shape, sizes, seed + i) for i, shape in enumerate(self.shapes)]


def draw_input(shape: Sequence[int | str], sizes: dict[str, int], seed: int) -> np.ndarray:
    """Multiples of a quarter, so that sums and products of a few are exact."""
    numbers = tuple(sizes[n] if isinstance(n, str) else n for n in shape)
    drawn = np.random.default_rng(seed).integers(-12, 13, size=numbers)
    return (drawn / 4).astype(np.float32)


EXACT = (
    "-{v}", "{v}.abs()", "{v}.relu()", "{v}.clamp(-1, 2)", "{v} * 0.5", "{v} + 1", "3 - {v}",
    "({v} > 0).float()", "{v}.floor()", "{v}.sign()", "om.where({v} > 0.5, {v}, 0.0)",
    "({v} == {v}.round()).float()", "{v}.argmax({d}).float()", "{v}.masked_fill({v} < 0, 0.25)",
)  # fmt: skip
"""Element-wise, and without rounding: what decides by comparing comes before what rounds."""

ROUNDED = (
    "{v}.tanh()", "{v}.sigmoid()", "{v}.softmax({d})", "({v} * {v} + 1).sqrt()", "{v} / 3",
    "{v}.mean({d})", "{v}.mean({d}, keepdim=True)", "{v}.mean()", "{v} / {v}.shape[{d}]",
    "{v}.logsumexp({d})", "{v}.var({d}, correction=0)", "F.gelu({v})",
    "F.layer_norm({v}, {v}.shape[-1:])",
)  # fmt: skip

SHAPES = (
    "{v}.transpose({d}, {e})", "{v}.unsqueeze({d})", "{v}.flatten({d})", "{v}.reshape(-1)",
    "{v}.reshape({v}.shape[0], -1)", "{v}.reshape(-1, {v}.shape[-1])", "{v}.flip({d})",
    "{v}.roll(1, {d})", "om.cat([{v}, {v}], {d})", "om.stack([{v}, {v} + 1], {d})",
    "om.cat([{v}, {w}], {d})", "om.stack([{v}, {w}], {d})", "{v}.repeat(2, *[1] * ({v}.ndim - 1))",
    "{v}.unsqueeze(0).expand({w}.shape[0], *{v}.shape)", "{v}.squeeze({d})",
    "{v}.reshape({v}.shape[0] * {v}.shape[1], *{v}.shape[2:])", "{v}.expand(2, *{v}.shape)",
    "{v}.permute(*range({v}.ndim)[::-1])", "{v}.unflatten({d}, (-1, 2))", "{v}.chunk(2, {d})[0]",
    "F.pad({v}, (1, 0))", "{v}.reshape(*{v}.shape, 1)", "{v}.split(1, {d})[0]",
    "{v}.reshape(-1, 2)", "{v}.tril()", "{v}.movedim(0, -1)",
)  # fmt: skip

SIZES = (
    "{v} + om.arange({v}.shape[-1])", "om.zeros(*{v}.shape) + {v}", "om.ones({v}.shape[0], 2)",
    "{v} * {v}.shape[{d}]", "om.full(({v}.shape[{d}],), 0.5)", "om.arange({v}.shape[{d}]).float()",
    "{v}.sum({d}) / ({v}.shape[{d}] + 1)", "{v} + om.tensor({v}.shape[{d}] // 2)",
    "{v}.reshape({v}.numel())", "om.arange(0, {v}.shape[{d}], 2).float()",
    "{v}[: {v}.shape[0] // 2 + 1]", "{v}[{v}.shape[0] // 2 :]", "om.eye({v}.shape[0])",
    "{v} + om.arange(8)[: {v}.shape[-1]]", "{v} + om.ones(8, 2)[: {v}.shape[0]].sum()",
    "{v} + om.ones(8)[: {v}.shape[0]].shape[0]", "{v} * om.ones(8, 8)[: {v}.shape[0], 0].mean()",
    "{v}[{v}.shape[0] - 1]", "{v} + max({v}.shape[0], 2)", "{v} * ({v}.shape[0] % 2)",
)  # fmt: skip

REDUCTIONS = (
    "{v}.sum({d})", "{v}.sum()", "{v}.sum({d}, keepdim=True)", "{v}.amax({d})", "{v}.amin({d})",
    "{v}.amax({d}, keepdim=True)", "{v}.cumsum({d})", "{v}.sort({d})[0]", "{v}.prod({d})",
    "{v}.max({d})[0]", "{v}.sum((0, -1))", "{v}.topk(1, {d})[0]",
)  # fmt: skip

PRODUCTS = (
    "{v} @ {w}", "{v} @ {w}.transpose(-1, -2)", "{v} @ om.ones({v}.shape[-1], 2)",
    "om.einsum('...i,...i->...', {v}, {w})", "{v}.unsqueeze(-1) * {w}.unsqueeze(-2)",
    "{v}.transpose(-1, -2) @ {v}", "{v} @ om.ones({last}, 3)",
)  # fmt: skip

PAIRS = (
    "{v} + {w}", "{v} - {w}", "{v} * {w}", "om.maximum({v}, {w})", "om.where({v} > {w}, {v}, {w})",
    "({v} <= {w}).float()", "{v} + {w}.sum(0)", "{v} * {w}.amax(-1, keepdim=True)",
)  # fmt: skip

INDICES = (
    "{v}[0]", "{v}[-1]", "{v}[1:]", "{v}[:-1]", "{v}[::2]", "{v}[..., 0]", "{v}[:, None]",
    "{v}[:2]",
    "{v}[None]", "{v}[..., ::-1]", "{v}[om.tensor([0, 1, 0])]", "{v}[:, -1:]", "{v}[-2:]",
    "{v}[om.arange({v}.shape[0] - 1)]", "om.index_select({v}, {d}, om.tensor([1, 0]))",
    "{v}.gather({d}, ({v} > 0).long())", "{v}[..., 1:2]", "{v}.select({d}, 0)",
)  # fmt: skip

LAYERS = (
    "F.conv1d({v}.reshape(-1, 1, {v}.shape[-1]), om.ones(2, 1, 2), padding=1)",
    "F.conv1d({v}.reshape({v}.shape[0], 1, -1), om.ones(1, 1, 3), stride=2, padding=1)",
    "F.conv_transpose1d({v}.reshape(-1, 1, {v}.shape[-1]), om.ones(1, 2, 2), stride=2)",
    "F.avg_pool1d({v}.reshape(-1, 1, {v}.shape[-1]), 2, 1)",
    "F.max_pool1d({v}.reshape(-1, 1, {v}.shape[-1]), 2, 2, ceil_mode=True)",
    "F.max_pool2d({v}.reshape(1, -1, {v}.shape[0], {v}.shape[-1]), 2, 1, padding=1)",
    "F.adaptive_avg_pool1d({v}.reshape(-1, 1, {v}.shape[-1]), 1)",
    "F.interpolate({v}.reshape(1, -1, {v}.shape[-1]), scale_factor=2)",
    "F.embedding(({v} > 0).long(), om.tensor([[1.0, 2.0, 0.5], [0.25, 1.0, 3.0]]))",
    "F.one_hot(({v} > 0).long(), 3).float()", "{v}.cumprod({d})", "{v}.norm(dim={d})",
    "F.scaled_dot_product_attention({v}, {w}, {w})", "om.tensordot({v}, {w}, 1)", "{v}.std({d})",
    "F.scaled_dot_product_attention({v}, {v}, {v}, is_causal=True)", "{v}.unfold({d}, 2, 1)",
    "F.linear({v}, om.ones(3, {v}.shape[-1]), om.ones(3))", "F.normalize({v}, dim={d})",
    "F.pad({v}, (1, 2), value=0.5)", "{v}.repeat_interleave(2, {d})", "om.outer({v}[0], {w}[-1])",
    "F.group_norm({v}.reshape({v}.shape[0], 2, -1), 2)", "{v}.diagonal()", "{v}.argsort({d}) * 0.5",
)  # fmt: skip

FROZEN = (
    "{v}.reshape({plain})", "{v} + om.ones({plain})", "{v} / len({v})", "{v} * int({v}.shape[0])",
    "({v} if {v}.shape[0] > {n} else -{v})", "sum(row for row in {v})", "{v}.reshape({n}, -1)",
    "{v} + om.arange({last})", "{v}.reshape(-1, {last})", "{v} / float({v}.shape[{d}])",
    "{v}[:{n}]", "{v}.narrow({d}, 0, {n})", "{v}.expand({n}, *{v}.shape)", "om.stack([*{v}])",
    "({v} if {v}.shape[0] % 2 == 0 else {v} * 3)", "{v}.split({n}, {d})[-1]", "{v}.chunk({n})[-1]",
)  # fmt: skip
"""Lines that hold a number of the example, or consume a size."""

KINDS = (EXACT, ROUNDED, SHAPES, SIZES, REDUCTIONS, PRODUCTS, PAIRS, INDICES, LAYERS, FROZEN)
ROUNDS = {*ROUNDED, *LAYERS}
DECIDING = (
    "> 0",
    "floor",
    "sign",
    "==",
    "argmax",
    "> {w}",
    "<= ",
    "> 0.5",
    "< 0",
    "sort",
    "topk",
    "one_hot",
    "embedding",
)
"""Marks of templates whose result jumps where a rounding differs."""


def program(seed: int, most_lines: int = 8) -> Program:
    """The program of ``seed``: it runs at its example, and returns whatever it does not use."""
    chance = random.Random(seed)
    example = dict(zip(SYMBOLS, chance.sample(range(2, 8), 2), strict=True))
    shapes = tuple(
        tuple(chance.choice((*SYMBOLS, *SYMBOLS, 1, 2, 3, 4)) for _ in range(chance.randint(1, 3)))
        for _ in range(chance.randint(1, 2))
    )
    space: dict[str, Any] = {"om": om, "np": np, "F": om.nn.functional}
    names = [f"v{i}" for i in range(len(shapes))]
    for i, (name, shape) in enumerate(zip(names, shapes, strict=True)):
        space[name] = om.tensor(draw_input(shape, example, i))
    rounded: set[str] = set()
    lines: list[str] = []
    wanted = chance.randint(1, most_lines)
    for _ in range(6 * wanted):
        line = _line(chance, chance.choice(chance.choice(KINDS)), space, names, rounded)
        if line is not None:
            lines.append(line)
        if len(lines) == wanted:
            break
    inputs = names[: len(shapes)]
    used = set(re.findall(r"v\d+", " ".join(line.partition(" = ")[2] for line in lines)))
    results = [name for name in names if name not in used] or names[-1:]
    body = "".join(f"    {line}\n" for line in lines)
    source = f"def model({', '.join(inputs)}):\n{body}    return {', '.join(results)},\n"
    symbols = sorted({n for s in shapes for n in s if isinstance(n, str)})
    others = tuple({name: chance.randint(1, 11) for name in symbols} for _ in range(3))
    used_sizes = {name: example[name] for name in symbols}
    return Program(source, shapes, used_sizes, others, chance.randint(*OPSETS))


def _line(
    chance: random.Random,
    template: str,
    space: dict[str, Any],
    names: list[str],
    rounded: set[str],
) -> str | None:
    """One assignment that runs at the example, entered into ``space``; None where it does not."""
    v, w = chance.choice(names[-4:]), chance.choice(names)
    shape = space[v].shape
    if not shape or (rounded & {v, w} and any(mark in template for mark in DECIDING)):
        return None
    text = template.format(
        v=v,
        w=w,
        d=chance.randrange(-len(shape), len(shape)),
        e=chance.randrange(-len(shape), len(shape)),
        n=chance.randint(1, 5),
        last=shape[-1],
        plain=", ".join(map(str, shape)),
    )
    try:
        result = eval(text, space)
    except Exception:
        return None
    if not isinstance(result, om.Tensor) or not 0 < result.array.size <= MOST_ELEMENTS:
        return None
    if np.abs(result.array).max() > 1000:
        return None
    name = f"v{len(names)}"
    names.append(name)
    space[name] = result
    if template in ROUNDS or rounded & {v, w}:
        rounded.add(name)
    return f"{name} = {text}"
