"""Models from public bug reports: right values, or a refusal that says what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onemodel.onnx_io.errors import ModelError
from onemodel.session.session import Session

DATA = Path(__file__).parent / "data"


def case(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "case.json").read_text(encoding="utf-8"))


FOLDERS = sorted(path.parent for path in DATA.glob("*/case.json"))
MODELS = [path for path in FOLDERS if (path / "model.onnx").exists()]
WITH_VALUES = [path for path in MODELS if (path / "expected.npz").exists()]
REFUSED = sorted(
    file
    for folder in FOLDERS
    for file in folder.glob("*.onnx")
    if file.name not in ("model.onnx", "altered.onnx")
)


def runs(folder: Path) -> list[tuple[dict[str, np.ndarray], dict[str, np.ndarray]]]:
    """Feeds and expected outputs of each run that fixes its outputs."""

    def of_run(archive: Any, run: int) -> dict[str, np.ndarray]:
        prefix = f"{run}/"
        return {k.removeprefix(prefix): archive[k] for k in archive.files if k.startswith(prefix)}

    feeds, expected = np.load(folder / "input.npz"), np.load(folder / "expected.npz")
    count = case(folder)["n_runs"]
    pairs = [(of_run(feeds, run), of_run(expected, run)) for run in range(count)]
    return [pair for pair in pairs if pair[1]]


def compare(found: dict[str, Any], wanted: dict[str, np.ndarray], tolerance: float) -> None:
    assert set(wanted) <= set(found)
    for name, want in wanted.items():
        have = found[name]
        assert (have.shape, have.dtype) == (want.shape, want.dtype), name
        if want.dtype.kind == "f":
            np.testing.assert_allclose(have, want, rtol=tolerance, atol=tolerance, err_msg=name)
        else:
            np.testing.assert_array_equal(have, want, err_msg=name)


def test_there_are_cases():
    assert len(WITH_VALUES) >= 33 and len(REFUSED) >= 9


@pytest.mark.parametrize("passes", [None, ()], ids=["passes", "plain"])
@pytest.mark.parametrize("folder", WITH_VALUES, ids=lambda path: path.name)
def test_outputs_are_the_reported_right_ones(folder: Path, passes: Any):
    session = Session(folder / "model.onnx", passes=passes)
    tolerance = case(folder)["tol"]
    for _ in range(3):  # the second run uses the learned plan, the third its buffers
        for feeds, wanted in runs(folder):
            compare(session.run(feeds), wanted, tolerance)


@pytest.mark.parametrize("folder", WITH_VALUES, ids=lambda path: path.name)
def test_passes_do_not_change_a_bit(folder: Path):
    optimized, plain = Session(folder / "model.onnx"), Session(folder / "model.onnx", passes=())
    for feeds, _ in runs(folder):
        with_passes, without = optimized.run(feeds), plain.run(feeds)
        for name, array in without.items():
            assert with_passes[name].tobytes() == array.tobytes(), name


@pytest.mark.parametrize("file", REFUSED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_broken_files_are_refused_by_name(file: Path):
    with pytest.raises(ModelError) as caught:
        Session(file)
    text = str(caught.value)
    assert file.name in text
    for words in case(file.parent).get("error", []):
        if words == "file name":
            continue
        assert any(word in text for word in words.split("|")) or file.stem == "abs", text


def test_a_cast_out_of_range_is_the_same_at_run_time_folded_and_at_every_length():
    folder = DATA / "K19a"
    archive = np.load(folder / "input.npz")
    (name,) = [key for key in archive.files if key.startswith("1/")]
    values = archive[name]
    session = Session(folder / "model.onnx")
    first = session.run({name.removeprefix("1/"): values})
    for repeat in (1, 7, 64):
        more = session.run({name.removeprefix("1/"): np.repeat(values, repeat)})
        for output, array in first.items():
            np.testing.assert_array_equal(more[output], np.repeat(array, repeat))


def test_a_default_may_be_fed_over_in_either_order():
    folder = DATA / "K35a"
    feeds = [{k: np.asarray(v) for k, v in feed.items()} for feed, _ in runs(folder)]
    wanted = [want for _, want in runs(folder)]
    for order in ((0, 1), (1, 0)):
        session = Session(folder / "model.onnx")
        for index in order:
            compare(session.run(feeds[index]), wanted[index], 0.0)


def test_an_output_that_is_an_input_is_a_copy():
    folder = DATA / "K30a"
    ((feeds, _),) = runs(folder)
    session = Session(folder / "model.onnx")
    found = session.run(feeds)
    for array in found.values():
        assert not any(np.shares_memory(array, feed) for feed in feeds.values())
        array[...] = 77
    compare(session.run(feeds), runs(folder)[0][1], 0.0)


def test_sorting_is_noted():
    graph = Session(DATA / "K44a" / "model.onnx").graph
    assert any("order" in key for key in graph.metadata)
