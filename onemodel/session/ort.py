"""ONNX Runtime as a provider: the graph goes through the writer, arrays through OrtValues."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from onemodel.graph.copy import copy_graph
from onemodel.graph.dtypes import element_of_dtype
from onemodel.graph.ir import Graph
from onemodel.onnx_io.writer import to_bytes


class OrtRunner:
    """Runs a graph in ONNX Runtime, one thread, on the CPU.

    Raises:
        ImportError: where onnxruntime is not installed.
    """

    def __init__(self, graph: Graph) -> None:
        self._runtime = _runtime()
        self._graph = graph
        self._lock = threading.Lock()
        self._sessions: dict[tuple[str, ...], Any] = {}
        self._session(tuple(value.name for value in graph.outputs))

    def run(self, feeds: Mapping[str, Any], names: Sequence[str]) -> dict[str, np.ndarray]:
        """The values of those names."""
        session = self._session(tuple(names))
        values = {name: self._value(array) for name, array in feeds.items()}
        taken = {item.name for item in session.get_inputs()}
        taken |= {item.name for item in session.get_overridable_initializers()}
        results = session.run(None, {k: v for k, v in values.items() if k in taken})
        by_name = {item.name: item for item in self._graph.values()}
        produced = [item.name for item in session.get_outputs()]
        found = {
            name: _typed(result, by_name[name].dtype)
            for name, result in zip(produced, results, strict=True)
        }
        return {name: found[name] for name in names}

    def _session(self, names: tuple[str, ...]) -> Any:
        with self._lock:
            found = self._sessions.get(names)
            if found is None:
                found = self._sessions[names] = self._make(names)
            return found

    def _make(self, names: tuple[str, ...]) -> Any:
        graph = copy_graph(self._graph)
        by_name = {value.name: value for value in graph.values()}
        graph.outputs = [by_name[name] for name in dict.fromkeys(names)]
        options = self._runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        data = to_bytes(graph, strip_metadata=True)
        return self._runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])

    def _value(self, array: Any) -> Any:
        # NumPy itself has no bfloat16 or float8; ONNX Runtime wants their bits and the type.
        if not isinstance(array, np.ndarray) or array.dtype.isbuiltin == 1:
            return array
        bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
        make = self._runtime.OrtValue.ortvalue_from_numpy_with_onnx_type
        return make(bits, element_of_dtype(array.dtype))


def _typed(result: Any, dtype: np.dtype | None) -> Any:
    if not isinstance(result, np.ndarray) or dtype is None or result.dtype == dtype:
        return result
    return result.view(dtype) if result.dtype.itemsize == dtype.itemsize else result


def _runtime() -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise ImportError(
            "provider='onnxruntime' needs the package onnxruntime; install it with "
            "'pip install onnxruntime', or leave the provider out"
        ) from None
    return onnxruntime
