"""A value that a gradient reads, overwritten in place: the right gradient or an error, no third."""

from __future__ import annotations

import numpy as np
import pytest

import onemodel as om


def leaf() -> om.Tensor:
    return om.tensor([0.5, -1.0, 2.0], requires_grad=True)


READING_RESULTS = ("sigmoid", "tanh", "exp", "relu", "sqrt")


@pytest.mark.parametrize("name", READING_RESULTS)
def test_an_in_place_operator_on_a_result_leaves_its_gradient_right(name):
    x, y = leaf(), leaf()
    result = getattr(x.abs() if name == "sqrt" else x, name)()
    result += 1
    result.sum().backward()
    getattr(y.abs() if name == "sqrt" else y, name)().sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), y.grad.numpy())


@pytest.mark.parametrize("name", READING_RESULTS)
@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.detach().mul_(3),
        lambda t: t.fill_(0),
        lambda t: t[:1].zero_(),
        lambda t: t.copy_from(om.zeros(3)),
        lambda t: t.__setitem__(0, 5.0),
    ],
)
def test_a_write_without_records_is_noticed_in_the_backward(name, write):
    result = getattr(leaf().abs() + 1, name)()
    with om.no_grad():
        write(result)
    with pytest.raises(RuntimeError, match=f"gradient of {name} needs its result"):
        result.sum().backward()


def test_a_saved_input_that_was_overwritten_is_noticed():
    a = leaf() * 1
    b = a * a
    with om.no_grad():
        a.add_(1)
    with pytest.raises(RuntimeError, match="gradient of mul needs its input 0"):
        b.sum().backward()


def test_what_no_gradient_reads_may_be_overwritten():
    x = leaf()
    y = x + 1
    z = y + 2
    with om.no_grad():
        y.zero_()
    z.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.ones(3, np.float32))
