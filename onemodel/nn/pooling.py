"""Pooling: maxima, means and norms of windows, of fixed or adapted size."""

from __future__ import annotations

from typing import Any

from onemodel.nn import functional as F
from onemodel.nn.module import Module
from onemodel.tensors.tensor import Tensor


class _MaxPool(Module):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def _pool(self, function: Any, input: Tensor) -> Any:
        return function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """Largest element of every window: [N, C, L] -> [N, C, L'].

    Source: ``torch.nn.MaxPool1d``.
    """

    def forward(self, input: Tensor) -> Any:
        return self._pool(F.max_pool1d, input)


class MaxPool2d(_MaxPool):
    """Largest element of every window: [N, C, H, W] -> [N, C, H', W'].

    ``stride`` None: the kernel's size. ``return_indices``: also where the maxima lie.
    Source: ``torch.nn.MaxPool2d``.
    """

    def forward(self, input: Tensor) -> Any:
        return self._pool(F.max_pool2d, input)


class MaxPool3d(_MaxPool):
    """Largest element of every window: [N, C, D, H, W] -> [N, C, D', H', W'].

    Source: ``torch.nn.MaxPool3d``.
    """

    def forward(self, input: Tensor) -> Any:
        return self._pool(F.max_pool3d, input)


class AvgPool1d(Module):
    """Mean of every window: [N, C, L] -> [N, C, L']. Source: ``torch.nn.AvgPool1d``."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPool(AvgPool1d):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override

    def _pool(self, function: Any, input: Tensor) -> Tensor:
        return function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_AvgPool):
    """Mean of every window: [N, C, H, W] -> [N, C, H', W']. Source: ``torch.nn.AvgPool2d``."""

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(F.avg_pool2d, input)


class AvgPool3d(_AvgPool):
    """Mean of every window: [N, C, D, H, W] -> [N, C, D', H', W'].

    Source: ``torch.nn.AvgPool3d``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(F.avg_pool3d, input)


class _LPPool(Module):
    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def _pool(self, function: Any, input: Tensor) -> Tensor:
        return function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """The ``norm_type`` norm of every window: [N, C, L]. Source: ``torch.nn.LPPool1d``."""

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(F.lp_pool1d, input)


class LPPool2d(_LPPool):
    """The ``norm_type`` norm of every window: [N, C, H, W]. Source: ``torch.nn.LPPool2d``."""

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(F.lp_pool2d, input)


class LPPool3d(_LPPool):
    """The ``norm_type`` norm of every window: [N, C, D, H, W]. Source: ``torch.nn.LPPool3d``."""

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(F.lp_pool3d, input)


class _Adaptive(Module):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """Means of as many windows as ``output_size`` says. Source: ``torch.nn.AdaptiveAvgPool1d``."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_Adaptive):
    """Means of as many windows as ``output_size`` says: [N, C, H, W] -> [N, C, *output_size].

    Source: ``torch.nn.AdaptiveAvgPool2d``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_Adaptive):
    """Means of as many windows as ``output_size`` says. Source: ``torch.nn.AdaptiveAvgPool3d``."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMax(_Adaptive):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def _pool(self, function: Any, input: Tensor) -> Any:
        if self.return_indices:
            return function(input, self.output_size, return_indices=True)
        return function(input, self.output_size)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """Maxima of as many windows as ``output_size`` says. Source: ``torch.nn.AdaptiveMaxPool1d``."""

    def forward(self, input: Tensor) -> Any:
        return self._pool(F.adaptive_max_pool1d, input)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """Maxima of as many windows as ``output_size`` says. Source: ``torch.nn.AdaptiveMaxPool2d``."""

    def forward(self, input: Tensor) -> Any:
        return self._pool(F.adaptive_max_pool2d, input)


class AdaptiveMaxPool3d(_AdaptiveMax):
    """Maxima of as many windows as ``output_size`` says. Source: ``torch.nn.AdaptiveMaxPool3d``."""

    def forward(self, input: Tensor) -> Any:
        return self._pool(F.adaptive_max_pool3d, input)
