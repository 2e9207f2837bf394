"""Axis rules: evaluated anywhere they give the shapes that NumPy, SciPy or ONNX Runtime give."""

import itertools

import numpy as np
import onnx
import onnx.helper as oh
import onnxruntime as ort
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from onemodel.axes import rules
from onemodel.axes.extent import AxesError, Extent, axes_text, evaluate_axes, static_axes

B, T, W = (Extent.symbol(name) for name in ("b", "t", "w"))
ONE, THREE = Extent.of(1), Extent.of(3)

assignments = st.fixed_dictionaries({name: st.integers(1, 9) for name in "btw"})
sizes = st.one_of(
    st.sampled_from([B, T, W, B + 1, 2 * T, W // 2 + 1, B * T]),
    st.integers(1, 5).map(Extent.of),
)
shapes = st.lists(sizes, min_size=1, max_size=4).map(tuple)


def array(axes, assignment):
    """An array of the axes' shape that takes no memory."""
    return np.broadcast_to(np.float32(0), evaluate_axes(axes, assignment))


@st.composite
def broadcastable(draw, count):
    """Operands that broadcast at every size: suffixes of one shape with ones in them."""
    full = draw(shapes)
    operands = []
    for _ in range(count):
        suffix = full[draw(st.integers(0, len(full))) :]
        operands.append(tuple(draw(st.sampled_from([size, ONE])) for size in suffix))
    return operands


@settings(max_examples=100, deadline=None)
@given(broadcastable(3), assignments)
def test_broadcasting_follows_numpy(operands, assignment):
    result = rules.broadcast(*operands)
    expected = np.broadcast_shapes(*(evaluate_axes(axes, assignment) for axes in operands))
    assert evaluate_axes(result, assignment) == expected


def test_a_frozen_example_size_is_refused_and_explained():
    with pytest.raises(AxesError, match="probably the example's size of b") as caught:
        rules.broadcast((B, THREE), static_axes((2, 3)))
    assert caught.value.code == "OM403"
    assert caught.value.extents == (B, Extent.of(2))
    assert caught.value.rewrites


def test_two_symbols_do_not_broadcast_against_each_other():
    with pytest.raises(AxesError, match="equal in the example only"):
        rules.broadcast((B,), (T,))


def test_fixed_shapes_that_do_not_fit_are_refused():
    with pytest.raises(AxesError, match="2 and 3"):
        rules.broadcast(static_axes((2,)), static_axes((3,)))


@settings(max_examples=100, deadline=None)
@given(shapes, st.data(), st.booleans(), assignments)
def test_reductions_follow_numpy(axes, data, keepdim, assignment):
    dims = data.draw(
        st.one_of(st.none(), st.lists(st.integers(0, len(axes) - 1), unique=True).map(tuple))
    )
    result = rules.reduce(axes, dims, keepdim)
    expected = np.sum(array(axes, assignment), axis=dims, keepdims=keepdim).shape
    assert evaluate_axes(result, assignment) == expected


@settings(max_examples=100, deadline=None)
@given(broadcastable(2), sizes, sizes, sizes, st.booleans(), st.booleans(), assignments)
def test_matrix_products_follow_numpy(batches, m, k, n, left_vector, right_vector, assignment):
    left = (k,) if left_vector else (*batches[0][-2:], m, k)
    right = (k,) if right_vector else (*batches[1][-2:], k, n)
    expected = np.matmul(
        np.zeros(evaluate_axes(left, assignment), bool),
        np.zeros(evaluate_axes(right, assignment), bool),
    ).shape
    assert evaluate_axes(rules.matmul(left, right), assignment) == expected


def test_a_matrix_product_over_unequal_symbols_is_refused():
    with pytest.raises(AxesError, match="inner axes of matmul"):
        rules.matmul((B, T), (W, THREE))
    with pytest.raises(AxesError, match="one axis"):
        rules.matmul((), (B,))


@pytest.mark.parametrize(
    ("equation", "operands"),
    [
        ("bij,bjk->bik", ((B, T, THREE), (B, THREE, W))),
        ("...ij,...jk", ((B, T, THREE), (THREE, W))),
        ("bhqd,bhkd->bhqk", ((B, THREE, T, Extent.of(4)), (B, THREE, T, Extent.of(4)))),
        ("ii->i", ((T, T),)),
        ("ij,jk", ((B, T), (T, W))),
        ("i...->...", ((B, T, W),)),
    ],
)
def test_einsum_follows_numpy(equation, operands):
    result = rules.einsum(equation, *operands)
    for values in itertools.product((1, 2, 5), repeat=3):
        assignment = dict(zip("btw", values, strict=True))
        arrays = [np.zeros(evaluate_axes(axes, assignment)) for axes in operands]
        assert evaluate_axes(result, assignment) == np.einsum(equation, *arrays).shape


def test_einsum_refuses_letters_of_unequal_extents():
    with pytest.raises(AxesError, match="'j'"):
        rules.einsum("ij,jk->ik", (B, T), (W, THREE))
    with pytest.raises(AxesError, match="does not fit"):
        rules.einsum("ij->i", (B,))


@settings(max_examples=100, deadline=None)
@given(shapes, st.data(), assignments)
def test_concatenations_and_stacks_follow_numpy(axes, data, assignment):
    dim = data.draw(st.integers(-len(axes), len(axes) - 1))
    others = [list(axes) for _ in range(data.draw(st.integers(1, 3)))]
    for other in others:
        other[dim] = data.draw(sizes)
    operands = [tuple(other) for other in others]
    expected = np.concatenate([array(o, assignment) for o in operands], axis=dim).shape
    assert evaluate_axes(rules.concat(operands, dim), assignment) == expected
    expected = np.stack([array(axes, assignment)] * 2, axis=dim).shape
    assert evaluate_axes(rules.stack([axes, axes], dim), assignment) == expected


def test_a_concatenation_of_zero_length_keeps_the_extent():
    assert rules.concat([(B, THREE), static_axes((0, 3))], 0) == (B, THREE)


# -- windows ---------------------------------------------------------------------------------


def run_onnx(op_type, feeds, **attributes):
    names = list(feeds)
    node = oh.make_node(op_type, names, ["y"], **attributes)
    inputs = [
        oh.make_tensor_value_info(n, onnx.TensorProto.FLOAT, a.shape) for n, a in feeds.items()
    ]
    output = oh.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    graph = oh.make_graph([node], "g", inputs, [output])
    model = oh.make_model(graph, opset_imports=[oh.make_opsetid("", 20)], ir_version=9)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)[0].shape


windows = st.fixed_dictionaries(
    {
        "kernel": st.integers(1, 4),
        "stride": st.integers(1, 3),
        "begin": st.integers(0, 3),
        "end": st.integers(0, 3),
        "dilation": st.integers(1, 2),
    }
)


def fits(size, given_window):
    span = given_window["dilation"] * (given_window["kernel"] - 1) + 1
    return size + given_window["begin"] + given_window["end"] >= span


@settings(max_examples=40, deadline=None)
@given(windows, st.integers(1, 12))
def test_convolutions_follow_onnx_runtime(w, size):
    assume(fits(size, w))
    axes = rules.conv(
        (B, THREE, W),
        static_axes((4, 3, w["kernel"])),
        [w["stride"]],
        [w["begin"], w["end"]],
        [w["dilation"]],
    )
    expected = run_onnx(
        "Conv",
        {"x": np.zeros((2, 3, size), "f4"), "w": np.zeros((4, 3, w["kernel"]), "f4")},
        strides=[w["stride"]],
        pads=[w["begin"], w["end"]],
        dilations=[w["dilation"]],
    )
    assert evaluate_axes(axes, {"b": 2, "w": size}) == expected


@settings(max_examples=40, deadline=None)
@given(windows, st.integers(1, 9), st.integers(0, 1))
def test_transposed_convolutions_follow_onnx_runtime(w, size, extra):
    assume(extra < w["stride"])
    axes = rules.conv_transpose(
        (B, Extent.of(4), W),
        static_axes((4, 3, w["kernel"])),
        [w["stride"]],
        [w["begin"], w["end"]],
        [w["dilation"]],
        [extra],
        groups=2,
    )
    shape = evaluate_axes(axes, {"b": 2, "w": size})
    assume(shape[2] > 0)
    expected = run_onnx(
        "ConvTranspose",
        {"x": np.zeros((2, 4, size), "f4"), "w": np.zeros((4, 3, w["kernel"]), "f4")},
        strides=[w["stride"]],
        pads=[w["begin"], w["end"]],
        dilations=[w["dilation"]],
        output_padding=[extra],
        group=2,
    )
    assert shape == expected


@settings(max_examples=60, deadline=None)
@given(windows, st.integers(1, 12), st.booleans())
def test_pools_follow_onnx_runtime(w, size, ceil_mode):
    w = w | {"begin": min(w["begin"], w["kernel"] - 1), "end": min(w["end"], w["kernel"] - 1)}
    assume(fits(size, w))
    axes = rules.pool(
        (B, THREE, W),
        [w["kernel"]],
        [w["stride"]],
        [w["begin"], w["end"]],
        [w["dilation"]],
        ceil_mode,
    )
    expected = run_onnx(
        "MaxPool",
        {"x": np.zeros((2, 3, size), "f4")},
        kernel_shape=[w["kernel"]],
        strides=[w["stride"]],
        pads=[w["begin"], w["end"]],
        dilations=[w["dilation"]],
        ceil_mode=int(ceil_mode),
    )
    assert evaluate_axes(axes, {"b": 2, "w": size}) == expected


def test_a_same_convolution_gives_exactly_the_input_extents():
    axes = rules.conv((B, THREE, W, W), static_axes((8, 3, 3, 3)), [1, 1], [1, 1], [1, 1])
    assert axes == (B, Extent.of(8), W, W)


def test_a_transposed_convolution_undoes_a_halving_of_an_even_extent():
    halved = rules.conv((B, THREE, 2 * W), static_axes((8, 3, 2)), [2], [0], [1])
    assert halved[2] == W
    assert rules.conv_transpose(halved, static_axes((8, 3, 2)), [2], [0], [1])[2] == 2 * W


def test_windows_refuse_pads_and_ranks_that_do_not_fit():
    with pytest.raises(AxesError, match="pads"):
        rules.pool((B, THREE, W), [2], [2], [0, 0, 0])
    with pytest.raises(AxesError, match="rank"):
        rules.conv((B, THREE), static_axes((4, 3)), [], [], [])


@settings(max_examples=60, deadline=None)
@given(shapes, st.data(), assignments)
def test_padding_follows_numpy(axes, data, assignment):
    pads = data.draw(st.lists(st.integers(0, 3), min_size=2 * len(axes), max_size=2 * len(axes)))
    pairs = list(zip(pads[: len(axes)], pads[len(axes) :], strict=True))
    expected = tuple(
        size + sum(pair) for size, pair in zip(evaluate_axes(axes, assignment), pairs, strict=True)
    )
    assert evaluate_axes(rules.pad(axes, pads), assignment) == expected


bounds = st.one_of(st.none(), st.integers(-6, 12))


@settings(max_examples=300, deadline=None)
@given(sizes, bounds, bounds, st.integers(1, 4), assignments)
def test_slices_with_fixed_bounds_follow_python_at_every_size(size, start, stop, step, assignment):
    result = rules.slice_((size, THREE), 0, start, stop, step)
    length = len(range(size.evaluate(assignment))[start:stop:step])
    assert evaluate_axes(result, assignment) == (length, 3)


symbolic_bounds = st.sampled_from([B, B // 2, B + 1, B - 1, -B, T, 2 * T, T // 3])


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([B, T, B + T, 2 * B]),
    st.one_of(bounds, symbolic_bounds),
    st.one_of(bounds, symbolic_bounds),
    st.integers(1, 3),
    assignments,
)
def test_slices_with_symbolic_bounds_follow_python_at_every_size(
    size, start, stop, step, assignment
):
    result = rules.slice_((size,), 0, start, stop, step)
    concrete = [b.evaluate(assignment) if isinstance(b, Extent) else b for b in (start, stop)]
    length = len(range(size.evaluate(assignment))[slice(*concrete, step)])
    assert evaluate_axes(result, assignment) == (length,)


@pytest.mark.parametrize(
    ("size", "bounds", "extent"),
    [
        (B, (None, None), B),
        (B, (0, None), B),
        (B, (1, None), B - 1),
        (B, (None, -1), B - 1),
        (B, (-3, None), B.minimum(3)),
        (B, (None, 4), B.minimum(4)),
        (B, (None, None, 2), B.ceildiv(2)),
        (B, (1, None, 2), B // 2),
        (B, (None, None, -1), B),
        (B, (None, B // 2), B // 2),
        (B, (B // 2, None), B - B // 2),
        (B, (None, B), B),
        (Extent.of(512), (None, T), T),
        (Extent.of(512), (T, None), 512 - T),
        (Extent.of(512), (B, B + T), T),
        (Extent.of(512), (-T, None), T),
        (Extent.of(10), (8, 2, -2), Extent.of(3)),
    ],
)
def test_everyday_slices_have_simple_extents(size, bounds, extent):
    assert rules.slice_((size,), 0, *bounds) == (extent,)


def test_a_bound_of_unknown_sign_is_refused_with_the_negative_literal_to_write():
    with pytest.raises(AxesError, match="negative at some sizes") as caught:
        rules.slice_((B,), 0, None, B - 5)
    assert caught.value.code == "OM404"
    assert caught.value.rewrites[0][1] == "x[:-5]"
    assert rules.slice_((B,), 0, None, -5) == (B - B.minimum(5),)


def test_a_partial_reversed_slice_of_a_symbolic_axis_is_refused():
    with pytest.raises(AxesError, match="negative step") as caught:
        rules.slice_((B,), 0, 4, None, -1)
    assert caught.value.code == "OM404"
    with pytest.raises(ValueError, match="zero"):
        rules.slice_((B,), 0, None, None, 0)


# -- moving, joining, looking up ---------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(shapes, st.data(), assignments)
def test_moving_axes_follows_numpy(axes, data, assignment):
    order = data.draw(st.permutations(range(len(axes))))
    x = array(axes, assignment)
    assert evaluate_axes(rules.permute(axes, order), assignment) == x.transpose(order).shape
    one, two = (data.draw(st.integers(-len(axes), len(axes) - 1)) for _ in range(2))
    expected = np.swapaxes(x, one, two).shape
    assert evaluate_axes(rules.transpose(axes, one, two), assignment) == expected
    dim = data.draw(st.integers(-len(axes) - 1, len(axes)))
    expected = np.expand_dims(x, dim).shape
    assert evaluate_axes(rules.unsqueeze(axes, dim), assignment) == expected
    assert rules.squeeze(rules.unsqueeze(axes, dim), dim) == axes


@settings(max_examples=60, deadline=None)
@given(shapes, st.data(), assignments)
def test_flattening_and_repeating_follow_numpy(axes, data, assignment):
    start = data.draw(st.integers(0, len(axes) - 1))
    end = data.draw(st.integers(start, len(axes) - 1))
    shape = evaluate_axes(axes, assignment)
    merged = int(np.prod(shape[start : end + 1]))
    expected = (*shape[:start], merged, *shape[end + 1 :])
    assert evaluate_axes(rules.flatten(axes, start, end), assignment) == expected
    repeats = data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=3))
    expected = np.tile(np.zeros(shape, bool), repeats).shape
    assert evaluate_axes(rules.repeat(axes, repeats), assignment) == expected


def test_a_scalar_flattens_to_one_element():
    assert rules.flatten(()) == (ONE,)


@settings(max_examples=60, deadline=None)
@given(shapes, st.lists(sizes, max_size=2).map(tuple), st.data(), assignments)
def test_look_ups_follow_numpy(axes, index, data, assignment):
    dim = data.draw(st.integers(-len(axes), len(axes) - 1))
    x = array(axes, assignment)
    indices = np.zeros(evaluate_axes(index, assignment), int)
    expected = np.take(x, indices, axis=dim).shape
    assert evaluate_axes(rules.gather(axes, index, dim), assignment) == expected
    assert evaluate_axes(rules.embedding(axes, index), assignment) == np.take(x, indices, 0).shape


def test_index_select_takes_one_axis_only():
    assert rules.index_select((B, THREE), (T,), 0) == (T, THREE)
    with pytest.raises(AxesError, match="one axis"):
        rules.index_select((B,), (T, T), 0)


def test_squeeze_refuses_an_axis_that_can_be_one_at_run_time():
    assert rules.squeeze((B, ONE, THREE), 1) == (B, THREE)
    assert rules.squeeze((B + 1, ONE)) == (B + 1,)
    with pytest.raises(AxesError, match="drop the axis b") as caught:
        rules.squeeze((B, ONE, THREE))
    assert caught.value.rewrites[0][1] == "x.squeeze([1])"


def test_expand_stretches_ones_and_keeps_what_is_asked_to_stay():
    assert rules.expand((ONE, THREE), (B, T, -1)) == (B, T, THREE)
    assert rules.expand((B, ONE), (-1, T)) == (B, T)
    assert rules.expand((B,), (B,)) == (B,)
    with pytest.raises(AxesError, match="expand"):
        rules.expand((B,), (5,))
    with pytest.raises(AxesError, match="-1"):
        rules.expand((B,), (-1, B))
    with pytest.raises(AxesError, match="fewer"):
        rules.expand((B, T), (B,))


def text(parts):
    return [axes_text(axes) for axes in parts]


def test_splits_add_up_to_the_axis_they_part():
    assert text(rules.split_sizes(static_axes((7, 3)), 3, 0)) == ["[3, 3]", "[3, 3]", "[1, 3]"]
    assert text(rules.split_sizes((2 * B, THREE), B, 0)) == ["[b, 3]", "[b, 3]"]
    assert text(rules.split_sizes((B,), [1, B - 1], 0)) == ["[1]", "[b - 1]"]
    assert rules.concat(rules.split_sizes((B,), [B // 2, B - B // 2], 0), 0) == (B,)


def test_splits_whose_parts_depend_on_the_size_are_refused():
    for sizes in (4, [1, 2]):
        with pytest.raises(AxesError) as caught:
            rules.split_sizes((B,), sizes, 0)
        assert caught.value.code == "OM404"


def test_chunks_of_a_multiple_are_equal_and_others_are_refused():
    assert text(rules.chunk((4 * B,), 2, 0)) == ["[2*b]", "[2*b]"]
    assert text(rules.chunk(static_axes((5,)), 3, 0)) == ["[2]", "[2]", "[1]"]
    with pytest.raises(AxesError, match="multiple of 2"):
        rules.chunk((B,), 2, 0)


@settings(max_examples=80, deadline=None)
@given(
    st.one_of(st.integers(-3, 6), st.sampled_from([B, T - 1])),
    st.one_of(st.integers(-3, 6), st.sampled_from([B + 3, T, 2 * B])),
    st.one_of(st.integers(1, 4), st.integers(-3, -1), st.sampled_from([W])),
    assignments,
)
def test_ranges_count_as_python_counts(start, stop, step, assignment):
    concrete = [
        bound.evaluate(assignment) if isinstance(bound, Extent) else bound
        for bound in (start, stop, step)
    ]
    result = rules.arange(start, stop, step)
    assert evaluate_axes(result, assignment) == (len(range(*concrete)),)


def test_a_range_of_a_symbol_has_the_symbol_as_its_axis():
    assert rules.arange(T) == (T,)
    with pytest.raises(ValueError, match="zero"):
        rules.arange(0, T, 0)


def test_axes_out_of_range_are_refused():
    with pytest.raises(AxesError, match="out of range"):
        rules.reduce((B,), 1)
    with pytest.raises(AxesError, match="twice"):
        rules.permute((B, T), (0, 0))
    with pytest.raises(AxesError, match="order"):
        rules.permute((B, T), (0,))
