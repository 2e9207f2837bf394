"""Examples, and batches of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from onemodel.tensors.generator import default_generator
from onemodel.tensors.tensor import Tensor, as_array

Generator = np.random.Generator


class Dataset:
    """Examples by number: write ``__getitem__`` and ``__len__``. Source: ``torch.utils.data``."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__()")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__()")


class TensorDataset(Dataset):
    """Example ``i`` is ``(tensor[i], ...)``. Raises ValueError for different first sizes.

    Source: ``torch.utils.data.TensorDataset``.
    """

    def __init__(self, *tensors: Any) -> None:
        self.tensors = tuple(t if isinstance(t, Tensor) else Tensor(as_array(t)) for t in tensors)
        sizes = {len(tensor) for tensor in self.tensors}
        if len(sizes) != 1:
            raise ValueError(f"TensorDataset: first sizes {sorted(sizes)} differ")

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])

    def batch(self, indices: Sequence[int]) -> tuple[Tensor, ...]:
        """Several examples at once: one look-up per tensor."""
        chosen = np.asarray(indices)
        return tuple(Tensor(tensor.array[chosen]) for tensor in self.tensors)


class Subset(Dataset):
    """Some examples of another data set. Source: ``torch.utils.data.Subset``."""

    def __init__(self, dataset: Dataset, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = list(indices)

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset, lengths: Sequence[int | float], generator: Generator | int | None = None
) -> list[Subset]:
    """Disjoint parts of the given sizes (or shares that sum to 1), drawn at random.

    Raises ValueError where they do not sum to the whole. Source:
    ``torch.utils.data.random_split``.
    """
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and not all(isinstance(n, int) for n in lengths):
        sizes = [math.floor(total * share) for share in lengths]
        for number in range(total - sum(sizes)):
            sizes[number % len(sizes)] += 1
    else:
        sizes = [int(n) for n in lengths]
    if sum(sizes) != total:
        raise ValueError(f"random_split: parts of {sizes} do not sum to {total} examples")
    order = _source(generator).permutation(total).tolist()
    bounds = np.cumsum([0, *sizes]).tolist()
    return [Subset(dataset, order[a:b]) for a, b in pairwise(bounds)]


class DataLoader:
    """Batches of a data set; each ``for`` over it is one epoch.

    Args:
        dataset: anything with ``__getitem__`` and ``__len__``.
        batch_size: examples per batch.
        shuffle: a new order every epoch, drawn from ``generator``.
        sampler: the order instead: an iterable of indices.
        drop_last: leave out a last batch that is not full.
        collate_fn: makes a batch of a list of examples; :func:`default_collate`.
        generator: ``om.Generator`` or a seed; by default the one ``om.manual_seed`` starts.

    Raises ValueError for a batch size below 1 or a sampler together with shuffle.
    Source: ``torch.utils.data.DataLoader``.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        sampler: Iterable[int] | None = None,
        *,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        generator: Generator | int | None = None,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"DataLoader: batch_size must be positive, not {batch_size}")
        if shuffle and sampler is not None:
            raise ValueError("DataLoader: a sampler is an order already; leave shuffle off")
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.sampler = sampler
        self.drop_last = drop_last
        self.collate_fn = collate_fn
        self.generator = _source(generator)

    def __len__(self) -> int:
        """Batches per epoch."""
        source: Any = self.dataset if self.sampler is None else self.sampler
        count = len(source)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    def _order(self) -> Iterable[int]:
        if self.sampler is not None:
            return self.sampler
        if self.shuffle:
            return self.generator.permutation(len(self.dataset)).tolist()
        return range(len(self.dataset))

    def __iter__(self) -> Iterator[Any]:
        batch: list[int] = []
        for index in self._order():
            batch.append(index)
            if len(batch) == self.batch_size:
                yield self._batch(batch)
                batch = []
        if batch and not self.drop_last:
            yield self._batch(batch)

    def _batch(self, indices: list[int]) -> Any:
        if self.collate_fn is not None:
            return self.collate_fn([self.dataset[i] for i in indices])
        if isinstance(self.dataset, TensorDataset):
            return self.dataset.batch(indices)
        return default_collate([self.dataset[i] for i in indices])


def default_collate(examples: Sequence[Any]) -> Any:
    """A batch: tensors, arrays and numbers stacked; tuples, lists and dicts item by item.

    Strings stay a list. Raises ValueError for shapes that differ, TypeError for other objects.
    Source: ``torch.utils.data.default_collate``.
    """
    first = examples[0]
    if isinstance(first, str):
        return list(examples)
    if isinstance(first, Mapping):
        return {key: default_collate([example[key] for example in examples]) for key in first}
    if isinstance(first, (tuple, list)):
        columns = [default_collate(list(column)) for column in zip(*examples, strict=True)]
        named = isinstance(first, tuple) and hasattr(first, "_fields")
        return type(first)(*columns) if named else type(first)(columns)
    arrays = [as_array(example) for example in examples]
    if any(array.shape != arrays[0].shape for array in arrays):
        shapes = sorted({str(list(array.shape)) for array in arrays})
        raise ValueError(
            f"default_collate: examples of shapes {', '.join(shapes)} do not stack; "
            "pad them in a collate_fn of your own"
        )
    return Tensor(np.stack(arrays))


def _source(generator: Generator | int | None) -> Any:
    """A source of random numbers: a generator, one from a seed, or the default one."""
    if generator is None:
        return default_generator
    return np.random.default_rng(generator) if isinstance(generator, int) else generator
