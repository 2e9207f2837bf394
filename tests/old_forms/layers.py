"""Forms of layers, quantisation, sampling, sequences and control flow, as in ``forms``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.old_forms.forms import Form, Schema, admits, forms, has, ints, normal, positive

# -- products and windows --------------------------------------------------------------------


@forms("MatMul")
def mat_mul(schema: Schema) -> Iterable[Form]:
    yield Form((normal(3, 4), normal(4, 5)), tolerance=1e-5)
    yield Form((normal(2, 3, 4), normal(4)))
    if admits(schema, "int32"):
        yield Form((ints([[1, 2]], dtype=np.int32), ints([[3], [4]], dtype=np.int32)))


@forms("Gemm")
def gemm(schema: Schema) -> Iterable[Form]:
    a, b, c = normal(3, 4), normal(4, 5), normal(3, 5)
    old: dict[str, Any] = {"broadcast": 1} if has(schema, "broadcast") else {}
    yield Form((a, b, c), expected=(a @ b + c,))
    yield Form((a, b, c[0]), old, expected=(a @ b + c[0],))
    attributes = {"alpha": 0.5, "beta": 2.0, "transA": 1, "transB": 1}
    wanted = (np.float32(0.5) * (a @ b) + 2 * c,)
    yield Form((a.T.copy(), b.T.copy(), c), attributes, expected=wanted)
    if schema.since_version >= 11:
        yield Form((a, b))


_WINDOWS: list[dict[str, Any]] = [
    {"kernel_shape": [3, 3]},
    {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]},
    {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]},
    {"kernel_shape": [3, 3], "auto_pad": "SAME_LOWER", "strides": [2, 2]},
    {"kernel_shape": [3, 3], "auto_pad": "VALID"},
]


@forms("Conv")
def conv(schema: Schema) -> Iterable[Form]:
    x = normal(2, 4, 7, 8)
    for window in _WINDOWS:
        weight = normal(6, 4, *window["kernel_shape"])
        yield Form((x, weight, normal(6)), window)
    yield Form((x, normal(6, 2, 3, 3)), {"group": 2, "dilations": [2, 1]})
    yield Form((normal(1, 2, 9), normal(3, 2, 3)), {"strides": [2]})


@forms("ConvTranspose")
def conv_transpose(schema: Schema) -> Iterable[Form]:
    x = normal(1, 4, 5, 6)
    yield Form((x, normal(4, 3, 3, 3), normal(3)))
    spread = {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}
    yield Form((x, normal(4, 3, 3, 3)), spread)
    yield Form((x, normal(4, 2, 3, 3)), {"group": 2, "dilations": [1, 2]})
    yield Form((x, normal(4, 3, 3, 3)), {"strides": [2, 2], "output_shape": [10, 12]})


@forms("DeformConv")
def deform_conv(schema: Schema) -> Iterable[Form]:
    x, weight, offset = normal(1, 2, 5, 5), normal(3, 2, 3, 3), normal(1, 18, 3, 3) * 0.3
    yield Form((x, weight, offset, normal(3), positive(1, 9, 3, 3)))
    yield Form((x, weight, offset))


@forms("MaxPool", "AveragePool", "LpPool")
def pool(schema: Schema) -> Iterable[Form]:
    x = normal(2, 3, 7, 8)
    for window in _WINDOWS:
        if schema.name == "LpPool" and "LOWER" in str(window):
            continue
        yield Form((x,), window)
    yield Form((normal(1, 2, 9),), {"kernel_shape": [3], "strides": [2]})
    if has(schema, "count_include_pad"):
        yield Form((x,), {**_WINDOWS[1], "count_include_pad": 1})
    if has(schema, "ceil_mode"):
        yield Form((x,), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1})
    if has(schema, "dilations"):
        yield Form((x,), {"kernel_shape": [2, 2], "dilations": [2, 3]})
    if has(schema, "storage_order"):
        yield Form((x,), {"kernel_shape": [2, 2], "strides": [2, 2]}, outputs=2)
        order = {"kernel_shape": [2, 2], "strides": [2, 2], "storage_order": 1}
        yield Form((x,), order, outputs=2)
    if schema.name == "MaxPool" and admits(schema, "int8"):
        yield Form(((x * 20).astype(np.int8),), {"kernel_shape": [2, 2]})
    if has(schema, "p"):
        power: Any = 1.0 if schema.since_version == 1 else 1
        yield Form((x,), {"kernel_shape": [2, 3], "p": power})


@forms("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")
def global_pool(schema: Schema) -> Iterable[Form]:
    x = normal(2, 3, 4, 5)
    wanted = None
    if schema.name == "GlobalLpPool":
        wanted = (np.sqrt((x * x).sum((2, 3), keepdims=True)),)
        power: Any = 3.0 if schema.since_version == 1 else 3
        y = (np.abs(x.astype("f8")) ** 3).sum((2, 3), keepdims=True) ** (1 / 3)
        yield Form((x,), {"p": power}, expected=(y.astype("f4"),))
    yield Form((x,), expected=wanted)
    if schema.name != "GlobalLpPool":
        yield Form((normal(2, 3, 5),))


@forms("MaxUnpool")
def max_unpool(schema: Schema) -> Iterable[Form]:
    x, where = positive(1, 1, 2, 2), ints([[5, 7], [13, 15]]).reshape(1, 1, 2, 2)
    yield Form((x, where), {"kernel_shape": [2, 2], "strides": [2, 2]})
    wide = np.zeros((1, 1, 5, 5), np.float32)
    wide[0, 0, [1, 1, 3, 3], [1, 3, 1, 3]] = x.ravel()
    yield Form(
        (x, where, ints(1, 1, 5, 5)),
        {"kernel_shape": [2, 2], "strides": [2, 2]},
        expected=(wide,),
        disputed="the indices count in the shape that the pooling had, not in output_shape",
    )


@forms("MaxRoiPool")
def max_roi_pool(schema: Schema) -> Iterable[Form]:
    rois = np.array([[0, 1, 1, 5, 6], [1, 0, 0, 3, 3]], np.float32)
    yield Form((normal(2, 3, 8, 8), rois), {"pooled_shape": [2, 2]})
    yield Form((normal(2, 3, 8, 8), rois), {"pooled_shape": [2, 3], "spatial_scale": 0.5})


@forms("RoiAlign")
def roi_align(schema: Schema) -> Iterable[Form]:
    rois = np.array([[1, 1, 5, 6], [0, 0, 3, 3]], np.float32)
    inputs = (normal(2, 3, 8, 8), rois, ints(0, 1))
    sizes = {"output_height": 2, "output_width": 3, "spatial_scale": 0.5, "sampling_ratio": 2}
    yield Form(inputs, sizes)
    yield Form(inputs, {**sizes, "sampling_ratio": 0, "mode": "max"})
    if has(schema, "coordinate_transformation_mode"):
        yield Form(inputs, {**sizes, "coordinate_transformation_mode": "output_half_pixel"})


# -- resampling ------------------------------------------------------------------------------


@forms("Upsample")
def upsample(schema: Schema) -> Iterable[Form]:
    x = normal(1, 2, 3, 4)
    for mode in ("nearest", "linear"):
        scales = [1.0, 1.0, 2.0, 3.0]
        wanted = (x.repeat(2, 2).repeat(3, 3),) if mode == "nearest" else None
        if has(schema, "height_scale"):
            named = {"height_scale": 2.0, "width_scale": 3.0}
            if mode == "nearest":  # its linear mode is called bilinear
                yield Form((x,), {**named, "mode": mode}, expected=wanted)
        elif has(schema, "scales"):
            yield Form((x,), {"scales": scales, "mode": mode}, expected=wanted)
        else:
            yield Form((x, np.array(scales, np.float32)), {"mode": mode}, expected=wanted)


@forms("Resize")
def resize(schema: Schema) -> Iterable[Form]:
    x = normal(1, 2, 4, 6)
    up, down = (np.array([1, 1, h, w], np.float32) for h, w in ((2, 1.5), (0.5, 0.6)))
    if schema.since_version == 10:
        for scales in (up, down):
            for mode in ("nearest", "linear"):
                yield Form((x, scales), {"mode": mode})
        return
    roi = None if schema.since_version >= 13 else np.zeros(0, np.float32)
    empty = None if schema.since_version >= 13 else np.zeros(0, np.float32)
    turns = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    turns += ["half_pixel_symmetric"] * (schema.since_version >= 19)
    for turn in turns:
        for mode in ("nearest", "linear", "cubic"):
            how = {"mode": mode, "coordinate_transformation_mode": turn}
            if mode == "cubic" and turn == "align_corners":
                continue  # ONNX Runtime differs from the standard there by rounding of sizes
            yield Form((x, roi, up), how, tolerance=1e-4)
            yield Form((x, roi, empty, ints(1, 2, 8, 5)), how, tolerance=1e-4)
    for rounding in ("round_prefer_ceil", "floor", "ceil"):
        yield Form((x, roi, up), {"nearest_mode": rounding})
    box = np.array([0, 0, 0.1, 0.2, 1, 1, 0.8, 1.2], np.float32)
    crop = {"coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear"}
    yield Form((x, box, empty, ints(1, 2, 3, 3)), {**crop, "extrapolation_value": 7.0})
    if has(schema, "antialias"):
        for mode in ("linear", "cubic"):
            yield Form((x, None, down), {"mode": mode, "antialias": 1}, tolerance=1e-4)
        keep = {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"}
        yield Form((x, None, None, ints(3, 9)), keep)


@forms("GridSample")
def grid_sample(schema: Schema) -> Iterable[Form]:
    x, grid = normal(1, 2, 4, 5), np.tanh(normal(1, 3, 3, 2)) * np.float32(1.1)
    renamed = schema.since_version >= 20
    modes = ("nearest", *(("linear", "cubic") if renamed else ("bilinear", "bicubic")))
    for mode in modes:
        for padding in ("zeros", "border", "reflection"):
            for align in (0, 1):
                how = {"mode": mode, "padding_mode": padding, "align_corners": align}
                yield Form((x, grid), how, tolerance=1e-4)


# -- quantisation ----------------------------------------------------------------------------


@forms("QuantizeLinear")
def quantize_linear(schema: Schema) -> Iterable[Form]:
    x, scale = normal(3, 4) * 5, np.array(0.1, np.float32)
    yield Form((x, scale, np.array(128, np.uint8)))
    yield Form((x, scale, np.array(-3, np.int8)))
    yield Form((x, scale))
    if has(schema, "axis"):
        scales = np.array([0.1, 0.2, 0.4, 0.05], np.float32)
        yield Form((x, scales, ints(1, 2, 3, 4, dtype=np.uint8)), {"axis": 1})
        yield Form((x, scales[:3], ints(1, 2, 3, dtype=np.int8)), {"axis": -2})
    if schema.since_version >= 19:
        yield Form((x, scale, np.array(0, ml_dtypes.float8_e4m3fn)))
    if has(schema, "block_size"):
        many = positive(3, 2)
        yield Form((x, many, np.zeros((3, 2), np.uint8)), {"axis": 1, "block_size": 2})
        yield Form((x, scale, np.array(5, np.int16)))


@forms("DequantizeLinear")
def dequantize_linear(schema: Schema) -> Iterable[Form]:
    x = ints([[0, 100, 255, 7], [1, 2, 3, 4]], dtype=np.uint8)
    scale = np.array(0.1, np.float32)
    yield Form((x, scale, np.array(128, np.uint8)))
    yield Form((x, scale))
    yield Form((x.astype(np.int32), scale))
    if has(schema, "axis"):
        scales = np.array([0.1, 0.2, 0.4, 0.05], np.float32)
        yield Form((x, scales, ints(1, 2, 3, 4, dtype=np.uint8)), {"axis": 1})
        yield Form((x, scales[:2], ints(1, 2, dtype=np.uint8)), {"axis": 0})
    if schema.since_version >= 19:
        yield Form((normal(4).astype(ml_dtypes.float8_e4m3fn), scale))
    if has(schema, "block_size"):
        yield Form((x, positive(2, 2)), {"axis": 1, "block_size": 2})


@forms("QLinearMatMul")
def q_linear_mat_mul(schema: Schema) -> Iterable[Form]:
    a = ints([[208, 236, 0, 238], [3, 214, 255, 29]], dtype=np.uint8)
    b = ints([[152, 51], [60, 26], [0, 127], [235, 20]], dtype=np.uint8)
    scales = [np.array(s, np.float32) for s in (0.0066, 0.00705, 0.0107)]
    zeros = [np.array(z, np.uint8) for z in (113, 114, 118)]
    yield Form((a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zeros[2]))


# -- recurrent -------------------------------------------------------------------------------


@forms("RNN", "GRU", "LSTM")
def recurrent(schema: Schema) -> Iterable[Form]:
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[schema.name]
    count = 3 if schema.name == "LSTM" else 2
    old: dict[str, Any] = {"output_sequence": 1} if has(schema, "output_sequence") else {}
    for directions, direction in ((1, "forward"), (1, "reverse"), (2, "bidirectional")):
        x = normal(5, 2, 3)
        w, r = normal(directions, gates * 4, 3), normal(directions, gates * 4, 4, seed=1)
        b = normal(directions, 2 * gates * 4)
        how = {"hidden_size": 4, "direction": direction, **old}
        start = normal(directions, 2, 4, seed=5)
        yield Form((x, w, r), how, outputs=count)
        yield Form((x, w, r, b, ints(5, 3, dtype=np.int32), start), how, outputs=count)
        if has(schema, "linear_before_reset"):
            yield Form((x, w, r, b), {**how, "linear_before_reset": 1}, outputs=count)
        yield Form((x, w, r, b), {**how, "clip": 0.5}, outputs=count)
    if schema.name == "LSTM":
        inputs = (x, w, r, b, None, start, start, normal(2, 12))
        yield Form(inputs, how, outputs=count)
        yield Form((x, w, r, b), {**how, "input_forget": 1}, outputs=count)
    if has(schema, "layout"):
        yield Form((x, w, r, b), {**how, "layout": 0}, outputs=count)


# -- losses, sound, linear algebra, attention ------------------------------------------------


@forms("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss")
def loss(schema: Schema) -> Iterable[Form]:
    x = -positive(3, 4) if schema.name[0] == "N" else normal(3, 4)
    for reduction in ("mean", "sum", "none"):
        yield Form((x, ints(0, 3, 1)), {"reduction": reduction})
        weighted = {"reduction": reduction, "ignore_index": 1}
        yield Form((x, ints(0, 3, 1), positive(4)), weighted)


@forms("DFT")
def dft(schema: Schema) -> Iterable[Form]:
    x = normal(2, 8, 1)
    for flags in ({}, {"onesided": 1}):
        if has(schema, "axis"):
            yield Form((x,), {**flags, "axis": 1}, tolerance=1e-4)
        else:
            yield Form((x, None, np.array(1)), flags, tolerance=1e-4)
    rotated = normal(2, 8, 2)
    if has(schema, "axis"):
        yield Form((rotated,), {"inverse": 1, "axis": 1}, tolerance=1e-4)
    else:
        yield Form((rotated, None, np.array(1)), {"inverse": 1}, tolerance=1e-4)


@forms("Det")
def det(schema: Schema) -> Iterable[Form]:
    yield Form((normal(3, 3),))
    yield Form((normal(2, 4, 4),))


@forms("Attention")
def attention(schema: Schema) -> Iterable[Form]:
    q, k, v = (normal(2, 2, 4, 8, seed=s) for s in range(3))
    yield Form((q, k, v))
    yield Form((q, k, v), {"is_causal": 1})
    yield Form((q, k, v, normal(4, 4)), {"scale": 0.3})


# -- chance ----------------------------------------------------------------------------------


@forms("RandomNormal", "RandomUniform")
def random(schema: Schema) -> Iterable[Form]:
    yield Form((), {"shape": [3, 4]}, random=True)
    yield Form((), {"shape": [3], "dtype": TensorProto.DOUBLE, "seed": 3.0}, random=True)


@forms("RandomNormalLike", "RandomUniformLike", "Bernoulli")
def random_like(schema: Schema) -> Iterable[Form]:
    yield Form((positive(3, 4) / 9,), random=True)
    yield Form((positive(3, 4) / 9,), {"dtype": TensorProto.DOUBLE}, random=True)


@forms("Multinomial")
def multinomial(schema: Schema) -> Iterable[Form]:
    yield Form((normal(2, 4),), {"sample_size": 5}, random=True)


# -- sequences, optionals, bodies ------------------------------------------------------------


@forms("SplitToSequence")
def split_to_sequence(schema: Schema) -> Iterable[Form]:
    yield Form((normal(4, 3),))
    yield Form((normal(4, 3), np.array(3)))
    yield Form((normal(4, 3), ints(1, 3)))
    yield Form((normal(4, 3),), {"keepdims": 0, "axis": 1})


@forms("OptionalHasElement", "OptionalGetElement")
def optional(schema: Schema) -> Iterable[Form]:
    x = normal(3, 4)
    if schema.since_version >= 18:  # before, only an optional could be asked
        wanted = np.array(True) if "Has" in schema.name else x
        yield Form((x,), expected=(wanted,))


def _info(name: str, kind: int = TensorProto.FLOAT, shape: Any = None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _constant(name: str, value: float) -> onnx.GraphProto:
    tensor = helper.make_tensor("v", TensorProto.FLOAT, [2], [value, value])
    node = helper.make_node("Constant", [], [name], value=tensor)
    return helper.make_graph([node], name, [], [_info(name, shape=[2])])


@forms("If")
def if_(schema: Schema) -> Iterable[Form]:
    for condition in (True, False):
        bodies = {"then_branch": _constant("t", 1.0), "else_branch": _constant("e", 2.0)}
        wanted = (np.full(2, 1.0 if condition else 2.0, np.float32),)
        yield Form((np.array(condition),), bodies, expected=wanted)


@forms("Loop")
def loop(schema: Schema) -> Iterable[Form]:
    nodes = [
        helper.make_node("Identity", ["go"], ["go_on"]),
        helper.make_node("Add", ["x", "x"], ["twice"]),
        helper.make_node("Identity", ["twice"], ["seen"]),
    ]
    inputs = [_info("i", 7, []), _info("go", 9, []), _info("x", shape=[2])]
    outputs = [_info("go_on", 9, []), _info("twice", shape=[2]), _info("seen", shape=[2])]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    x = normal(2)
    wanted = (x * 8, np.stack([x * 2, x * 4, x * 8]))
    start = (np.array(3), np.array(True), x)
    yield Form(start, {"body": body}, outputs=2, expected=wanted)


@forms("Scan")
def scan(schema: Schema) -> Iterable[Form]:
    nodes = [
        helper.make_node("Add", ["s", "x"], ["total"]),
        helper.make_node("Identity", ["total"], ["seen"]),
    ]
    inputs = [_info("s", shape=[2]), _info("x", shape=[2])]
    outputs = [_info("total", shape=[2]), _info("seen", shape=[2])]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    how = {"body": body, "num_scan_inputs": 1}
    if schema.since_version == 8:
        start, x = normal(3, 2), normal(3, 4, 2)
        wanted = (start + x.sum(1), start[:, None] + x.cumsum(1))
        yield Form((None, start, x), how, outputs=2, expected=wanted)
        return
    start, x = normal(2), normal(4, 2)
    yield Form((start, x), how, outputs=2, expected=(start + x.sum(0), start + x.cumsum(0)))
    yield Form((start, x), {**how, "scan_input_directions": [1]}, outputs=2)
    yield Form((start, x), {**how, "scan_output_directions": [1]}, outputs=2)
