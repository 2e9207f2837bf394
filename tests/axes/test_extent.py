"""The algebra of sizes: evaluation is a homomorphism, and equal sizes are one extent."""

import copy
import pickle
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from onemodel.axes.extent import (
    MAX_DEPTH,
    Atom,
    AxesError,
    Extent,
    as_extent,
    axes_text,
    evaluate_axes,
    static_axes,
)
from onemodel.axes.text import MAX_TEXT

SYMBOLS = ("batch", "time", "width")
batch, time, width = map(Extent.symbol, SYMBOLS)

Function = Callable[[dict[str, int]], int]
Pair = tuple[Extent, Function]

assignments = st.fixed_dictionaries({name: st.integers(1, 40) for name in SYMBOLS})
leaves = st.one_of(
    st.sampled_from(SYMBOLS).map(lambda name: (Extent.symbol(name), lambda a: a[name])),
    st.integers(-9, 9).map(lambda number: (Extent.of(number), lambda a: number)),
)

OPERATIONS: dict[str, tuple[Callable, Callable]] = {
    "+": (lambda x, y: x + y, lambda x, y: x + y),
    "-": (lambda x, y: x - y, lambda x, y: x - y),
    "*": (lambda x, y: x * y, lambda x, y: x * y),
    "//": (lambda x, y: x // y, lambda x, y: x // y),
    "%": (lambda x, y: x % y, lambda x, y: x % y),
    "ceildiv": (Extent.ceildiv, lambda x, y: -(-x // y)),
    "maximum": (Extent.maximum, max),
    "minimum": (Extent.minimum, min),
}


def combine(children: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    def join(operation: str, left: Pair, right: Pair) -> Pair | None:
        symbolic, concrete = OPERATIONS[operation]
        if operation in ("//", "%", "ceildiv") and right[0] == 0:
            return None
        value = symbolic(left[0], right[0])
        return value, lambda a: concrete(left[1](a), right[1](a))

    joined = st.builds(join, st.sampled_from(sorted(OPERATIONS)), children, children)
    return joined.filter(lambda pair: pair is not None)


expressions = st.recursive(leaves, combine, max_leaves=6)


def at(function: Function, assignment: dict[str, int]) -> int:
    try:
        return function(assignment)
    except ZeroDivisionError:
        assume(False)
        raise


@settings(max_examples=400, deadline=None)
@given(expressions, assignments)
def test_evaluating_an_expression_is_computing_it_with_integers(pair, assignment):
    extent, function = pair
    value = at(function, assignment)
    assert extent.evaluate(assignment) == value


@settings(max_examples=150, deadline=None)
@given(expressions, assignments)
def test_bounds_hold_at_every_assignment(pair, assignment):
    extent, function = pair
    low, high = extent.bounds()
    value = at(function, assignment)
    assert low is None or low <= value
    assert high is None or value <= high


@settings(max_examples=150, deadline=None)
@given(expressions, assignments)
def test_substituting_numbers_is_evaluating(pair, assignment):
    extent, function = pair
    value = at(function, assignment)
    replaced = extent.substitute(assignment)
    assert replaced.is_static
    assert replaced.value == value


polynomials = st.recursive(
    leaves,
    lambda children: st.builds(
        lambda operation, x, y: (OPERATIONS[operation][0](x[0], y[0]), x[1]),
        st.sampled_from("+-*"),
        children,
        children,
    ),
    max_leaves=5,
).map(lambda pair: pair[0])


@settings(max_examples=150, deadline=None)
@given(polynomials, polynomials, polynomials)
def test_the_laws_of_a_commutative_ring_hold_as_equality_and_hash(x, y, z):
    for left, right in (
        (x + y, y + x),
        (x * y, y * x),
        ((x + y) + z, x + (y + z)),
        ((x * y) * z, x * (y * z)),
        (x * (y + z), x * y + x * z),
        (x - x, Extent.of(0)),
        ((x + y) - y, x),
        (x + x, 2 * x),
        (0 - (0 - x), x),
    ):
        assert left == right
        assert hash(left) == hash(right)


@settings(max_examples=150, deadline=None)
@given(polynomials, polynomials, st.integers(1, 12), st.integers(0, 11))
def test_a_multiple_divides_exactly_and_leaves_a_small_rest_behind(x, y, k, r):
    assume(y != 0)
    assert (k * x) // k == x
    assert (x * y) // y == x
    assert (x * y) % y == 0
    assert (k * x + r % k) // k == x
    assert (k * x + r % k) % k == r % k


@settings(max_examples=100, deadline=None)
@given(expressions, st.integers(1, 9))
def test_quotient_and_remainder_add_up(pair, k):
    extent, _ = pair
    assert extent // k * k + extent % k == extent
    assert (extent % k) % k == extent % k


@settings(max_examples=150, deadline=None)
@given(polynomials, st.integers(1, 9), st.integers(1, 9))
def test_dividing_twice_is_dividing_by_the_product(x, k, m):
    assert x // k // m == x // (k * m)
    assert x.ceildiv(k).ceildiv(m) == x.ceildiv(k * m)


@settings(max_examples=100, deadline=None)
@given(expressions)
def test_an_extent_survives_copying_and_pickling(pair):
    extent, _ = pair
    for twin in (copy.deepcopy(extent), pickle.loads(pickle.dumps(extent))):
        assert twin == extent
        assert hash(twin) == hash(extent)
        assert str(twin) == str(extent)


@pytest.mark.parametrize(
    ("extent", "text"),
    [
        (Extent.of(5), "5"),
        (2 * width * batch, "2*batch*width"),
        (batch + 1, "batch + 1"),
        (batch - 1, "batch - 1"),
        (3 - batch, "3 - batch"),
        (-batch, "-batch"),
        (2 * batch + 2, "2*(batch + 1)"),
        ((batch + 1) * time, "time*(batch + 1)"),
        (batch // 2, "floor(batch/2)"),
        (batch // (2 * time), "floor(batch/(2*time))"),
        ((batch + time) // 4, "floor((batch + time)/4)"),
        (batch.ceildiv(2), "ceil(batch/2)"),
        ((width - 3) // 2 + 1, "floor((width - 1)/2)"),
        (batch // 2 + 1, "floor(batch/2) + 1"),
        (batch % 3, "batch % 3"),
        (time * (batch % 3), "time*(batch % 3)"),
        (batch.minimum(4), "min(batch, 4)"),
        (batch.maximum(time), "max(batch, time)"),
    ],
)
def test_sizes_are_written_as_one_would_write_them(extent, text):
    assert str(extent) == text


def test_products_of_sums_stay_products_and_equal_their_expansion():
    product = (batch + 1) * (time + 1)
    assert len(product.atoms) == 2
    assert product == batch * time + batch + time + 1
    assert product // (time + 1) == batch + 1


def test_a_common_factor_goes_into_the_coefficient():
    extent = 4 * batch + 6
    assert extent.coefficient == 2
    (atom,) = extent.atoms
    assert atom.operation == "sum"
    assert [str(operand) for operand in atom.operands] == ["2*batch", "3"]


def test_rounding_in_steps_is_rounding_once():
    assert batch.ceildiv(2).ceildiv(2) == batch.ceildiv(4)
    assert batch.ceildiv(2) == (batch + 1) // 2 == -(-batch // 2)
    assert (width + 2 - 3) // 2 + 1 == (width + 1) // 2


def test_extrema_are_decided_where_bounds_decide_them():
    assert batch.maximum(1) == batch
    assert batch.minimum(batch // 2) == batch // 2
    assert batch.minimum(batch + 1) == batch
    assert batch.minimum(4).minimum(3) == batch.minimum(3)
    assert batch.minimum(time).minimum(batch) == time.minimum(batch)


def test_static_extents_equal_integers_and_symbolic_ones_do_not():
    assert Extent.of(5) == 5
    assert hash(Extent.of(5)) == hash(5)
    assert batch != 5
    assert batch != "batch"
    assert as_extent(7) == Extent.of(7)
    assert as_extent(batch) is batch


def test_a_symbolic_extent_has_no_value():
    assert Extent.of(3).value == 3
    assert Extent.of(3).is_static
    with pytest.raises(AxesError, match="symbolic"):
        _ = batch.value


def test_symbols_are_found_inside_derived_sizes():
    assert ((batch + 1) // (time + 2) * width.minimum(3)).symbols() == set(SYMBOLS)
    assert batch.is_atom
    assert (batch + 1).is_atom
    assert not (2 * batch).is_atom


def test_an_assignment_without_a_symbol_is_refused_by_its_name():
    with pytest.raises(AxesError, match="'time'"):
        (batch + time).evaluate({"batch": 3})


def test_dividing_by_nothing_is_a_zero_division():
    with pytest.raises(ZeroDivisionError):
        batch // 0
    with pytest.raises(ZeroDivisionError):
        batch // (time - time)


def test_a_size_derived_without_end_is_refused():
    extent = batch
    with pytest.raises(AxesError, match="too many steps"):
        for _ in range(MAX_DEPTH + 1):
            extent = (extent + 1) // (extent + time)


def test_a_product_that_grows_without_end_is_refused():
    extent = Extent.of(1)
    with pytest.raises(AxesError):
        for index in range(40):
            extent = extent * (Extent.symbol(f"s{index}") + 1)
            assert extent != batch + index


def test_long_sizes_are_cut_in_text():
    extent = Extent.of(0)
    for index in range(100):
        extent = extent + Extent.symbol(f"symbol_{index}")
    assert len(str(extent)) <= MAX_TEXT
    assert str(extent).endswith("...")


def test_names_that_look_like_expressions_stay_apart_from_them():
    assert Extent.symbol("batch + 1") != batch + 1
    assert Extent.symbol("floordiv('a',2)") != Extent.symbol("a") // 2
    with pytest.raises(ValueError, match="name"):
        Extent.symbol("")


def test_symbols_sort_before_derived_atoms():
    derived = (batch // 2).atoms[0]
    assert sorted([derived, Atom("width"), Atom("batch")])[-1] is derived


def test_axes_are_written_and_evaluated_axis_by_axis():
    axes = (batch, *static_axes((3, 4)))
    assert axes_text(axes) == "[batch, 3, 4]"
    assert evaluate_axes(axes, {"batch": 7}) == (7, 3, 4)


def test_an_axes_error_keeps_its_data_when_pickled():
    error = AxesError("no", code="OM404", extents=(batch,), rewrites=(("do", "x"),))
    twin = pickle.loads(pickle.dumps(error))
    assert (twin.message, twin.code, twin.extents, twin.rewrites) == (
        "no",
        "OM404",
        (batch,),
        (("do", "x"),),
    )
