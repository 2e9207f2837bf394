"""Optimisers against their formulas, written again from PyTorch's documentation."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import onemodel as om
from onemodel import nn, training

STEPS = 6
RNG = np.random.default_rng(2)
START = RNG.normal(size=(3, 2))
GRADIENTS = RNG.normal(size=(STEPS, 3, 2))


def sgd(lr=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    p, b = START.copy(), None
    for g in GRADIENTS:
        g = (-g if maximize else g) + weight_decay * p
        if momentum:
            b = g if b is None else momentum * b + (1 - dampening) * g
            g = g + momentum * b if nesterov else b
        p = p - lr * g
    return p


def adam(lr=0.1, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, maximize=False,
         decoupled=False):  # fmt: skip
    p = START.copy()
    m, v, largest = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p)
    for t, g in enumerate(GRADIENTS, 1):
        g = -g if maximize else g
        if decoupled:
            p = p - lr * weight_decay * p
        else:
            g = g + weight_decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        largest = np.maximum(largest, v)
        v_hat = (largest if amsgrad else v) / (1 - betas[1] ** t)
        p = p - lr * (m / (1 - betas[0] ** t)) / (np.sqrt(v_hat) + eps)
    return p


def rmsprop(lr=0.1, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False,
            maximize=False):  # fmt: skip
    p = START.copy()
    v, mean, b = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p)
    for g in GRADIENTS:
        g = (-g if maximize else g) + weight_decay * p
        v = alpha * v + (1 - alpha) * g**2
        mean = alpha * mean + (1 - alpha) * g
        step = g / (np.sqrt(v - mean**2 if centered else v) + eps)
        b = momentum * b + step
        p = p - lr * (b if momentum else step)
    return p


CASES: list[tuple[Callable, Callable, dict]] = [
    (training.SGD, sgd, {}),
    (training.SGD, sgd, {"momentum": 0.9}),
    (training.SGD, sgd, {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    (training.SGD, sgd, {"momentum": 0.8, "nesterov": True, "weight_decay": 0.1}),
    (training.SGD, sgd, {"momentum": 0.8, "maximize": True}),
    (training.Adam, adam, {}),
    (training.Adam, adam, {"betas": (0.7, 0.95), "eps": 1e-3, "weight_decay": 0.1}),
    (training.Adam, adam, {"amsgrad": True, "betas": (0.5, 0.5), "maximize": True}),
    (training.AdamW, lambda **k: adam(decoupled=True, **k), {"weight_decay": 0.3}),
    (training.AdamW, lambda **k: adam(decoupled=True, weight_decay=0.01, **k), {"amsgrad": True}),
    (training.RMSprop, rmsprop, {}),
    (training.RMSprop, rmsprop, {"centered": True, "alpha": 0.9, "weight_decay": 0.1}),
    (training.RMSprop, rmsprop, {"momentum": 0.9, "maximize": True}),
]


def parameter(dtype=om.float64) -> nn.Parameter:
    return nn.Parameter(om.tensor(START, dtype=dtype))


def run(optimizer: training.Optimizer, p: nn.Parameter, gradients=GRADIENTS) -> None:
    for gradient in gradients:
        p.grad = om.tensor(gradient, dtype=p.dtype)
        optimizer.step()


@pytest.mark.parametrize(("kind", "formula", "options"), CASES)
def test_steps_follow_the_formula(kind, formula, options) -> None:
    p = parameter()
    run(kind([p], lr=0.1, **options), p)
    np.testing.assert_allclose(p.array, formula(lr=0.1, **options), rtol=1e-12)


@pytest.mark.parametrize(("kind", "formula", "options"), CASES)
@pytest.mark.parametrize("dtype", [om.float16, om.bfloat16, om.float32])
def test_steps_keep_the_dtype_of_the_parameter(dtype, kind, formula, options) -> None:
    p = parameter(dtype)
    run(kind([p], lr=0.01, **options), p)
    assert p.dtype == dtype and np.isfinite(p.array.astype(np.float64)).all()


@pytest.mark.parametrize(("kind", "formula", "options"), CASES)
def test_a_saved_optimiser_goes_on_where_it_was(kind, formula, options) -> None:
    first, second = parameter(), parameter()
    before = kind([first], lr=0.1, **options)
    run(before, first, GRADIENTS[:3])
    with om.no_grad():
        second.copy_(first)
    after = kind([second], lr=77.0)
    after.load_state_dict(before.state_dict())
    run(before, first, GRADIENTS[3:])
    run(after, second, GRADIENTS[3:])
    assert np.array_equal(first.array, second.array)
    np.testing.assert_allclose(first.array, formula(lr=0.1, **options), rtol=1e-12)


@pytest.mark.parametrize(("kind", "formula", "options"), CASES)
def test_gradients_stay_what_they_are(kind, formula, options) -> None:
    p = parameter()
    optimizer = kind([p], lr=0.1, **options)
    for _ in range(2):
        p.grad = om.tensor(GRADIENTS[0])
        optimizer.step()
        assert np.array_equal(p.grad.array, GRADIENTS[0])


def test_a_step_raises_the_version_and_keeps_the_storage() -> None:
    p = parameter()
    array, version = p.array, p.version
    run(training.SGD([p], lr=0.1), p, GRADIENTS[:1])
    assert p.array is array and p.version == version + 1


def test_a_step_before_backward_is_noticed() -> None:
    p = parameter()
    loss = (p * p).sum()
    run(training.SGD([p], lr=0.1), p, GRADIENTS[:1])
    with pytest.raises(RuntimeError, match="changed in place"):
        loss.backward()


def test_parameters_without_gradient_are_left_alone() -> None:
    with_gradient, without = parameter(), parameter()
    optimizer = training.Adam([with_gradient, without], lr=0.1, weight_decay=0.5)
    run(optimizer, with_gradient)
    assert np.array_equal(without.array, START)
    assert list(optimizer.state_dict()["state"]) == [0]


def test_groups_have_options_of_their_own() -> None:
    slow, fast = parameter(), parameter()
    optimizer = training.SGD([{"params": [slow]}, {"params": fast, "lr": 1.0}], lr=0.1)
    optimizer.add_param_group({"params": [parameter()], "momentum": 0.5})
    slow.grad = fast.grad = om.tensor(GRADIENTS[0])
    optimizer.step()
    np.testing.assert_allclose(slow.array, START - 0.1 * GRADIENTS[0])
    np.testing.assert_allclose(fast.array, START - GRADIENTS[0])
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 1.0, 0.1]
    assert "group 2: 1 parameters" in repr(optimizer)


def test_a_closure_computes_the_loss_with_gradients() -> None:
    p = parameter()
    optimizer = training.SGD([p], lr=0.1)

    def closure() -> om.Tensor:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with om.no_grad():
        assert optimizer.step(closure).item() == pytest.approx((START**2).sum())
    np.testing.assert_allclose(p.array, 0.8 * START)


def test_zero_grad_drops_or_fills() -> None:
    p = parameter()
    optimizer = training.SGD([p])
    p.grad = om.tensor(GRADIENTS[0])
    optimizer.zero_grad(set_to_none=False)
    assert not p.grad.array.any()
    optimizer.zero_grad()
    assert p.grad is None


def test_a_state_of_pytorchs_layout_loads() -> None:
    p = parameter()
    optimizer = training.Adam([p])
    moments = om.ones((3, 2), dtype=om.float64)
    optimizer.load_state_dict(
        {
            "state": {0: {"step": om.tensor(5.0), "exp_avg": moments, "exp_avg_sq": moments}},
            "param_groups": [{"lr": 0.5, "betas": (0.9, 0.99), "foreach": None, "params": [0]}],
        }
    )
    run(optimizer, p, [np.zeros((3, 2))])
    m, v = 0.9, 0.99
    step = 0.5 * (m / (1 - 0.9**6)) / (math.sqrt(v / (1 - 0.99**6)) + 1e-8)
    np.testing.assert_allclose(p.array, START - step)


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    p = parameter()
    optimizer = training.SGD([p], lr=0.1, momentum=0.9)
    run(optimizer, p)
    state = optimizer.state_dict()
    other = training.SGD([nn.Parameter(om.ones(4))], lr=0.2, momentum=0.9)
    with pytest.raises(ValueError, match=r"momentum_buffer has shape \[3, 2\]"):
        other.load_state_dict(state)
    assert not other.state and other.param_groups[0]["lr"] == 0.2
    with pytest.raises(ValueError, match=r"groups of \[1\] parameters, not \[2\]"):
        training.SGD([parameter(), parameter()]).load_state_dict(state)


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda p: training.SGD([]), ValueError, "no parameters"),
        (lambda p: training.SGD([p, p]), ValueError, "stands twice"),
        (lambda p: training.SGD([p * 2]), ValueError, "result of an operator"),
        (lambda p: training.SGD([3]), TypeError, "expected tensors, not int"),
        (lambda p: training.SGD([{"params": p, "speed": 1}]), ValueError, "unknown options speed"),
        (lambda p: training.SGD([p], lr=-1), ValueError, "lr must not be negative"),
        (lambda p: training.SGD([p], nesterov=True), ValueError, "needs a momentum"),
        (lambda p: training.Adam([p], betas=(0.9, 1.0)), ValueError, "betas must be"),
        (lambda p: training.RMSprop([p], alpha=float("nan")), ValueError, "alpha must not"),
    ],
)
def test_what_cannot_be_optimised_is_told(build, error, text) -> None:
    with pytest.raises(error, match=text):
        build(parameter())


def test_a_step_inside_a_trace_is_refused() -> None:
    layer = nn.Linear(2, 2)
    optimizer = training.SGD(layer.parameters(), lr=0.1)

    def model(x: om.Tensor) -> om.Tensor:
        result = layer(x)
        optimizer.step()
        return result

    with pytest.raises(om.TraceException) as error:
        om.trace(model, om.ones((2, 2)))
    assert error.value.kind is om.TraceErrorKind.NO_GRAD_IN_TRACE


def test_norms_of_gradients_are_clipped_together() -> None:
    first, second = parameter(), parameter()
    first.grad, second.grad = om.tensor(GRADIENTS[0]), om.tensor(GRADIENTS[1])
    total = math.sqrt((GRADIENTS[:2] ** 2).sum())
    found = training.clip_grad_norm_([first, second], 0.5)
    assert found.item() == pytest.approx(total, rel=1e-6)
    np.testing.assert_allclose(first.grad.array, GRADIENTS[0] * 0.5 / (total + 1e-6))
    training.clip_grad_norm_([first, second, parameter()], 10.0)  # small already
    np.testing.assert_allclose(second.grad.array, GRADIENTS[1] * 0.5 / (total + 1e-6))


@pytest.mark.parametrize("order", [1, 3, math.inf])
def test_any_norm_may_be_clipped(order) -> None:
    p = parameter()
    p.grad = om.tensor(GRADIENTS[0])
    expected = np.linalg.norm(GRADIENTS[0].ravel(), order)
    assert training.clip_grad_norm_(p, 1.0, order).item() == pytest.approx(expected, rel=1e-6)


def test_an_infinite_norm_is_an_error_if_asked_for() -> None:
    p = parameter()
    p.grad = om.tensor(np.full((3, 2), np.inf))
    with pytest.raises(RuntimeError, match=r"norm of order 2\.0 of the gradients is inf"):
        training.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)
    training.clip_grad_norm_(p, 1.0)
    assert np.isnan(p.grad.array).all()


def test_values_of_gradients_are_clipped_one_by_one() -> None:
    p = parameter()
    p.grad = om.tensor(GRADIENTS[0])
    training.clip_grad_value_([p], 0.3)
    np.testing.assert_allclose(p.grad.array, np.clip(GRADIENTS[0], -0.3, 0.3))
