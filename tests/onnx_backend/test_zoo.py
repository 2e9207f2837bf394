"""Models as exporters write them, at several sizes each, against the values they came with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onemodel.onnx_io.reader import from_bytes, load
from onemodel.onnx_io.writer import to_bytes
from onemodel.session.session import Session

ZOO = Path(__file__).parents[2].parent / "shared" / "zoo"

pytestmark = pytest.mark.skipif(
    not (ZOO / "zoo_report.json").exists(),
    reason="the exported models are not beside this checkout",
)


def exported() -> list[tuple[str, list[int]]]:
    """File stem and the sizes at which the exporter itself was right."""
    report = ZOO / "zoo_report.json"
    rows: list[dict[str, Any]] = json.loads(report.read_text()) if report.exists() else []
    found = []
    for row in rows:
        if row["export"] == "ok":
            sizes = [k for k, text in enumerate(row["ort"]) if text[0].isdigit()]
            found.append((f"{row['name']}.{row['kind']}", sizes))
    return found


@pytest.mark.parametrize(("stem", "sizes"), exported(), ids=lambda item: str(item))
def test_an_exported_model_gives_the_values_it_came_with(stem: str, sizes: list[int]) -> None:
    session = Session(ZOO / f"{stem}.onnx")
    data = np.load(ZOO / f"{stem.rsplit('.', 1)[0]}.npz")
    for size in sizes * 2:  # the second time with the learned plan
        feeds = {name: data[f"in{size}_{name[1:]}"] for name in session.input_names}
        for index, found in enumerate(session.run(feeds).values()):
            wanted = data[f"out{size}_{index}"]
            assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
            scale = max(1.0, float(np.abs(wanted).max(initial=0)))
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-4 * scale)


@pytest.mark.parametrize(("stem", "sizes"), exported(), ids=lambda item: str(item))
def test_an_exported_model_survives_reading_and_writing(stem: str, sizes: list[int]) -> None:
    data = to_bytes(load(ZOO / f"{stem}.onnx"))
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    assert to_bytes(from_bytes(data)) == data
