"""Models of PyTorch written with these modules: its weights, its numbers, at three sizes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import onemodel as om
from onemodel import nn
from tests.nn.zoo import MODELS, weights_of

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "zoo"
OWNED = Path(__file__).parent / "data"
TOLERANCE = 1e-5

needs_zoo = pytest.mark.skipif(not SHARED.is_dir(), reason="the exported models lie elsewhere")

FIXED = {
    "unet": "two halvings and doublings of a free size do not meet again",
    "swin_window": "a free size is no multiple of the window",
}
"""Models whose image size cannot be symbolic: only the batch is."""


def runs(path: Path) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
    """Inputs and PyTorch's outputs at the three sizes."""
    with np.load(path) as data:
        found = dict(data)
    return [
        tuple([found[n] for n in sorted(found) if n.startswith(f"{kind}{k}_")]  # type: ignore[misc]
              for kind in ("in", "out"))
        for k in range(3)
    ]  # fmt: skip


def leaves(result: Any) -> list[np.ndarray]:
    return [t.array for t in result] if isinstance(result, tuple) else [result.array]


def same(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        assert np.abs(one - other).max() <= TOLERANCE * max(1, np.abs(other).max())


def loaded(name: str) -> nn.Module:
    build, kind, _ = MODELS[name]
    module = build().eval()
    weights = weights_of(module, onnx.load(SHARED / f"{name}.{kind}.onnx"))
    result = module.load_state_dict(weights, strict=False)
    assert not result.unexpected_keys
    # An exporter writes arrays that are equal once: weights that are still as they began.
    state = module.state_dict()
    for missing in result.missing_keys:
        assert np.unique(state[missing].array).size == 1, missing
    return module


@needs_zoo
@pytest.mark.parametrize("name", MODELS)
def test_modules_with_the_weights_of_pytorch_give_its_numbers(name: str) -> None:
    module = loaded(name)
    for inputs, outputs in runs(SHARED / f"{name}.npz"):
        same(leaves(module(*map(om.tensor, inputs))), outputs)


def example(
    inputs: Sequence[np.ndarray], axes: Sequence[dict[int, str]]
) -> list[np.ndarray] | None:
    """Inputs to trace with, a batch of one doubled; None where two symbols have one size."""
    given = [
        np.concatenate([x, x], axis) if (axis := _batch(names)) is not None and x.shape[axis] == 1
        else x
        for x, names in zip(inputs, axes, strict=True)
    ]  # fmt: skip
    sizes = {n: x.shape[a] for x, names in zip(given, axes, strict=True) for a, n in names.items()}
    fits = min(sizes.values()) > 1 and len(set(sizes.values())) == len(sizes)
    return given if fits else None


def _batch(names: dict[int, str]) -> int | None:
    return next((axis for axis, name in names.items() if name == "N"), None)


@needs_zoo
@pytest.mark.parametrize("name", MODELS)
def test_their_traces_give_the_numbers_of_pytorch_at_every_size(name: str) -> None:
    module, axes = loaded(name), MODELS[name][2]
    if name in FIXED:
        axes = ({0: "N"},)
    sizes = runs(SHARED / f"{name}.npz")
    given = next(e for inputs, _ in reversed(sizes) if (e := example(inputs, axes)) is not None)
    names = [f"x{number}" for number in range(len(axes))]
    traced = module.trace(*given, axes=dict(zip(names, axes, strict=True)))
    assert not traced.specialisations
    session = onnxruntime.InferenceSession(
        traced.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    judged = 0
    for inputs, outputs in sizes:
        if name in FIXED and inputs[0].shape[1:] != given[0].shape[1:]:
            continue
        same(session.run(None, dict(zip(names, inputs, strict=True))), outputs)
        judged += 1
    assert judged == (1 if name in FIXED else 3)


@pytest.mark.parametrize("path", sorted(OWNED.glob("*.safetensors")), ids=lambda path: path.stem)
def test_weights_of_pytorch_load_from_their_file_unchanged(path: Path) -> None:
    module = MODELS[path.stem][0]().eval()
    assert nn.load_weights(module, path) == ([], [])
    for inputs, outputs in runs(path.with_suffix(".npz")):
        same(leaves(module(*map(om.tensor, inputs))), outputs)
