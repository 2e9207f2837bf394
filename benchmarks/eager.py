"""What one operator costs on tiny tensors, against the bare NumPy call: every family of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import onemodel as om
from benchmarks.harness import Result, measure

A = np.linspace(0.1, 1, 16, dtype=np.float32).reshape(2, 8)
SQUARE = np.ones((8, 8), np.float32)
MASK = A > 0.5
PLACES = np.array([1, 0, 1])
LIKE = np.zeros((2, 8), np.int64)

UNRECORDED, RECORDED = 4, 8
"""How many times the bare call an operator may cost, without and with a record."""


@dataclass(frozen=True)
class Pair:
    """An operator on a tensor of ``A``, and NumPy's call that does the same to ``A``."""

    name: str
    ours: Callable[[om.Tensor], Any]
    peer: Callable[[], Any]
    recorded: bool = True


def pairs() -> Iterator[Pair]:
    yield _chain()
    yield from _element_wise()
    yield from _reductions()
    yield from _shapes()
    yield from _choices()
    yield from _memory()


def _chain() -> Pair:
    """Four operators one after the other: what a model of tiny tensors is made of."""
    y = om.tensor(A)
    return Pair(
        "chain of add, mul, relu, tanh",
        lambda t: ((t + y) * y).relu().tanh(),
        lambda: np.tanh(np.maximum((A + A) * A, 0)),
    )


def _element_wise() -> Iterator[Pair]:
    y, mask, a = om.tensor(A), om.tensor(MASK), A
    yield Pair("add", lambda t: t + y, lambda: a + a)
    yield Pair("sub", lambda t: t - y, lambda: a - a)
    yield Pair("mul", lambda t: t * y, lambda: a * a)
    yield Pair("mul by a number", lambda t: t * 2.0, lambda: a * 2.0)
    yield Pair("add to an integer", lambda t: 1 + t, lambda: 1 + a)
    yield Pair("div", lambda t: t / y, lambda: a / a)
    yield Pair("remainder", lambda t: t % y, lambda: a % a)
    yield Pair("floor divide", lambda t: t // y, lambda: a // a, recorded=False)
    yield Pair("square by pow", lambda t: t**2, lambda: a**2)
    yield Pair("pow", lambda t: t**y, lambda: a**a)
    yield Pair("maximum", lambda t: t.maximum(y), lambda: np.maximum(a, a))
    yield Pair("compare", lambda t: t > y, lambda: a > a, recorded=False)
    yield Pair("compare with a number", lambda t: t > 0.5, lambda: a > 0.5, recorded=False)
    yield Pair("logical and", lambda t: mask & mask, lambda: MASK & MASK, recorded=False)
    yield Pair("neg", lambda t: -t, lambda: -a)
    yield Pair("abs", lambda t: t.abs(), lambda: np.abs(a))
    yield Pair("exp", lambda t: t.exp(), lambda: np.exp(a))
    yield Pair("sqrt", lambda t: t.sqrt(), lambda: np.sqrt(a))
    yield Pair("tanh", lambda t: t.tanh(), lambda: np.tanh(a))
    yield Pair("floor", lambda t: t.floor(), lambda: np.floor(a))
    yield Pair("relu", lambda t: t.relu(), lambda: np.maximum(a, 0))
    yield Pair("sigmoid", lambda t: t.sigmoid(), lambda: 1 / (1 + np.exp(-a)))
    yield Pair("clamp", lambda t: t.clamp(0.2, 0.8), lambda: a.clip(0.2, 0.8))
    yield Pair("to another dtype", lambda t: t.to(om.float64), lambda: a.astype(np.float64))
    yield Pair("clone", lambda t: t.clone(), lambda: a.copy())


def _reductions() -> Iterator[Pair]:
    a, w = A, om.tensor(SQUARE)
    yield Pair("sum of all", lambda t: t.sum(), lambda: a.sum())
    yield Pair("sum over an axis", lambda t: t.sum(1), lambda: a.sum(1))
    yield Pair("mean over an axis", lambda t: t.mean(1), lambda: a.mean(1))
    yield Pair("var over an axis", lambda t: t.var(1), lambda: a.var(1, ddof=1))
    yield Pair("amax over an axis", lambda t: t.amax(1), lambda: a.max(1))
    yield Pair("argmax", lambda t: t.argmax(1), lambda: a.argmax(1), recorded=False)
    yield Pair("cumsum", lambda t: t.cumsum(1), lambda: a.cumsum(1))
    yield Pair("softmax", lambda t: t.softmax(1), _softmax)
    yield Pair("matmul", lambda t: t @ w, lambda: a @ SQUARE)


def _softmax() -> np.ndarray:
    powers = np.exp(A - A.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def _shapes() -> Iterator[Pair]:
    a = A
    yield Pair("reshape", lambda t: t.reshape(4, 4), lambda: a.reshape(4, 4))
    yield Pair("flatten", lambda t: t.flatten(), lambda: a.reshape(-1))
    yield Pair("an integer index", lambda t: t[0], lambda: a[0])
    yield Pair("a column", lambda t: t[:, 1], lambda: a[:, 1])
    yield Pair("a slice", lambda t: t[:, 1:3], lambda: a[:, 1:3])
    yield Pair("permute", lambda t: t.permute(1, 0), lambda: a.transpose(1, 0))
    yield Pair("transpose", lambda t: t.transpose(0, 1), lambda: a.swapaxes(0, 1))
    yield Pair("T", lambda t: t.T, lambda: a.T)
    yield Pair("unsqueeze", lambda t: t.unsqueeze(0), lambda: np.expand_dims(a, 0))
    yield Pair("squeeze", lambda t: t.squeeze(), lambda: a.squeeze())
    yield Pair("expand", lambda t: t.expand(3, 2, 8), lambda: np.broadcast_to(a, (3, 2, 8)))
    yield Pair("split", lambda t: t.split(4, 1), lambda: np.split(a, 2, 1))
    yield Pair("flip", lambda t: t.flip(1), lambda: np.flip(a, 1))
    yield Pair("cat", lambda t: om.cat([t, t]), lambda: np.concatenate([a, a]))
    yield Pair("stack", lambda t: om.stack([t, t]), lambda: np.stack([a, a]))


def _choices() -> Iterator[Pair]:
    a, y, mask = A, om.tensor(A), om.tensor(MASK)
    places, like = om.tensor(PLACES), om.tensor(LIKE)
    yield Pair("where", lambda t: om.where(mask, t, y), lambda: np.where(MASK, a, a))
    yield Pair("look up rows", lambda t: t[places], lambda: a[PLACES])
    yield Pair("index_select", lambda t: t.index_select(0, places), lambda: a.take(PLACES, 0))
    yield Pair("gather", lambda t: t.gather(1, like), lambda: np.take_along_axis(a, LIKE, 1))
    yield Pair("sort", lambda t: t.sort(1), _sort)
    yield Pair("tril", lambda t: t.tril(), lambda: np.tril(a))


def _memory() -> Iterator[Pair]:
    a, x, rows = A.copy(), om.tensor(A), A.tolist()
    yield Pair("zeros", lambda t: om.zeros(2, 8), lambda: np.zeros((2, 8)), recorded=False)
    yield Pair("tensor", lambda t: om.tensor(rows), lambda: np.array(rows), recorded=False)
    yield Pair("add in place", lambda t: x.add_(1.0), lambda: np.add(a, 1.0, out=a), recorded=False)
    yield Pair(
        "item assignment", lambda t: x.__setitem__(0, 1.0), lambda: a.__setitem__(0, 1.0),
        recorded=False,
    )  # fmt: skip


def _sort() -> tuple[np.ndarray, np.ndarray]:
    places = A.argsort(1, kind="stable")
    return np.take_along_axis(A, places, 1), places


class Least(om.Tensor):
    """What no view comes below: a method, NumPy's view, a tensor on the same storage."""

    def least(self, *shape: int) -> om.Tensor:
        result = object.__new__(om.Tensor)
        result._array = self._array.reshape(shape)
        result._epoch = self._epoch
        result._storage, result._view = self._storage, True
        if self._tracked:
            raise AssertionError
        return result


def run() -> Iterator[Result]:
    """Every pair with gradients off the table, then those that keep a record with one."""
    bare = Least(A)
    yield measure(
        "the least of a reshape: method, view, tensor",
        lambda: bare.least(4, 4), lambda: A.reshape(4, 4), "numpy",
    )  # fmt: skip
    x, leaf = om.tensor(A), om.tensor(A, requires_grad=True)
    for pair in pairs():
        yield measure(
            f"eager {pair.name}, no gradient",
            lambda f=pair.ours: f(x), pair.peer, "numpy", UNRECORDED,
        )  # fmt: skip
    for pair in pairs():
        if pair.recorded:
            yield measure(
                f"eager {pair.name}, recorded",
                lambda f=pair.ours: f(leaf), pair.peer, "numpy", RECORDED,
            )  # fmt: skip
