"""Random numbers repeat from a seed and are refused in a trace; complex numbers are eager."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onemodel as om

DRAWS: dict[str, Callable[..., Any]] = {
    "rand": lambda generator: om.rand(2, 3, generator=generator),
    "rand_like": lambda generator: om.rand_like(om.zeros(2, 3), generator=generator),
    "randn": lambda generator: om.randn(2, 3, generator=generator),
    "randn_like": lambda generator: om.randn_like(om.zeros(2, 3), generator=generator),
    "randint": lambda generator: om.randint(0, 9, (2, 3), generator=generator),
    "bernoulli": lambda generator: om.bernoulli(om.full((2, 3), 0.5), generator=generator),
    "randperm": lambda generator: om.randperm(9, generator=generator),
}


@pytest.mark.parametrize("name", sorted(DRAWS))
def test_the_same_seed_draws_the_same_numbers(name: str) -> None:
    draw = DRAWS[name]
    first, second = draw(om.Generator(3)), draw(om.Generator(3))
    np.testing.assert_array_equal(first.numpy(), second.numpy())
    om.manual_seed(3)
    np.testing.assert_array_equal(draw(None).numpy(), first.numpy())


@pytest.mark.parametrize("name", sorted(DRAWS))
def test_a_trace_refuses_to_draw(name: str) -> None:
    def model(x: om.Tensor) -> om.Tensor:
        return x + DRAWS[name](om.Generator(3)).sum()

    with pytest.raises(om.TraceException) as caught:
        om.trace(model, om.ones(2))
    assert caught.value.code == "OM603"


def test_a_generator_goes_on_from_a_state() -> None:
    generator = om.Generator(5)
    om.rand(3, generator=generator)
    state = generator.get_state()
    first = om.rand(3, generator=generator).tolist()
    generator.set_state(state)
    assert om.rand(3, generator=generator).tolist() == first
    for other in (copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))):
        assert other.initial_seed() == 5
        again = om.rand(3, generator=copy.copy(generator))
        assert om.rand(3, generator=other).tolist() == again.tolist()


def test_numbers_are_drawn_inside_their_bounds() -> None:
    generator = om.Generator(0)
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        drawn = om.rand(10000, generator=generator, dtype=dtype)
        assert drawn.dtype.name == dtype
        assert (drawn >= 0).all() and (drawn < 1).all()
    whole = om.randint(-2, 3, (1000,), generator=generator)
    assert sorted(set(whole.tolist())) == [-2, -1, 0, 1, 2]
    assert sorted(om.randperm(50, generator=generator).tolist()) == list(range(50))


def test_what_cannot_be_drawn_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="rand: a floating dtype"):
        om.rand(2, dtype="int64")
    with pytest.raises(TypeError, match="generator must be"):
        om.randn(2, generator=5)
    with pytest.raises(ValueError, match="no integer"):
        om.randint(3, 3, (2,))
    with pytest.raises(ValueError, match="probability"):
        om.bernoulli(om.tensor([0.5, 1.5]))
    with pytest.raises(TypeError, match="probabilities are floating"):
        om.bernoulli(om.tensor([0, 1]))


COMPLEX: dict[str, Callable[[Any], Any]] = {
    "exp": lambda z: om.exp(z),
    "log": lambda z: om.log(z),
    "sqrt": lambda z: om.sqrt(z),
    "sin": lambda z: om.sin(z),
    "tanh": lambda z: om.tanh(z),
    "square": lambda z: z * z,
    "quotient": lambda z: (2 + 1j) / z,
    "power": lambda z: z**3,
    "reciprocal": lambda z: om.reciprocal(z),
    "conjugate product": lambda z: (z - 1j) * (z + 2),
    "size": lambda z: om.abs(z),
}


@pytest.mark.parametrize("name", sorted(COMPLEX))
def test_the_gradient_of_a_complex_number_points_uphill(name: str) -> None:
    # PyTorch's convention: the gradient of a real result L is dL/dx + i dL/dy.
    generator = np.random.default_rng(1)
    point = generator.uniform(0.5, 1.5, 3) + 1j * generator.uniform(0.5, 1.5, 3)
    weight = generator.standard_normal(3)

    def value(array: np.ndarray) -> float:
        result = COMPLEX[name](om.tensor(array)).numpy()
        return float((result.real * weight).sum())

    z = om.tensor(point, requires_grad=True)
    result = COMPLEX[name](z)
    om.backward([result], [om.tensor(weight.astype(result.dtype))])
    step = 1e-6
    for direction in (1.0, 1j):
        for position in range(3):
            move = np.zeros(3, complex)
            move[position] = direction * step
            slope = (value(point + move) - value(point - move)) / (2 * step)
            found = z.grad.numpy()[position]
            part = found.real if direction == 1.0 else found.imag
            assert part == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_complex_numbers_have_no_order() -> None:
    z = om.tensor([1j])
    for function in (om.lt, om.le, om.gt, om.ge, om.maximum, om.minimum, om.remainder, om.atan2):
        with pytest.raises(TypeError):
            function(z, z)


def test_a_complex_tensor_computes_as_numpy_does() -> None:
    array = np.array([[1 + 2j, 3 - 1j]], np.complex64)
    z = om.tensor(array)
    np.testing.assert_allclose((z * z + z / 2).numpy(), array * array + array / 2, rtol=1e-6)
    np.testing.assert_allclose((z @ om.tensor(array.T)).numpy(), array @ array.T, rtol=1e-6)
    assert z.sum().item() == pytest.approx(array.sum())
    assert (z == z).all().item() is True
