"""The digits example: it learns in seconds, repeats itself, and its file runs elsewhere."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import onnxruntime
import pytest

ROOT = Path(__file__).parents[2]

pytest.importorskip("sklearn", reason="the digits come with scikit-learn")


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("digits_cnn", ROOT / "examples/digits_cnn.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_learns_to_read_digits_and_repeats_itself(example: ModuleType) -> None:
    model, history = example.train(progress=False)
    assert history.epochs[-1]["validation_accuracy"] > 0.95
    again, _ = example.train(progress=False)
    for name, tensor in model.state_dict().items():
        assert np.array_equal(tensor.array, again.state_dict()[name].array)


def test_its_file_runs_at_another_batch_size(
    example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "digits.onnx"
    example.main(str(path))
    assert "accuracy on unseen digits: 9" in capsys.readouterr().out
    model, _ = example.train(progress=False)
    model.eval()
    _, judge = example.digits()
    images, labels = judge.batch(range(200))
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"images": images.array})
    np.testing.assert_allclose(scores, model(images).array, rtol=1e-4, atol=1e-4)
    assert (scores.argmax(1) == labels.array).mean() > 0.95
