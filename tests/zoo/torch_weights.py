"""Weights of the architectures as PyTorch drew them, out of files that PyTorch's exporters wrote.

Exporters keep most names of the state dict, transpose the weight of a linear layer that meets
more than two axes, fold BatchNorm into the convolution before it, stack the weights of recurrent
layers in ONNX's order, and share tensors of equal contents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from onemodel import nn

# PyTorch's order of the gates -> their places in ONNX's.
_GATES = {nn.LSTM: (0, 2, 3, 1), nn.GRU: (1, 0, 2), nn.RNN: (0,)}


def torch_state(model: nn.Module, path: Path) -> dict[str, np.ndarray]:
    """A state dict for ``model``. What all files leave out is constant from the start."""
    graph = onnx.load(path).graph
    stored = {value.name: numpy_helper.to_array(value) for value in graph.initializer}
    own = {name: np.asarray(tensor.detach()) for name, tensor in model.state_dict().items()}
    state = {name: array for name, array in stored.items() if name in own}
    for prefix, module in model.named_modules():
        if type(module) in _GATES:
            state.update(_recurrent(prefix, module, stored, graph))
    state.update(_folded(model, stored))
    missing = [name for name, array in own.items() if name not in state and array.ndim == 2]
    state.update(_transposed({name: own[name] for name in missing}, stored))
    for name, array in own.items():
        if name not in state:
            constant = array.size and (array == array.flat[0]).all()
            assert constant, f"{path.name} holds nothing for {name}"
            state[name] = array
    return {name: array.reshape(own[name].shape) for name, array in state.items()}


def _transposed(
    missing: Mapping[str, np.ndarray], stored: Mapping[str, np.ndarray]
) -> Iterator[tuple[str, np.ndarray]]:
    """Nameless matrices, in the order of their use, which is that of the modules."""
    nameless = [a for n, a in stored.items() if n.startswith(("val_", "onnx::")) and a.ndim == 2]
    for name, array in missing.items():
        found = next(i for i, a in enumerate(nameless) if a.shape == array.shape[::-1])
        yield name, nameless.pop(found).T


def _folded(model: nn.Module, stored: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """BatchNorms that only add the bias which folding gave to the convolution before them."""
    before = ""
    for name, module in model.named_modules():
        if isinstance(module, nn.BatchNorm2d):
            bias = stored[f"{before}.weight_bias"]
            yield f"{name}.bias", bias
            yield f"{name}.weight", np.ones_like(bias)
            yield f"{name}.running_mean", np.zeros_like(bias)
            yield f"{name}.running_var", np.full_like(bias, 1.0 - module.eps)
        elif isinstance(module, nn.Conv2d):
            before = name


def _recurrent(
    prefix: str, module: nn.Module, stored: Mapping[str, np.ndarray], graph: onnx.GraphProto
) -> Iterator[tuple[str, np.ndarray]]:
    """One node per layer: W and R [directions, gates*hidden, ...], B both biases side by side."""
    order = _GATES[type(module)]
    nodes = [node for node in graph.node if node.op_type == type(module).__name__]
    for layer, node in enumerate(nodes):
        weight, recurrence, biases = (stored[name] for name in node.input[1:4])
        for direction, suffix in enumerate(("", "_reverse")[: len(weight)]):
            half = biases.shape[1] // 2
            parts = {
                "weight_ih": weight[direction],
                "weight_hh": recurrence[direction],
                "bias_ih": biases[direction, :half],
                "bias_hh": biases[direction, half:],
            }
            for name, array in parts.items():
                gates = np.split(array, len(order))
                yield (
                    f"{prefix}.{name}_l{layer}{suffix}",
                    np.concatenate([gates[place] for place in order]),
                )
