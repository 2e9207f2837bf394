"""ONNX SequenceMap (since 17): a subgraph applied to every element of a sequence."""

from collections.abc import Callable
from typing import Any

NODE_TYPE = "SequenceMap"


def fast(
    input_sequence: list[Any], *additional_inputs: Any, body: Callable[..., tuple[Any, ...]]
) -> tuple[list[Any], ...]:
    """One list per output of ``body``, the node's subgraph as a function giving a tuple.

    Additional sequences are walked alongside; additional arrays go to every call.
    An empty sequence gives no lists, since the number of outputs is then unknown.
    """
    results = []
    for i, element in enumerate(input_sequence):
        others = [other[i] if isinstance(other, list) else other for other in additional_inputs]
        results.append(body(element, *others))
    return tuple(list(column) for column in zip(*results, strict=True))


VERSIONS = {17: fast}

# The body is the session's affair.
EXACT = VERSIONS
