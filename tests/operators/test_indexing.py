"""What the cases of indexing cannot say: aliases, views, writes, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onemodel as om
from onemodel.operators._indexing import basic, basic_entries, parse
from onemodel.tensors.tensor import Tensor


def tensor(*shape: int) -> Tensor:
    return Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))


def nodes(model: Any, *examples: Any, **options: Any) -> list[str]:
    traced = om.trace(model, *examples, axes=[{0: "batch"}], **options)
    return [node.op_type for node in traced.to_onnx().graph.node]


# -- values against NumPy ------------------------------------------------------------------------

_SHAPE = (3, 4, 2)
_ANY_AXIS = st.integers(-2, 1)


@st.composite
def indices(draw: Any) -> Any:
    """Any index of a [3, 4, 2] array: integers, slices, lists, masks, None, Ellipsis."""
    items: list[Any] = []
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["int", "slice", "list", "none"]))
        if kind == "none":
            items.append(None)
        if kind == "list":
            items.append(draw(st.lists(_ANY_AXIS, min_size=2, max_size=2)))
        elif kind == "int":
            items.append(draw(_ANY_AXIS))
        else:
            bound = st.none() | st.integers(-6, 6)
            items.append(slice(draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2, -1]))))
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
    return tuple(items)


@given(indices())
@settings(max_examples=300, deadline=None)
def test_the_short_way_to_a_view_writes_the_index_as_the_long_way_does(index: Any) -> None:
    x = tensor(*_SHAPE)
    items = basic(index)
    if items is None:
        assert any(isinstance(item, list) for item in index)
        return
    try:
        wanted = x.array[items]
    except IndexError as error:
        with pytest.raises(IndexError, match="getitem"):
            x[index]
        assert "indices" in str(error) or "out of bounds" in str(error)
        return
    assert basic_entries(items, 3) == parse(index, x).entries
    found = x[index]
    assert found.shape == wanted.shape
    assert found.stride() == Tensor(wanted).stride()
    assert (
        found.storage_offset()
        == (wanted.__array_interface__["data"][0] - x.array.__array_interface__["data"][0]) // 4
    )
    assert found._storage is x._storage


@pytest.mark.parametrize(
    ("index", "kind", "words"),
    [
        ((0, 1, 2, 3), IndexError, "4 indices are too many for a tensor of 3 dimensions"),
        ((..., ...), IndexError, "one Ellipsis"),
        (slice(None, None, 0), ValueError, "a slice step cannot be zero"),
        (7, IndexError, "index=(7, (None, None, 1), (None, None, 1))"),
        (True, IndexError, "a single bool is no index"),
        ((0, True), IndexError, "a single bool is no index"),
        (1.0, IndexError, "not float"),
        (slice(0, 1.5), TypeError, "float"),
    ],
    ids=str,
)
def test_an_index_that_does_not_fit_is_refused_in_the_same_words(index, kind, words):
    for x in (tensor(*_SHAPE), tensor(*_SHAPE).requires_grad_()):
        with pytest.raises(kind) as caught:
            x[index]
        assert words in str(caught.value)


def applied(array: np.ndarray, index: tuple[Any, ...]) -> tuple[np.ndarray, tuple[Any, ...]]:
    """A view by everything but the lists, and the lists: integers come first, as in PyTorch."""
    if not any(isinstance(item, list) for item in index):
        return array[(*index, *[...] * (... not in index))], (...,)
    if sum(item is not None and item is not ... for item in index) >= array.ndim:
        # An Ellipsis for no axis at all parts two lists in NumPy, not in PyTorch.
        index = tuple(item for item in index if item is not ...)
    views = tuple(slice(None) if isinstance(item, list) else item for item in index)
    rest = tuple(
        item if isinstance(item, list) or item is Ellipsis else slice(None)
        for item in index
        if not isinstance(item, int)
    )
    return array[views], rest


@given(indices())
@settings(max_examples=300, deadline=None)
def test_any_index_gives_what_numpy_gives(index: Any) -> None:
    x = tensor(*_SHAPE)
    view, rest = applied(x.numpy(), index)
    expected = view[rest]
    found = x[index]
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.numpy(), expected)


@given(indices())
@settings(max_examples=100, deadline=None)
def test_an_assignment_writes_where_numpy_writes(index: Any) -> None:
    x, expected = tensor(*_SHAPE), tensor(*_SHAPE).numpy().copy()
    view, rest = applied(expected, index)
    value = np.arange(view[rest].size, dtype=np.float32).reshape(view[rest].shape) + 100
    view[rest] = value
    x[index] = value
    np.testing.assert_array_equal(x.numpy(), expected)


def test_basic_indexing_shares_memory_and_lookups_do_not() -> None:
    x = tensor(3, 4)
    x[1:, ::2][0, 0] = 50
    assert x[1, 0].item() == 50
    x[[0, 1]][0, 0] = 70
    assert x[0, 0].item() == 0


def test_a_mask_picks_elements_eagerly() -> None:
    x = tensor(2, 3)
    np.testing.assert_array_equal(x[x > 2].numpy(), [3, 4, 5])
    np.testing.assert_array_equal(x[:, np.array([True, False, True])].numpy(), [[0, 2], [3, 5]])


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (5, "out of bounds"),
        ((0, 0, 0), "3 indices are too many"),
        (1.5, "not float"),
        ("a", "not str"),
        (True, "single bool"),
        ((..., ...), "one Ellipsis"),
        (np.array([True, False]), "mask of shape"),
        (np.array([0.5]), "float64 is no index"),
        ([9], "out of bounds"),
    ],
)
def test_a_bad_index_is_told_in_words(index: Any, words: str) -> None:
    with pytest.raises(IndexError, match=words):
        tensor(3, 4)[index]


# -- writes and gradients ------------------------------------------------------------------------


def test_an_assignment_passes_gradients_to_the_value_and_to_what_stays() -> None:
    x, value = tensor(2, 3).requires_grad_(), tensor(2).requires_grad_()
    y = x * 1
    y[:, 1] = value
    (y * y).sum().backward()
    assert x.grad is not None and value.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), [[0, 0, 4], [6, 0, 10]])
    np.testing.assert_allclose(value.grad.numpy(), [0, 2])


def test_a_buffer_takes_over_the_history_of_what_is_written_into_it() -> None:
    rows = [tensor(3).requires_grad_() for _ in range(2)]
    buffer = Tensor(np.zeros((2, 3), np.float32))
    for place, row in enumerate(rows):
        buffer[place] = row * 2
    buffer.sum().backward()
    for row in rows:
        assert row.grad is not None
        np.testing.assert_array_equal(row.grad.numpy(), [2, 2, 2])


def test_writes_that_gradients_cannot_follow_are_refused() -> None:
    leaf = tensor(2, 3).requires_grad_()
    with pytest.raises(RuntimeError, match="leaf that requires gradients"):
        leaf[0] = 1
    result = leaf * 2
    with pytest.raises(RuntimeError, match="on a view"):
        result[0][1] = 5
    with pytest.raises(RuntimeError, match="elements of this tensor repeat"):
        tensor(1, 3).expand(2, 3)[0] = 1
    with pytest.raises(ValueError, match="item assignment"):
        tensor(2, 3)[0] = [1, 2]


# -- traces --------------------------------------------------------------------------------------


def test_slices_over_whole_axes_write_no_node() -> None:
    def model(x: Tensor) -> Tensor:
        return x[:][:, :][...][: x.shape[0], :3].clone().contiguous() * 2

    assert nodes(model, tensor(4, 3)) == ["Mul"]


def test_one_integer_is_one_gather_and_several_are_cut_together() -> None:
    assert nodes(lambda x: x[:, 1], tensor(4, 3)) == ["Gather"]
    assert nodes(lambda x: x[1, :, 2, 1:], tensor(4, 3, 4, 5)) == ["Slice", "Squeeze"]


def test_constants_cut_by_sizes_follow_the_sizes() -> None:
    table, mask = tensor(1, 9, 4), Tensor(np.tril(np.ones((9, 9), np.float32)))

    def model(x: Tensor) -> Tensor:
        t = x.shape[1]
        return (mask[:t, :t] @ (x + table[:, :t]))[:, t - 1]

    traced = om.trace(model, tensor(2, 5, 4), axes=[{0: "batch", 1: "time"}])
    for batch, time in ((2, 5), (3, 7), (4, 9)):
        x = tensor(batch, time, 4)
        (found,) = run(traced, x)
        np.testing.assert_allclose(found, model(x).numpy(), rtol=1e-6)


def run(traced: Any, *inputs: Tensor) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(traced.to_onnx().SerializeToString())
    names = [value.name for value in session.get_inputs()]
    return session.run(None, dict(zip(names, (x.numpy() for x in inputs), strict=True)))


def test_a_constant_is_looked_up_by_a_traced_index() -> None:
    table = tensor(6, 3)

    def model(i: Tensor) -> Tensor:
        return table[i] + table[i[0]]

    traced = om.trace(model, np.array([1, 2, 4]), axes=[{0: "batch"}])
    index = Tensor(np.array([5, 0, -1, 3]))
    (found,) = run(traced, index)
    np.testing.assert_array_equal(found, model(index).numpy())


def code(model: Any, *examples: Any, axes: Any = ({0: "batch"},)) -> str:
    with pytest.raises(om.TraceException) as caught:
        om.trace(model, *examples, axes=list(axes))
    return caught.value.code


def test_masks_and_their_kin_are_refused_where_they_stand() -> None:
    x = tensor(4, 3)
    assert code(lambda x: x[x > 1], x) == "OM110"
    assert code(lambda x: x[:, np.array([True, False, True])][x > 1], x) == "OM110"
    assert code(lambda x: om.nonzero(x), x) == "OM111"
    assert code(lambda x: om.unique(x), x) == "OM112"
    assert code(lambda x: om.masked_select(x, x > 1), x) == "OM112"
    assert code(lambda x: x.repeat_interleave(x[0].long(), 1), x) == "OM112"


def test_the_refusal_of_a_mask_underlines_the_index_expression() -> None:
    def model(x: Tensor) -> Tensor:
        return x[x > 1].sum()

    with pytest.raises(om.TraceException) as caught:
        om.trace(model, tensor(4, 3), axes=[{0: "batch"}])
    assert caught.value.call_site is not None
    assert caught.value.call_site.expression == "x[x > 1]"


def test_a_mask_of_known_values_over_a_fixed_axis_is_a_look_up() -> None:
    keep = np.array([True, False, True])
    assert nodes(lambda x: x[:, keep], tensor(4, 3)) == ["Gather"]


def test_an_assignment_to_a_traced_tensor_is_refused() -> None:
    def onto_input(x: Tensor) -> Tensor:
        x[0] = 1
        return x

    def onto_clone(x: Tensor) -> Tensor:
        y = x.clone()
        y[0] = 0
        return y

    def into_constant(x: Tensor) -> Tensor:
        buffer = Tensor(np.zeros((4, 3), np.float32))
        buffer[0] = x[0]
        return x + buffer

    for model in (onto_input, onto_clone, into_constant):
        assert code(model, tensor(4, 3)).startswith("OM20")


def test_what_depends_on_a_symbolic_size_is_refused() -> None:
    x = tensor(4, 3)
    assert code(lambda x: om.stack(x.unbind(0), 1), x) == "OM402"
    assert code(lambda x: om.cat(x.split(2)), x) == "OM404"
    assert code(lambda x: om.cat(x.chunk(2)), x) == "OM404"
    assert code(lambda x: x.squeeze(), x) == "OM403"


def test_lowering_below_opset_10_names_the_opset_for_symbolic_bounds() -> None:
    table = tensor(9, 3)
    with pytest.raises(om.TraceException, match="10"):
        om.trace(lambda x: x + table[: x.shape[0]], tensor(4, 3), axes=[{0: "batch"}], opset=9)
    proto = om.trace(lambda x: x[:, 1:], tensor(4, 3), axes=[{0: "batch"}], opset=7).to_onnx()
    onnx.checker.check_model(proto, full_check=True)
