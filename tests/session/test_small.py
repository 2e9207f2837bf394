"""Small element-wise steps: the ufunc has to be the kernel, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from onemodel.graph.schema import NEWEST_OPSET
from onemodel.kernels._table import find
from onemodel.session.session import Session
from onemodel.session.small import BY_LAYOUT, EXACT, prepared
from tests.session.models import model

RULES = {**EXACT, **BY_LAYOUT}
BINARY = {"Add", "Sub", "Mul", "Div", "Max", "Min", "Greater", "Less", "And", "Or", "Relu"}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, 3e-45, 2**31]


def operands(op_type: str, dtype: np.dtype) -> list[np.ndarray]:
    generator = np.random.default_rng(7)
    if dtype.kind == "b":
        pool = generator.integers(0, 2, (2, 64)).astype(dtype)
    elif dtype.kind == "i":
        pool = generator.integers(-1000, 1000, (2, 64)).astype(dtype)
    else:
        pool = generator.standard_normal((2, 64)).astype(dtype)
        with np.errstate(all="ignore"):
            pairs = np.array([(a, b) for a in SPECIAL for b in SPECIAL]).T.astype(dtype)
        pool = np.concatenate([pool, pairs], axis=1)
    count = 2 if op_type in BINARY else 1
    return [np.ascontiguousarray(row) for row in pool[:count]]


@pytest.mark.parametrize(
    ("op_type", "dtype"),
    [(name, dtype) for name, (_, dtypes) in RULES.items() for dtype in sorted(dtypes, key=str)],
    ids=str,
)
def test_the_ufunc_gives_the_bits_of_the_kernel(op_type, dtype):
    ufunc, _ = RULES[op_type]
    arrays = operands(op_type, dtype)
    kernel = find(op_type, NEWEST_OPSET)
    with np.errstate(all="ignore"):
        if op_type == "Relu":
            arrays[1] = np.zeros_like(arrays[0])
            wanted = kernel(arrays[0])
        else:
            wanted = kernel(*arrays)
        out = np.empty_like(wanted)
        result = prepared(ufunc, arrays, out)()
    assert result is out and wanted.tobytes() == out.tobytes()


def test_broadcast_constants_and_inputs_keep_their_bits():
    proto = model(
        "g (float[n, 4] x, float[4] w, float[n, 1] v) => (float[n, 4] y)"
        "<float[4] b = {0.1, 0.2, 0.3, 0.4}, float s = {3}>"
        "{ a = Add (x, w) c = Mul (a, v) d = Sub (c, b) e = Div (d, s) f = Max (e, w) "
        "  g1 = Sqrt (f) h = Abs (x) i = Add (g1, h) k = Exp (i) y = Mul (k, v) }"
    )
    generator = np.random.default_rng(0)
    session, plain = Session(proto), Session(proto, passes=())
    for n in (1, 3, 1):
        feeds = {
            "x": generator.standard_normal((n, 4)).astype(np.float32),
            "w": generator.standard_normal(4).astype(np.float32),
            "v": generator.standard_normal((n, 1)).astype(np.float32),
        }
        first = plain.run(feeds)["y"]  # a plan that learns runs the kernels themselves
        for _ in range(3):
            assert session.run(feeds)["y"].tobytes() == first.tobytes()


def test_large_arrays_and_old_opsets_go_through_their_kernels():
    proto = model("g (float[n] x) => (float[n] y) { a = Neg (x) b = Add (a, x) y = Mul (b, a) }")
    session = Session(proto)
    x = np.random.default_rng(0).standard_normal(1 << 16).astype(np.float32)
    for _ in range(3):
        np.testing.assert_array_equal(session.run({"x": x})["y"], (-x + x) * -x)
