"""ONNX Tile (since 1, 6, 13): the array repeated along its axes."""

import numpy as np

from onemodel.kernels._shapes import integers

NODE_TYPE = "Tile"


def fast(data: np.ndarray, repeats: np.ndarray) -> np.ndarray:
    """``data`` repeated ``repeats[i]`` times along axis i."""
    return np.tile(data, integers(repeats))


def tile_1(data: np.ndarray, tiles: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Opset 1: one axis, given by an input."""
    repeats = [1] * data.ndim
    repeats[int(axis.item())] = int(tiles.item())
    return np.tile(data, repeats)


VERSIONS = {1: tile_1, 6: fast}
EXACT = VERSIONS
