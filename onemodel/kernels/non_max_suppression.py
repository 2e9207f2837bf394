"""ONNX NonMaxSuppression (since 10, 11): the best boxes that do not overlap too much."""

import numpy as np

NODE_TYPE = "NonMaxSuppression"


def fast(
    boxes: np.ndarray,
    scores: np.ndarray,
    max_output_boxes_per_class: np.ndarray | None = None,
    iou_threshold: np.ndarray | None = None,
    score_threshold: np.ndarray | None = None,
    *,
    center_point_box: int = 0,
) -> np.ndarray:
    """int64 (selected, 3): batch, class and box, from boxes (N, B, 4) and scores (N, C, B).

    Boxes are corners y1, x1, y2, x2 in any order, or with ``center_point_box`` centre
    x, y, width, height. Per class the best score comes first, of equal ones the lower
    index; a box goes where its overlap with a better one exceeds ``iou_threshold``.
    """
    most = _scalar(max_output_boxes_per_class, 0.0)
    overlap = _scalar(iou_threshold, 0.0)
    least = None if score_threshold is None or not score_threshold.size else score_threshold
    selected: list[tuple[int, int, int]] = []
    for n in range(boxes.shape[0]):
        corners = _corners(boxes[n].astype(np.float32, copy=False), bool(center_point_box))
        for c in range(scores.shape[1]):
            order = np.argsort(-scores[n, c], kind="stable")
            if least is not None:
                order = order[scores[n, c][order] > _scalar(least, 0.0)]
            kept = _suppressed(corners, order, int(most), overlap)
            selected.extend((n, c, box) for box in kept)
    return np.array(selected, dtype=np.int64).reshape(-1, 3)


def _scalar(value: np.ndarray | None, default: float) -> float:
    return default if value is None or not value.size else value.reshape(-1)[0].item()


def _corners(boxes: np.ndarray, centred: bool) -> np.ndarray:
    """(B, 4) as x low, y low, x high, y high."""
    if centred:
        half = boxes[:, 2:] / 2
        return np.concatenate((boxes[:, :2] - half, boxes[:, :2] + half), axis=1)
    first, second = boxes[:, 1::-1], boxes[:, 3:1:-1]
    return np.concatenate((np.minimum(first, second), np.maximum(first, second)), axis=1)


def _suppressed(corners: np.ndarray, order: np.ndarray, most: int, threshold: float) -> list[int]:
    kept: list[int] = []
    sizes = corners[:, 2:] - corners[:, :2]
    areas = sizes[:, 0] * sizes[:, 1]
    while order.size and len(kept) < most:
        best, rest = order[0], order[1:]
        kept.append(int(best))
        low = np.maximum(corners[rest, :2], corners[best, :2])
        high = np.minimum(corners[rest, 2:], corners[best, 2:])
        shared = np.prod(np.clip(high - low, 0, None), axis=1)
        union = areas[rest] + areas[best] - shared
        real = (shared > 0) & (areas[rest] > 0) & (areas[best] > 0) & (union > 0)
        ratio = np.divide(shared, union, out=np.zeros_like(shared), where=real)
        order = rest[~(ratio > threshold)]
    return kept


VERSIONS = {10: fast}

# Stable order, single operations; a product of two sides has no order to depend on.
EXACT = VERSIONS
