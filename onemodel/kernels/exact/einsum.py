"""Einstein summation by correctly rounded products and fixed sums, operand after operand."""

from __future__ import annotations

import math

import numpy as np

from onemodel.kernels.exact.blocks import rounded_to
from onemodel.kernels.exact.product import matmul
from onemodel.kernels.exact.sum import total


def einsum(equation: str, operands: list[np.ndarray]) -> np.ndarray:
    """``equation`` (without blanks, ellipses allowed) over ``operands`` of one dtype.

    Raises:
        ValueError: for terms that do not fit the operands.
    """
    terms, output = _terms(equation, operands)
    terms_left = [_diagonal(array, term) for array, term in zip(operands, terms, strict=True)]
    array, labels = terms_left[0]
    for position, (other, theirs) in enumerate(terms_left[1:], start=1):
        later = set(output).union(*(rest for _, rest in terms_left[position + 1 :]))
        array, labels = _contracted(array, labels, other, theirs, later)
    array, labels = _summed(array, labels, set(output))
    return array.transpose([labels.index(label) for label in output])


def _terms(equation: str, operands: list[np.ndarray]) -> tuple[list[str], str]:
    """Labels per operand and of the result; an ellipsis becomes labels of its own."""
    given, arrow, output = equation.partition("->")
    terms = given.split(",")
    if len(terms) != len(operands):
        raise ValueError(f"Einsum: {equation!r} names {len(terms)} operands, not {len(operands)}")
    spare = [chr(code) for code in range(0x100, 0x100 + 64)]
    most = 0
    for place, (term, array) in enumerate(zip(terms, operands, strict=True)):
        hidden = array.ndim - len(term.replace("...", ""))
        if hidden < 0 or (hidden and "..." not in term):
            raise ValueError(f"Einsum: {term!r} does not fit a value of rank {array.ndim}")
        most = max(most, hidden)
        terms[place] = term.replace("...", "".join(spare[:hidden][::-1]))
    every = "".join(spare[:most][::-1])
    if arrow:
        if every and "..." not in output:
            raise ValueError(f"Einsum: the result of {equation!r} has no '...' for {most} axes")
        return terms, output.replace("...", every)
    joined = "".join(terms)
    once = sorted(label for label in set(joined) if joined.count(label) == 1 and label not in every)
    return terms, every + "".join(once)


def _diagonal(array: np.ndarray, term: str) -> tuple[np.ndarray, str]:
    """``array`` with each label once: axes of the same label are walked together."""
    labels = ""
    for label in term:
        if label not in labels:
            labels += label
    for label in labels:
        while term.count(label) > 1:
            first = term.index(label)
            second = term.index(label, first + 1)
            if array.shape[first] != array.shape[second]:
                raise ValueError(
                    f"Einsum: {label!r} stands for sizes {array.shape[first]} and "
                    f"{array.shape[second]} of one operand"
                )
            array = np.moveaxis(np.diagonal(array, axis1=first, axis2=second), -1, first)
            term = term[:second] + term[second + 1 :]
    return array, term


def _summed(array: np.ndarray, labels: str, wanted: set[str]) -> tuple[np.ndarray, str]:
    gone = [axis for axis, label in enumerate(labels) if label not in wanted]
    if not gone:
        return array, labels
    kept = "".join(label for label in labels if label in wanted)
    sums = total(array, gone)
    return rounded_to(sums, array.dtype) if sums.dtype == np.float64 else sums, kept


def _contracted(
    a: np.ndarray, first: str, b: np.ndarray, second: str, wanted: set[str]
) -> tuple[np.ndarray, str]:
    """The product of two operands, summed over what neither the rest nor the result names."""
    a, first = _summed(a, first, wanted | set(second))
    b, second = _summed(b, second, wanted | set(first))
    shared = [label for label in first if label in second]
    batch = [label for label in shared if label in wanted]
    inner = [label for label in shared if label not in wanted]
    rows = [label for label in first if label not in second]
    columns = [label for label in second if label not in first]
    sizes = dict(zip(second, b.shape, strict=True))
    for label, size in zip(first, a.shape, strict=True):
        # A size of one stretches, as in NumPy.
        sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    left = _arranged(a, first, [batch, rows, inner], sizes)
    right = _arranged(b, second, [batch, inner, columns], sizes)
    result = matmul(left, right)
    labels = [*batch, *rows, *columns]
    return result.reshape([sizes[label] for label in labels]), "".join(labels)


def _arranged(
    array: np.ndarray, labels: str, groups: list[list[str]], sizes: dict[str, int]
) -> np.ndarray:
    """``array`` with its axes in the order of ``groups``, each group as one axis."""
    order = [label for group in groups for label in group]
    turned = array.transpose([labels.index(label) for label in order])
    whole = np.broadcast_to(turned, [sizes[label] for label in order])
    return whole.reshape([math.prod(sizes[label] for label in group) for group in groups])
