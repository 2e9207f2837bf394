"""Affine maps of the last axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.nn import functional as F
from onemodel.nn import init
from onemodel.nn.module import Module
from onemodel.nn.parameter import Parameter
from onemodel.tensors.dtypes import as_dtype, get_default_dtype
from onemodel.tensors.tensor import Tensor

Generator = np.random.Generator


def weight(*shape: int, dtype: Any = None) -> Parameter:
    """A parameter of ``shape`` (zeros, to be initialised) in the default or a given dtype."""
    return Parameter(np.zeros(shape, get_default_dtype() if dtype is None else as_dtype(dtype)))


class Identity(Module):
    """The input as it is; arguments are accepted and ignored. Source: ``torch.nn.Identity``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """``input @ weight.T + bias``: [..., in_features] -> [..., out_features].

    Weights: ``weight`` [out_features, in_features], ``bias`` [out_features]; both initially
    uniform within ``1 / sqrt(in_features)``. Source: ``torch.nn.Linear``.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = weight(out_features, in_features, dtype=dtype)
        self.bias: Parameter | None
        self.register_parameter("bias", weight(out_features, dtype=dtype) if bias else None)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw the weights anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5), generator=generator)
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
            init.uniform_(self.bias, -bound, bound, generator)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        has_bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={has_bias}"


class Bilinear(Module):
    """``y_k = x1 @ weight_k @ x2 + bias_k``: [..., in1], [..., in2] -> [..., out_features].

    Weights: ``weight`` [out, in1, in2], ``bias`` [out]. Source: ``torch.nn.Bilinear``.
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = weight(out_features, in1_features, in2_features, dtype=dtype)
        self.bias: Parameter | None
        self.register_parameter("bias", weight(out_features, dtype=dtype) if bias else None)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw the weights anew, uniform within ``1 / sqrt(in1_features)``."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound, generator)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound, generator)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        # [..., in1] @ [in1, out * in2] -> [..., out, in2], then the product with input2.
        size = (self.in1_features, self.out_features * self.in2_features)
        kernel = self.weight.permute(1, 0, 2).reshape(*size)
        maps = (input1 @ kernel).reshape(*input1.shape[:-1], self.out_features, self.in2_features)
        result = (maps @ input2.unsqueeze(-1)).squeeze(-1)
        return result if self.bias is None else result + self.bias

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
