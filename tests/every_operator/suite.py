"""What the shared suite does with one case: draw inputs, run eagerly, trace, run the graph."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import onnx
import onnxruntime

import onemodel as om
from onemodel.operators import TABLE
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite, Operator
from onemodel.tensors.dtypes import as_dtype
from onemodel.tensors.tensor import Tensor

OPSET = 20

# Sizes of a case's symbols, in order of appearance: as traced, and another choice. They differ
# from each other and from the fixed sizes that cases like, so that a baked size shows.
TRACED_SIZES = (4, 6, 5, 8, 10, 7)
OTHER_SIZES = (6, 8, 9, 4, 12, 5)
ONES = (1,) * 6
NONE = (0,) * 6


@dataclass(frozen=True, eq=False)
class Row:
    """One case of one operator."""

    operator: Operator | Composite
    case: Case
    name: str

    def call(self, *tensors: Any) -> Any:
        """The public call that the case describes."""
        function = self.case.call or self.operator.declaration
        return function(*tensors, **self.case.attributes)

    def symbols(self) -> list[str]:
        """Symbols of the input shapes, in order of appearance."""
        sizes = itertools.chain.from_iterable(spec.shape for spec in self.case.specs())
        return list(dict.fromkeys(size for size in sizes if isinstance(size, str)))

    def arrays(self, sizes: Sequence[int]) -> list[np.ndarray]:
        """Inputs at the given sizes of the symbols, the same on every call."""
        chosen = dict(zip(self.symbols(), sizes, strict=False))
        seed = zlib.crc32(f"{self.operator.name} {self.name}".encode())
        generator = np.random.default_rng(seed)
        return [draw(spec, chosen, generator) for spec in self.case.specs()]


def rows() -> list[Row]:
    """Every case of every operator."""
    found = []
    for operator in TABLE.values():
        taken: dict[str, int] = {}
        for case in operator.cases:
            count = taken[case.name] = taken.get(case.name, 0) + 1
            found.append(Row(operator, case, case.name + (f" {count}" if count > 1 else "")))
    return found


def row_id(row: Row) -> str:
    return f"{row.operator.name}-{row.name}" if row.name else row.operator.name


def draw(spec: In, chosen: Mapping[str, int], generator: np.random.Generator) -> np.ndarray:
    """Values of one input."""
    shape = tuple(chosen[size] if isinstance(size, str) else size for size in spec.shape)
    dtype = as_dtype(spec.dtype)
    if spec.values is not None:
        return np.asarray(spec.values(generator, shape)).astype(dtype)
    if dtype.kind in "iu":
        return np.asarray(generator.integers(int(spec.low), int(spec.high), shape), dtype)
    if dtype == np.bool_:
        return np.asarray(generator.integers(0, 2, shape), bool)
    values = np.asarray(generator.uniform(spec.low, spec.high, shape))
    if dtype.kind == "c":
        values = values + 1j * generator.uniform(spec.low, spec.high, shape)
    return values.astype(dtype)


def leaves(result: Any) -> Iterator[Any]:
    """Tensors (or arrays) of a result: one, or nested in tuples, lists and dicts."""
    if isinstance(result, Mapping):
        result = tuple(result.values())
    if isinstance(result, (tuple, list)):
        for item in result:
            yield from leaves(item)
    elif result is not None:
        yield result


def eager(row: Row, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Arrays of an eager run."""
    results = leaves(row.call(*[Tensor(np.array(array)) for array in arrays]))
    return [result.detach().numpy() for result in results]


def same(found: np.ndarray, wanted: Any, tolerance: float, what: str) -> None:
    """Fail unless shape and values agree; integers and bool exactly."""
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape, f"{what}: shape {found.shape}, expected {wanted.shape}"
    if found.dtype.kind in "iub":
        np.testing.assert_array_equal(found, wanted, err_msg=what)
        return
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        found.astype(wide), wanted.astype(wide), rtol=tolerance, atol=tolerance, err_msg=what
    )


@dataclass(frozen=True, eq=False)
class Traced:
    """A traced case: the model, and which of the case's inputs the graph takes."""

    model: Any
    names: dict[int, str]

    def feeds(self, arrays: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        taken = {value.name for value in self.model.inputs}
        return {
            name: np.ascontiguousarray(arrays[position]).reshape(arrays[position].shape)
            for position, name in self.names.items()
            if name in taken
        }


def program(row: Row) -> tuple[Callable[[list[Tensor]], Any], list[np.ndarray], dict[str, Any]]:
    """A case as a model of one list: the model, its examples, and the names of their axes.

    ``constant`` inputs are captured as weights.
    """
    specs, arrays = row.case.specs(), row.arrays(TRACED_SIZES)
    free = [i for i, spec in enumerate(specs) if not spec.constant]
    weights = {i: Tensor(arrays[i]) for i, spec in enumerate(specs) if spec.constant}
    axes = {
        f"x_{count}": {a: size for a, size in enumerate(specs[i].shape) if isinstance(size, str)}
        for count, i in enumerate(free)
    }

    def model(x: list[Tensor]) -> Any:
        given = dict(zip(free, x, strict=True)) | weights
        return row.call(*(given[position] for position in range(len(specs))))

    return model, [arrays[position] for position in free], axes


def trace(row: Row, opset: int) -> Traced:
    """Trace a case with its symbols symbolic; ``constant`` inputs are captured as weights."""
    model, examples, axes = program(row)
    specs = row.case.specs()
    free = [i for i, spec in enumerate(specs) if not spec.constant]
    traced = om.trace(model, examples, axes=axes, opset=opset, verify=False)
    return Traced(traced, {position: f"x_{count}" for count, position in enumerate(free)})


@cache
def _options() -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return options


def run_in_onnxruntime(proto: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Outputs of ONNX Runtime, which shares no code with this library."""
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), _options(), providers=["CPUExecutionProvider"]
    )
    taken = {item.name for item in session.get_inputs()}
    return session.run(None, {name: array for name, array in feeds.items() if name in taken})


def check_lowering(
    row: Row,
    traced: Traced,
    proto: onnx.ModelProto,
    run: Callable[[onnx.ModelProto, Mapping[str, np.ndarray]], list[np.ndarray]],
) -> None:
    """The model is valid and gives eager's values at the traced and at other sizes."""
    onnx.checker.check_model(proto, full_check=True)
    for sizes in (TRACED_SIZES, OTHER_SIZES):
        arrays = row.arrays(sizes)
        for position, spec in enumerate(row.case.specs()):
            if spec.constant:  # the graph holds the weights of the traced sizes
                arrays[position] = row.arrays(TRACED_SIZES)[position]
        found, wanted = run(proto, traced.feeds(arrays)), eager(row, arrays)
        assert len(found) == len(wanted)
        for position, (one, other) in enumerate(zip(found, wanted, strict=True)):
            assert one.dtype == other.dtype
            same(one, other, max(row.case.tolerance, 1e-5), f"output {position} at {sizes}")
        if not row.symbols():
            return
