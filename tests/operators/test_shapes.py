"""What the cases of joining, moving and scattering cannot say: words of errors, aliases, views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onemodel as om
from onemodel.tensors.tensor import Tensor


def tensor(*shape: int) -> Tensor:
    return Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))


X = tensor(2, 3)
INDEX = np.zeros((2, 2), np.int64)

BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: om.cat([]), ValueError, "no tensor"),
    (lambda: om.cat(X), TypeError, "must be a list"),
    (lambda: om.cat([X, tensor(2, 4)]), ValueError, "cat"),
    (lambda: om.cat([tensor()]), ValueError, "use stack"),
    (lambda: om.stack([X, tensor(3, 2)]), ValueError, "stack"),
    (lambda: X.permute(0, 0), ValueError, "no order of 2 axes"),
    (lambda: X.permute(0, 2), IndexError, "dim 2 is out of range"),
    (lambda: X.transpose(0, 5), IndexError, "dim 5 is out of range"),
    (lambda: om.t(tensor(1, 2, 3)), ValueError, "at most 2 axes"),
    (lambda: X.split([1, 3], 1), ValueError, "do not add up to 3"),
    (lambda: X.split(0), ValueError, "at least 1"),
    (lambda: X.chunk(0), ValueError, "at least 1 chunk"),
    (lambda: X.expand(4, 3), ValueError, "expand"),
    (lambda: X.expand(-1, 2, 3), ValueError, "-1 keeps an axis"),
    (lambda: X.repeat(2), ValueError, "at least 2 repeats"),
    (lambda: X.flatten(1, 0), ValueError, "comes after"),
    (lambda: X.unflatten(1, (2, 2)), ValueError, "reshape"),
    (lambda: X.narrow(1, 2, 2), IndexError, "run beyond axis 1 of size 3"),
    (lambda: X.gather(0, np.zeros((9, 9), np.int64)), ValueError, "none larger"),
    (lambda: X.gather(1, INDEX + 7), IndexError, "out of bounds"),
    (lambda: X.gather(1, X), IndexError, "must be of integers"),
    (lambda: X.scatter(1, INDEX, tensor(1, 1)), ValueError, "smaller than index"),
    (lambda: X.scatter_reduce(1, INDEX, 1.0, "max"), ValueError, "write one of"),
    (lambda: X.index_select(0, INDEX), ValueError, "one axis"),
    (lambda: om.pad(X, (1,)), ValueError, "two per axis"),
    (lambda: om.pad(X, (3, 0), "reflect"), ValueError, "at most 2 entries"),
    (lambda: om.pad(X, (1, 1), "mirror"), ValueError, "write one of constant"),
    (lambda: X.roll((1, 2), (0,)), ValueError, "2 shifts for 1 dims"),
    (lambda: X.diagonal(0, 1, 1), ValueError, "two different axes"),
    (lambda: om.tril(tensor(3)), ValueError, "at least two axes"),
    (lambda: om.pixel_shuffle(tensor(3, 2, 2), 2), ValueError, "multiple"),
    (lambda: om.unfold(X, 2), ValueError, "expected .N, C, H, W."),
    (lambda: om.unfold(tensor(1, 1, 2, 2), 3), ValueError, "does not fit"),
    (lambda: om.linear(X, tensor(4, 2)), ValueError, "must have the size 2"),
    (lambda: om.linear(X, tensor(4, 3), tensor(3)), ValueError, "bias must have the shape .4."),
    (lambda: om.mm(X, tensor(3)), ValueError, "expected operands of 2 and 2 axes"),
    (lambda: om.bmm(tensor(2, 2, 2), tensor(1, 2, 2)), ValueError, "matmul broadcasts"),
    (lambda: om.einsum("ij,jk->ij", X), ValueError, "2 operands, 1 are given"),
    (lambda: om.einsum("ijk->i", X), ValueError, "do not fit operands"),
    (lambda: om.einsum("ij->k", X), ValueError, "of no operand"),
    (lambda: om.inverse(tensor(2, 3)), ValueError, "square matrices"),
    (lambda: om.inverse(tensor(3, 3)), ValueError, "singular"),
]


@pytest.mark.parametrize(("call", "kind", "words"), BAD, ids=[row[2] for row in BAD])
def test_a_bad_call_says_what_to_write(
    call: Callable[[], Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: x.mT,
        lambda x: x.permute(1, 0),
        lambda x: x.unsqueeze(0),
        lambda x: x.unsqueeze(0).squeeze(0),
        lambda x: x.split(1)[0],
        lambda x: x.chunk(3, 1)[0],
        lambda x: x.unbind(1)[0],
        lambda x: x.narrow(1, 0, 2),
        lambda x: x.select(0, 0),
        lambda x: x.movedim(0, 1),
        lambda x: x.expand(2, 2, 3),
    ],
)
def test_views_share_storage_and_its_version(view: Callable[[Tensor], Tensor]) -> None:
    x = tensor(2, 3)
    seen = view(x)
    x.fill_(7)
    assert (seen.to_array() == 7).all()
    assert seen.version == x.version == 1


@pytest.mark.parametrize(
    "copy",
    [lambda x: x.clone(), lambda x: x.flip(0), lambda x: x.repeat(1, 1), lambda x: x.roll(1, 0)],
)
def test_copies_have_memory_of_their_own(copy: Callable[[Tensor], Tensor]) -> None:
    x = tensor(2, 3)
    other = copy(x)
    x.fill_(-1)
    assert (other.to_array() >= 0).all()


def test_contiguous_returns_the_tensor_itself_where_it_is_in_order() -> None:
    x = tensor(2, 3)
    assert x.contiguous() is x
    assert x.T.contiguous().is_contiguous()


def test_moves_that_change_nothing_write_no_node() -> None:
    def model(x: Tensor) -> Tensor:
        y = x.permute(0, 1).transpose(1, 1).expand(-1, 3).repeat(1, 1).squeeze(1).contiguous()
        return om.cat([y]).clone().flatten(1) * 2

    traced = om.trace(model, tensor(4, 3), axes=[{0: "batch"}])
    assert [node.op_type for node in traced.to_onnx().graph.node] == ["Mul"]


def test_a_linear_map_of_a_matrix_is_one_gemm() -> None:
    weight, bias = tensor(5, 3), tensor(5)
    traced = om.trace(lambda x: om.linear(x, weight, bias), tensor(4, 3), axes=[{0: "batch"}])
    assert [node.op_type for node in traced.to_onnx().graph.node] == ["Gemm"]


def test_scattering_where_indices_repeat_keeps_the_last_and_its_gradient() -> None:
    x, source = tensor(3).requires_grad_(), tensor(3).requires_grad_()
    index = np.array([0, 0, 2])
    result = om.scatter(x * 1, 0, index, source * 10)
    np.testing.assert_array_equal(result.detach().numpy(), [10, 1, 20])
    result.sum().backward()
    assert x.grad is not None and source.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), [0, 1, 0])
    np.testing.assert_array_equal(source.grad.numpy(), [0, 10, 10])


def test_the_gradient_of_a_scattered_product_knows_zeros() -> None:
    x, source = tensor(2).requires_grad_(), Tensor(np.array([0.0, 3.0, 2.0], np.float32))
    source.requires_grad_()
    om.scatter_reduce(x + 1, 0, np.array([0, 0, 1]), source, "prod").sum().backward()
    assert x.grad is not None and source.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), [0, 2])
    np.testing.assert_array_equal(source.grad.numpy(), [3, 0, 2])


def test_in_place_forms_write_into_the_tensor() -> None:
    x = tensor(2, 3)
    x.scatter_(1, np.array([[0], [1]]), 9.0).tril_()
    np.testing.assert_array_equal(x.numpy(), [[9, 0, 0], [3, 9, 0]])


def test_unique_gives_inverse_and_counts_that_rebuild_the_tensor() -> None:
    x = Tensor(np.array([[3, 1, 3], [2, 2, 3]]))
    values, inverse, counts = om.unique(x, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(values.numpy()[inverse.numpy()], x.numpy())
    assert counts.tolist() == [1, 2, 3]
    assert om.unique(x).tolist() == [1, 2, 3]


def test_folding_is_the_adjoint_of_unfolding() -> None:
    generator = np.random.default_rng(0)
    image = Tensor(generator.standard_normal((2, 3, 6, 5)))
    columns = om.unfold(image, (2, 3), padding=1, stride=2)
    other = Tensor(generator.standard_normal(columns.shape))
    back = om.fold(other, (6, 5), (2, 3), padding=1, stride=2)
    left = (columns.numpy() * other.numpy()).sum()
    assert left == pytest.approx((image.numpy() * back.numpy()).sum())
