"""Programs of the catalogue that use the size of a symbolic axis.

Each is what a user would write; ``# <-`` marks the line that a refusal must name.
"""

from __future__ import annotations

import math

import numpy as np

import onemodel as om
from onemodel import nn


def divide_by_length(x):
    return x.sum(0) / len(x)  # <-


def divide_by_size(x):
    return x.sum(0) / x.shape[0]


def loop_over_rows(x):
    total = om.zeros(4)
    for row in x:  # <-
        total = total + row * row
    return total


def loop_over_columns(x):
    total = x[:, 0] * 0
    for column in x.T:
        total = total + column * column
    return total


def positions(x):
    return x + om.arange(x.shape[0]).reshape(-1, 1)


def reshape_by_a_product(x):
    b, t, d = x.shape
    return x.reshape(b * t, d) * 2


def first_half(x):
    return x[: x.shape[0] // 2]


def branch_on_size(x):
    if x.shape[0] > 3:  # <-
        return x.mean(0)
    return x.sum(0)


def branch_on_any_size(x):
    return x * 2 if x.shape[0] > 0 else x


POSITIONS = om.tensor(np.arange(40, dtype=np.float32).reshape(10, 4))


def part_of_a_table(x):
    return x + POSITIONS[: x.shape[0]]


def size_of_a_part_of_a_table(x):
    return x.sum(0) + POSITIONS[: x.shape[0]].shape[0]  # <-


def mean_of_a_part_of_a_table(x):
    return x + POSITIONS[: x.shape[0]].mean(0)  # <-


def branch_behind_a_branch(x):
    y = x * 2
    if x.shape[0] > 8:  # <-
        rows = x.shape[0]
        if rows > 40:
            return y + 1
    return y


def branch_on_size_one(x):
    if x.shape[0] == 1:  # <-
        return x[0]
    return x.sum(0) / x.shape[0] + 1


def branch_that_says_the_same(x):
    if x.shape[0] == 1:
        return x[0]
    return x.amax(0)


def square_root_of_size(x):
    return x / math.sqrt(x.shape[0])  # <-


def square_root_in_the_graph(x):
    return x / om.scalar_tensor(x.shape[0], dtype=om.float32).sqrt()


def size_as_text(x):
    return x / int(str(x.shape[0]))  # <-


def size_as_numpy_integer(x):
    return x / np.int64(x.shape[0])  # <-


def sizes_as_an_array(x):
    return x / np.array(x.shape).prod()  # <-


def plain(x):
    return x * 2


def two_of_its_own(x):
    return x.reshape(2, -1) * 3  # <-


def initial_state(x):
    h = om.zeros(x.shape[0], 4)
    for _ in range(2):
        h = (h + x).tanh()
    return h


def initial_state_from_numpy(x):
    h = om.tensor(np.zeros((x.shape[0], 4), np.float32))
    return (h + x).tanh()  # <-


def size_as_a_tensor(x):
    return x.sum(0) / om.tensor(x.shape[0])


class SizeKeyedCache(nn.Module):
    """The table is made for the first size that comes along."""

    def __init__(self):
        super().__init__()
        self.table = None
        self(om.zeros(3, 4))

    def forward(self, x):
        if self.table is None:
            self.table = om.ones(x.shape[0], 4)
        return x + self.table  # <-


def list_repeated_by_a_size(x):
    return om.stack([x.sum(0)] * x.shape[0])  # <-


def expanded_by_a_size(x):
    return x.sum(0).expand(x.shape[0], 4)


def three_of_its_own(x):
    return x.T.reshape(4, 3) * 2  # <-


def equal_extents(x):
    return x.reshape(x.shape[1], -1) * 2  # <-


def fifteen_of_its_own(x):
    return x.reshape(15, 4) * 2  # <-


def broadcast_one(x):
    return x + om.ones(1, 4)


TABLE = om.tensor(np.arange(12, dtype=np.float32).reshape(3, 4))


def constant_of_the_batch_size(x):
    return x + TABLE  # <-


def resized(image):
    return nn.functional.interpolate(image, size=(8, 8))  # <-


def resized_by_a_factor(image):
    return nn.functional.interpolate(image, scale_factor=2.0)


def enumerated(x):
    total = om.zeros(4)
    for i, row in enumerate(x):  # <-
        total = total + row * i
    return total


def zipped(x):
    total = om.zeros(4)
    for a, b in zip(x, x * 2, strict=True):  # <-
        total = total + a * b
    return total


def starred(x):
    return om.stack([*x]).sum(0)  # <-


def unpacked(x):
    a, b, c = x  # <-
    return a + b + c


def unpacked_columns(x):
    a, b, c, d = x.T
    return a + b * c - d


class SizeKept(nn.Module):
    """The size of the first run is kept as it was read."""

    def __init__(self):
        super().__init__()
        self.rows = None

    def forward(self, x):
        if self.rows is None:
            self.rows = x.shape[0]
        return x + om.zeros(self.rows, 4)  # <-
