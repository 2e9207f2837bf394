"""The acceptance cases about numbers, once more by the eager operators of the same meaning."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onemodel as om

DATA = Path(__file__).resolve().parent / "data"

Inputs = Mapping[str, om.Tensor]

PROGRAMS: dict[str, Callable[[Inputs], dict[str, om.Tensor]]] = {
    "K01a": lambda t: {"y": om.div(t["a"], t["b"], rounding_mode="trunc")},
    "K02a": lambda t: {"y0": om.remainder(t["a"], t["b"]), "y1": om.fmod(t["a"], t["b"])},
    "K03a": lambda t: {"y": t["x"][::-1]},
    "K04a": lambda t: {"y": om.pad(t["x"], (2, -1, -1, 0), value=9.0)},
    "K05a": lambda t: {"y": om.avg_pool2d(t["x"], 3, 2, 1, ceil_mode=True)},
    "K06a": lambda t: {"y": om.max_pool2d(t["x"], 3, 3, 1, ceil_mode=True)},
    "K11a": lambda t: {"y": t["x"][:, t["i"]]},
    "K12a": lambda t: {"y": om.index_add(t["x"], 0, t["i"].reshape(-1), t["u"])},
    "K13a": lambda t: {"y": om.clamp(t["x"], 2.0, 1.0)},
    "K15a": lambda t: {"a": om.argmax(t["x"], -1)},
    "K16a": lambda t: {
        "y00": om.cumsum(t["x"], 0),
        "y01": om.flip(om.cumsum(om.flip(t["x"], (0,)), 0), (0,)),
    },
    "K17a": lambda t: {
        "a": om.einsum("ii->i", t["x"]),
        "b": om.einsum("ii->", t["x"]),
        "c": om.einsum("iij->ij", t["z"]),
        "d": om.einsum("iij->i", t["z"]),
    },
    "K18a": lambda t: {
        "r": om.where(t["c"], t["x"], t["y"]),
        "ri": om.where(t["c"], t["xi"], t["yi"]),
        "rb": om.where(t["c"], t["xb"], t["yb"]),
    },
    "K19a": lambda t: {"y": t["x"].int(), "z": t["x"].long()},
    "K40a": lambda t: {
        "s1": t["x"].sum(0, keepdim=True),
        "s0": t["x"].sum(0),
        "p": t["x"].prod(0),
        "all": t["x"].sum(),
    },
    "K41a": lambda t: {"b": t["x"] * t["x"], "c": t["x"].abs(), "d": t["x"].sum()},
    "K42a": lambda t: {"y": om.layer_norm(t["x"], (4,))},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_eager_operators_give_the_cases_numbers(name):
    case = json.loads((DATA / name / "case.json").read_text())
    inputs, wanted = (np.load(DATA / name / f"{part}.npz") for part in ("input", "expected"))
    tensors = {key[2:]: om.tensor(inputs[key]) for key in inputs.files if key.startswith("0/")}
    results: dict[str, Any] = PROGRAMS[name](tensors)
    for output, result in results.items():
        want = wanted[f"0/{output}"]
        got = result.numpy()
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=case["tol"], atol=case["tol"])


def test_k07a_same_padding_is_that_of_the_case():
    x = om.tensor(np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5))
    weight = om.ones(1, 1, 3, 3)
    padded = om.pad(x, (1, 1, 1, 1))
    np.testing.assert_array_equal(
        om.conv2d(x, weight, padding="same").numpy(), om.conv2d(padded, weight).numpy()
    )
