"""Every module beside PyTorch's, on PyTorch's weights: results, gradients, statistics.

Optional: without PyTorch the whole file is skipped, and nothing else needs it.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import onemodel as om
from onemodel import nn
from tests.every_operator import suite

torch = pytest.importorskip("torch", reason="PyTorch is an optional oracle, and not installed")

from tests.oracle.comparison import compare  # noqa: E402

torch.set_num_threads(1)

GENERATOR = np.random.default_rng(11)


@dataclass(frozen=True, eq=False)
class Check:
    """One module: its class, constructor, inputs, and what its forward is given besides."""

    name: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[Any, ...] = ((2, 3, 4),)
    call: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = [*map(str, self.args), *(f"{k}={v}" for k, v in self.options.items())]
        return f"{self.name}({', '.join(parts)})"

    def arrays(self) -> list[np.ndarray]:
        """Inputs: drawn where a shape is given, as they are otherwise."""
        generator = np.random.default_rng(5)
        return [
            generator.uniform(-2, 2, given).astype(np.float32)
            if isinstance(given, tuple)
            else given
            for given in self.inputs
        ]


def check(
    name: str, *args: Any, given: Any = ((2, 3, 4),), call: Any = None, **options: Any
) -> Check:
    return Check(name, args, options, tuple(given), call or {})


def whole(high: int, *shape: int) -> np.ndarray:
    return GENERATOR.integers(0, high, shape)


def positive(*shape: int) -> np.ndarray:
    return GENERATOR.uniform(0.05, 0.95, shape).astype(np.float32)


IMAGE, VOLUME, LINE = (2, 4, 6, 7), (2, 4, 5, 6, 7), (2, 4, 9)

ACTIVATIONS = [
    check("CELU", 0.7), check("ELU", 0.7), check("GELU"), check("GELU", approximate="tanh"),
    check("GLU", 2), check("SELU"), check("Hardshrink", 0.3), check("Hardsigmoid"),
    check("Hardswish"), check("Hardtanh", -0.5, 1.5), check("LeakyReLU", 0.2),
    check("LogSigmoid"), check("LogSoftmax", 1), check("Mish"), check("PReLU"), check("PReLU", 3),
    check("ReLU"), check("ReLU6"), check("Sigmoid"), check("SiLU"), check("Softmax", -1),
    check("Softmax2d", given=[IMAGE]), check("Softmin", 1), check("Softplus", 2, 3.0),
    check("Softshrink", 0.3), check("Softsign"), check("Tanh"), check("Tanhshrink"),
    check("Threshold", 0.1, -3.0),
]  # fmt: skip

CONVOLUTIONS = [
    check("Conv1d", 4, 6, 3, stride=2, padding=1, given=[LINE]),
    check("Conv1d", 4, 6, 3, padding="same", padding_mode="circular", given=[LINE]),
    check("Conv2d", 4, 6, (3, 2), dilation=(1, 2), groups=2, given=[IMAGE]),
    check("Conv2d", 4, 6, 3, padding=1, padding_mode="reflect", bias=False, given=[IMAGE]),
    check("Conv2d", 4, 6, 3, padding=2, padding_mode="replicate", given=[IMAGE]),
    check("Conv2d", 4, 8, 3, groups=4, padding="valid", given=[IMAGE[1:]]),
    check("Conv3d", 4, 3, 2, stride=(1, 2, 2), padding=1, given=[VOLUME]),
    check("ConvTranspose1d", 4, 6, 3, stride=2, output_padding=1, given=[LINE]),
    check("ConvTranspose2d", 4, 6, 3, stride=2, padding=1, groups=2, given=[IMAGE]),
    check("ConvTranspose2d", 4, 6, 2, dilation=2, bias=False, given=[IMAGE]),
    check("ConvTranspose3d", 4, 2, 2, stride=2, given=[VOLUME]),
]

NORMS = [
    *(check(f"BatchNorm{d}d", 4, given=[s]) for d, s in ((1, LINE), (2, IMAGE), (3, VOLUME))),
    check("BatchNorm1d", 4, given=[(5, 4)]),
    check("BatchNorm2d", 4, momentum=None, given=[IMAGE]),
    check("BatchNorm2d", 4, 1e-3, 0.3, affine=False, given=[IMAGE]),
    check("BatchNorm2d", 4, track_running_stats=False, given=[IMAGE]),
    *(check(f"InstanceNorm{d}d", 4, given=[s]) for d, s in ((1, LINE), (2, IMAGE), (3, VOLUME))),
    check("InstanceNorm2d", 4, affine=True, track_running_stats=True, given=[IMAGE]),
    check("GroupNorm", 2, 4, given=[IMAGE]), check("GroupNorm", 4, 4, affine=False, given=[LINE]),
    check("LayerNorm", 4), check("LayerNorm", (3, 4), 1e-3), check("LayerNorm", 4, bias=False),
    check("LayerNorm", 4, elementwise_affine=False),
    check("RMSNorm", 4), check("RMSNorm", (3, 4), eps=1e-3),
    check("RMSNorm", 4, elementwise_affine=False),
    check("LocalResponseNorm", 3, 0.01, 0.7, 2.0, given=[IMAGE]),
]  # fmt: skip

POOLING = [
    *(
        check(f"{kind}{d}d", *args, given=[shape])
        for kind, args in (("AdaptiveAvgPool", (3,)), ("AdaptiveMaxPool", (2,)), ("AvgPool", (2,)),
                           ("MaxPool", (3, 1)), ("LPPool", (2, 2)))
        for d, shape in ((1, LINE), (2, IMAGE), (3, VOLUME))
    ),
    check("AdaptiveAvgPool2d", (None, 2), given=[IMAGE]),
    check("AdaptiveMaxPool2d", (2, 3), return_indices=True, given=[IMAGE]),
    check("AvgPool2d", 3, 2, 1, ceil_mode=True, count_include_pad=False, given=[IMAGE]),
    check("AvgPool2d", 2, divisor_override=3, given=[IMAGE]),
    check("MaxPool2d", 3, 2, 1, dilation=2, return_indices=True, given=[IMAGE]),
    check("MaxPool2d", 2, ceil_mode=True, given=[IMAGE]),
    check("LPPool1d", 3, 3, 2, ceil_mode=True, given=[LINE]),
]  # fmt: skip

PADDING = [
    *(
        check(f"{kind}Pad{d}d", *args, given=[shape])
        for kind, args in (("Circular", (1,)), ("Constant", (2, 0.7)), ("Reflection", (2,)),
                           ("Replication", (3,)), ("Zero", (1,)))
        for d, shape in ((1, LINE), (2, IMAGE), (3, VOLUME))
    ),
    check("ReflectionPad2d", (1, 2, 0, 3), given=[IMAGE]),
    check("ConstantPad2d", (-1, 2, 1, -2), 1.5, given=[IMAGE]),
]  # fmt: skip

SHAPES = [
    check("ChannelShuffle", 2, given=[IMAGE]), check("Flatten"), check("Flatten", 0, 1),
    check("Fold", (5, 6), 2, given=[(2, 8, 20)]), check("Unfold", (2, 3), 1, 1, 2, given=[IMAGE]),
    check("PixelShuffle", 2, given=[IMAGE]), check("PixelUnshuffle", 2, given=[(2, 3, 4, 6)]),
    check("Unflatten", 2, (2, 2)), check("Upsample", scale_factor=2, given=[IMAGE]),
    check("Upsample", (5, 9), mode="bilinear", align_corners=True, given=[IMAGE]),
    check("Upsample", scale_factor=1.5, mode="linear", given=[LINE]),
    check("Upsample", scale_factor=1.5, mode="trilinear", given=[VOLUME]),
    check("Upsample", (4, 11), mode="bicubic", given=[IMAGE]),
    check("UpsamplingBilinear2d", scale_factor=2, given=[IMAGE]),
    check("UpsamplingNearest2d", (9, 8), given=[IMAGE]),
]  # fmt: skip

LINEAR = [
    check("Linear", 4, 5),
    check("Linear", 4, 5, bias=False),
    check("Identity", 3),
    check("Bilinear", 4, 5, 3, given=[(2, 4), (2, 5)]),
    check("Bilinear", 4, 5, 3, bias=False, given=[(2, 6, 4), (2, 6, 5)]),
    check("Embedding", 7, 4, given=[whole(7, 3, 5)]),
    check("Embedding", 7, 4, padding_idx=2, given=[whole(7, 3, 5)]),
    check("EmbeddingBag", 7, 4, given=[whole(7, 3, 5)]),
    check("EmbeddingBag", 7, 4, mode="sum", padding_idx=1, given=[whole(7, 3, 5)]),
    check("EmbeddingBag", 7, 4, mode="max", given=[whole(7, 9), np.array([0, 4, 7])]),
    check("CosineSimilarity", 2, given=[(2, 3, 4), (2, 3, 4)]),
    check("PairwiseDistance", 3.0, keepdim=True, given=[(5, 4), (5, 4)]),
]

LOSSES = [
    check("BCELoss", given=[positive(4, 3), positive(4, 3)]),
    check("BCEWithLogitsLoss", reduction="sum", given=[(4, 3), positive(4, 3)]),
    check("CrossEntropyLoss", label_smoothing=0.1, given=[(4, 3), whole(3, 4)]),
    check("CrossEntropyLoss", reduction="none", ignore_index=1, given=[(4, 3, 2), whole(3, 4, 2)]),
    check("HuberLoss", delta=0.7, given=[(4, 3), (4, 3)]),
    check("KLDivLoss", reduction="batchmean", given=[(4, 3), positive(4, 3)]),
    check("KLDivLoss", log_target=True, given=[(4, 3), (4, 3)]),
    check("L1Loss", given=[(4, 3), (4, 3)]),
    check("MSELoss", reduction="none", given=[(4, 3), (4, 3)]),
    check("NLLLoss", given=[(4, 3), whole(3, 4)]),
    check("SmoothL1Loss", beta=0.3, given=[(4, 3), (4, 3)]),
]

DROPOUTS = [
    check(name, p, given=[shape])
    for name, shape in (("AlphaDropout", LINE), ("Dropout", LINE), ("Dropout1d", LINE),
                        ("Dropout2d", IMAGE), ("Dropout3d", VOLUME))
    for p in (0.0, 0.5)
]  # fmt: skip

RECURRENT = [
    check(name, 3, 5, *args, given=[(4, 2, 3)], **options)
    for name in ("RNN", "LSTM", "GRU")
    for args, options in (
        ((), {}),
        ((2,), {"bidirectional": True}),
        ((2,), {"batch_first": True, "bias": False}),
        ((1,), {"bidirectional": True, "batch_first": True}),
    )
] + [
    check("RNN", 3, 5, nonlinearity="relu", given=[(4, 2, 3), (1, 2, 5)]),
    check("GRU", 3, 5, 2, given=[(4, 2, 3), (2, 2, 5)]),
    check("LSTM", 3, 5, given=[(4, 3)]),
    check("RNNCell", 3, 5, given=[(2, 3)]),
    check("RNNCell", 3, 5, nonlinearity="relu", given=[(2, 3), (2, 5)]),
    check("LSTMCell", 3, 5, given=[(2, 3)]),
    check("GRUCell", 3, 5, bias=False, given=[(2, 3), (2, 5)]),
]

MASK = np.triu(np.ones((4, 4), bool), 1)
PADDED = np.array([[False, False, False, True], [False, False, True, True]])
PLAIN = {"dropout": 0.0}

ATTENTION = [
    check("MultiheadAttention", 6, 2, given=[(4, 2, 6)] * 3),
    check("MultiheadAttention", 6, 2, batch_first=True, bias=False, given=[(2, 4, 6)] * 3,
          call={"key_padding_mask": PADDED, "attn_mask": MASK}),
    check("MultiheadAttention", 6, 3, batch_first=True, given=[(2, 4, 6)] * 3,
          call={"average_attn_weights": False}),
    check("MultiheadAttention", 6, 2, kdim=3, vdim=5, given=[(4, 2, 6), (5, 2, 3), (5, 2, 5)]),
    check("MultiheadAttention", 6, 2, add_bias_kv=True, given=[(4, 2, 6)] * 3),
    check("MultiheadAttention", 6, 2, add_zero_attn=True, given=[(4, 2, 6)] * 3,
          call={"need_weights": False}),
    check("TransformerEncoderLayer", 6, 2, 8, **PLAIN, given=[(4, 2, 6)]),
    check("TransformerEncoderLayer", 6, 2, 8, **PLAIN, batch_first=True, norm_first=True,
          activation="gelu", given=[(2, 4, 6)],
          call={"src_mask": MASK, "src_key_padding_mask": PADDED}),
    check("TransformerEncoderLayer", 6, 2, 8, **PLAIN, bias=False, batch_first=True,
          given=[(2, 4, 6)], call={"src_mask": MASK, "is_causal": True}),
    check("TransformerDecoderLayer", 6, 2, 8, **PLAIN, given=[(4, 2, 6), (5, 2, 6)]),
    check("TransformerDecoderLayer", 6, 2, 8, **PLAIN, batch_first=True, norm_first=True,
          given=[(2, 4, 6), (2, 5, 6)], call={"tgt_mask": MASK, "tgt_key_padding_mask": PADDED}),
    check("Transformer", 6, 2, 1, 2, 8, **PLAIN, given=[(5, 2, 6), (4, 2, 6)],
          call={"tgt_mask": MASK}),
    check("Transformer", 6, 2, 1, 1, 8, **PLAIN, batch_first=True, norm_first=True,
          given=[(2, 5, 6), (2, 4, 6)], call={"tgt_is_causal": True, "tgt_mask": MASK}),
]  # fmt: skip

CHECKS = [
    *ACTIVATIONS, *CONVOLUTIONS, *NORMS, *POOLING, *PADDING, *SHAPES, *LINEAR, *LOSSES, *DROPOUTS,
    *RECURRENT, *ATTENTION,
]  # fmt: skip

ELSEWHERE = {
    "Module", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict",
    "TransformerEncoder", "TransformerDecoder", "CTCLoss",
}  # fmt: skip
"""Compared below, each in a test of its own; Module computes nothing."""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what PyTorch has to say of its own modules
        yield


def test_every_module_is_compared() -> None:
    classes = {name for name, found in vars(nn).items() if inspect.isclass(found)}
    modules = {name for name in classes if issubclass(getattr(nn, name), nn.Module)}
    assert modules - {one.name for one in CHECKS} - ELSEWHERE == set()


def copy_weights(ours: nn.Module, theirs: Any) -> None:
    """Random weights for both, by the same state-dict paths."""
    generator = np.random.default_rng(1)
    state = theirs.state_dict()
    assert {name: tuple(t.shape) for name, t in state.items()} == {
        name: tuple(t.shape) for name, t in ours.state_dict().items()
    }
    for name, tensor in state.items():
        if tensor.is_floating_point():
            low = 0.5 if name.endswith("running_var") else -0.7
            drawn = generator.uniform(low, 0.9, tuple(tensor.shape)).astype(np.float32)
            tensor.copy_(torch.from_numpy(drawn))
    ours.load_state_dict({name: tensor.numpy().copy() for name, tensor in state.items()})


def compare_run(ours: nn.Module, theirs: Any, arrays: list[np.ndarray], call: Any) -> None:
    """One forward and backward of both, and their states afterwards."""
    given = [om.tensor(array) for array in arrays]
    taken = [torch.from_numpy(array.copy()) for array in arrays]
    for one, other in zip(given, taken, strict=True):
        if one.is_floating_point():
            one.requires_grad_()
            other.requires_grad_()
    ours.zero_grad()
    theirs.zero_grad()
    mine = {name: _tensor(om.tensor, value) for name, value in call.items()}
    yours = {name: _tensor(torch.from_numpy, value) for name, value in call.items()}
    found = list(suite.leaves(ours(*given, **mine)))
    wanted = list(suite.leaves(theirs(*taken, **yours)))
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        compare(one, other)
    found = [result for result in found if result.requires_grad]
    wanted = [result for result in wanted if result.requires_grad]
    assert len(found) == len(wanted)
    if found:
        generator = np.random.default_rng(2)
        weights = [generator.standard_normal(r.shape).astype(np.float32) for r in found]
        om.backward(found, [om.tensor(weight) for weight in weights])
        torch.autograd.backward(wanted, [torch.tensor(weight) for weight in weights])
    names = dict(ours.named_parameters())
    assert list(names) == [name for name, _ in theirs.named_parameters()]
    pairs = [*zip(given, taken, strict=True)]
    pairs += [(names[name], other) for name, other in theirs.named_parameters()]
    for one, other in pairs:
        assert (one.grad is None) == (other.grad is None)
        if one.grad is not None:
            compare(one.grad, other.grad, 1e-4)
    state = ours.state_dict()
    for name, tensor in theirs.state_dict().items():
        compare(state[name], tensor)


def _tensor(make: Any, value: Any) -> Any:
    return make(value) if isinstance(value, np.ndarray) else value


def pair(one: Check) -> tuple[nn.Module, Any]:
    ours, theirs = (getattr(place, one.name)(*one.args, **one.options) for place in (nn, torch.nn))
    copy_weights(ours, theirs)
    return ours, theirs


@pytest.mark.parametrize("one", CHECKS, ids=str)
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
def test_results_gradients_and_state_are_those_of_pytorch(one: Check, training: bool) -> None:
    if training and "Dropout" in one.name and one.args[0] == 0.5:
        return  # drawn from another generator
    ours, theirs = pair(one)
    ours.train(training)
    theirs.train(training)
    for _ in range(2):  # the second on the statistics that the first left
        compare_run(ours, theirs, one.arrays(), one.call)


@pytest.mark.parametrize("kind", ["Encoder", "Decoder"])
@pytest.mark.parametrize("norm", [False, True], ids=["no norm", "norm"])
def test_stacks_of_layers_are_those_of_pytorch(kind: str, norm: bool) -> None:
    def stack(place: Any) -> Any:
        layer = getattr(place, f"Transformer{kind}Layer")(6, 2, 8, dropout=0.0)
        return getattr(place, f"Transformer{kind}")(layer, 2, place.LayerNorm(6) if norm else None)

    ours, theirs = stack(nn), stack(torch.nn)
    copy_weights(ours, theirs)
    shapes = ((4, 2, 6),) if kind == "Encoder" else ((4, 2, 6), (5, 2, 6))
    arrays = Check("", inputs=shapes).arrays()
    compare_run(ours, theirs, arrays, {})
    ours.eval()
    theirs.eval()
    compare_run(ours, theirs, arrays, {})


def test_ctc_loss_is_that_of_pytorch_behind_log_softmax() -> None:
    lengths = np.array([6, 5]), np.array([3, 2])
    targets = whole(3, 2, 3) + 1

    def chain(place: Any, given: Any, make: Any) -> Any:
        log_probs = place.LogSoftmax(-1)(given)
        return place.CTCLoss(reduction="sum")(log_probs, *map(make, (targets, *lengths)))

    array = GENERATOR.standard_normal((6, 2, 4)).astype(np.float32)
    ours, theirs = om.tensor(array, requires_grad=True), torch.tensor(array, requires_grad=True)
    found, wanted = chain(nn, ours, om.tensor), chain(torch.nn, theirs, torch.from_numpy)
    compare(found, wanted)
    found.backward()
    wanted.backward()
    compare(ours.grad, theirs.grad, 1e-4)


def network(place: Any) -> Any:
    class Net(place.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = place.Sequential(place.Linear(4, 6), place.ReLU(), place.Linear(6, 4))
            self.layers = place.ModuleList([place.Linear(4, 4) for _ in range(2)])
            self.heads = place.ModuleDict({"a": place.Linear(4, 2), "b": place.Linear(4, 3)})
            tensor = om.ones if place is nn else torch.ones
            self.scales = place.ParameterList([place.Parameter(tensor(4)) for _ in range(2)])
            self.shifts = place.ParameterDict({"x": place.Parameter(tensor(4))})

        def forward(self, x: Any) -> Any:
            x = self.body(x) * self.scales[0] + self.shifts["x"]
            for layer in self.layers:
                x = layer(x) * self.scales[1] + x
            return self.heads["a"](x), self.heads["b"](x)

    return Net()


def test_containers_are_those_of_pytorch() -> None:
    ours, theirs = network(nn), network(torch.nn)
    copy_weights(ours, theirs)
    compare_run(ours, theirs, Check("", inputs=((3, 4),)).arrays(), {})
