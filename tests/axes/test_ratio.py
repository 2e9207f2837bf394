"""Quotients of sizes: rounding gives sizes again, everything else is told."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onemodel.axes.extent import Extent
from onemodel.axes.ratio import SizeRatio
from onemodel.axes.size import Size, SizeEvent, extent_of

B, H = Extent.symbol("b"), Extent.symbol("h")


@dataclass
class Log:
    """Sizes b=6 and h=11 and what they were consumed for."""

    events: list[SizeEvent] = field(default_factory=list)

    @property
    def b(self) -> Size:
        return Size(B, 6, self.events.append)

    @property
    def h(self) -> Size:
        return Size(H, 11, self.events.append)


@pytest.fixture
def log() -> Log:
    return Log()


ROUNDED = (
    (lambda h: math.ceil(h / 2), lambda h: -(-h // 2)),
    (lambda h: math.floor(h / 4), lambda h: h // 4),
    (lambda h: math.trunc(h / 4), lambda h: h // 4),
    (lambda h: math.ceil(h / 1.5), lambda h: -(-h * 2 // 3)),
    (lambda h: math.floor((h - 3) / 2 + 1), lambda h: (h - 3) // 2 + 1),
    (lambda h: math.floor(7 - h / 4), lambda h: 7 + (-h) // 4),
    (lambda h: math.ceil(h / 3 * 0.5), lambda h: -(-h // 6)),
    (lambda h: math.ceil(h / 3 / 4), lambda h: -(-h // 12)),
    (lambda h: math.floor(-(h / 2)), lambda h: (-h) // 2),
    (lambda h: math.floor(100 / h), lambda h: 100 // h),
    (lambda h: math.floor(h / 2 * -2), lambda h: (-2 * h) // 2),
    (lambda h: math.floor(abs(h / 2)), lambda h: h // 2),
    (lambda h: math.floor(h * h / (2 * h)), lambda h: h // 2),
)


@pytest.mark.parametrize(("rounded", "expected"), ROUNDED)
def test_rounding_a_quotient_gives_a_size_that_holds_everywhere(log, rounded, expected):
    size = rounded(log.h)
    assert isinstance(size, Size) and not log.events
    for number in range(1, 60):
        assert extent_of(size).evaluate({"h": number}) == expected(number) == rounded(number)


@given(st.integers(1, 2**26), st.integers(1, 2**20), st.integers(-50, 50))
def test_rounding_agrees_with_floating_point(number, divisor, shift):
    told: list[SizeEvent] = []
    ratio = Size(H, number, told.append) / Size(B, divisor, told.append) + shift
    assert math.floor(ratio).value == math.floor(number / divisor + shift)
    assert math.ceil(ratio).value == math.ceil(number / divisor + shift)
    assert ratio.value == number / divisor + shift and not told


def test_a_quotient_that_is_the_same_everywhere_is_a_float(log):
    assert type(3 * log.b / log.b) is float and 3 * log.b / log.b == 3.0
    assert type(log.b * log.h / (2 * log.h)) is SizeRatio
    assert not log.events


def test_comparisons_are_those_of_the_sizes(log):
    assert log.h / 2 > 5
    (event,) = log.events
    assert (event.extent, event.operation, event.other, event.outcome) == (H, ">", 10, True)
    log.events.clear()
    assert log.h / 2 > 0 and log.h / log.b > -1 and log.h / 2 != -1.5
    assert not log.events  # no size could change these
    assert log.h / 2 == 5.5 and log.b / 2 < log.h / 2 and log.b > log.h / 2 and bool(log.h / 2)
    assert [event.operation for event in log.events] == ["==", "<", "<"]


@pytest.mark.parametrize(
    ("consume", "outcome"),
    [
        (float, 5.5), (int, 5), (complex, 5.5 + 0j), (math.sqrt, math.sqrt(5.5)), (str, "5.5"),
        (hash, hash(5.5)), (round, 6), (lambda r: round(r, 1), 5.5), (lambda r: f"{r:.2f}", "5.50"),
        (lambda r: r * 0.3, 5.5 * 0.3), (lambda r: 0.3 * r, 0.3 * 5.5), (lambda r: r / 3, 5.5 / 3),
        (lambda r: 3 / r, 3 / 5.5), (lambda r: r + 0.1, 5.6), (lambda r: r**2, 30.25),
        (lambda r: 2**r, 2**5.5), (lambda r: r // 2, 2.0), (lambda r: r % 2, 1.5),
        (lambda r: 20 // r, 3.0), (lambda r: 20 % r, 3.5),
        (lambda r: r.is_integer(), False), (lambda r: np.float64(2.5) * r, np.float64(13.75)),
        (lambda r: pickle.loads(pickle.dumps(r)), 5.5),
        (lambda r: (np.ones(2) * r).tolist(), [5.5] * 2),
        (lambda r: np.asarray(r).item(), 5.5), (lambda r: r * r, 30.25),
    ],
)  # fmt: skip
def test_everything_else_is_the_number_and_is_told(log, consume, outcome):
    ratio = log.h / 2
    got = consume(ratio)
    assert got == outcome and type(got) is type(outcome)
    assert log.events and {event.extent for event in log.events} == {H}


def test_both_sizes_are_told(log):
    assert float(log.h / log.b) == 11 / 6
    assert {event.extent for event in log.events} == {B, H}
    log.events.clear()
    assert log.b * (log.h / 4) == 16.5
    assert {event.extent for event in log.events} == {B, H}


def test_what_tells_nothing(log):
    ratio = log.h / 2
    assert repr(ratio) == "SizeRatio(h/2=5.5)"
    assert copy.copy(ratio) is ratio is copy.deepcopy(ratio) is +ratio is ratio.real
    assert ratio.imag == 0.0 and ratio.conjugate() is ratio
    assert not log.events


def test_division_by_zero_is_pythons(log):
    with pytest.raises(ZeroDivisionError):
        log.h / 0
    with pytest.raises(ZeroDivisionError):
        1 / Size(H - 11, 0, log.events.append)


@pytest.mark.parametrize("other", [object(), "x", None, [1]])
def test_strangers_are_refused(log, other):
    with pytest.raises(TypeError):
        log.h / 2 + other
    with pytest.raises(TypeError):
        assert log.h / 2 < other
    assert (log.h / 2 == other) is False
