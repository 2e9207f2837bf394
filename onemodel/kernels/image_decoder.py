"""ONNX ImageDecoder (since 20): pixels of an encoded image."""

import importlib
import io

import numpy as np

NODE_TYPE = "ImageDecoder"


def fast(encoded_stream: np.ndarray, *, pixel_format: str = "RGB") -> np.ndarray:
    """A uint8 stream to uint8 (H, W, C) as RGB, BGR or Grayscale.

    The formats are those that Pillow reads.

    Raises:
        ModuleNotFoundError: Pillow is not installed.
        ValueError: another pixel format.
    """
    if pixel_format not in ("RGB", "BGR", "Grayscale"):
        raise ValueError(
            f"ImageDecoder: pixel_format={pixel_format!r}; write RGB, BGR or Grayscale"
        )
    try:
        pillow = importlib.import_module("PIL.Image")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "ImageDecoder reads images with Pillow, which is not installed; "
            "run `pip install pillow`"
        ) from error
    with pillow.open(io.BytesIO(encoded_stream.tobytes())) as image:
        if pixel_format == "Grayscale":
            return np.array(image.convert("L"))[:, :, None]
        pixels = np.array(image.convert("RGB"))
    return np.ascontiguousarray(pixels[:, :, ::-1]) if pixel_format == "BGR" else pixels


VERSIONS = {20: fast}
