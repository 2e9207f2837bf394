"""``onemodel``: inspect, run, compare and trace files without a notebook; the limits of tracing."""

from __future__ import annotations

import functools
import importlib.util
import json
import re
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from onemodel.axes.extent import AxesError, Extent
from onemodel.codes import CODES
from onemodel.compare.comparison import compare as compare_engines
from onemodel.errors import TraceException
from onemodel.format.reader import load as load_format
from onemodel.graph.bind import Mode
from onemodel.graph.ir import Graph, Value, format_shape
from onemodel.lessons import LESSONS
from onemodel.onnx_io.reader import load as load_onnx
from onemodel.session.session import MODES, Session
from onemodel.symbolic.context import EmissionError
from onemodel.tensors.dtypes import as_dtype
from onemodel.tracing.trace import trace as trace_model

_FAULTS = (
    ValueError, TypeError, KeyError, OSError, EOFError, RuntimeError, AxesError, EmissionError,
)  # fmt: skip
_HOME = str(Path(__file__).parent)
_NPY_MAGIC = b"\x93NUMPY"
_SPEC = re.compile(r"(?P<name>\w+):(?P<dtype>\w+)\[(?P<shape>[^\]]*)\]")

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
INPUT = click.option(
    "--input", "-i", "inputs", multiple=True, metavar="NAME=FILE.npy", help="Values of an input."
)
SIZE = click.option(
    "--size", "-s", "sizes", multiple=True, metavar="SYMBOL=N",
    help="Size of a symbolic axis for inputs that are drawn at random.",
)  # fmt: skip


class Fault(click.ClickException):
    """Something given that cannot be used: exit status 2, as for usage.

    Status 1 is kept for the answers "refused" and "the engines differ".
    """

    exit_code = 2


def _told(body: Callable[..., None]) -> Callable[..., None]:
    """``body`` with its errors told in one line, without a traceback."""

    @functools.wraps(body)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            body(*args, **kwargs)
        except _FAULTS as error:
            # click's own signals (Exit, Abort) are RuntimeErrors and go on to click.
            if isinstance(error, click.exceptions.Exit | click.exceptions.Abort):
                raise
            raise Fault(_words(error)) from error

    return wrapped


def _words(error: BaseException) -> str:
    """The message, with the type where the message alone says too little (``KeyError``)."""
    text = str(error)
    if not text or isinstance(error, KeyError):
        return f"{type(error).__name__}: {text}".rstrip(": ")
    return text


@click.group()
def main() -> None:
    """See what tracing does to a model, on files."""


@main.command()
@FILE
@AS_JSON
@_told
def inspect(file: Path, as_json: bool) -> None:
    """Inputs, outputs, axes, operators and weights of FILE (.onnx or .om)."""
    graph = _load(file)
    counts = Counter(node.op_type for node in graph.nodes)
    facts = {
        "file": file.name,
        "name": graph.name,
        "opset": graph.opset,
        "inputs": [_facts(value) for value in _fed(graph)],
        "outputs": [_facts(value) for value in graph.outputs],
        "nodes": len(graph.nodes),
        "operators": dict(sorted(counts.items())),
        "weights": len(graph.initializers),
        "weight_bytes": sum(array.nbytes for array in graph.initializers.values()),
    }
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    click.echo(f"{file.name}: graph {graph.name!r}, opset {graph.opset}, {len(graph.nodes)} nodes")
    for title, values in (("input", _fed(graph)), ("output", graph.outputs)):
        for value in values:
            click.echo(f"  {title:<6} {value.name}: {value.dtype}{format_shape(value.shape)}")
    click.echo(f"  weights {facts['weights']}, {facts['weight_bytes']} bytes")
    for name, count in counts.most_common():
        click.echo(f"  {count:>5} x {name}")


@main.command()
@FILE
@INPUT
@SIZE
@click.option(
    "--output",
    "-o",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the results, one .npy each.",
)
@click.option("--provider", type=click.Choice(["onemodel", "onnxruntime"]), default="onemodel")
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default="fast",
    show_default=True,
    help="exact: the same bits on every machine.",
)
@AS_JSON
@_told
def run(
    file: Path,
    inputs: tuple[str, ...],
    sizes: tuple[str, ...],
    folder: Path | None,
    provider: str,
    mode: Mode,
    as_json: bool,
) -> None:
    """Run FILE; inputs that are not given are drawn at random (seeded)."""
    session = Session(_load(file), provider=provider, mode=mode)
    results = session.run(_feeds(session.graph, inputs, sizes))
    facts = []
    for index, (name, array) in enumerate(results.items()):
        place = ""
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            # Names come from the file and are no paths: the number is the name of the file.
            place = str(folder / f"output_{index}.npy")
            np.save(place, np.asarray(array), allow_pickle=False)
        facts.append(
            {"name": name, "dtype": str(np.asarray(array).dtype),
             "shape": list(np.shape(array)), "file": place}
        )  # fmt: skip
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    for fact in facts:
        where = f" -> {fact['file']}" if fact["file"] else ""
        click.echo(f"{fact['name']}: {fact['dtype']}{fact['shape']}{where}")


@main.command()
@FILE
@INPUT
@SIZE
@click.option(
    "--against",
    "-a",
    multiple=True,
    default=("session", "onnxruntime"),
    help="Engines to compare, the first is the reference.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0, min_open=True),
    default=1e-5,
    show_default=True,
)
@AS_JSON
@_told
def compare(
    file: Path,
    inputs: tuple[str, ...],
    sizes: tuple[str, ...],
    against: tuple[str, ...],
    tolerance: float,
    as_json: bool,
) -> None:
    """Every value of FILE in several engines; exit status 1 where one differs."""
    graph = _load(file)
    report = compare_engines(
        graph, _feeds(graph, inputs, sizes), against=against, tolerance=tolerance
    )
    click.echo(json.dumps(report.to_dict(), indent=2) if as_json else str(report))
    if not report.agrees:
        sys.exit(1)


@main.command()
@click.argument("target", metavar="FILE.py:NAME")
@click.option(
    "--input",
    "-i",
    "specs",
    multiple=True,
    metavar="x:float32[batch=3,4]",
    help="An example: name, dtype and sizes; symbol=size makes an axis symbolic.",
)
@click.option("--opset", type=int, default=20, show_default=True)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the model (.onnx or .om).",
)
@AS_JSON
@_told
def trace(
    target: str, specs: tuple[str, ...], opset: int, output: Path | None, as_json: bool
) -> None:
    """Trace NAME (a function or module) of your own FILE.py; exit status 1 for a refusal."""
    _check_output(output)
    examples, axes = _examples(specs)
    options: dict[str, Any] = {"axes": axes, "opset": opset, **examples}
    try:
        traced = _traced(target, options)
    except TraceException as refusal:
        _leave_out_the_command(refusal)
        click.echo(json.dumps(refusal.to_dict(), indent=2) if as_json else str(refusal))
        sys.exit(1)
    if output is not None and output.suffix == ".om":
        traced.save(output)
    elif output is not None:
        traced.save_onnx(output)
    if as_json:
        facts = {
            "model": repr(traced),
            "verification": traced.verification,
            "symbols": traced.symbols,
            "specialisations": [one.to_dict() for one in traced.specialisations],
            "file": str(output or ""),
        }
        click.echo(json.dumps(facts, indent=2))
        return
    click.echo(traced)
    click.echo(traced.verification)
    if output is not None:
        click.echo(f"written to {output}")


@main.command()
@click.argument("code", required=False)
@AS_JSON
@_told
def limits(code: str | None, as_json: bool) -> None:
    """The limits of tracing: all codes, or the lesson of one (OM101)."""
    code = None if code is None else code.upper()
    if code is not None and code not in CODES:
        raise click.BadParameter(f"there is no code {code}; run `onemodel limits` for all of them")
    chosen = CODES if code is None else {code: CODES[code]}
    if as_json:
        found = [_lesson(name) for name in chosen]
        click.echo(json.dumps(found, indent=2))
        return
    for name, entry in chosen.items():
        click.echo(f"{name}  {entry.kind.title}: {entry.title}")
    if code is not None:
        lesson = _lesson(code)
        click.echo(f"\n{lesson['why']}")
        for title in ("failing", "mended", "advice"):
            if lesson[title]:
                click.echo(f"\n{title}:\n{lesson[title]}")


def _lesson(code: str) -> dict[str, str]:
    entry, lesson = CODES[code], LESSONS.get(code)
    return {
        "code": code,
        "kind": entry.kind.name,
        "title": entry.title,
        "why": entry.why,
        "failing": lesson.failing if lesson else "",
        "mended": lesson.mended if lesson else "",
        "advice": lesson.advice if lesson else "",
    }


def _load(file: Path) -> Graph:
    try:
        return load_format(file) if file.suffix == ".om" else load_onnx(file)
    except (ValueError, OSError) as error:
        raise Fault(str(error)) from error


def _fed(graph: Graph) -> list[Value]:
    return [value for value in graph.inputs if value not in graph.initializers]


def _facts(value: Value) -> dict[str, Any]:
    shape = value.shape
    sizes = None if shape is None else [d if isinstance(d, int) else d and str(d) for d in shape]
    return {"name": value.name, "dtype": str(value.dtype), "shape": sizes}


def _pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint=option)
        pairs[name] = value
    return pairs


def _feeds(graph: Graph, inputs: tuple[str, ...], sizes: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Arrays for every input: from files, else drawn with seed 0."""
    files = _pairs(inputs, "--input")
    unknown = set(files) - {value.name for value in _fed(graph)}
    if unknown:
        raise click.BadParameter(f"no input is named {sorted(unknown)[0]!r}", param_hint="--input")
    chosen = _sizes(graph, sizes)
    draw = np.random.default_rng(0)
    feeds = {}
    for value in _fed(graph):
        if value.name in files:
            feeds[value.name] = _array(files[value.name])
        else:
            feeds[value.name] = _drawn(value, chosen, draw)
    return feeds


def _sizes(graph: Graph, sizes: tuple[str, ...]) -> dict[str, int]:
    """Sizes by symbol; each symbol is one of the inputs, each size at least 1."""
    dims = [dim for value in _fed(graph) for dim in value.shape or ()]
    known = sorted({name for dim in dims if isinstance(dim, Extent) for name in dim.symbols()})
    chosen = {}
    for name, size in _pairs(sizes, "--size").items():
        if name not in known:
            there = ", ".join(known) or "none"
            raise click.BadParameter(f"no symbol {name!r}; there are: {there}", param_hint="--size")
        if not re.fullmatch(r"[0-9]{1,18}", size) or int(size) < 1:
            raise click.BadParameter(
                f"{size!r} is no size of {name}; write a whole number, 1 or more",
                param_hint="--size",
            )
        chosen[name] = int(size)
    return chosen


def _array(file: str) -> np.ndarray:
    """The array in a .npy file; nothing in it is unpickled."""
    try:
        with open(file, "rb") as stream:
            magic = stream.read(len(_NPY_MAGIC))
    except OSError as error:
        raise Fault(f"{file}: {error.strerror or error}") from error
    if magic != _NPY_MAGIC:
        raise Fault(f"{file} is no .npy file; write one by numpy.save")
    try:
        return np.load(file, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise Fault(f"{file} is damaged, or holds Python objects instead of numbers") from error


def _drawn(value: Value, sizes: Mapping[str, int], draw: np.random.Generator) -> np.ndarray:
    if value.shape is None or value.dtype is None:
        raise Fault(f"input {value.name!r} has no known shape; give it by --input")
    shape = []
    for dim in value.shape:
        if isinstance(dim, Extent):
            missing = {symbol: 3 for symbol in dim.symbols() if symbol not in sizes}
            shape.append(dim.evaluate({**missing, **sizes}))
        else:
            shape.append(3 if dim is None else dim)
    if value.dtype.kind in "iu":
        return draw.integers(0, 3, shape).astype(value.dtype)
    if value.dtype == np.bool_:
        return draw.integers(0, 2, shape).astype(bool)
    return draw.normal(size=shape).astype(value.dtype)


def _check_output(output: Path | None) -> None:
    """Refuse a file that could not be written before the work is done, not after."""
    if output is None:
        return
    if output.suffix not in (".onnx", ".om"):
        raise click.BadParameter(f"{output.name} ends in neither .onnx nor .om", param_hint="-o")
    if not output.parent.is_dir():
        raise click.BadParameter(f"the folder {output.parent} does not exist", param_hint="-o")


def _traced(target: str, options: Mapping[str, Any]) -> Any:
    """``target`` loaded and traced; an error of the user's own code is told with its line."""
    file, _, name = target.rpartition(":")
    path = Path(file)
    if not file or not path.is_file():
        raise click.BadParameter(f"{target!r} is not FILE.py:NAME of a file that exists")
    with _first_on_path(path.resolve().parent):
        model = _target(path, name)
        try:
            return trace_model(model, **options)
        except TraceException:
            raise
        except Exception as error:
            place = _place(error)
            if not place:
                raise Fault(_words(error)) from error
            raise Fault(f"{name} failed at {place}: {type(error).__name__}: {error}") from error


@contextmanager
def _first_on_path(folder: Path) -> Iterator[None]:
    """As for ``python FILE.py``: modules beside the file can be imported."""
    before = list(sys.path)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path[:] = before


def _target(path: Path, name: str) -> Callable[..., Any]:
    """The function or module ``name`` of the file, which is run, as by Python itself."""
    # A name of our own: a file json.py must not replace the module json.
    private = f"_onemodel_target_{path.stem}"
    spec = importlib.util.spec_from_file_location(private, path)
    if spec is None or spec.loader is None:
        raise click.BadParameter(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[private] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        where = _place(error) or str(path)
        raise Fault(f"{path} fails at {where}: {type(error).__name__}: {error}") from error
    found = getattr(module, name, None)
    if isinstance(found, type):
        raise click.BadParameter(f"{name} is a class; name an instance, as in net = {name}(...)")
    if not callable(found):
        raise click.BadParameter(f"{path} has no function or module named {name!r}")
    return found


def _place(error: BaseException) -> str:
    """The innermost line of the user's own code that ``error`` went through, or ""."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        ours = frame.filename.startswith((_HOME, "<"))
        if not ours and "site-packages" not in Path(frame.filename).parts:
            return f"{frame.filename}:{frame.lineno}"
    return ""


def _leave_out_the_command(refusal: TraceException) -> None:
    """Take the frames that called the command off ``refusal``: they are no code of the user's.

    Options are refused at the call of the trace itself; there the place goes altogether.
    """
    outer = {
        (frame.f_code.co_filename, frame.f_code.co_qualname)
        for frame, _ in traceback.walk_stack(None)
    }
    refusal.call_chain = tuple(
        site for site in refusal.call_chain if (site.file, site.function) not in outer
    )
    site = refusal.call_site
    if site is not None and (site.file, site.function) in outer:
        refusal.call_site = None


def _examples(specs: tuple[str, ...]) -> tuple[dict[str, np.ndarray], dict[str, dict[int, str]]]:
    draw = np.random.default_rng(0)
    examples: dict[str, np.ndarray] = {}
    axes: dict[str, dict[int, str]] = {}
    for text in specs:
        match = _SPEC.fullmatch(text)
        if match is None:
            raise click.BadParameter(f"{text!r} is not name:dtype[sizes]", param_hint="--input")
        name, shape = match["name"], []
        for axis, part in enumerate(p.strip() for p in match["shape"].split(",") if p.strip()):
            symbol, separator, size = part.rpartition("=")
            if not size.isdecimal():
                raise click.BadParameter(f"{part!r} is no size", param_hint="--input")
            shape.append(int(size))
            if separator:
                axes.setdefault(name, {})[axis] = symbol
        try:
            dtype = as_dtype(match["dtype"])
        except TypeError as error:
            raise click.BadParameter(str(error), param_hint="--input") from error
        whole = dtype.kind in "iub"
        values = draw.integers(0, 2, shape) if whole else draw.normal(size=shape)
        examples[name] = np.asarray(values).astype(dtype)
    return examples, axes


if __name__ == "__main__":
    main()
