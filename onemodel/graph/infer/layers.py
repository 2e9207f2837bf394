"""Sizes after element-wise nodes, reductions, products, windows, layers and resampling."""

from __future__ import annotations

from fractions import Fraction

from onemodel.axes.extent import Extent
from onemodel.axes.windows import window
from onemodel.graph.infer.view import (
    ONE,
    Dim,
    Dims,
    UnknownError,
    View,
    broadcast_dims,
    place_of,
    shape_rule,
)


def names(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


_SAME = names(
    """
    Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cast CastLike Ceil Celu Clip Cos Cosh
    CumProd CumSum DequantizeLinear Dropout Elu Erf Exp EyeLike Floor Gelu GroupNormalization
    HardSigmoid HardSwish Hardmax Identity InstanceNormalization IsInf IsNaN LRN LeakyRelu Log
    LogSoftmax LpNormalization MeanVarianceNormalization Mish Neg Not PRelu QuantizeLinear
    RMSNormalization RandomNormalLike RandomUniformLike Reciprocal Relu ReverseSequence Round
    Scatter ScatterElements ScatterND Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign
    Sqrt Swish Tan Tanh ThresholdedRelu Trilu Bernoulli RotaryEmbedding
    """
)


@shape_rule(*_SAME)
def same(view: View) -> list[Dims]:
    return [view.known()] * (2 if view.node.op_type == "Dropout" else 1)


@shape_rule("Binarizer", "Imputer", "Normalizer", "Scaler", domain="ai.onnx.ml")
def same_table(view: View) -> list[Dims]:
    return [view.known()]


@shape_rule("BatchNormalization")
def batch_normalization(view: View) -> list[Dims]:
    dims = view.known()
    statistics = dims[1:2] if view.opset >= 9 and len(dims) > 1 else None
    return [dims, *[statistics] * (view.outputs - 1)]


@shape_rule("LayerNormalization")
def layer_normalization(view: View) -> list[Dims]:
    dims = view.known()
    axis = place_of(view.attribute("axis", -1), len(dims))
    reduced = (*dims[:axis], *[ONE] * (len(dims) - axis))
    return [dims, reduced, reduced]


@shape_rule("Attention")
def attention(view: View) -> list[Dims]:
    (batch, heads, length, _), value = view.known(0), view.known(2)
    return [(batch, heads, length, value[-1]), *[None] * (view.outputs - 1)]


@shape_rule("DynamicQuantizeLinear")
def dynamic_quantize_linear(view: View) -> list[Dims]:
    return [view.known(), (), ()]


@shape_rule(
    *names(
        "Add Sub Mul Div Pow And Or Xor Equal Less Greater LessOrEqual GreaterOrEqual Mod BitShift "
        "BitwiseAnd BitwiseOr BitwiseXor Where Max Min Sum Mean"
    )
)
def broadcasting(view: View) -> list[Dims]:
    if view.opset < 7:  # the second operand was fitted to the first
        return [view.known()]
    return [broadcast_dims(*(view.dims(place) for place in range(len(view.node.inputs))))]


_KINDS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")


@shape_rule(*(f"Reduce{kind}" for kind in _KINDS))
def reduce(view: View) -> list[Dims]:
    dims = view.known()
    keep = view.attribute("keepdims", 1)
    try:
        axes = view.axes(1)
    except UnknownError:
        if not keep:
            raise
        return [(None,) * len(dims)]
    if not axes:
        if view.attribute("noop_with_empty_axes", 0):
            return [dims]
        axes = list(range(len(dims)))
    gone = {place_of(axis, len(dims)) for axis in axes}
    if keep:
        return [tuple(ONE if place in gone else dim for place, dim in enumerate(dims))]
    return [tuple(dim for place, dim in enumerate(dims) if place not in gone)]


@shape_rule("ArgMax", "ArgMin")
def arg_reduce(view: View) -> list[Dims]:
    dims = view.known()
    axis = place_of(view.attribute("axis", 0), len(dims))
    kept = (ONE,) if view.attribute("keepdims", 1) else ()
    return [(*dims[:axis], *kept, *dims[axis + 1 :])]


# -- products --------------------------------------------------------------------------------


def _product(left: tuple[Dim, ...], right: tuple[Dim, ...]) -> Dims:
    if not left or not right:
        raise UnknownError
    batch = broadcast_dims(left[:-2], right[:-2])
    assert batch is not None
    return (*batch, *left[-2:-1], *(right[-1:] if len(right) > 1 else ()))


@shape_rule("MatMul", "MatMulInteger")
def mat_mul(view: View) -> list[Dims]:
    return [_product(view.known(0), view.known(1))]


@shape_rule("QLinearMatMul")
def q_linear_mat_mul(view: View) -> list[Dims]:
    return [_product(view.known(0), view.known(3))]


@shape_rule("Gemm")
def gemm(view: View) -> list[Dims]:
    (a, b), (c, d) = view.known(0), view.known(1)
    rows = b if view.attribute("transA", 0) else a
    columns = c if view.attribute("transB", 0) else d
    return [(rows, columns)]


# -- windows ---------------------------------------------------------------------------------


def _windows(view: View, dims: tuple[Dim, ...], kernel: list[Dim]) -> list[Dim]:
    """The spatial sizes after a window."""
    count = len(kernel)
    strides = view.attribute("strides") or [1] * count
    dilations = view.attribute("dilations") or [1] * count
    pads = view.attribute("pads") or [0] * (2 * count)
    auto = view.attribute("auto_pad", "NOTSET")
    result: list[Dim] = []
    for i, size in enumerate(dims[-count:] if count else ()):
        if size is None or kernel[i] is None:
            result.append(None)
            continue
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            result.append(size.ceildiv(strides[i]))
            continue
        begin, end = (0, 0) if auto == "VALID" else (pads[i], pads[i + count])
        whole = window(size, kernel[i], strides[i], begin, end, dilations[i])  # type: ignore[arg-type]
        if view.attribute("ceil_mode", 0):
            covered = size + begin + end - (kernel[i] - 1) * dilations[i] - 1  # type: ignore[operator]
            more = covered.ceildiv(strides[i]) + 1
            # The partial window counts unless it would start behind the input.
            whole = more.minimum((size + begin).ceildiv(strides[i]))
        result.append(whole)
    return result


def _conv(view: View, dims: tuple[Dim, ...], weight: tuple[Dim, ...]) -> Dims:
    return (dims[0], weight[0], *_windows(view, dims, list(weight[2:])))


@shape_rule("Conv", "ConvInteger", "DeformConv")
def conv(view: View) -> list[Dims]:
    return [_conv(view, view.known(0), view.known(1))]


@shape_rule("QLinearConv")
def q_linear_conv(view: View) -> list[Dims]:
    return [_conv(view, view.known(0), view.known(3))]


@shape_rule("MaxPool", "AveragePool", "LpPool")
def pool(view: View) -> list[Dims]:
    dims = view.known()
    kernel: list[Dim] = [Extent(int(n)) for n in view.attribute("kernel_shape") or ()]
    if len(dims) != len(kernel) + 2:
        raise UnknownError
    return [(*dims[:2], *_windows(view, dims, kernel))] * 2


@shape_rule("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(view: View) -> list[Dims]:
    dims = view.known()
    return [(*dims[:2], *[ONE] * (len(dims) - 2))]


@shape_rule("ConvTranspose")
def conv_transpose(view: View) -> list[Dims]:
    dims, weight = view.known(0), view.known(1)
    count = len(dims) - 2
    channels = weight[1]
    if channels is not None:
        channels = channels * int(view.attribute("group", 1))
    given = view.attribute("output_shape")
    if given:
        return [(dims[0], channels, *(Extent(int(n)) for n in given[-count:]))]
    strides = view.attribute("strides") or [1] * count
    dilations = view.attribute("dilations") or [1] * count
    pads = view.attribute("pads") or [0] * (2 * count)
    extra = view.attribute("output_padding") or [0] * count
    auto = view.attribute("auto_pad", "NOTSET")
    spatial: list[Dim] = []
    for i, (size, kernel) in enumerate(zip(dims[2:], weight[2:], strict=True)):
        if size is None or kernel is None:
            spatial.append(None)
        elif auto in ("SAME_UPPER", "SAME_LOWER"):
            spatial.append(size * strides[i])
        else:
            full = (size - 1) * strides[i] + (kernel - 1) * dilations[i] + extra[i] + 1
            spatial.append(full if auto == "VALID" else full - pads[i] - pads[i + count])
    return [(dims[0], channels, *spatial)]


# -- recurrent -------------------------------------------------------------------------------


@shape_rule("DynamicQuantizeLSTM", domain="com.microsoft")
@shape_rule("LSTM", "GRU", "RNN")
def recurrent(view: View) -> list[Dims]:
    dims, weight = view.known(0), view.known(2)
    if len(dims) != 3 or len(weight) != 3:
        raise UnknownError
    directions: Dim = Extent(2 if view.attribute("direction") == "bidirectional" else 1)
    hidden = weight[1] if view.node.domain else weight[2]  # the foreign one lies the other way
    if view.attribute("hidden_size"):
        hidden = Extent(int(view.attribute("hidden_size")))
    if view.attribute("layout", 0):
        batch, length = dims[0], dims[1]
        state = (batch, directions, hidden)
        return [(batch, length, directions, hidden), state, state]
    length, batch = dims[0], dims[1]
    state = (directions, batch, hidden)
    return [(length, directions, batch, hidden), state, state]


# -- resampling ------------------------------------------------------------------------------


@shape_rule("Resize", "Upsample")
def resize(view: View) -> list[Dims]:
    result = list(view.known())
    axes = [place_of(axis, len(result)) for axis in view.attribute("axes") or range(len(result))]
    places = (2, 3) if view.node.op_type == "Resize" and view.opset >= 11 else (1, None)
    if places[1] is not None and view.has(places[1]) and view.content(places[1]).size:
        if view.attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
            raise UnknownError
        for axis, size in zip(axes, view.vector(places[1]), strict=True):
            result[axis] = size
        return [tuple(result)]
    if view.attribute("coordinate_transformation_mode") == "tf_crop_and_resize":
        return [(None,) * len(result)]
    scales = view.attribute("scales")
    try:
        scales = view.array(places[0]) if scales is None else scales
    except UnknownError:
        return [(None,) * len(result)]
    for axis, scale in zip(axes, scales, strict=True):
        result[axis] = _scaled(result[axis], float(scale))
    return [tuple(result)]


def _scaled(size: Dim, scale: float) -> Dim:
    """``floor(size*scale)`` where the float says a fraction of small powers of two exactly."""
    fraction = Fraction(scale)
    if size is None or fraction.denominator > 64 or fraction <= 0:
        return None
    return size * fraction.numerator // fraction.denominator


@shape_rule("GridSample")
def grid_sample(view: View) -> list[Dims]:
    dims, grid = view.known(0), view.known(1)
    return [(dims[0], dims[1], *grid[1:-1])]
