"""Recurrent layers and cells.

Weights of layer ``k``: ``weight_ih_l{k}``, ``weight_hh_l{k}``, ``bias_ih_l{k}``,
``bias_hh_l{k}``; those of the backward direction end in ``_reverse``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.nn import functional as F
from onemodel.nn import init
from onemodel.nn.linear import weight
from onemodel.nn.module import Module
from onemodel.nn.parameter import Parameter
from onemodel.tensors.tensor import Tensor

Generator = np.random.Generator


class _RNNBase(Module):
    _gates: int

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if input_size < 1 or hidden_size < 1 or num_layers < 1:
            raise ValueError(
                f"{name}: input_size, hidden_size and num_layers must be positive, "
                f"not {input_size}, {hidden_size}, {num_layers}"
            )
        if not 0 <= dropout <= 1:
            raise ValueError(f"{name}: dropout must lie between 0 and 1, not {dropout}")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        rows = self._gates * hidden_size
        for suffix, width in self._suffixes():
            self.register_parameter(f"weight_ih{suffix}", weight(rows, width, dtype=dtype))
            self.register_parameter(f"weight_hh{suffix}", weight(rows, hidden_size, dtype=dtype))
            if bias:
                self.register_parameter(f"bias_ih{suffix}", weight(rows, dtype=dtype))
                self.register_parameter(f"bias_hh{suffix}", weight(rows, dtype=dtype))
        self.reset_parameters(generator)

    def _suffixes(self) -> list[tuple[str, int]]:
        """Name suffix and input width of every layer and direction, in state-dict order."""
        directions = ("", "_reverse") if self.bidirectional else ("",)
        found = []
        for layer in range(self.num_layers):
            width = self.input_size if layer == 0 else self.hidden_size * len(directions)
            found += [(f"_l{layer}{direction}", width) for direction in directions]
        return found

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw all weights anew, uniform within ``1 / sqrt(hidden_size)``."""
        reset_uniform(self, self.hidden_size, generator)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """Weights per layer and direction."""
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")[: 4 if self.bias else 2]
        return [[getattr(self, kind + s) for kind in kinds] for s, _ in self._suffixes()]

    def _run(self, function: Any, input: Tensor, hx: Any, lengths: Any, **options: Any) -> Any:
        return function(
            input,
            hx,
            [*self._parameters.values()],
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
            lengths=lengths,
            **options,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}"]
        if self.num_layers != 1:
            parts.append(f"num_layers={self.num_layers}")
        if not self.bias:
            parts.append("bias=False")
        if self.batch_first:
            parts.append("batch_first=True")
        if self.dropout:
            parts.append(f"dropout={self.dropout}")
        if self.bidirectional:
            parts.append("bidirectional=True")
        return ", ".join(parts)


class RNN(_RNNBase):
    """``h' = tanh(W_ih x + b_ih + W_hh h + b_hh)`` over a sequence, or with relu.

    (input [T, B, input_size], h0 [layers * directions, B, H] or None) ->
    (output [T, B, directions * H], h_n); [B, T, ...] with ``batch_first``, no B for a single
    sequence. ``lengths`` [B]: steps beyond are padding. ``dropout`` acts between layers.
    Source: ``torch.nn.RNN``.
    """

    _gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: nonlinearity must be 'tanh' or 'relu', not {nonlinearity!r}")
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            dtype=dtype, generator=generator,
        )  # fmt: skip
        self.nonlinearity = nonlinearity

    def forward(
        self, input: Tensor, hx: Tensor | None = None, *, lengths: Any = None
    ) -> tuple[Tensor, Tensor]:
        return self._run(F.rnn, input, hx, lengths, nonlinearity=self.nonlinearity)


class LSTM(_RNNBase):
    """Long short-term memory over a sequence (Hochreiter and Schmidhuber, 1997).

    (input [T, B, input_size], (h0, c0) [layers * directions, B, H] or None) ->
    (output [T, B, directions * H], (h_n, c_n)); [B, T, ...] with ``batch_first``, no B for a
    single sequence. Gates in the order i, f, g, o. ``lengths`` [B]: steps beyond are padding.
    ``dropout`` acts between layers. Raises ValueError for a projection (``proj_size``), which
    ONNX has not. Source: ``torch.nn.LSTM``.
    """

    _gates = 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        if proj_size:
            raise ValueError(
                "LSTM: proj_size has no counterpart in ONNX; put an nn.Linear behind the LSTM"
            )
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            dtype=dtype, generator=generator,
        )  # fmt: skip

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None, *, lengths: Any = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        output, h_n, c_n = self._run(F.lstm, input, hx, lengths)
        return output, (h_n, c_n)


class GRU(_RNNBase):
    """Gated recurrent unit over a sequence (Cho et al., 2014).

    (input [T, B, input_size], h0 [layers * directions, B, H] or None) ->
    (output [T, B, directions * H], h_n); [B, T, ...] with ``batch_first``, no B for a single
    sequence. Gates in the order r, z, n. ``lengths`` [B]: steps beyond are padding.
    Source: ``torch.nn.GRU``.
    """

    _gates = 3

    def forward(
        self, input: Tensor, hx: Tensor | None = None, *, lengths: Any = None
    ) -> tuple[Tensor, Tensor]:
        return self._run(F.gru, input, hx, lengths)


class _Cell(Module):
    """One step: weights ``weight_ih``, ``weight_hh``, ``bias_ih``, ``bias_hh``."""

    _gates: int

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        rows = self._gates * hidden_size
        self.weight_ih = weight(rows, input_size, dtype=dtype)
        self.weight_hh = weight(rows, hidden_size, dtype=dtype)
        self.bias_ih: Parameter | None
        self.bias_hh: Parameter | None
        self.register_parameter("bias_ih", weight(rows, dtype=dtype) if bias else None)
        self.register_parameter("bias_hh", weight(rows, dtype=dtype) if bias else None)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw all weights anew, uniform within ``1 / sqrt(hidden_size)``."""
        reset_uniform(self, self.hidden_size, generator)

    def _gates_of(self, input: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """What the input and what the state say to every gate."""
        return (
            F.linear(input, self.weight_ih, self.bias_ih),
            F.linear(hidden, self.weight_hh, self.bias_hh),
        )

    def _zeros(self, input: Tensor) -> Tensor:
        # By the sizes of the input, so that a symbolic batch stays symbolic.
        return F.zeros((*input.shape[:-1], self.hidden_size), dtype=input.dtype)

    def extra_repr(self) -> str:
        bias = "" if self.bias_ih is not None else ", bias=False"
        return f"{self.input_size}, {self.hidden_size}{bias}"


class RNNCell(_Cell):
    """One step of :class:`RNN`: (x [B, input_size], h [B, H] or None) -> h'.

    Source: ``torch.nn.RNNCell``.
    """

    _gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, dtype=dtype, generator=generator)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"RNNCell: nonlinearity must be 'tanh' or 'relu', not {nonlinearity!r}"
            )
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        of_input, of_state = self._gates_of(input, self._zeros(input) if hx is None else hx)
        total = of_input + of_state
        return F.tanh(total) if self.nonlinearity == "tanh" else F.relu(total)


class LSTMCell(_Cell):
    """One step of :class:`LSTM`: (x [B, input_size], (h, c) or None) -> (h', c').

    Source: ``torch.nn.LSTMCell``.
    """

    _gates = 4

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        if hx is None:
            hx = (self._zeros(input), self._zeros(input))
        hidden, cell = hx
        of_input, of_state = self._gates_of(input, hidden)
        i, f, g, o = (of_input + of_state).chunk(4, -1)
        cell = F.sigmoid(f) * cell + F.sigmoid(i) * F.tanh(g)
        return F.sigmoid(o) * F.tanh(cell), cell


class GRUCell(_Cell):
    """One step of :class:`GRU`: (x [B, input_size], h [B, H] or None) -> h'.

    Source: ``torch.nn.GRUCell``.
    """

    _gates = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        hidden = self._zeros(input) if hx is None else hx
        of_input, of_state = self._gates_of(input, hidden)
        input_r, input_z, input_n = of_input.chunk(3, -1)
        state_r, state_z, state_n = of_state.chunk(3, -1)
        update = F.sigmoid(input_z + state_z)
        new = F.tanh(input_n + F.sigmoid(input_r + state_r) * state_n)
        return (1 - update) * new + update * hidden


def reset_uniform(module: Module, hidden_size: int, generator: Generator | None) -> None:
    """Every parameter uniform within ``1 / sqrt(hidden_size)``."""
    bound = 1 / math.sqrt(hidden_size)
    for parameter in module.parameters():
        init.uniform_(parameter, -bound, bound, generator)
