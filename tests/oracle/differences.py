"""Where this library and PyTorch differ on purpose: each with its reason, none without.

Keys are an operator's name and a case's name; "*" stands for all of its cases.
"""

from __future__ import annotations

Key = tuple[str, str]

RANDOM = {
    "bernoulli", "rand", "rand_like", "randint", "randn", "randn_like", "randperm",
}  # fmt: skip
"""Drawn from NumPy's generators, not PyTorch's: shapes and dtypes are compared, not numbers."""

NOT_COMPARED: dict[Key, str] = {
    ("getitem", "a negative step"): "PyTorch has no negative steps; NumPy is the reference",
    ("getitem", "a symbolic axis reversed"): "PyTorch has no negative steps",
    ("embedding", "narrow indices"): "PyTorch takes int32 and int64 indices only",
    ("one_hot", "int32"): "PyTorch takes int64 indices only",
    ("interpolate", "integers"): "PyTorch resizes no integers",
    ("to_blocked", "*"): "PyTorch has blocked layouts only inside oneDNN, unnamed",
    ("topk", "ties"): "among equals PyTorch chooses any; here the first, as ONNX says",
}
"""Cases that PyTorch does not compute, or for which it promises no single answer."""

GRADIENTS: dict[Key, str] = {
    ("binary_cross_entropy", "certain answers"): (
        "the gradient of the target is that of the clamped logarithm, not infinity"
    ),
    ("kl_div", "zeros"): "the gradient of a target of 0 is not NaN",
    ("floor_divide", "*"): "zero almost everywhere; PyTorch has no gradient",
    ("scatter", "a larger source"): "PyTorch has no gradient for a source larger than the index",
}
"""Gradients that differ; values are compared."""

CONSTANT_INPUTS: dict[str, set[int]] = {
    "batch_norm": {1, 2},
    "binary_cross_entropy": {2},
    "binary_cross_entropy_with_logits": {2, 3},
    "cross_entropy": {2},
    "nll_loss": {2},
}
"""Inputs (running statistics, weights of losses) that PyTorch does not differentiate by."""

REFUSED_HERE: dict[Key, str] = {
    ("adaptive_avg_pool2d", "*"): "an axis without elements has no mean, whatever the batch",
    ("batch_norm_training", "*"): "statistics of nothing are refused, whatever the batch",
    ("conv_transpose2d", "stride, output_padding, groups"): "a result of no rows is refused",
    ("median", "all"): "the median of nothing is refused, where PyTorch gives NaN",
}
"""Calls at size 0 that are refused in words although PyTorch answers."""

ANSWERED_HERE: dict[Key, str] = {
    ("conv_transpose1d", "no batch"): "an input without columns gives what the kernel leaves",
    ("embedding_bag", "offsets"): "an offset beyond the input gives an empty bag",
    ("instance_norm", "no weights"): "one element has variance 0; PyTorch refuses it in training",
}
"""Calls at size 0 or 1 that are answered although PyTorch refuses."""

DIFFERENT_HERE: dict[Key, str] = {
    ("pixel_unshuffle", "*"): "of nothing PyTorch returns the input's own shape",
}
"""Calls at size 0 with another answer."""


_PRODUCTS = "0 times infinity is NaN, and which products with 0 are computed differs"

NOT_FINITE: dict[Key, str] = {
    ("sign", "*"): "NaN stays NaN, as in NumPy and ONNX Runtime; PyTorch says 0",
    ("prelu", "*"): "0 stays 0 whatever the slope, as in ONNX; PyTorch multiplies by infinity",
    ("gelu", "*"): "of infinity it is infinity; PyTorch's vectors say NaN",
    ("xlogx", "*"): "its counterpart is defined elsewhere for negative numbers",
    ("topk", "smallest"): "which of several NaN comes first is nobody's promise",
    ("ctc_loss", "*"): "paths of probability NaN",
    ("group_norm", "features"): "a variance that overflows",
    ("interpolate", "trilinear"): "1e30 cancels in another order",
    ("grid_sample", "*"): "places that are NaN",
    **{
        (name, "*"): _PRODUCTS
        for name in (
            "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "conv1d", "conv2d",
            "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "einsum",
            "embedding_bag", "matmul", "linear", "rnn", "lstm", "gru",
            "scaled_dot_product_attention",
        )
    },
    ("interpolate", "antialias"): _PRODUCTS,
}  # fmt: skip
"""Cases whose results differ where inputs are infinite, NaN or near the ends of their dtype."""


def reason(table: dict[Key, str], operator: str, case: str) -> str | None:
    """Why a case is in ``table``, or None."""
    return table.get((operator, case)) or table.get((operator, "*"))
