"""How two arrays differ, in one word and a few numbers.

Shape and dtype come first, then NaN and infinity, then numbers: equal bits, a
few units in the last place, or an error best told relative to the element or as
an absolute amount. Whether a difference matters is a second question: it is
``within`` when its largest absolute error is at most ``tolerance`` times the
largest magnitude of the reference.
"""

from __future__ import annotations

import enum
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

ULP_LIMIT = 16
"""A float difference of at most so many units in the last place is told in ulps."""

HISTOGRAM_LOW = -18
HISTOGRAM_HIGH = 3
"""Errors are counted by decade, from 1e-18 to 1e3; what lies beyond falls in the end bins."""

_NEAR_ZERO = 1e-3


class DifferenceClass(enum.Enum):
    """What kind of difference; the value is how reports spell it."""

    EQUAL = "equal bits"
    ULP = "ulp"
    RELATIVE = "relative"
    ABSOLUTE = "absolute"
    NAN = "NaN"
    INFINITY = "infinity"
    DTYPE = "dtype"
    SHAPE = "shape"
    MISSING = "missing"


NOT_NUMERIC = frozenset(
    {
        DifferenceClass.NAN,
        DifferenceClass.INFINITY,
        DifferenceClass.DTYPE,
        DifferenceClass.SHAPE,
    }
)
"""Classes for which no size of error can be told."""


@dataclass(frozen=True)
class Difference:
    """One array against its reference.

    Attributes:
        kind: the class.
        within: whether the difference stays within the tolerance.
        count: elements that differ, of ``size``.
        max_absolute: largest absolute error over finite elements.
        max_relative: largest error relative to its own element.
        scaled: largest absolute error over the largest magnitude of the reference.
        max_ulp: largest distance in units in the last place; None for other dtypes.
        worst: index of the largest error.
        note: for example ``float64 against float32``.
        histogram: elements per decade of absolute error, from 1e-18 to 1e3.
    """

    kind: DifferenceClass
    within: bool
    count: int = 0
    size: int = 0
    max_absolute: float = 0.0
    max_relative: float = 0.0
    scaled: float = 0.0
    max_ulp: int | None = None
    worst: tuple[int, ...] = ()
    note: str = ""
    histogram: tuple[int, ...] = ()

    @property
    def severity(self) -> int:
        """0 equal bits, 1 within tolerance, 2 beyond it, 3 far beyond or not comparable."""
        if self.kind is DifferenceClass.EQUAL:
            return 0
        if self.within:
            return 1
        return 3 if self.kind in NOT_NUMERIC or self.scaled >= 1e-2 else 2

    def __str__(self) -> str:
        match self.kind:
            case DifferenceClass.EQUAL:
                return "equal bits"
            case DifferenceClass.ULP:
                return f"{self.max_ulp} ulp"
            case DifferenceClass.RELATIVE:
                return f"relative {self.max_relative:.2g}"
            case DifferenceClass.ABSOLUTE:
                return f"absolute {self.max_absolute:.2g}"
            case _:
                return f"{self.kind.value}: {self.note}" if self.note else self.kind.value

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form; infinite errors become None."""
        result = asdict(self)
        result["kind"] = self.kind.value
        result["severity"] = self.severity
        for key in ("max_absolute", "max_relative", "scaled"):
            if not np.isfinite(result[key]):
                result[key] = None
        return result


def difference(reference: Any, other: Any, tolerance: float = 1e-5) -> Difference:
    """Compares ``other`` with ``reference``: both ndarrays, or None where a value is missing."""
    if reference is None or other is None:
        # Neutral: eager code has no name for a helper node, a user brings only some arrays.
        side = "no reference" if reference is None else "not computed"
        return Difference(DifferenceClass.MISSING, within=True, note=side)
    reference, other = np.asarray(reference), np.asarray(other)
    size = int(reference.size)
    if reference.shape != other.shape:
        note = f"{list(other.shape)} against {list(reference.shape)}"
        return Difference(DifferenceClass.SHAPE, within=False, size=size, note=note)
    if reference.dtype != other.dtype:
        note = f"{other.dtype} against {reference.dtype}"
        return Difference(DifferenceClass.DTYPE, within=False, size=size, note=note)
    if _same_bits(reference, other):
        return Difference(DifferenceClass.EQUAL, within=True, size=size)
    if reference.dtype.kind in "OSU":
        count = int((reference != other).sum())
        return Difference(DifferenceClass.ABSOLUTE, within=False, count=count, size=size)
    return _numeric(reference, other, tolerance)


def _same_bits(reference: np.ndarray, other: np.ndarray) -> bool:
    if reference.dtype.kind == "O":
        return bool((reference == other).all())
    if reference.tobytes() == other.tobytes():
        return True
    if not _is_float(reference.dtype):
        return False
    # A NaN is a NaN: its payload is nobody's promise.
    nan = np.isnan(reference)
    if not np.array_equal(nan, np.isnan(other)):
        return False
    return reference[~nan].tobytes() == other[~nan].tobytes()


def _is_float(dtype: np.dtype) -> bool:
    # ml_dtypes gives bfloat16 and the 8-bit floats the kind "V".
    return dtype.kind in "fc" or dtype.name.startswith(("bfloat", "float"))


def _numeric(reference: np.ndarray, other: np.ndarray, tolerance: float) -> Difference:
    is_float = _is_float(reference.dtype)
    differing = reference != other
    if is_float:
        differing &= ~(np.isnan(reference) & np.isnan(other))
        special = _special(reference, other, differing)
        if special is not None:
            return special
    wide = np.complex128 if reference.dtype.kind == "c" else np.float64
    left, right = reference.astype(wide), other.astype(wide)
    finite = np.isfinite(left)
    error = np.zeros(left.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        error[finite] = np.abs(right[finite] - left[finite])
    if reference.dtype.kind in "iu":
        # float64 cannot tell large integers apart; what differs differs by one at least.
        error[differing] = np.maximum(error[differing], 1.0)
    magnitude = np.abs(left)
    largest = float(magnitude[finite].max()) if finite.any() else 0.0
    flat = int(error.argmax()) if error.size else 0
    worst = tuple(int(index) for index in np.unravel_index(flat, error.shape))
    max_absolute = float(error.max()) if error.size else 0.0
    scaled = max_absolute / largest if largest else max_absolute
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(error > 0, error / magnitude, 0.0)
    countable = is_float and reference.dtype.kind != "c" and reference.dtype.itemsize <= 8
    ulps = _ulps(reference, other) if countable else None
    return Difference(
        kind=_class(ulps, float(magnitude[worst]), largest, is_float),
        within=is_float and scaled <= tolerance,
        count=int(differing.sum()),
        size=int(reference.size),
        max_absolute=max_absolute,
        max_relative=float(relative.max()) if relative.size else 0.0,
        scaled=scaled,
        max_ulp=ulps,
        worst=worst,
        histogram=_decades(error),
    )


def _special(reference: np.ndarray, other: np.ndarray, differing: np.ndarray) -> Difference | None:
    """NaN or infinity on one side only, or infinities of different sign."""
    size = int(reference.size)
    nan = np.isnan(reference) != np.isnan(other)
    if nan.any():
        count = int(nan.sum())
        worst = tuple(int(i) for i in np.argwhere(nan)[0])
        more = int(np.isnan(other).sum())
        note = f"{more} of {size} elements against {int(np.isnan(reference).sum())}"
        return Difference(
            DifferenceClass.NAN, within=False, count=count, size=size, worst=worst, note=note
        )
    infinite = (np.isinf(reference) | np.isinf(other)) & differing
    if infinite.any():
        count = int(infinite.sum())
        worst = tuple(int(i) for i in np.argwhere(infinite)[0])
        note = f"{count} of {size} elements"
        return Difference(
            DifferenceClass.INFINITY, within=False, count=count, size=size, worst=worst, note=note
        )
    return None


def _class(ulps: int | None, at_worst: float, largest: float, is_float: bool) -> DifferenceClass:
    if ulps is not None and ulps <= ULP_LIMIT:
        return DifferenceClass.ULP
    if is_float and at_worst > _NEAR_ZERO * largest:
        return DifferenceClass.RELATIVE
    return DifferenceClass.ABSOLUTE


def _ulps(reference: np.ndarray, other: np.ndarray) -> int:
    """Largest distance between two float arrays, counted in representable numbers."""
    bits = np.dtype(f"i{reference.dtype.itemsize}")
    left = _ordered(np.ascontiguousarray(reference).view(bits).reshape(-1))
    right = _ordered(np.ascontiguousarray(other).view(bits).reshape(-1))
    nan = np.isnan(reference).reshape(-1)
    high, low = np.maximum(left, right)[~nan], np.minimum(left, right)[~nan]
    if not high.size:
        return 0
    # The distance of two int64 may not fit an int64, but always fits its unsigned kin.
    return int((high.astype(np.uint64) - low.astype(np.uint64)).max())


def _ordered(bits: np.ndarray) -> np.ndarray:
    """Sign-magnitude bits as integers in the order of the numbers; -0 lies just below +0."""
    lowest = np.int64(np.iinfo(bits.dtype).min)
    wide = bits.astype(np.int64)
    return np.where(wide < 0, np.invert(wide) + lowest, wide)


def _decades(error: np.ndarray) -> tuple[int, ...]:
    positive = error[error > 0]
    if not positive.size:
        return ()
    decades = np.clip(np.floor(np.log10(positive)), HISTOGRAM_LOW, HISTOGRAM_HIGH).astype(int)
    counts = np.bincount(decades - HISTOGRAM_LOW, minlength=HISTOGRAM_HIGH - HISTOGRAM_LOW + 1)
    return tuple(int(count) for count in counts)
