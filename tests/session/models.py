"""Models for the tests of sessions, in ONNX's text form."""

from __future__ import annotations

import onnx
from onnx import parser

HEAD = '<ir_version: 10, opset_import: ["" : 20]>\n'


def model(text: str, opset: int = 20) -> onnx.ModelProto:
    """A checked model from the text of its graph."""
    proto = parser.parse_model(HEAD.replace("20", str(opset)) + text)
    onnx.checker.check_model(proto, full_check=True)
    return proto


CHAIN = """
g (float[batch, 8] x, float[8] w) => (float[batch, 8] y)
{ a = Mul (x, w) b = Relu (a) c = Sub (b, w) y = Tanh (c) }
"""

SHAPES = """
g (float[batch, time, 4] x) => (float[rows, 4] y, int64[3] s)
<int64[1] zero = {0}, int64[1] one = {1}, int64[1] four = {4}>
{
  s = Shape (x)
  b = Gather <axis = 0> (s, zero)
  t = Gather <axis = 0> (s, one)
  n = Mul (b, t)
  target = Concat <axis = 0> (n, four)
  y = Reshape (x, target)
}
"""
