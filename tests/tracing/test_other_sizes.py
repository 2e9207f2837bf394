"""Sizes far from the example's: none at all, one, and those at which float32 rounds otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import onnxruntime
import pytest

import onemodel as om
from onemodel.tensors.tensor import Tensor

Model = Callable[[Tensor], Tensor]


def draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def results(traced: om.TracedModel, x: np.ndarray, opset: int) -> dict[str, np.ndarray]:
    """Of both modes of our session and of ONNX Runtime."""
    model = traced.to_onnx(opset)
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    runtime = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    name = traced.inputs[0].name
    return {
        "fast": om.Session(model).run({name: x})["output"],
        "exact": om.Session(model, mode="exact").run({name: x})["output"],
        "onnxruntime": np.asarray(runtime.run(None, {name: x})[0]),
    }


def assert_agrees(
    model: Model, traced: om.TracedModel, arrays: Iterable[np.ndarray], opset: int
) -> None:
    for x in arrays:
        wanted = model(om.tensor(x)).numpy()
        for engine, found in results(traced, x, opset).items():
            place = f"{engine}, opset {opset}, {x.shape}"
            assert found.shape == wanted.shape, place
            np.testing.assert_allclose(found, wanted, 1e-5, 1e-6, equal_nan=True, err_msg=place)


EMPTY: dict[str, Model] = {
    "two sizes swapped": lambda x: x.reshape(x.shape[1], x.shape[0]),
    "one size led": lambda x: x.reshape(1, x.shape[0], x.shape[1]),
    "ones between": lambda x: x.reshape(x.shape[0], 1, x.shape[1], 1),
    "a product beside a size": lambda x: x.unsqueeze(1).flatten(0, 1),
    "repeated as often as rows": lambda x: x.repeat_interleave(x.shape[0], 1),
    "parted": lambda x: x.t().flatten().unflatten(0, (x.shape[1], x.shape[0])),
    "expanded and merged": lambda x: x[None].expand(x.shape[0], -1, -1).flatten(0, 1),
    "any": lambda x: (x > 0).any(),
    "any along an axis": lambda x: (x > 0).any(0),
    "var": lambda x: x.var(),
    "var along an axis": lambda x: x.var(0),
    "std": lambda x: x.std(1),
}


@pytest.mark.parametrize("opset", [14, 18, 20])
@pytest.mark.parametrize("name", sorted(EMPTY))
def test_no_elements_have_the_shape_and_the_value_that_eager_gives(name: str, opset: int) -> None:
    model = EMPTY[name]
    traced = om.trace(model, draw(5, 7), axes={"x": ("n", "m")})
    shapes = [(0, 0), (0, 3), (3, 0), (1, 1), (1, 4), (6, 6)]
    assert_agrees(model, traced, (draw(*shape) for shape in shapes), opset)


@pytest.mark.parametrize("opset", [7, 13, 20])
@pytest.mark.parametrize("correction", [1, 2, 3.5])
def test_fewer_elements_than_the_correction_have_an_infinite_variance_or_none(
    correction: float, opset: int
) -> None:
    def model(x: Tensor) -> Tensor:
        return om.var(x, 0, correction=correction)

    traced = om.trace(model, draw(5, 3), axes={"x": {0: "n"}})
    assert_agrees(model, traced, (draw(n, 3) for n in range(1, 7)), opset)


SIZES: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "swapped": lambda h, w: (w, h),
    "halves and thirds": lambda h, w: (h // 2, w // 3),
    "one more, one less": lambda h, w: (h + 1, w - 1),
    "whole factors": lambda h, w: (3 * h, 7 * w),
    "one of them": lambda h, w: (h, 2 * w + 1),
    "made fixed by nothing": lambda h, w: (h * 3 // 2, 11 * w),
}


@pytest.mark.parametrize("opset", [11, 18])
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("name", sorted(SIZES))
def test_nearest_neighbours_at_a_size_made_of_sizes_are_eagers_everywhere(
    name: str, mode: str, opset: int
) -> None:
    def model(x: Tensor) -> Tensor:
        return om.interpolate(x, SIZES[name](x.shape[2], x.shape[3]), mode=mode)

    traced = om.trace(model, draw(1, 2, 5, 7), axes={"x": {2: "h", 3: "w"}})
    sizes = [(3, 5), (22, 26), (29, 31), (61, 100), (96, 85), (7, 4)]
    assert_agrees(model, traced, (draw(1, 2, *size) for size in sizes), opset)


@pytest.mark.parametrize("factor", [0.5, 0.75, 1.25, 1.5, 1.0625, 3.0, 7.0, 41.0, 47.0])
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_nearest_neighbours_by_a_factor_are_eagers_everywhere(mode: str, factor: float) -> None:
    def model(x: Tensor) -> Tensor:
        return om.interpolate(x, scale_factor=factor, mode=mode)

    traced = om.trace(model, draw(1, 1, 8), axes={"x": {2: "w"}})
    assert_agrees(model, traced, (draw(1, 1, n) for n in (3, 64, 100, 513, 1000)), 18)


def test_one_divided_by_a_size_is_a_whole_number_in_every_engine() -> None:
    def model(x: Tensor) -> Tensor:
        return x.roll(2 * x.shape[0] + 1, 0)[: x.shape[0] * (1 // x.shape[0]) + 1]

    traced = om.trace(model, draw(5, 3), axes={"x": {0: "n"}})
    assert_agrees(model, traced, (draw(n, 3) for n in (1, 2, 5, 8)), 20)
