"""The bytes written by hand are those that protobuf writes for the same model."""

from __future__ import annotations

import numpy as np
import onnx

import onemodel as om
from onemodel import nn
from onemodel.onnx_io.wire import varint
from onemodel.onnx_io.writer import to_bytes


def test_the_bytes_are_protobufs_own():
    model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.LSTM(300, 4)).eval()
    x = np.ones((2, 1, 12, 12), np.float32)
    graph = om.trace(lambda v: model(v)[0], x, axes=[{0: "batch"}]).graph
    graph.metadata["note"] = "é ✓"
    graph.doc = "a text"
    for strip in (False, True):
        data = to_bytes(graph, strip_metadata=strip)
        proto = onnx.ModelProto.FromString(data)
        onnx.checker.check_model(proto, full_check=True)
        assert proto.SerializeToString(deterministic=True) == data
        assert any(node.metadata_props for node in proto.graph.node) is not strip


def test_varints_are_seven_bits_a_byte():
    for number in (0, 1, 127, 128, 300, 16383, 16384, 2**31 - 1, 2**40):
        data, back = varint(number), 0
        for position, byte in enumerate(data):
            back |= (byte & 127) << 7 * position
        assert back == number
        assert all(byte & 128 for byte in data[:-1]) and not data[-1] & 128
