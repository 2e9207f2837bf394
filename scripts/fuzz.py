"""Feed broken files to the readers and report whatever is not a clear refusal.

    python scripts/fuzz.py [--kind onnx|fields|protobuf|om|json] [--count N] [--seed S] [--block B]
        [--base FILE ...]

Kinds: ``onnx`` and ``om`` mutate the bytes of valid files, ``fields`` changes fields of valid
models, ``protobuf`` builds models of random parts, ``json`` mutates the graph inside of a ``.om``
file and repairs its checksum. A case is read, written again and, where it was accepted, made a
session. Every case runs under a limit of 5 seconds and of 1 GiB above what its process had; each
can be repeated by its kind and number.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import multiprocessing
import random
import resource
import signal
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, parser

from onemodel.format.errors import FormatError
from onemodel.format.reader import from_bytes as read_om
from onemodel.format.writer import to_bytes as write_om
from onemodel.graph.errors import GraphError
from onemodel.graph.ir import Graph
from onemodel.onnx_io.errors import ModelError, UnsupportedOperatorsError
from onemodel.onnx_io.reader import from_bytes as read_onnx
from onemodel.onnx_io.writer import to_bytes as write_onnx
from onemodel.session.session import Session

BASES: list[Path] = []
"""Further valid models to start from; they belong to the numbers of the cases."""

SECONDS = 5
MEMORY = 1 << 30
OUTCOMES = ("accepted", "refused")
REFUSALS = (ModelError, UnsupportedOperatorsError, FormatError, GraphError)
"""What a broken file may raise."""

HEAD = '<ir_version: 10, opset_import: ["" : 20]> g '
MODELS = (
    "(float[N, 3] x) => (float[N, 3] y) <float w = {2.0}> { t = Mul (x, w) y = Relu (t) }",
    "(float[N, T, 8] x) => (float y) <int64[4] s = {0, 0, 2, 4}> "
    "{ r = Reshape (x, s) y = Transpose <perm=[0, 2, 1, 3]> (r) }",
    "(float[N, 3, H, W] x, float[4, 3, 3, 3] w) => (float y) "
    "{ c = Conv <strides=[2, 2], pads=[1, 1, 1, 1]> (x, w) y = MaxPool <kernel_shape=[2, 2]> (c) }",
    "(bool c, float[N, 3] x) => (float y) { y = If (c) <then_branch = a () => (float t) "
    "{ t = Neg (x) }, else_branch = b () => (float e) { e = Concat <axis=1> (x, x) }> }",
    "(float[N, T] x) => (float y) <int64 i = {0}, int64[1] a = {0}, int64[1] m = {-1}> "
    "{ s = Shape (x) n = Gather (s, i) u = Unsqueeze (n, a) t = Concat <axis=0> (u, m) "
    "y = Reshape (x, t) }",
    "(int64 n, bool go, float[2] x) => (float y) { y = Loop (n, go, x) <body = b (int64 i, "
    "bool c, float[2] s) => (bool d, float[2] t) { d = Identity (c) t = Add (s, s) }> }",
    "(float[6, 4] x) => (float a, float b) <int64[2] p = {1, 3}> { a, b = Split <axis=1> (x, p) }",
    "(uint8[4] x) => (float y) <float s = {0.5}, uint8 z = {128}> "
    "{ d = DequantizeLinear (x, s, z) y = Softmax (d) }",
    "() => (float y) <int64[2] s = {2, 3}> { c = ConstantOfShape (s) y = Exp (c) }",
    "(string[2] x) => (string y) { y = Identity (x) }",
)


@functools.cache
def onnx_files() -> tuple[bytes, ...]:
    """Small valid models."""
    found = [parser.parse_model(HEAD + text) for text in MODELS]
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("p", TensorProto.FLOAT, [2], [1.0, 2.0]),
        helper.make_tensor("i", TensorProto.INT64, [2], [0, 5]),
        [2, 3],
    )
    found[0].graph.sparse_initializer.append(sparse)
    given = tuple(path.read_bytes() for path in BASES)
    return (*(model.SerializeToString() for model in found), *given)


@functools.cache
def om_files() -> tuple[bytes, ...]:
    """The same graphs in the project's own format."""
    return tuple(write_om(read_onnx(data)) for data in onnx_files())


# -- making cases ----------------------------------------------------------------------------

_NUMBERS = (0, 1, 2, 127, 128, 255, 2**31 - 1, 2**31, 2**32, 2**63 - 1, -1, -(2**63))


def mutated(data: bytes, dice: random.Random, others: tuple[bytes, ...]) -> bytes:
    """``data`` with a few of its bytes flipped, cut, doubled, moved or spliced."""
    result = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 4, 8))):
        if not result:
            break
        at, length = dice.randrange(len(result)), dice.randrange(1, 24)
        match dice.randrange(8):
            case 0:
                result[at] ^= 1 << dice.randrange(8)
            case 1:
                result[at] = dice.choice((0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)))
            case 2:
                del result[at:]
            case 3:
                del result[at : at + length]
            case 4:
                result[at:at] = result[at : at + length] * dice.choice((1, 2, 30))
            case 5:
                result[at:at] = dice.randbytes(length)
            case 6:
                result[at : at + 1] = b"\xff" * dice.randrange(1, 10) + b"\x01"  # a long varint
            case _:
                other = dice.choice(others)
                start = dice.randrange(len(other))
                result[at:at] = other[start : start + length * 4]
    return bytes(result)


@functools.cache
def _schemas() -> list[onnx.defs.OpSchema]:
    return [s for s in onnx.defs.get_all_schemas_with_history() if s.domain in ("", "ai.onnx.ml")]


def _tensor(dice: random.Random, name: str) -> TensorProto:
    if dice.random() < 0.8:  # mostly one that is right
        dims = [dice.choice((0, 1, 1, 2, 3)) for _ in range(dice.randrange(4))]
        kind = dice.choice((np.float32, np.float32, np.int64, np.int32, np.bool_, np.uint8))
        numbers = np.array(dice.choices((0, 1, 2, 3, -1, 2**31), k=int(np.prod(dims))))
        return onnx.numpy_helper.from_array(numbers.astype(kind).reshape(dims), name)
    tensor = TensorProto(name=name, data_type=dice.choice((1, 1, 7, 7, 6, 9, 8, 10, 16, 22, 99)))
    tensor.dims.extend(dice.choice((0, 1, 2, 3, -1, 2**40)) for _ in range(dice.randrange(4)))
    if dice.random() < 0.5:
        count = 1
        for dim in tensor.dims:
            count *= dim
        size = count * 8 if 0 <= count < 100 else 4
        tensor.raw_data = dice.randbytes(dice.choice((size, size // 2, 0, 3)))
    else:
        tensor.int64_data.extend(dice.choice(_NUMBERS) for _ in range(dice.randrange(4)))
        tensor.float_data.extend(dice.random() for _ in range(dice.randrange(4)))
    if dice.random() < 0.05:
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=dice.choice(("../x", "/etc/passwd", "w")))
    return tensor


def _attribute(dice: random.Random, name: str, depth: int) -> onnx.AttributeProto:
    proto = onnx.AttributeProto(name=name, type=dice.randrange(15))  # type: ignore[arg-type]
    match dice.randrange(7):
        case 0:
            proto.i, proto.type = dice.choice(_NUMBERS), onnx.AttributeProto.INT
        case 1:
            proto.ints.extend(dice.choice(_NUMBERS) for _ in range(dice.randrange(5)))
            proto.type = onnx.AttributeProto.INTS
        case 2:
            proto.f, proto.type = dice.random(), onnx.AttributeProto.FLOAT
        case 3:
            proto.s, proto.type = dice.randbytes(dice.randrange(5)), onnx.AttributeProto.STRING
        case 4:
            proto.t.CopyFrom(_tensor(dice, "t"))
            proto.type = onnx.AttributeProto.TENSOR
        case 5 if depth < 3:
            proto.g.CopyFrom(_graph(dice, depth + 1))
            proto.type = onnx.AttributeProto.GRAPH
        case _:
            proto.floats.extend(dice.random() for _ in range(dice.randrange(4)))
    return proto


def _graph(dice: random.Random, depth: int = 0) -> onnx.GraphProto:
    graph = onnx.GraphProto(name=f"g{depth}")
    names = ["x", "w", ""]
    for name in ("x", "k"):
        info = graph.input.add(name=f"{name}{depth}" if depth else name)
        info.type.tensor_type.elem_type = dice.choice(
            (1, 1, 1, 7, 7, 9) if dice.random() < 0.98 else (99, 0)
        )
        for _ in range(dice.randrange(4)):
            dim = info.type.tensor_type.shape.dim.add()
            dim.dim_param = dice.choice(("N", "T", "2*N", "(("))
            if dice.random() < 0.5:
                dim.dim_value = dice.choice((0, 1, 2, 3))
            if dice.random() < 0.03:
                dim.dim_value = dice.choice(_NUMBERS)
        names.append(info.name)
    graph.initializer.append(_tensor(dice, f"w{depth}" if depth else "w"))
    for place in range(dice.randrange(1, 6)):
        schema = dice.choice(_schemas())
        node = graph.node.add(op_type=schema.name, domain=schema.domain, name=f"n{place}")
        wild = dice.random() < 0.1
        inputs = (
            5
            if wild
            else dice.randint(schema.min_input, max(schema.min_input, min(schema.max_input, 6)))
        )
        outputs = (
            3
            if wild
            else dice.randint(schema.min_output, max(schema.min_output, min(schema.max_output, 3)))
        )
        node.input.extend(
            dice.choice(names if wild else names[:2] + names[3:]) for _ in range(inputs)
        )
        node.output.extend(f"v{depth}_{place}_{k}" for k in range(outputs))
        wanted = [
            name
            for name, attribute in schema.attributes.items()
            if dice.random() < (0.98 if attribute.required else 0.3)
        ]
        for name in wanted:
            node.attribute.append(_fitting(dice, schema.attributes[name], depth))
        names.extend(node.output)
    graph.output.add(name=dice.choice(names))
    return graph


def _fitting(dice: random.Random, schema: Any, depth: int) -> onnx.AttributeProto:
    """An attribute that mostly has the type that its schema wants."""
    if dice.random() < 0.03:
        return _attribute(dice, schema.name, depth)
    kind = str(schema.type).rsplit(".", 1)[-1]
    if kind == "INT":
        return helper.make_attribute(schema.name, dice.choice((0, 1, 2, -1, 5, *_NUMBERS)))
    if kind == "INTS":
        numbers = [dice.choice((0, 1, 2, 3, -1)) for _ in range(dice.randrange(1, 5))]
        return helper.make_attribute(schema.name, numbers)
    if kind == "FLOAT":
        return helper.make_attribute(schema.name, dice.choice((0.0, 1.5, -1.0, float("nan"))))
    if kind == "STRING":
        return helper.make_attribute(schema.name, dice.choice(("", "linear", "SAME_UPPER", "sum")))
    if kind == "GRAPH" and depth < 3:
        return helper.make_attribute(schema.name, _graph(dice, depth + 1))
    return _attribute(dice, schema.name, depth)


def _protobuf(dice: random.Random) -> bytes:
    model = ModelProto(ir_version=dice.choice((3, 7, 8, 10, 10)))
    model.opset_import.add(domain="", version=dice.choice((6, 7, 9, 11, 13, 17, 18, 20, 22)))
    model.opset_import.add(domain="ai.onnx.ml", version=dice.choice((1, 2, 3, 4)))
    model.graph.CopyFrom(_graph(dice))
    return model.SerializeToString()


def _fields(dice: random.Random) -> bytes:
    """A valid model of which a few fields hold something else; the wire format stays whole."""
    model = ModelProto.FromString(dice.choice(onnx_files()))
    for _ in range(dice.choice((1, 1, 2, 3))):
        proto: Any = model
        while True:
            entries = [entry for entry in proto.ListFields() if entry[1] is not None]
            if not entries:
                break
            descriptor, content = dice.choice(entries)
            repeated = descriptor.is_repeated
            if descriptor.message_type is None:
                _set(proto, descriptor, repeated, dice)
                break
            if repeated and dice.random() < 0.1:
                _repeat(content, dice)
                break
            proto = dice.choice(content) if repeated else content
    return model.SerializeToString()


def _repeat(content: Any, dice: random.Random) -> None:
    if dice.random() < 0.5:
        content.append(dice.choice(content))
    else:
        del content[dice.randrange(len(content))]


def _set(proto: Any, descriptor: Any, repeated: bool, dice: random.Random) -> None:
    choices = {
        descriptor.CPPTYPE_STRING: ("", "x", "w", "t", "Relu", "Reshape", "N", "../x", "y"),
        descriptor.CPPTYPE_FLOAT: (0.0, -1.0, float("nan"), float("inf")),
        descriptor.CPPTYPE_ENUM: (0, 1, 2, 5, 7),
        descriptor.CPPTYPE_INT32: (0, 1, 7, 9, 16, 2**31 - 1, -1),
    }
    value: Any = dice.choice(choices.get(descriptor.cpp_type, _NUMBERS))
    if descriptor.type == descriptor.TYPE_BYTES:
        value = dice.randbytes(dice.randrange(9))
    try:
        if repeated:
            numbers = getattr(proto, descriptor.name)
            numbers[dice.randrange(len(numbers))] = value
        else:
            setattr(proto, descriptor.name, value)
    except ValueError:  # out of the range of a field
        proto.ClearField(descriptor.name)


_LEAVES: tuple[Any, ...] = (
    None, True, -1, 0, 2**70, 1e308, "", "x", "../x", [], {}, [[]], {"a": 1}, "\ud800",
)  # fmt: skip


def _changed(content: Any, dice: random.Random, depth: int = 0) -> Any:
    """JSON with one of its parts replaced."""
    if isinstance(content, dict) and content and (depth < 2 or dice.random() < 0.9):
        key = dice.choice(sorted(content))
        if dice.random() < 0.05:
            return {k: v for k, v in content.items() if k != key}
        return {**content, key: _changed(content[key], dice, depth + 1)}
    if isinstance(content, list) and content and dice.random() < 0.9:
        place = dice.randrange(len(content))
        if dice.random() < 0.05:
            return content[:place] + content[place:] * 2
        return [*content[:place], _changed(content[place], dice, depth + 1), *content[place + 1 :]]
    return dice.choice(_LEAVES)


def _json(dice: random.Random) -> bytes:
    data = dice.choice(om_files())
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    graph = json.loads(header["__metadata__"]["graph"])
    for _ in range(dice.choice((1, 1, 2, 3))):
        graph = _changed(graph, dice)
    text = json.dumps(graph)
    digest = hashlib.sha256(text.encode("utf-8", errors="surrogatepass") + data[8 + size :])
    header["__metadata__"] |= {"graph": text, "checksum": f"sha256:{digest.hexdigest()}"}
    if dice.random() < 0.1:
        header = _changed(header, dice)
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + data[8 + size :]


KINDS: dict[str, Callable[[random.Random], bytes]] = {
    "onnx": lambda dice: mutated(dice.choice(onnx_files()), dice, onnx_files()),
    "protobuf": _protobuf,
    "fields": _fields,
    "om": lambda dice: mutated(dice.choice(om_files()), dice, om_files()),
    "json": _json,
}


# -- running cases ---------------------------------------------------------------------------


def case(kind: str, number: int) -> bytes:
    """The file of one case."""
    return KINDS[kind](random.Random(f"{kind}:{number}"))


def attempt(kind: str, data: bytes) -> str:
    """Read, write and prepare a case: "accepted", "refused", or a traceback."""
    try:
        graph: Graph = read_om(data) if kind in ("om", "json") else read_onnx(data)
        write_onnx(graph)
        write_om(graph)
        Session(graph)
    except REFUSALS:
        return "refused"
    except BaseException:
        return traceback.format_exc(limit=-4)
    return "accepted"


def _work(kind: str, first: int, last: int, place: Any, counts: Any, results: Any) -> None:
    """Run cases ``first`` to ``last - 1``; the process dies where one takes too long."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    onnx_files()
    om_files()
    with open("/proc/self/statm", encoding="ascii") as file:
        have = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (have + MEMORY, have + MEMORY))
    for number in range(first, last):
        place.value = number
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        outcome = attempt(kind, case(kind, number))
        signal.setitimer(signal.ITIMER_REAL, 0)
        if outcome in OUTCOMES:
            counts[OUTCOMES.index(outcome)] += 1
        else:
            results.put((number, outcome))
    place.value = last


def run(kind: str, first: int, count: int) -> tuple[dict[str, int], list[tuple[int, str]]]:
    """Cases ``first`` to ``first + count - 1`` in a process of their own.

    Returns:
        How many were accepted and refused, and the findings: number and what happened.
    """
    context = multiprocessing.get_context("fork")
    findings = []
    counts = context.Array("q", len(OUTCOMES))
    at, last = first, first + count
    while at < last:
        place, results = context.Value("q", at), context.SimpleQueue()
        process = context.Process(target=_work, args=(kind, at, last, place, counts, results))
        process.start()
        while process.is_alive() or not results.empty():
            while not results.empty():  # a full pipe would stop the process
                findings.append(results.get())
            process.join(0.05)
        at = last
        if process.exitcode:
            findings.append((place.value, f"the process ended with {process.exitcode}"))
            at = place.value + 1
    return dict(zip(OUTCOMES, counts[:], strict=True)), findings


def main() -> int:
    """Run what the command line asks for; 1 where there are findings."""
    arguments = argparse.ArgumentParser(description="Fuzz the readers.")
    arguments.add_argument("--kind", choices=sorted(KINDS), action="append")
    arguments.add_argument("--count", type=int, default=1000, help="cases per kind")
    arguments.add_argument("--seed", type=int, default=0, help="number of the first case")
    arguments.add_argument("--block", type=int, default=1000, help="cases per process")
    arguments.add_argument("--base", type=Path, nargs="*", default=[], help="further .onnx files")
    given = arguments.parse_args()
    BASES.extend(given.base)
    failed = 0
    for kind in given.kind or sorted(KINDS):
        start, totals = time.monotonic(), {"accepted": 0, "refused": 0}
        for first in range(given.seed, given.seed + given.count, given.block):
            size = min(given.block, given.seed + given.count - first)
            counts, findings = run(kind, first, size)
            totals = {key: totals[key] + counts[key] for key in totals}
            failed += len(findings)
            for number, text in findings:
                print(f"{kind} case {number}: {text}", flush=True)
        seconds = time.monotonic() - start
        print(
            f"{kind}: cases {given.seed} to {given.seed + given.count - 1}, {totals['accepted']} "
            f"accepted, {totals['refused']} refused, {failed} findings, {seconds:.0f} s",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
