"""Weights in files: the same values back, PyTorch's files, damaged and hostile files."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

import onemodel as om
from onemodel import nn


def model() -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(8, 3))


@pytest.mark.parametrize("dtype", [om.float16, om.bfloat16, om.float32, om.float64])
def test_what_is_saved_is_loaded(tmp_path: Path, dtype) -> None:
    source, target = model().to(dtype), model().to(dtype)
    nn.save_weights(source, tmp_path / "w.safetensors")
    assert nn.load_weights(target, tmp_path / "w.safetensors") == ([], [])
    for name, tensor in target.state_dict().items():
        expected = source.state_dict()[name]
        assert tensor.dtype == expected.dtype
        assert tensor.array.tobytes() == expected.array.tobytes()


def test_the_file_is_what_safetensors_reads(tmp_path: Path) -> None:
    source = model()
    nn.save_weights(source, tmp_path / "w.safetensors")
    found = safetensors.numpy.load_file(tmp_path / "w.safetensors")
    assert set(found) == set(source.state_dict())
    for name, tensor in source.state_dict().items():
        assert np.array_equal(found[name], tensor.array) and found[name].shape == tensor.shape


def test_weights_named_as_pytorch_names_them_load_as_they_are(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    arrays = {
        "self_attn.in_proj_weight": (12, 4),
        "self_attn.in_proj_bias": (12,),
        "self_attn.out_proj.weight": (4, 4),
        "self_attn.out_proj.bias": (4,),
        "linear1.weight": (8, 4),
        "linear1.bias": (8,),
        "linear2.weight": (4, 8),
        "linear2.bias": (4,),
        "norm1.weight": (4,),
        "norm1.bias": (4,),
        "norm2.weight": (4,),
        "norm2.bias": (4,),
    }
    values = {k: generator.normal(size=shape).astype(np.float32) for k, shape in arrays.items()}
    safetensors.numpy.save_file(values, tmp_path / "torch.safetensors", metadata={"format": "pt"})
    layer = nn.TransformerEncoderLayer(4, 2, 8)
    nn.load_weights(layer, tmp_path / "torch.safetensors")
    assert np.array_equal(layer.linear2.weight.array, values["linear2.weight"])


def test_a_shared_weight_may_stand_in_the_file_once(tmp_path: Path) -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(4, 3)
            self.head = nn.Linear(3, 4, bias=False)
            self.head.weight = self.table.weight

    values = {"table.weight": np.ones((4, 3), np.float32)}
    safetensors.numpy.save_file(values, tmp_path / "w.safetensors")
    tied = Tied()
    assert nn.load_weights(tied, tmp_path / "w.safetensors") == ([], [])
    assert (tied.head.weight.array == 1).all()


def test_a_file_of_another_model_is_told_completely(tmp_path: Path) -> None:
    nn.save_weights(nn.Linear(8, 3), tmp_path / "w.safetensors")
    with pytest.raises(RuntimeError, match=r"(?s)0\.weight: missing.*bias: unexpected"):
        nn.load_weights(model(), tmp_path / "w.safetensors")
    found = nn.load_weights(nn.Linear(8, 3, bias=False), tmp_path / "w.safetensors", strict=False)
    assert found.unexpected_keys == ["bias"]


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    nn.save_weights(nn.Linear(2, 1), path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="no readable safetensors file"):
            nn.load_weights(nn.Linear(2, 1), path)


def header(entries: object, data: bytes = b"") -> bytes:
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + data


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x04\x95pickle",
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2) + b"{]",
        header({"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 4]}}, bytes(4)),
        header({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}, bytes(8)),
        header({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, bytes(4)),
        header({"a": {"dtype": "nonsense", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)),
        header([1, 2]),
    ],
    ids=["empty", "pickle", "header size", "json", "size", "gap", "negative", "dtype", "list"],
)
def test_a_hostile_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="no readable safetensors file"):
        nn.load_weights(nn.Linear(1, 1), path)


def test_a_dtype_that_tensors_have_not_is_told(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    entry = {"dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1]}
    path.write_bytes(header({"weight": entry}, bytes(1)))
    with pytest.raises(ValueError, match="'weight' has dtype F8_E4M3"):
        nn.load_weights(nn.Linear(1, 1), path)


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "w.safetensors"
    nn.save_weights(nn.Linear(1, 1), path)
    before = path.read_bytes()

    def fail(source: object, target: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        nn.save_weights(nn.Linear(2, 2), path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_complex_weights_are_refused(tmp_path: Path) -> None:
    class Waves(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("phase", om.zeros(2, dtype=om.complex64))

    with pytest.raises(TypeError, match="phase is complex64"):
        nn.save_weights(Waves(), tmp_path / "w.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        nn.load_weights(nn.Linear(1, 1), tmp_path / "none.safetensors")
