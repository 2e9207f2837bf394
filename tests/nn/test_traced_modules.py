"""Modules in a trace: names, scopes, symbolic sizes, ONNX Runtime as the judge, refusals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import onemodel as om
from onemodel import nn

RNG = np.random.default_rng(21)


def values(shape: Sequence[int], high: int = 0) -> om.Tensor:
    if high:
        return om.tensor(RNG.integers(0, high, shape))
    return om.tensor(RNG.normal(size=shape).astype(np.float32))


def leaves(result: Any) -> list[np.ndarray]:
    if isinstance(result, om.Tensor):
        return [result.array]
    return [array for part in result if part is not None for array in leaves(part)]


def agrees(
    model: nn.Module, traced: om.TracedModel, feeds: Mapping[str, om.Tensor], tolerance: float
) -> None:
    """ONNX Runtime on the graph gives what the module gives."""
    session = onnxruntime.InferenceSession(
        traced.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    found = session.run(None, {name: tensor.array for name, tensor in feeds.items()})
    expected = leaves(model(*feeds.values()))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def follows(
    model: nn.Module,
    shapes: Mapping[str, Sequence[int | str]],
    assignments: Sequence[Mapping[str, int]],
    highs: Mapping[str, int] | None = None,
    opset: int = 20,
    tolerance: float = 1e-5,
) -> om.TracedModel:
    """Trace at the first assignment of the symbols; judge at all of them."""
    model.eval()
    highs = highs or {}

    def feeds(sizes: Mapping[str, int]) -> dict[str, om.Tensor]:
        return {
            name: values([sizes.get(n, n) if isinstance(n, str) else n for n in shape],
                         highs.get(name, 0))
            for name, shape in shapes.items()
        }  # fmt: skip

    axes = {
        name: {axis: n for axis, n in enumerate(shape) if isinstance(n, str)}
        for name, shape in shapes.items()
    }
    traced = model.trace(*feeds(assignments[0]).values(), axes=axes, opset=opset)
    onnx.checker.check_model(traced.to_onnx(), full_check=True)
    for sizes in assignments:
        agrees(model, traced, feeds(sizes), tolerance)
    return traced


class CNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(4, 8, 3, padding="same", bias=False), nn.GELU(), nn.AdaptiveAvgPool2d(1),
        )  # fmt: skip
        self.head = nn.Linear(8, 10)
        self.drop = nn.Dropout()

    def forward(self, x: om.Tensor) -> om.Tensor:
        return self.head(self.drop(self.features(x).flatten(1)))


class Encoder(nn.Module):
    """Tokens with learnt positions, two layers, causal or padded."""

    def __init__(self, causal: bool = False, norm_first: bool = True) -> None:
        super().__init__()
        self.causal = causal
        self.tokens = nn.Embedding(30, 16)
        self.positions = nn.Embedding(64, 16)
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=norm_first)
        self.layers = nn.TransformerEncoder(layer, 2, nn.LayerNorm(16))

    def forward(self, ids: om.Tensor) -> om.Tensor:
        x = self.tokens(ids) + self.positions(om.arange(ids.shape[1]))
        return self.layers(x, is_causal=self.causal)


class Tagger(nn.Module):
    def __init__(self, kind: type[nn.Module]) -> None:
        super().__init__()
        self.table = nn.Embedding(30, 6)
        self.body = kind(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(10, 4)

    def forward(self, ids: om.Tensor) -> om.Tensor:
        output, _ = self.body(self.table(ids))
        return self.head(output).log_softmax(-1)


@pytest.mark.parametrize("opset", [9, 13, 20])
def test_a_digits_cnn_follows_its_batch(opset) -> None:
    traced = follows(
        CNN(), {"x": ("batch", 1, 8, 8)}, [{"batch": 3}, {"batch": 1}, {"batch": 7}], opset=opset
    )
    assert not traced.specialisations


def test_a_cnn_follows_its_image_size() -> None:
    sizes = [{"n": 2, "h": 9, "w": 12}, {"n": 1, "h": 16, "w": 8}, {"n": 3, "h": 7, "w": 31}]
    follows(CNN(), {"x": ("n", 1, "h", "w")}, sizes)


@pytest.mark.parametrize("opset", [12, 20])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("norm_first", [False, True])
def test_a_transformer_encoder_follows_batch_and_length(norm_first, causal, opset) -> None:
    traced = follows(
        Encoder(causal, norm_first),
        {"ids": ("batch", "time")},
        [{"batch": 2, "time": 5}, {"batch": 1, "time": 9}, {"batch": 4, "time": 1}],
        highs={"ids": 30},
        opset=opset,
    )
    assert not traced.specialisations


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_a_recurrent_tagger_follows_batch_and_length(kind) -> None:
    traced = follows(
        Tagger(kind),
        {"ids": ("batch", "time")},
        [{"batch": 3, "time": 4}, {"batch": 1, "time": 11}, {"batch": 5, "time": 1}],
        highs={"ids": 30},
    )
    assert not traced.specialisations


def test_attention_weights_and_masks_follow_their_sizes() -> None:
    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, x: om.Tensor, ids: om.Tensor):
            return self.attention(x, x, x, key_padding_mask=ids == 0, is_causal=True)

    follows(
        Masked(),
        {"x": ("n", "t", 8), "ids": ("n", "t")},
        [{"n": 2, "t": 5}, {"n": 3, "t": 7}],
        highs={"ids": 1000},
    )


def test_a_whole_transformer_follows_both_lengths() -> None:
    class Translator(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)

        def forward(self, source: om.Tensor, target: om.Tensor) -> om.Tensor:
            mask = self.body.generate_square_subsequent_mask(target.shape[1])
            return self.body(source, target, tgt_mask=mask)

    follows(
        Translator(),
        {"source": ("n", "s", 8), "target": ("n", "t", 8)},
        [{"n": 2, "s": 5, "t": 3}, {"n": 1, "s": 2, "t": 6}],
    )


@pytest.mark.parametrize("cell", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_the_zero_state_of_a_cell_follows_the_batch(cell) -> None:
    follows(cell(3, 4), {"input": ("batch", 3)}, [{"batch": 2}, {"batch": 5}])


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Conv1d(2, 4, 3, stride=2), ("n", 2, "t")),
        (nn.ConvTranspose2d(2, 3, 3, stride=2, output_padding=1), ("n", 2, "h", 5)),
        (nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"), ("n", 2, "h", 6)),
        (nn.InstanceNorm2d(3, affine=True), ("n", 3, "h", 5)),
        (nn.GroupNorm(2, 4), ("n", 4, "h")),
        (nn.RMSNorm(6), ("n", "h", 6)),
        (nn.Bilinear(3, 3, 2), ("n", 3)),
        (nn.PixelShuffle(2), ("n", 8, "h", 3)),
        (nn.Upsample(scale_factor=2), ("n", 2, "h", 5)),
        (nn.ReflectionPad2d(1), ("n", 2, "h", 5)),
        (nn.Unflatten(1, (2, 3)), ("n", 6)),
        (nn.GLU(), ("n", 6)),
        (nn.PReLU(3), ("n", 3, "h")),
        (nn.LPPool2d(2, 2), ("n", 2, "h", 6)),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Module) else "",
)
def test_a_layer_follows_its_symbolic_sizes(layer, shape) -> None:
    given = {"input": shape}
    if isinstance(layer, nn.Bilinear):
        given = {"input1": shape, "input2": shape}
    follows(layer, given, [{"n": 2, "h": 6, "t": 9}, {"n": 3, "h": 9, "t": 12}])


def test_weights_carry_their_state_dict_paths_and_nodes_their_module() -> None:
    model = CNN().eval()
    traced = model.trace(values((2, 1, 8, 8)), axes={"x": {0: "batch"}})
    names = {initializer.name for initializer in traced.to_onnx().graph.initializer}
    assert {"features.0.weight", "features.0.bias", "features.4.weight", "head.weight"} <= names
    modules = {node.origin.scope for node in traced.graph.nodes if node.origin is not None}
    assert {"features.0", "features.1", "features.3", "head"} <= modules


def test_a_shared_weight_is_one_initializer() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(4, 4)
            self.second = nn.Linear(4, 4)
            self.second.weight = self.first.weight

        def forward(self, x: om.Tensor) -> om.Tensor:
            return self.second(self.first(x))

    traced = Tied().trace(values((2, 4)), axes={"x": {0: "batch"}})
    names = [initializer.name for initializer in traced.to_onnx().graph.initializer]
    assert "first.weight" in names and "second.weight" not in names


@pytest.mark.parametrize(
    ("layer", "shape", "word"),
    [
        (nn.BatchNorm2d(2), (2, 2, 3, 3), "BatchNorm"),
        (nn.Dropout(0.5), (2, 2), "ropout"),
        (nn.Dropout2d(0.5), (2, 2, 3, 3), "ropout"),
        (nn.AlphaDropout(0.5), (2, 2), "ropout"),
        (nn.LSTM(2, 3, 2, dropout=0.5), (4, 2, 2), "ropout"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("symbolic", [True, False])
def test_training_mode_is_refused_with_the_path_of_the_layer(symbolic, layer, shape, word) -> None:
    model = nn.Sequential({"stem": nn.Identity(), "block": nn.Sequential(layer)})
    with pytest.raises(om.TraceException) as error:
        model.trace(values(shape), axes={"x": {0: "batch"}} if symbolic else None)
    assert error.value.kind is om.TraceErrorKind.UNSUPPORTED_OPERATION
    text = str(error.value)
    assert word in text and "block.0" in text and "eval()" in text
    state = layer.state_dict()
    if "num_batches_tracked" in state:
        assert state["num_batches_tracked"].item() == 0 and not state["running_mean"].array.any()


def test_the_case_of_batch_norm_in_both_modes() -> None:
    layer = nn.BatchNorm2d(2)
    layer.load_state_dict(
        {
            "weight": np.array([1, 2], np.float32),
            "bias": np.array([0, 1], np.float32),
            "running_mean": np.array([0.5, -1], np.float32),
            "running_var": np.array([4, 0.25], np.float32),
            "num_batches_tracked": np.array(1),
        }
    )
    net = nn.Sequential({"norm": layer})
    x = values((2, 2, 3, 3))
    with pytest.raises(om.TraceException, match=r"BatchNorm"):
        net.trace(x, axes={"x": {0: "N"}})
    follows(net, {"x": ("N", 2, 3, 3)}, [{"N": 2}, {"N": 5}])
    scale, shift = np.array([1, 2]) / np.sqrt(np.array([4, 0.25]) + 1e-5), np.array([0.5, -1])
    expected = (x.array - shift[:, None, None]) * scale[:, None, None] + [[[0]], [[1]]]
    np.testing.assert_allclose(net(x).array, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "enter",
    [
        lambda layer, x: layer.to(om.float64),
        lambda layer, x: layer.load_state_dict(layer.state_dict()),
        lambda layer, x: layer.weight.fill_(0),
    ],
    ids=["to", "load_state_dict", "fill_"],
)
def test_changing_weights_during_a_trace_is_refused(enter: Callable[..., Any]) -> None:
    class Restless(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 3).requires_grad_(False)

        def forward(self, x: om.Tensor) -> om.Tensor:
            result = self.layer(x)
            enter(self.layer, x)
            return result

    with pytest.raises(om.TraceException):
        Restless().trace(values((2, 3)))


def test_hooks_are_part_of_what_is_traced() -> None:
    model = nn.Sequential(nn.Linear(3, 3)).eval()
    model[0].register_forward_hook(lambda module, args, result: result * 2)
    follows(model, {"x": ("batch", 3)}, [{"batch": 2}, {"batch": 4}])


def test_tracing_leaves_mode_and_weights_as_they_were() -> None:
    model = CNN().eval()
    before = {name: tensor.to_array() for name, tensor in model.state_dict().items()}
    model.trace(values((2, 1, 8, 8)), axes={"x": {0: "batch"}})
    assert not model.training
    for name, tensor in model.state_dict().items():
        assert np.array_equal(tensor.array, before[name])
