"""Element-wise, reducing, indexing and resampling kernels against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onemodel.kernels import max_pool
from tests.kernels.onnxruntime_node import agree

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def normal(*shape: int, dtype: type = np.float32, seed: int = 3) -> np.ndarray:
    return np.asarray(np.random.RandomState(seed).randn(*shape)).astype(dtype)


def integers(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


UNARY = (
    "Abs Neg Exp Log Sqrt Tanh Floor Ceil Reciprocal Relu Round Sin Cos Tan Asin Acos Atan",
    "Sinh Cosh Asinh Acosh Atanh IsNaN IsInf Erf Sigmoid Softplus Softsign Mish HardSigmoid",
    "HardSwish LeakyRelu Elu Selu Celu ThresholdedRelu Gelu",
)


@pytest.mark.parametrize("node_type", [name for line in UNARY for name in line.split()])
def test_element_wise_nodes_on_ordinary_and_special_values(node_type: str) -> None:
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 100, -100, 0.5, 1.5, 2.5, -0.5]
    x = np.concatenate([normal(40) * 3, np.array(special, np.float32)])
    for array in (x, x[:1].reshape(()), x[:0]):
        agree(node_type, 20, [array], tolerance=5e-6)


SHAPES = [((3, 4), (3, 4)), ((3, 1), (1, 4)), ((2, 3, 4), (4,)), ((), (3,)), ((), ())]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize(
    "node_type", ["Add", "Sub", "Mul", "Div", "Pow", "Equal", "Less", "GreaterOrEqual", "Mod"]
)
def test_binary_nodes_broadcast(node_type: str, dtype: type) -> None:
    attributes = {"fmod": 1} if node_type == "Mod" and np.dtype(dtype).kind == "f" else {}
    for first, second in SHAPES:
        a = (normal(*first, seed=1) * 20).astype(dtype)
        b = (normal(*second, seed=2) * 5).astype(dtype)
        b = np.where(b == 0, np.array(3, dtype), b)
        if node_type == "Pow":
            a, b = np.abs(a) + 1, np.abs(b) % 4
        agree(node_type, 13, [np.asarray(a), np.asarray(b)], **attributes)


def test_integer_division_truncates_toward_zero() -> None:
    a = np.array([7, -7, 7, -7, 6, -6], np.int32)
    b = np.array([2, 2, -2, -2, 3, 3], np.int32)
    agree("Div", 14, [a, b])


@pytest.mark.parametrize("base", [np.float32, np.int32, np.int64])
@pytest.mark.parametrize("exponent", [np.float32, np.int32, np.int64])
def test_pow_has_the_dtype_of_its_base(base: type, exponent: type) -> None:
    x = np.arange(1, 8).astype(base)
    for value in (3, 2, -1):
        agree("Pow", 15, [x, np.array(value).astype(exponent)])


@pytest.mark.parametrize("low, high", [(2, 9), (9, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8])
def test_clip_with_limits_in_any_order(low: int, high: int, dtype: type) -> None:
    x = np.arange(12).astype(dtype)
    agree("Clip", 13, [x, np.array(low, dtype), np.array(high, dtype)])
    agree("Clip", 13, [x, None, np.array(high, dtype)])


REDUCTIONS = [
    *("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2"),
    *("ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"),
]


@pytest.mark.parametrize("axes", [None, [0], [-1], [0, 2], [2, 0]])
@pytest.mark.parametrize("node_type", REDUCTIONS)
def test_reductions_by_attribute_and_by_input(node_type: str, axes: list[int] | None) -> None:
    x = np.abs(normal(3, 4, 5)) + 0.1
    as_attribute = {} if axes is None else {"axes": axes}
    as_input = [x] if axes is None else [x, integers(*axes)]
    for keepdims in (0, 1):
        agree(node_type, 11, [x], keepdims=keepdims, **as_attribute)
        agree(node_type, 18, as_input, keepdims=keepdims)


@pytest.mark.parametrize("node_type", REDUCTIONS)
@pytest.mark.parametrize("noop", [0, 1])
def test_reductions_over_empty_axes(node_type: str, noop: int) -> None:
    x = np.abs(normal(3, 4)) + 0.1
    agree(node_type, 18, [x, integers()], noop_with_empty_axes=noop)


@pytest.mark.parametrize("node_type", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_arg_nodes_take_the_first_or_the_last_of_several(node_type: str, axis: int) -> None:
    x = np.random.RandomState(0).randint(0, 4, (3, 4, 5)).astype(np.float32)
    for last in (0, 1):
        agree(node_type, 13, [x], axis=axis, select_last_index=last, keepdims=last)


@pytest.mark.parametrize("node_type", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("opset", [7, 11, 13])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax_family_in_both_meanings(node_type: str, opset: int, axis: int) -> None:
    agree(node_type, opset, [normal(3, 4, 5) * 5], axis=axis)


FAR = np.iinfo(np.int64).max
SLICES = [
    ([0], [2], [0], [1]),
    ([1], [FAR], [1], [1]),
    ([3], [np.iinfo(np.int64).min], [2], [-1]),
    ([-1], [-10], [0], [-1]),
    ([5], [0], [1], [-1]),
    ([0, 1], [2, 3], [1, 2], [1, 2]),
    ([100], [200], [0], [1]),
    ([-100], [-200], [0], [-1]),
    ([-100], [1], [1], [1]),
    ([2], [-1], [2], [-1]),
    ([1], [-4], [1], [-1]),
]


@pytest.mark.parametrize("starts, ends, axes, steps", SLICES)
def test_slices_clamp_forwards_and_backwards(
    starts: list[int], ends: list[int], axes: list[int], steps: list[int]
) -> None:
    arrays = [integers(*values) for values in (starts, ends, axes, steps)]
    agree("Slice", 13, [normal(2, 3, 4), *arrays])


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize(
    "pads", [[0, 1, 1, 0, 1, 2], [0, -1, 0, 0, 0, 0], [0, -1, 1, 0, 0, -2], [0, 1, -2, 0, -1, 1]]
)
def test_pads_grow_and_crop(mode: str, pads: list[int]) -> None:
    agree("Pad", 19, [normal(3, 4, 5), integers(*pads)], mode=mode)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pads_on_some_axes(mode: str) -> None:
    agree("Pad", 19, [normal(3, 4, 5), integers(1, 2, 1, 0), None, integers(2, 0)], mode=mode)


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
def test_scatters_reduce_every_duplicate(reduction: str) -> None:
    x = normal(2, 3, 4)
    rows = np.array([[0, 1], [0, 1], [1, -1]])
    agree("ScatterND", 18, [x, rows, normal(3, 4)], reduction=reduction)
    index = np.random.RandomState(1).randint(-2, 2, (2, 2, 3))
    agree("ScatterElements", 18, [x, index, normal(2, 2, 3)], axis=1, reduction=reduction)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gathers_count_negative_indices_from_the_end(axis: int) -> None:
    x = normal(2, 3, 4)
    agree("Gather", 13, [x, np.array([[0, 1], [-1, 0]])], axis=axis)
    index = np.random.RandomState(1).randint(-2, 2, (2, 2, 3))
    agree("GatherElements", 13, [x, index], axis=axis)


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_top_k_orders_ties_by_index(largest: int, axis: int) -> None:
    x = np.random.RandomState(2).randint(0, 4, (4, 7)).astype(np.float32)
    agree("TopK", 11, [x, integers(3)], 2, axis=axis, largest=largest)


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
def test_cum_sum(exclusive: int, reverse: int) -> None:
    attributes = {"exclusive": exclusive, "reverse": reverse}
    agree("CumSum", 14, [normal(3, 4), np.array(1, np.int32)], **attributes)


MODES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]


@pytest.mark.parametrize("coordinates", MODES)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("scales", [(2.0, 2.0), (0.6, 0.5), (0.35, 1.7)])
def test_resize_by_scales(coordinates: str, mode: str, scales: tuple[float, float]) -> None:
    factor = np.array([1, 1, *scales], np.float32)
    attributes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": coordinates}
    inputs = [normal(1, 2, 7, 9), None, factor]
    agree("Resize", 18, inputs, tolerance=1e-4, **attributes)
    if mode != "nearest":
        agree("Resize", 18, inputs, tolerance=1e-4, antialias=1, **attributes)


@pytest.mark.parametrize("coordinates", MODES)
@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("sizes", [(7, 3), (1, 1), (8, 10)])
def test_resize_nearest_to_sizes(coordinates: str, nearest: str, sizes: tuple[int, int]) -> None:
    inputs = [normal(1, 2, 4, 5), None, None, integers(1, 2, *sizes)]
    attributes = {"nearest_mode": nearest, "coordinate_transformation_mode": coordinates}
    agree("Resize", 19, inputs, **attributes)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_the_first_resize_and_its_forerunner(mode: str) -> None:
    x = normal(1, 2, 4, 5)
    agree("Resize", 10, [x, np.array([1, 1, 0.5, 0.6], np.float32)], mode=mode)
    agree("Upsample", 7, [x], mode=mode, scales=[1.0, 1.0, 1.5, 3.0])


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_grid_sample(mode: str, padding: str, align: int) -> None:
    inputs = [normal(2, 3, 5, 6), normal(2, 4, 7, 2) * 1.2]
    attributes = {"mode": mode, "padding_mode": padding, "align_corners": align}
    agree("GridSample", 20, inputs, tolerance=1e-4, **attributes)


@pytest.mark.parametrize("axis", [-1, 1, 0])
def test_layer_normalization(axis: int) -> None:
    x = normal(2, 3, 4) * 3 + 5
    trailing = x.shape[axis:]
    agree("LayerNormalization", 17, [x, normal(*trailing), normal(*trailing)], 3, axis=axis)


@pytest.mark.parametrize("shape", [(2, 4, 5, 6), (2, 4, 5), (2, 4)])
@pytest.mark.parametrize("opset", [7, 9, 14, 15])
def test_batch_normalization(shape: tuple[int, ...], opset: int) -> None:
    statistics = [normal(4, seed=k) for k in range(3)] + [np.abs(normal(4))]
    agree("BatchNormalization", opset, [normal(*shape), *statistics])


def test_batch_normalization_in_training() -> None:
    statistics = [normal(4, seed=k) for k in range(3)] + [np.abs(normal(4))]
    inputs = [normal(2, 4, 5, 6), *statistics]
    agree("BatchNormalization", 14, inputs, 3, tolerance=1e-4, training_mode=1, momentum=0.8)


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("mask", ["none", "bool", "float"])
@pytest.mark.parametrize("past", [0, 2])
def test_attention(causal: int, mask: str, past: int) -> None:
    keys = 5 + past
    masks = {
        "none": None,
        "bool": np.random.RandomState(0).rand(3, keys) > 0.3,
        "float": normal(2, 1, 3, keys),
    }
    inputs: list[np.ndarray | None] = [
        normal(2, 4, 3, 8),
        normal(2, 2, 5, 8),
        normal(2, 2, 5, 6),
        masks[mask],
    ]
    if past:
        inputs += [normal(2, 2, past, 8), normal(2, 2, past, 6)]
    while inputs[-1] is None:
        inputs.pop()
    agree("Attention", 23, inputs, 3 if past else 1, tolerance=1e-4, is_causal=causal)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("depth", [5, 300, 2000])
def test_integer_products_are_exact(dtype: type, depth: int) -> None:
    random = np.random.RandomState(depth)
    limits = np.iinfo(dtype)
    a = random.randint(limits.min, limits.max + 1, (3, depth)).astype(dtype)
    b = random.randint(limits.min, limits.max + 1, (depth, 4)).astype(dtype)
    agree("MatMulInteger", 10, [a, b, np.array(7, dtype), np.array(9, dtype)])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_quantization_rounds_halves_to_even_and_saturates(dtype: type) -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, 1e6, -1e6, 37.2], np.float32)
    agree("QuantizeLinear", 13, [x, np.array(1.0, np.float32), np.array(3, dtype)])


@pytest.mark.parametrize("center", [0, 1])
def test_non_max_suppression(center: int) -> None:
    random = np.random.RandomState(4)
    boxes = np.abs(random.randn(2, 30, 4)).astype(np.float32)
    scores = (random.randint(0, 6, (2, 3, 30)) / 6).astype(np.float32)
    limits = [integers(50), np.array([0.4], np.float32), np.array([0.1], np.float32)]
    agree("NonMaxSuppression", 11, [boxes, scores, *limits], center_point_box=center)


@pytest.mark.parametrize("target", [np.int8, np.uint8, np.int32, np.int64, np.float16, bool])
def test_casts_between_numbers(target: type) -> None:
    numbers = {np.int8: 3, np.uint8: 2, np.int32: 6, np.int64: 7, np.float16: 10, bool: 9}
    agree("Cast", 13, [np.array([0, 1, 2.5, 3.7, 100.2], np.float32)], to=numbers[target])
    wide = np.array([0, 1, 127, 128, 255, 256, 300, 70000, -1, -5], np.int64)
    agree("Cast", 13, [wide], to=numbers[target])


def test_casts_to_and_from_strings() -> None:
    x = np.array([0, 1, -1.5, 0.1, 1e-7, np.inf, -np.inf, np.nan], np.float32)
    agree("Cast", 13, [x], to=8)
    agree("Cast", 13, [np.array(["1.5", "-2", "1e3", "NaN", "INF", "-INF"], object)], to=1)


def test_max_unpool_reads_indices_in_the_shape_they_were_pooled_from() -> None:
    values, indices = max_pool.fast(normal(2, 2, 7, 7), kernel_shape=[2, 2], strides=[2, 2])
    inputs = [values, indices, integers(2, 2, 7, 7)]
    agree("MaxUnpool", 11, inputs, kernel_shape=[2, 2], strides=[2, 2])
