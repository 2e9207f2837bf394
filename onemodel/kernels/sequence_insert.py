"""ONNX SequenceInsert (since 11): a sequence with one more array."""

import numpy as np

NODE_TYPE = "SequenceInsert"


def fast(
    input_sequence: list[np.ndarray], tensor: np.ndarray, position: np.ndarray | None = None
) -> list[np.ndarray]:
    """A copy with ``tensor`` before ``position``, or at the end.

    Raises:
        IndexError: the position lies outside [-n, n].
    """
    result = list(input_sequence)
    if position is None:
        result.append(tensor)
        return result
    where = int(position.item())
    if not -len(result) <= where <= len(result):
        raise IndexError(
            f"SequenceInsert: position {where} lies outside a sequence of {len(result)} arrays"
        )
    result.insert(where, tensor)
    return result


VERSIONS = {11: fast}
EXACT = VERSIONS
