"""One operator call as a fact: what ran, on what, with which attributes, giving what."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from onemodel.tensors.tensor import Tensor


class BackwardRecord:
    """What a gradient or a reader needs of one call; a tracer is told of a ``seam.Call``.

    Attributes:
        operator: the operator (an ``onemodel.operators._operator.Operator``).
        inputs: input tensors, in order.
        attributes: typed attributes by parameter name; sizes may be ``Size`` objects.
        arrays: the inputs' arrays where the gradient reads them, else empty.
        results: the results' arrays where the gradient reads them, else empty.
        saved: whatever the forward kept for the gradient besides.
        result_specs: (shape, dtype) of each result.
    """

    __slots__ = (
        "arrays",
        "attributes",
        "inputs",
        "operator",
        "result_specs",
        "results",
        "saved",
        "versions",
        "written",
    )

    def __init__(
        self,
        operator: Any,
        inputs: Sequence[Tensor],
        attributes: Mapping[str, Any],
        results: Sequence[Tensor],
        saved: Any,
    ) -> None:
        self.operator = operator
        self.inputs = inputs
        self.attributes = attributes
        self.saved = saved
        reads = operator.reads
        self.arrays: Sequence[np.ndarray] = ()
        self.results: Sequence[np.ndarray] = ()
        self.versions: Sequence[int] | None = None
        self.written: Sequence[weakref.ref[Tensor]] = ()
        if len(results) == 1:  # spelt out: this is what every recorded operator pays
            result = results[0]
            array = result._array
            self.result_specs: Sequence[tuple[Any, np.dtype]] = ((array.shape, array.dtype),)
            if "o" in reads:
                self.results = (array,)
                # Weakly: the result holds this record, which is only reached while it lives.
                self.written = (weakref.ref(result),)
        else:
            self.result_specs = [(t._array.shape, t._array.dtype) for t in results]
            if "o" in reads:
                self.results = [t._array for t in results]
                self.written = [weakref.ref(t) for t in results]
        if "i" in reads:
            arrays, shared = [], False
            for tensor in inputs:
                arrays.append(tensor._array)
                if tensor._storage is not None:  # no storage: never shared, never written
                    shared = True
            self.arrays = arrays
            if shared:
                self.versions = [t.version for t in inputs]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the inputs."""
        return [t._array.shape for t in self.inputs]

    @property
    def needs(self) -> list[bool]:
        """For each input, whether a gradient is wanted."""
        return [t._tracked for t in self.inputs]

    def keep_results(self) -> None:
        """Copy what the gradient reads of the results: their memory is about to be written."""
        self.results = [array.copy() for array in self.results]
        self.written = ()

    def check_versions(self) -> None:
        """Raises RuntimeError where a value that the gradient reads was overwritten since."""
        if self.arrays:
            before = self.versions or [0] * len(self.inputs)
            for position, (tensor, version) in enumerate(zip(self.inputs, before, strict=True)):
                if tensor.version != version:
                    raise self._overwritten(f"its input {position}", tensor._array.shape)
        for position, reference in enumerate(self.written):
            result = reference()
            if result is not None and result.version:  # new results are at version 0
                raise self._overwritten("its result", self.results[position].shape)

    def _overwritten(self, what: str, shape: tuple[int, ...]) -> RuntimeError:
        return RuntimeError(
            f"the gradient of {self.operator.name} needs {what} (shape {list(shape)}), which was "
            "changed in place after the call; write the change out of place"
        )

    def __repr__(self) -> str:
        return f"<record {self.operator.name}>"
