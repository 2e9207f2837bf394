"""Sessions behind the interface of a backend scorer: a model and its inputs give its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import onnx

from onemodel.onnx_io.errors import UnsupportedOperatorsError
from onemodel.session.session import Session

NotSupported = UnsupportedOperatorsError


def open_model(path: str) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """The model in a file as a function of its feeds; refuses by raising."""
    return Session(path).run


def run_model(model: onnx.ModelProto, inputs: list[Any]) -> list[Any]:
    """Outputs in the model's order; ``inputs`` follow its inputs, None for an absent optional."""
    session = Session(model)
    taken = {value.name for value in session.graph.inputs}
    named = zip((item.name for item in model.graph.input), inputs, strict=False)
    results = session.run({name: array for name, array in named if name in taken})
    return [results[item.name] for item in model.graph.output]
