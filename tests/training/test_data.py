"""Data sets, batches and their order."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import onemodel as om
from onemodel import training


class Squares(training.Dataset):
    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"x": om.tensor([float(index)]), "y": index**2, "name": f"n{index}"}

    def __len__(self) -> int:
        return 7


def numbers(count: int = 10) -> training.TensorDataset:
    return training.TensorDataset(np.arange(count), om.arange(count) * 2)


def test_a_tensor_dataset_gives_rows() -> None:
    data = numbers()
    assert len(data) == 10 and [t.item() for t in data[3]] == [3, 6]
    with pytest.raises(ValueError, match=r"first sizes \[2, 3\] differ"):
        training.TensorDataset(om.ones(2), om.ones(3))


@pytest.mark.parametrize(("drop_last", "sizes"), [(False, [4, 4, 2]), (True, [4, 4])])
def test_batches_come_in_order_and_the_last_may_be_dropped(drop_last, sizes) -> None:
    loader = training.DataLoader(numbers(), 4, drop_last=drop_last)
    batches = list(loader)
    assert len(loader) == len(batches) == len(sizes)
    assert [len(x) for x, _ in batches] == sizes
    assert np.concatenate([x.array for x, _ in batches]).tolist() == list(range(sum(sizes)))
    assert all((y.array == 2 * x.array).all() for x, y in batches)


def order(loader: training.DataLoader) -> list[int]:
    return [int(i) for x, _ in loader for i in x.array]


def test_shuffling_is_new_every_epoch_and_the_same_for_the_same_seed() -> None:
    first = training.DataLoader(numbers(), 3, shuffle=True, generator=5)
    second = training.DataLoader(numbers(), 3, shuffle=True, generator=np.random.default_rng(5))
    one, two = order(first), order(first)
    assert one != two and sorted(one) == sorted(two) == list(range(10))
    assert [order(second), order(second)] == [one, two]


def test_the_default_seed_repeats_the_order() -> None:
    loader = training.DataLoader(numbers(), 3, shuffle=True)
    om.manual_seed(1)
    one = order(loader)
    om.manual_seed(1)
    assert order(loader) == one


def test_a_sampler_is_the_order() -> None:
    loader = training.DataLoader(numbers(), 2, sampler=[9, 0, 3])
    assert order(loader) == [9, 0, 3] and len(loader) == 2
    with pytest.raises(ValueError, match="leave shuffle off"):
        training.DataLoader(numbers(), 2, shuffle=True, sampler=[1])


def test_examples_of_any_structure_are_collated() -> None:
    batch = next(iter(training.DataLoader(Squares(), 3)))
    assert batch["x"].tolist() == [[0.0], [1.0], [2.0]]
    assert batch["y"].tolist() == [0, 1, 4] and batch["y"].dtype == om.int64
    assert batch["name"] == ["n0", "n1", "n2"]
    Pair = collections.namedtuple("Pair", "a b")
    found = training.default_collate([Pair(1.5, [1, 2]), Pair(2.5, [3, 4])])
    assert isinstance(found, Pair) and found.a.tolist() == [1.5, 2.5]
    assert [column.tolist() for column in found.b] == [[1, 3], [2, 4]]


def test_examples_that_do_not_stack_are_told() -> None:
    with pytest.raises(ValueError, match=r"shapes \[2\], \[3\] do not stack"):
        training.default_collate([om.ones(2), om.ones(3)])
    with pytest.raises(TypeError, match="cannot make a tensor"):
        training.default_collate([object(), object()])


def test_a_collate_function_of_ones_own_sees_examples() -> None:
    loader = training.DataLoader(numbers(3), 2, collate_fn=lambda rows: [len(row) for row in rows])
    assert list(loader) == [[2, 2], [2]]


def test_random_parts_are_disjoint_and_complete() -> None:
    parts = training.random_split(numbers(), [0.75, 0.25], generator=3)
    assert [len(part) for part in parts] == [8, 2]
    found = [part[i][0].item() for part in parts for i in range(len(part))]
    assert sorted(found) == list(range(10))
    again = training.random_split(numbers(), [0.75, 0.25], generator=3)
    assert again[0].indices == parts[0].indices
    with pytest.raises(ValueError, match="do not sum to 10"):
        training.random_split(numbers(), [3, 4])


def test_a_subset_loads_like_the_whole() -> None:
    subset = training.Subset(numbers(), [4, 2])
    assert order(training.DataLoader(subset, 2)) == [4, 2]


def test_a_batch_size_below_one_is_told() -> None:
    with pytest.raises(ValueError, match="must be positive"):
        training.DataLoader(numbers(), 0)


def test_a_dataset_must_be_written() -> None:
    with pytest.raises(NotImplementedError, match="no __getitem__"):
        training.Dataset()[0]
    with pytest.raises(NotImplementedError, match="no __len__"):
        len(training.Dataset())
