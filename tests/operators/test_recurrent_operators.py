"""Recurrent layers: free batches, lengths, dropout, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnxruntime
import pytest

import onemodel as om
from onemodel.tensors.tensor import Tensor

_GATES = {"lstm": 4, "gru": 3, "rnn": 1}


def draw(*shape: int) -> Tensor:
    seed = sum(shape) + len(shape)
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def weights(kind: str, layers: int = 1, directions: int = 1, hidden: int = 4) -> list[Tensor]:
    found = []
    for layer in range(layers):
        width = 3 if layer == 0 else hidden * directions
        for _ in range(directions):
            rows = _GATES[kind] * hidden
            found += [draw(rows, width), draw(rows, hidden), draw(rows), draw(rows)]
    return found


def run(traced: om.TracedModel, *feeds: np.ndarray) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(
        traced.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [item.name for item in session.get_inputs()]
    return session.run(None, dict(zip(names, feeds, strict=True)))


@pytest.mark.parametrize("kind", list(_GATES))
def test_a_layer_without_a_state_runs_at_every_batch(kind: str) -> None:
    flat = weights(kind)
    layer = getattr(om, kind)
    traced = om.trace(lambda x: layer(x, None, flat)[0], draw(5, 2, 3), axes={"x": {1: "n"}})
    assert all(2 not in array.shape for array in traced.graph.initializers.values())
    for batch in (2, 1, 5):
        x = draw(5, batch, 3)
        (found,) = run(traced, x.numpy())
        np.testing.assert_allclose(found, layer(x, None, flat)[0].numpy(), rtol=1e-4, atol=1e-5)


def test_a_state_of_zeros_built_from_the_size_follows_the_batch() -> None:
    flat = weights("gru")

    def model(x: Tensor) -> Tensor:
        return om.gru(x, om.zeros(1, x.shape[1], 4), flat)[1]

    traced = om.trace(model, draw(5, 2, 3), axes={"x": {1: "n"}})
    x = draw(5, 7, 3)
    np.testing.assert_allclose(run(traced, x.numpy())[0], model(x).numpy(), rtol=1e-4, atol=1e-5)


def test_a_constant_state_of_the_examples_batch_is_refused() -> None:
    flat, state = weights("gru"), draw(1, 2, 4)
    with pytest.raises(om.TraceException) as caught:
        om.trace(lambda x: om.gru(x, state, flat)[0], draw(5, 2, 3), axes={"x": {1: "n"}})
    assert caught.value.code == "OM403"


@pytest.mark.parametrize("kind", list(_GATES))
def test_lengths_give_each_sequence_what_it_gives_alone(kind: str) -> None:
    flat = weights(kind, 2, 2)
    layer = getattr(om, kind)
    x, lengths = draw(5, 3, 3), [5, 2, 3]
    output, *states = layer(
        x, None, flat, num_layers=2, bidirectional=True, lengths=Tensor(np.asarray(lengths))
    )
    for n, length in enumerate(lengths):
        alone, *last = layer(x[:length, n], None, flat, num_layers=2, bidirectional=True)
        np.testing.assert_allclose(output.numpy()[:length, n], alone.numpy(), rtol=1e-5, atol=1e-6)
        assert not output.numpy()[length:, n].any()
        for state, one in zip(states, last, strict=True):
            np.testing.assert_allclose(state.numpy()[:, n], one.numpy(), rtol=1e-5, atol=1e-6)


def test_lengths_can_be_an_input_of_the_graph() -> None:
    flat = weights("lstm", 1, 2)

    def model(x: Tensor, lengths: Tensor) -> Tensor:
        return om.lstm(x, None, flat, bidirectional=True, lengths=lengths)[0]

    axes = {"x": {1: "n"}, "lengths": {0: "n"}}
    example = Tensor(np.array([4, 2]))
    traced = om.trace(model, draw(4, 2, 3), example, axes=axes, verify=False)
    x, lengths = draw(4, 3, 3), np.array([1, 4, 3])
    found = run(traced, x.numpy(), lengths)[0]
    np.testing.assert_allclose(found, model(x, Tensor(lengths)).numpy(), rtol=1e-4, atol=1e-5)


def test_gradients_with_lengths_ignore_what_lies_beyond() -> None:
    flat = weights("gru", 1, 2)
    x = draw(4, 2, 3).requires_grad_()
    output, _ = om.gru(x, None, flat, bidirectional=True, lengths=[4, 1])
    (output * output).sum().backward()
    assert x.grad is not None
    assert not x.grad.numpy()[1:, 1].any()
    assert x.grad.numpy()[0, 1].any()


def test_dropout_between_layers_is_drawn_from_the_generator_and_refused_in_a_trace() -> None:
    flat = weights("lstm", 2)
    options = {"num_layers": 2, "dropout": 0.5, "training": True}
    x = draw(4, 2, 3)
    one, other = (
        om.lstm(x, None, flat, **options, generator=om.Generator(3))[0].numpy() for _ in range(2)
    )
    np.testing.assert_array_equal(one, other)
    assert not np.allclose(one, om.lstm(x, None, flat, num_layers=2)[0].numpy())
    with pytest.raises(om.TraceException) as caught:
        om.trace(lambda x: om.lstm(x, None, flat, **options)[0], x)
    assert caught.value.code == "OM601"


def test_a_missing_weight_is_counted() -> None:
    with pytest.raises(ValueError, match="need 4 weights, not 3"):
        om.lstm(draw(4, 2, 3), None, weights("lstm")[:3])


def test_a_weight_of_another_shape_is_named() -> None:
    flat: Sequence[Tensor] = [draw(16, 5), *weights("lstm")[1:]]
    with pytest.raises(ValueError, match=r"flat_weights\[0\] has shape \[16, 5\]"):
        om.lstm(draw(4, 2, 3), None, flat)


def test_a_cell_repeated_is_the_layer() -> None:
    flat = weights("lstm")
    x = draw(3, 2, 3)
    h = c = Tensor(np.zeros((2, 4), np.float32))
    for t in range(3):
        h, c = om.lstm_cell(x[t], (h, c), *flat)
    _, last_h, last_c = om.lstm(x, None, flat)
    np.testing.assert_allclose(h.numpy(), last_h.numpy()[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(c.numpy(), last_c.numpy()[0], rtol=1e-5, atol=1e-6)
