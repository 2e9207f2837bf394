"""Which values follow from the shapes of the inputs alone.

A *fixed* value has the same bits whenever the inputs have the same shapes; a value of
*fixed shape* at least the same shape. Only node types listed here are trusted to make their
output's shape of nothing but the shapes of their inputs and the inputs named; everything
else counts as depending on data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from onemodel.graph.bind import is_deterministic
from onemodel.graph.ir import Graph, Node, Value
from onemodel.session.program import captures

_TEXT = """
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization
    BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip Concat
    Conv ConvInteger ConvTranspose Cos Cosh CumSum DepthToSpace DequantizeLinear Div Dropout
    DynamicQuantizeLinear Einsum Elu Equal Erf Exp EyeLike Flatten Floor GRU Gather
    GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool Greater
    GreaterOrEqual GridSample GroupNormalization HardSigmoid HardSwish Hardmax Identity
    InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less LessOrEqual
    Log LogSoftmax LpNormalization LpPool MatMul MatMulInteger Max MaxPool Mean
    MeanVarianceNormalization Min Mish Mod Mul Neg Not Or PRelu Pow QLinearConv QLinearMatMul
    QuantizeLinear RMSNormalization RNN Reciprocal Relu ReverseSequence Round ScatterElements
    ScatterND Selu Shape Shrink Sigmoid Sign Sin Sinh Size Softmax Softplus Softsign
    SpaceToDepth Sqrt Sub Sum Swish Tan Tanh ThresholdedRelu Transpose Trilu Where Xor
"""
_SHAPES_ALONE = frozenset(_TEXT.split())

_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")

_SHAPED_BY: Mapping[str, tuple[int, ...]] = {
    "ConstantOfShape": (0,),
    "Expand": (1,),
    "OneHot": (1,),
    "Pad": (1, 3),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "Tile": (1, 2),
    "TopK": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
    **dict.fromkeys((f"Reduce{kind}" for kind in _REDUCTIONS), (1,)),
}


def fixed_values(
    graph: Graph,
    inputs: Iterable[Value],
    constants: Iterable[Value],
    opsets: Mapping[str, int],
) -> tuple[set[Value], set[Value]]:
    """Values computed by nodes of ``graph`` that the shapes of ``inputs`` fix.

    Returns:
        The fixed values, and all values of fixed shape (inputs and constants among them).

    Args:
        graph: nodes in topological order.
        inputs: what a run feeds; only tensors have a shape that counts.
        constants: values that never change.
        opsets: version by domain.
    """
    fixed = set(constants)
    shaped = fixed | {value for value in inputs if not value.type_text}
    found: set[Value] = set()
    for node in graph.nodes:
        values = [value for value in node.inputs if value is not None]
        if any(True for _ in node.subgraphs()):
            values += captures(node)
        if all(v in fixed for v in values) or _asks_for_shape(node, shaped):
            if is_deterministic(node, opsets):
                fixed.update(node.outputs)
                shaped.update(node.outputs)
                found.update(node.outputs)
        elif _has_fixed_shape(node, fixed, shaped):
            shaped.update(node.outputs)
    return found, shaped


def _asks_for_shape(node: Node, shaped: set[Value]) -> bool:
    return not node.domain and node.op_type in ("Shape", "Size") and node.inputs[0] in shaped


def _has_fixed_shape(node: Node, fixed: set[Value], shaped: set[Value]) -> bool:
    if node.domain or not all(value in shaped for value in node.inputs if value is not None):
        return False
    places = _SHAPED_BY.get(node.op_type)
    if places is None:
        return node.op_type in _SHAPES_ALONE
    return all(
        node.inputs[place] is None or node.inputs[place] in fixed
        for place in places
        if place < len(node.inputs)
    )
