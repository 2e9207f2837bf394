"""One operator call as a fact: what ran, on what, with which attributes, giving what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from onemodel.tensors.tensor import Tensor


class BackwardRecord:
    """What a gradient, a tracer or a reader needs of one call.

    Attributes:
        operator: the operator (an ``onemodel.operators._operator.Operator``).
        inputs: input tensors, in order.
        attributes: typed attributes by parameter name; sizes may be ``Size`` objects.
        arrays: the inputs' arrays where the gradient reads them, else empty.
        results: the results' arrays where the gradient reads them, else empty.
        saved: whatever the forward kept for the gradient besides.
        shapes: the inputs' shapes. result_specs: (shape, dtype) of each result.
        needs: for each input, whether a gradient is wanted.
    """

    __slots__ = (
        "arrays",
        "attributes",
        "inputs",
        "needs",
        "operator",
        "result_specs",
        "results",
        "saved",
        "shapes",
        "versions",
    )

    def __init__(
        self,
        operator: Any,
        inputs: Sequence[Tensor],
        attributes: Mapping[str, Any],
        arrays: Sequence[np.ndarray],
        results: Sequence[np.ndarray],
        saved: Any,
    ) -> None:
        self.operator = operator
        self.inputs = inputs
        self.attributes = attributes
        self.saved = saved
        self.shapes = [a.shape for a in arrays]
        self.result_specs = [(r.shape, r.dtype) for r in results]
        self.needs = [t._tracked for t in inputs]
        reads = operator.reads
        self.arrays: Sequence[np.ndarray] = arrays if "i" in reads else ()
        self.results: Sequence[np.ndarray] = results if "o" in reads else ()
        self.versions = [t._storage.version if t._storage is not None else 0 for t in inputs]

    def check_versions(self) -> None:
        """Raises RuntimeError where a saved input was overwritten since the forward."""
        if not self.arrays:
            return
        for position, (tensor, version) in enumerate(zip(self.inputs, self.versions, strict=True)):
            now = tensor._storage.version if tensor._storage is not None else 0
            if now != version:
                raise RuntimeError(
                    f"the gradient of {self.operator.name} needs its input {position} "
                    f"(shape {list(tensor._array.shape)}), which was changed in place after the "
                    f"call (version {now}, expected {version}); write the change out of place"
                )

    def __repr__(self) -> str:
        return f"<record {self.operator.name}>"
