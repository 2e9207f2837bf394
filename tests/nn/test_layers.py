"""Every layer: values against formulas written here, gradients against central differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import onemodel as om
from onemodel import nn
from tests.nn.numeric import check_gradient

RNG = np.random.default_rng(11)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def apart(*shape: int) -> np.ndarray:
    """Values with no ties and none near a kink, for maxima and piecewise functions."""
    values = np.linspace(-2.9, 2.9, int(np.prod(shape)))
    return RNG.permutation(values).reshape(shape)


WITH_WEIGHTS: list[tuple[Callable[[], nn.Module], tuple[int, ...]]] = [
    (lambda: nn.Linear(3, 4), (2, 5, 3)),
    (lambda: nn.Conv1d(2, 4, 3, stride=2, padding=1, dilation=2), (2, 2, 9)),
    (lambda: nn.Conv2d(4, 6, 3, padding="same", groups=2), (2, 4, 5, 4)),
    (lambda: nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"), (1, 2, 4, 5)),
    (lambda: nn.Conv2d(2, 3, 3, padding=(1, 2), padding_mode="circular", bias=False), (1, 2, 4, 5)),
    (lambda: nn.Conv3d(1, 2, 2), (1, 1, 3, 4, 3)),
    (lambda: nn.ConvTranspose1d(2, 4, 3, stride=2, output_padding=1), (2, 2, 4)),
    (lambda: nn.ConvTranspose2d(4, 4, 3, stride=2, padding=1, groups=2), (1, 4, 3, 3)),
    (lambda: nn.ConvTranspose3d(1, 2, 2), (1, 1, 2, 3, 2)),
    (lambda: nn.BatchNorm1d(3), (6, 3)),
    (lambda: nn.BatchNorm2d(3), (2, 3, 4, 2)),
    (lambda: nn.BatchNorm2d(3).eval(), (2, 3, 4, 2)),
    (lambda: nn.BatchNorm3d(2), (2, 2, 2, 3, 2)),
    (lambda: nn.InstanceNorm1d(3, affine=True), (2, 3, 5)),
    (lambda: nn.InstanceNorm2d(3), (2, 3, 4, 2)),
    (lambda: nn.LayerNorm((3, 4)), (2, 3, 4)),
    (lambda: nn.GroupNorm(2, 4), (2, 4, 3, 2)),
    (lambda: nn.RMSNorm(4), (2, 3, 4)),
    (lambda: nn.LocalResponseNorm(3), (2, 5, 3)),
    (lambda: nn.PReLU(3), (2, 3, 4)),
]


@pytest.mark.parametrize(("build", "shape"), WITH_WEIGHTS)
def test_gradients_of_layers_with_weights_are_those_of_differences(build, shape) -> None:
    check_gradient(build(), [apart(*shape)])


@pytest.mark.parametrize(
    "layer",
    [
        nn.ReLU(), nn.ReLU6(), nn.LeakyReLU(0.2), nn.ELU(0.7), nn.SELU(), nn.CELU(0.8), nn.GELU(),
        nn.GELU("tanh"), nn.SiLU(), nn.Mish(), nn.Hardtanh(-1, 2), nn.Hardsigmoid(), nn.Hardswish(),
        nn.Softplus(2.0), nn.Softsign(), nn.Tanhshrink(), nn.Softshrink(0.4), nn.Hardshrink(0.4),
        nn.Threshold(0.3, -1.0), nn.LogSigmoid(), nn.Sigmoid(), nn.Tanh(), nn.GLU(1),
        nn.Softmax(1), nn.LogSoftmax(-1), nn.Softmin(0), nn.Flatten(),
        nn.Unflatten(1, (2, 3)), nn.Identity(), nn.Dropout(0.5).eval(),
    ],
    ids=repr,
)  # fmt: skip
def test_gradients_of_activations_are_those_of_differences(layer: nn.Module) -> None:
    check_gradient(layer, [apart(4, 6)])


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.MaxPool1d(2, padding=1), (2, 3, 7)),
        (nn.MaxPool2d(3, 2, 1), (1, 2, 6, 5)),
        (nn.MaxPool3d(2), (1, 1, 4, 4, 2)),
        (nn.AvgPool1d(3, 2), (2, 3, 7)),
        (nn.AvgPool2d(3, 2, 1, count_include_pad=False), (1, 2, 6, 5)),
        (nn.AvgPool3d(2), (1, 1, 4, 4, 2)),
        (nn.LPPool1d(2, 3), (1, 2, 7)),
        (nn.LPPool2d(4, 2), (1, 2, 4, 4)),
        (nn.AdaptiveAvgPool1d(3), (2, 2, 7)),
        (nn.AdaptiveAvgPool2d((3, None)), (1, 2, 7, 4)),
        (nn.AdaptiveAvgPool3d(2), (1, 1, 3, 4, 5)),
        (nn.AdaptiveMaxPool1d(3), (2, 2, 7)),
        (nn.AdaptiveMaxPool2d(2), (1, 2, 5, 4)),
        (nn.PixelShuffle(2), (1, 8, 2, 3)),
        (nn.PixelUnshuffle(2), (1, 2, 4, 6)),
        (nn.ChannelShuffle(2), (1, 4, 2, 2)),
        (nn.Softmax2d(), (1, 3, 2, 2)),
        (nn.Upsample(scale_factor=2), (1, 2, 3, 3)),
        (nn.Upsample((5, 7), mode="bilinear", align_corners=True), (1, 2, 3, 4)),
        (nn.Upsample(scale_factor=2, mode="bicubic"), (1, 1, 4, 4)),
        (nn.UpsamplingBilinear2d(scale_factor=2), (1, 2, 3, 3)),
        (nn.Unfold((2, 3), padding=1, stride=2), (1, 2, 5, 6)),
        (nn.Fold((4, 5), (2, 2)), (1, 8, 12)),
        (nn.ConstantPad1d((1, 2), 0.5), (2, 2, 3)),
        (nn.ZeroPad2d(1), (1, 2, 3, 3)),
        (nn.ReflectionPad2d((1, 2, 0, 1)), (1, 2, 3, 4)),
        (nn.ReplicationPad3d(1), (1, 1, 2, 3, 2)),
        (nn.CircularPad1d((2, 1)), (1, 2, 4)),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Module) else "",
)
def test_gradients_of_pools_and_shapes_are_those_of_differences(layer, shape) -> None:
    check_gradient(layer, [apart(*shape)])


def test_gradients_of_two_inputs_are_those_of_differences() -> None:
    check_gradient(nn.Bilinear(3, 4, 2), [normal(2, 5, 3), normal(2, 5, 4)])
    check_gradient(nn.CosineSimilarity(), [normal(4, 3), normal(4, 3)])
    check_gradient(nn.PairwiseDistance(), [normal(4, 3), normal(4, 3)])


def test_gradients_of_tables_are_those_of_differences() -> None:
    ids = np.array([[1, 2, 2], [0, 4, 1]])
    check_gradient(nn.Embedding(5, 3), [ids])
    check_gradient(nn.EmbeddingBag(5, 3, mode="mean"), [ids])
    check_gradient(nn.EmbeddingBag(5, 3, mode="sum"), [np.array([1, 2, 4, 0]), np.array([0, 3])])


LOSSES: list[tuple[nn.Module, np.ndarray, np.ndarray]] = [
    (nn.MSELoss(), normal(4, 3), normal(4, 3)),
    (nn.MSELoss("sum"), normal(4), normal(4)),
    (nn.L1Loss("none"), normal(4, 3), normal(4, 3)),
    (nn.SmoothL1Loss(beta=0.5), normal(4, 3), normal(4, 3)),
    (nn.HuberLoss(delta=0.7), normal(4, 3), normal(4, 3)),
    (nn.BCELoss(), RNG.uniform(0.1, 0.9, (4, 3)), RNG.uniform(0, 1, (4, 3))),
    (nn.BCEWithLogitsLoss(pos_weight=om.tensor([1.0, 2.0, 0.5])), normal(4, 3), normal(4, 3)),
    (nn.NLLLoss(weight=om.tensor([1.0, 2.0, 0.5])), normal(4, 3), np.array([0, 2, 1, 1])),
    (nn.CrossEntropyLoss(label_smoothing=0.1), normal(4, 3), np.array([0, 2, 1, 1])),
    (nn.CrossEntropyLoss(ignore_index=1), normal(4, 3), np.array([0, 2, 1, 1])),
    (nn.KLDivLoss("batchmean"), normal(4, 3), RNG.uniform(0.1, 1, (4, 3))),
]


@pytest.mark.parametrize(("loss", "input", "target"), LOSSES)
def test_gradients_of_losses_are_those_of_differences(loss, input, target) -> None:
    fixed = om.tensor(target)
    check_gradient(loss, [input], call=lambda x: loss(x, fixed))


def test_gradient_of_the_ctc_loss_is_that_of_differences() -> None:
    loss = nn.CTCLoss()
    targets, lengths = om.tensor([[1, 2], [2, 1]]), (om.tensor([5, 4]), om.tensor([2, 1]))
    check_gradient(
        loss, [normal(5, 2, 3)], call=lambda x: loss(x.log_softmax(-1), targets, *lengths)
    )


def test_batch_norm_learns_statistics_and_uses_them() -> None:
    layer = nn.BatchNorm1d(2).double()
    first, second = normal(8, 2), normal(8, 2) * 3 + 1
    mean, var = np.zeros(2), np.ones(2)
    for x in (first, second):
        result = layer(om.tensor(x)).array
        np.testing.assert_allclose(result, (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5))
        mean = 0.9 * mean + 0.1 * x.mean(0)
        var = 0.9 * var + 0.1 * x.var(0, ddof=1)
    np.testing.assert_allclose(layer.running_mean.array, mean)
    np.testing.assert_allclose(layer.running_var.array, var)
    assert layer.num_batches_tracked.item() == 2
    layer.eval()
    expected = (first - mean) / np.sqrt(var + 1e-5)
    np.testing.assert_allclose(layer(om.tensor(first)).array, expected)
    assert layer.num_batches_tracked.item() == 2


def test_batch_norm_without_momentum_keeps_the_mean_of_all_batches() -> None:
    layer = nn.BatchNorm1d(2, momentum=None).double()
    batches = [normal(8, 2) + i for i in range(3)]
    for x in batches:
        layer(om.tensor(x))
    np.testing.assert_allclose(layer.running_mean.array, np.mean([x.mean(0) for x in batches], 0))
    layer.reset_running_stats()
    assert not layer.running_mean.array.any() and layer.num_batches_tracked.item() == 0


@pytest.mark.parametrize(
    ("layer", "shape", "text"),
    [
        (nn.BatchNorm2d(3), (2, 3, 4), r"BatchNorm2d: expected an input \[N, C, H, W\]"),
        (nn.BatchNorm1d(3), (3,), r"BatchNorm1d: expected an input \[N, C\]"),
        (nn.Softmax2d(), (2, 3), "Softmax2d: expected"),
        (nn.Dropout2d(), (2, 3), "Dropout2d: expected"),
    ],
)
def test_a_wrong_rank_is_told_by_the_layer(layer, shape, text) -> None:
    with pytest.raises(ValueError, match=text):
        layer(om.ones(shape))


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "divisible by groups 2"),
        (lambda: nn.Conv2d(2, 4, 3, stride=2, padding="same"), "needs stride 1"),
        (lambda: nn.Conv2d(2, 4, (3, 3, 3)), "expected 2 numbers, not 3"),
        (lambda: nn.Conv1d(2, 4, 3, padding_mode="mirror"), "padding_mode must be one of"),
        (lambda: nn.ConvTranspose2d(2, 4, 3, padding_mode="reflect"), "only padding_mode='zeros'"),
        (lambda: nn.GroupNorm(3, 4), "not divisible"),
        (lambda: nn.Embedding(4, 2, padding_idx=4), "is no row of 4"),
        (lambda: nn.Dropout(1.5), "between 0 and 1"),
        (lambda: nn.ReflectionPad2d((1, 2)), "one number or 4"),
        (lambda: nn.MultiheadAttention(5, 2), "not divisible"),
        (lambda: nn.LSTM(0, 2), "must be positive"),
        (lambda: nn.RNN(1, 2, nonlinearity="sin"), "'tanh' or 'relu'"),
        (lambda: nn.TransformerEncoderLayer(4, 2, activation="sin"), "'relu', 'gelu' or"),
        (lambda: nn.MSELoss("median"), "'mean', 'sum' or 'none'"),
    ],
)
def test_a_wrong_configuration_is_told(build, text) -> None:
    with pytest.raises(ValueError, match=text):
        build()


def test_inplace_activations_write_into_their_input() -> None:
    x = om.tensor([-1.0, 2.0])
    assert nn.ReLU(inplace=True)(x) is x and x.tolist() == [0.0, 2.0]
    y = om.tensor([-1.0, 2.0])
    assert nn.ReLU()(y) is not y and y.tolist() == [-1.0, 2.0]


def test_a_transposed_convolution_reaches_the_size_asked_for() -> None:
    layer = nn.ConvTranspose2d(1, 1, 3, stride=2, padding=1)
    x = om.ones((1, 1, 4, 4))
    assert layer(x, output_size=(7, 8)).shape == (1, 1, 7, 8)
    with pytest.raises(ValueError, match="outside 7 to 8"):
        layer(x, output_size=(9, 8))


def test_padding_rows_of_a_table_start_at_zero_and_stay() -> None:
    table = nn.Embedding(4, 3, padding_idx=-1)
    assert not table.weight.array[3].any()
    table(om.tensor([3, 1])).sum().backward()
    assert not table.weight.grad.array[3].any() and table.weight.grad.array[1].all()


def test_a_given_table_is_frozen_unless_told_otherwise() -> None:
    values = om.tensor([[1.0, 2.0], [3.0, 4.0]])
    table = nn.Embedding.from_pretrained(values)
    assert not table.weight.requires_grad and table(om.tensor([1])).tolist() == [[3.0, 4.0]]
    assert nn.Embedding.from_pretrained(values, freeze=False).weight.requires_grad


def test_dropout_scales_what_it_keeps_and_rests_in_evaluation() -> None:
    x = om.ones((100, 100))
    layer = nn.Dropout(0.25, generator=np.random.default_rng(0))
    values, counts = np.unique(layer(x).array, return_counts=True)
    np.testing.assert_allclose(values, [0, 4 / 3])
    assert abs(counts[0] / counts.sum() - 0.25) < 0.02
    assert np.array_equal(layer.eval()(x).array, x.array)


def test_channel_dropout_drops_whole_channels() -> None:
    layer = nn.Dropout2d(0.5, generator=np.random.default_rng(0))
    result = layer(om.ones((16, 16, 3, 3))).array
    per_channel = result.reshape(16, 16, -1)
    assert (per_channel == per_channel[..., :1]).all() and set(np.unique(result)) == {0, 2}


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    x = om.tensor(np.random.default_rng(1).normal(size=200_000))
    result = nn.AlphaDropout(0.3, generator=np.random.default_rng(2))(x).array
    assert abs(result.mean()) < 0.02 and abs(result.var() - 1) < 0.02
