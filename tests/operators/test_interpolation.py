"""Resampling: indices, symbolic sizes, and the nodes of every opset."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest

import onemodel as om
from onemodel.tensors.tensor import Tensor


def draw(*shape: int) -> Tensor:
    seed = sum(shape) + len(shape)
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def run(traced: om.TracedModel, x: np.ndarray, opset: int) -> np.ndarray:
    session = onnxruntime.InferenceSession(
        traced.to_onnx(opset).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {session.get_inputs()[0].name: x})[0]


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear"])
@pytest.mark.parametrize("opset", [7, 11, 13, 18])
def test_every_pair_of_small_sizes_is_resampled_alike_in_the_graph(mode: str, opset: int) -> None:
    x = draw(1, 2, 11)
    sizes = [(n, m) for n in (3, 6, 7, 11) for m in (1, 2, 5, 7, 10, 13)]

    def model(x: Tensor) -> list[Tensor]:
        return [om.interpolate(x[:, :, :n], m, mode=mode) for n, m in sizes]

    traced = om.trace(model, x, opset=opset)
    session = onnxruntime.InferenceSession(
        traced.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    found = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    for one, other in zip(found, model(x), strict=True):
        np.testing.assert_allclose(one, other.numpy(), rtol=1e-4, atol=1e-5)


def test_a_nearest_enlargement_of_26_to_64_takes_floor_of_the_exact_place() -> None:
    x = Tensor(np.arange(26, dtype=np.float32).reshape(1, 1, 26))
    expected = [i * 26 // 64 for i in range(64)]
    assert om.interpolate(x, 64).numpy().reshape(-1).astype(int).tolist() == expected


def test_a_fixed_size_along_a_symbolic_axis_is_refused_with_scale_factors() -> None:
    with pytest.raises(om.TraceException) as caught:
        om.trace(lambda x: om.resize2d(x, (8, 8)), draw(1, 2, 4, 5), axes={"x": {2: "h"}})
    assert caught.value.code == "OM408"
    assert any("scale_factor" in rewrite.code for rewrite in caught.value.suggestions)


def test_a_factor_that_rounds_differently_from_size_to_size_is_refused() -> None:
    with pytest.raises(om.TraceException) as caught:
        om.trace(
            lambda x: om.interpolate(x, scale_factor=0.3), draw(1, 2, 10), axes={"x": {2: "t"}}
        )
    assert caught.value.code == "OM408"


def test_the_size_of_another_image_keeps_its_symbols() -> None:
    def model(x: Tensor, y: Tensor) -> Tensor:
        return om.interpolate(x, y.shape[2:], mode="bilinear") + y

    axes = {"x": {2: "h", 3: "w"}, "y": {2: "a", 3: "b"}}
    traced = om.trace(model, draw(1, 2, 3, 4), draw(1, 2, 6, 5), axes=axes, opset=18)
    session = om.Session(traced)
    x, y = draw(1, 2, 5, 2), draw(1, 2, 7, 9)
    (found,) = session.run({"x": x.numpy(), "y": y.numpy()}).values()
    np.testing.assert_allclose(found, model(x, y).numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("opset", "node"), [(7, "Upsample"), (9, "Upsample"), (10, "Resize")])
def test_whole_factors_along_symbolic_axes_need_no_resize_11(opset: int, node: str) -> None:
    traced = om.trace(
        lambda x: om.interpolate(x, scale_factor=2), draw(1, 2, 3, 4), axes={"x": {2: "h"}},
        opset=opset,
    )  # fmt: skip
    assert [n.op_type for n in traced.graph.nodes] == [node]
    x = draw(1, 2, 5, 4)
    expected = om.interpolate(x, scale_factor=2).numpy()
    np.testing.assert_array_equal(run(traced, x.numpy(), opset), expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 3, "scale_factor": 2}, "exactly one"),
        ({"size": 3, "mode": "cubic"}, "write one of"),
        ({"size": 3, "mode": "bilinear"}, "4-D inputs"),
        ({"size": 3, "align_corners": True}, "no meaning"),
        ({"size": (3, 4)}, "needs 1 values"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        om.interpolate(draw(1, 2, 4), **arguments)


@pytest.mark.parametrize("options", [{"mode": "area"}, {"recompute_scale_factor": True}])
def test_a_factor_that_only_gives_sizes_is_refused_with_its_code(options: dict[str, Any]) -> None:
    with pytest.raises(om.TraceException) as caught:
        om.trace(
            lambda x: om.interpolate(x, scale_factor=0.3, **options),
            draw(1, 2, 10),
            axes={"x": {2: "t"}},
        )
    assert caught.value.code == "OM408"
