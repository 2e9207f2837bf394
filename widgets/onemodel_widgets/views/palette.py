"""What part an operator plays: one role per node type, one colour per role.

Colours follow Okabe and Ito (2008), which stay apart for colour-blind readers;
they never stand alone: the operator's name and the box's shape say it as well.
"""

from __future__ import annotations

from typing import Final

from onemodel.graph.ir import Node

ROLES: Final = {
    "input": "graph input",
    "output": "graph output",
    "weight": "operation with weights",
    "math": "arithmetic",
    "activation": "activation",
    "norm": "normalisation and pooling",
    "layout": "layout and indexing",
    "control": "control flow and logic",
    "module": "folded module",
    "offence": "refused call",
    "ghost": "not reached",
}
"""Role -> what the legend says."""

_GROUPS: Final = {
    "weight": """Conv ConvTranspose ConvInteger DeformConv Gemm MatMul MatMulInteger QLinearConv
        QLinearMatMul LSTM GRU RNN Einsum Attention Embedding EmbedLayerNormalization
        MatMulNBits FusedMatMul FusedConv""",
    "activation": """Relu LeakyRelu PRelu Elu Selu Celu Gelu Sigmoid HardSigmoid HardSwish Swish
        Tanh Softplus Softsign Softmax LogSoftmax Hardmax Mish ThresholdedRelu Shrink Clip
        FastGelu QuickGelu BiasGelu""",
    "norm": """BatchNormalization LayerNormalization InstanceNormalization GroupNormalization
        RMSNormalization LpNormalization MeanVarianceNormalization LRN SkipLayerNormalization
        SimplifiedLayerNormalization Dropout MaxPool AveragePool GlobalMaxPool GlobalAveragePool
        GlobalLpPool LpPool MaxRoiPool RoiAlign MaxUnpool ReduceSum ReduceMean ReduceMax ReduceMin
        ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare""",
    "layout": """Reshape Flatten Squeeze Unsqueeze Transpose Concat Split Slice Gather
        GatherElements GatherND Scatter ScatterElements ScatterND TensorScatter Expand Tile Pad
        Cast CastLike Shape Size Identity DepthToSpace SpaceToDepth Resize Upsample
        ReverseSequence Range ConstantOfShape Constant OneHot EyeLike Trilu Compress NonZero
        Unique TopK Col2Im CenterCropPad GridSample AffineGrid BitCast
        QuantizeLinear DequantizeLinear DynamicQuantizeLinear""",
    "control": """If Loop Scan Where Equal Greater GreaterOrEqual Less LessOrEqual And Or Not Xor
        IsNaN IsInf ArgMax ArgMin NonMaxSuppression SequenceAt SequenceConstruct SequenceEmpty
        SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence
        ConcatFromSequence Optional OptionalGetElement OptionalHasElement RandomNormal
        RandomNormalLike RandomUniform RandomUniformLike Bernoulli Multinomial""",
}

_ROLE_OF: Final = {op: role for role, text in _GROUPS.items() for op in text.split()}


def role_of(node: Node) -> str:
    """The role of a node; arithmetic where nothing else is known."""
    return _ROLE_OF.get(node.op_type, "math")
