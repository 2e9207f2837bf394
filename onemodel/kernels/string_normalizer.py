"""ONNX StringNormalizer (since 10): case changed and stop words removed."""

from collections.abc import Sequence

import numpy as np

NODE_TYPE = "StringNormalizer"


def fast(
    x: np.ndarray,
    *,
    case_change_action: str = "NONE",
    is_case_sensitive: int = 0,
    locale: str | None = None,
    stopwords: Sequence[str] | None = None,
) -> np.ndarray:
    """Strings of shape (C) or (1, C) without ``stopwords``, in LOWER, UPPER or NONE changed case.

    Where nothing is left, one empty string. Case follows Unicode, whatever ``locale``.

    Raises:
        ValueError: another shape or action.
    """
    if x.ndim not in (1, 2) or (x.ndim == 2 and x.shape[0] != 1):
        raise ValueError(f"StringNormalizer: shape {x.shape} is neither (C) nor (1, C)")
    actions = {"LOWER": str.lower, "UPPER": str.upper, "NONE": str}
    if case_change_action not in actions:
        raise ValueError(
            f"StringNormalizer: case_change_action={case_change_action!r}; "
            "write LOWER, UPPER or NONE"
        )
    key = str if is_case_sensitive else str.casefold
    stops = {key(word) for word in stopwords or ()}
    change = actions[case_change_action]
    kept = [change(word) for word in x.reshape(-1) if key(word) not in stops]
    result = np.array(kept or [""], dtype=object)
    return result if x.ndim == 1 else result.reshape(1, -1)


VERSIONS = {10: fast}
EXACT = VERSIONS
