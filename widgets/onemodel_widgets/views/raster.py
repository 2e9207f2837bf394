"""SVG pictures as PNG: for places that show no SVG, and pages that strip it.

The one place that knows the renderer. Fonts come with the package, so that a machine
without any draws the same picture; the ground is solid and light, so that it can be read
on a dark page as well. Size and time are bounded: a large picture is scaled down.
"""

from __future__ import annotations

import base64
import functools
import html
import io
import re
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np
import resvg_py
from PIL import Image

from onemodel_widgets.views import page

MOST_PIXELS: Final = 800_000
"""Pixels of one picture. Time and bytes follow them: 0.15 s and 60 kB for all of these."""

LONGEST_SIDE: Final = 8_000
MOST_TEXT: Final = 2_000_000
"""Characters of SVG that are still drawn, those of 2,000 boxes; they take half a second."""

_ROLE: Final = "var(--om-role)"
_GROUND: Final = "#ffffff"
_SANS: Final = "Arimo"
_MONO: Final = "Cousine"
_COLOURS: Final = 256
"""A picture has a dozen colours and their smooth edges: a palette takes a third of the bytes."""

_PICTURE = re.compile(r'<svg class="om-svg".*?</svg>', re.DOTALL)
_SIZE = re.compile(r'<svg [^>]*?\bwidth="([\d.e+]+)" height="([\d.e+]+)"')
_LABEL = re.compile(r'<svg [^>]*?\baria-label="([^"]*)"')
_NOT_DRAWN = re.compile(r'<title>.*?</title>|<path class="om-hit"[^>]*/>', re.DOTALL)
_WORDS = re.compile(r"<text .*?</text>", re.DOTALL)
_LEGIBLE: Final = 0.25
"""Scale below which letters are three pixels high: time spent on them is spent for nothing."""

_TEXT = re.compile(r">([^<]+)<")
_OWN_LETTERS = re.compile(
    "[\n -~\xa0-\u017f\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce\u03d0-\u045f\u2012-\u2022"
    "\u2026\u2190-\u2195\u2211\u2212\u221a\u221e\u2248\u2260\u2264\u2265\u25a0\u25a1\u25cf]*"
)
"""What all of the package's fonts can draw. Other letters are looked for in the system's."""

_LOOKALIKES = str.maketrans(
    {
        "\N{NORTH EAST ARROW}": "\N{RIGHTWARDS ARROW}",
        "\N{REPLACEMENT CHARACTER}": "\N{WHITE SQUARE}",
        "\N{SYMBOL FOR NEWLINE}": "\N{PILCROW SIGN}",
        "\N{SYMBOL FOR CARRIAGE RETURN}": "\N{PILCROW SIGN}",
    }
)
"""What views write and the fonts lack -> what they have."""

_UNSTYLED: Final = "<style>.om-raster{display:none}.om-vector{display:block!important}</style>"


class RasterError(Exception):
    """A picture that cannot be drawn as PNG: what stood in the way."""


@functools.lru_cache(maxsize=8)
def png(picture: str) -> bytes:
    """The PNG of one ``<svg>`` element of ours. Equal bytes for equal pictures.

    Raises:
        RasterError: the text is no picture, too long, or the renderer refused it.
    """
    size = _SIZE.match(picture)
    if size is None:
        raise RasterError("a picture without a size")
    scale = _scale(float(size[1]), float(size[2]))
    drawn = _NOT_DRAWN.sub("", picture).translate(_LOOKALIKES)
    if scale < _LEGIBLE:
        drawn = _WORDS.sub("", drawn)
    if len(drawn) > MOST_TEXT:
        raise RasterError(f"{len(drawn)} characters of SVG, at most {MOST_TEXT}")
    words = html.unescape("".join(_TEXT.findall(drawn)))
    try:
        with resources.as_file(resources.files("onemodel_widgets") / "static/fonts") as fonts:
            rendered = resvg_py.svg_to_bytes(
                svg_string=drawn,
                background=_GROUND,
                zoom=scale,
                style_sheet=_style(),
                font_files=_font_files(fonts),
                # Reading the system's fonts takes time and makes pictures depend on the machine.
                skip_system_fonts=_OWN_LETTERS.fullmatch(words) is not None,
                font_family=_SANS,
                sans_serif_family=_SANS,
                monospace_family=_MONO,
            )
        return _small(rendered)
    except BaseException as error:
        # A panic of the renderer is no Exception; an interrupt by the user is none either.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise RasterError(f"the renderer refused the picture: {error}") from error
        raise


def _scale(width: float, height: float) -> float:
    pixels = max(1.0, width * height)
    longest = max(1.0, width, height)
    return min(1.0, (MOST_PIXELS / pixels) ** 0.5, LONGEST_SIDE / longest)


def _font_files(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.iterdir() if path.suffix == ".ttf")


def _small(rendered: bytes) -> bytes:
    """The same picture with a palette: its commonest colours as they are, the rest by the nearest.

    Pillow's own ways to a palette shift pale fills, which is most of what a picture is made of.
    """
    with Image.open(io.BytesIO(rendered)) as picture:
        coloured = picture.convert("RGB")
    counted = coloured.getcolors(coloured.width * coloured.height) or []
    colours = np.array([c for _, c in sorted(counted, key=lambda c: (-c[0], c[1]))], np.int32)
    palette = colours[:_COLOURS]
    apart = np.abs(colours[:, None, :] - palette[None]).sum(-1)
    index_of = np.zeros(1 << 24, np.uint8)
    index_of[_packed(colours)] = apart.argmin(1)
    indexed = Image.fromarray(index_of[_packed(np.asarray(coloured, np.int32))])
    indexed.putpalette(palette.astype(np.uint8).tobytes())
    written = io.BytesIO()
    indexed.save(written, "png")
    return written.getvalue()


def _packed(colours: np.ndarray) -> np.ndarray:
    return colours[..., 0] << 16 | colours[..., 1] << 8 | colours[..., 2]


@functools.cache
def _style() -> str:
    """The views' rules for pictures in the light palette, with no variable left.

    Roles are left out: the picture carries their colours itself.
    """
    sheet = re.sub(r"/\*.*?\*/", "", page.style(), flags=re.DOTALL)
    root = sheet[: sheet.index("}")]
    values = {name: _constant(value) for name, value in re.findall(r"(--om-[\w-]+):([^;]+);", root)}
    values |= {"--om-sans": _SANS, "--om-mono": _MONO}
    rules = []
    for selectors, block in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
        kept = [s.strip() for s in selectors.split(",") if _is_drawn(s.strip())]
        declared = [d.strip() for d in block.split(";")] if kept else []
        body = ";".join(
            re.sub(r"var\((--om-[\w-]+)\)", lambda name: values[name[1]], d)
            for d in declared
            if d and not d.startswith(("--", "cursor", "pointer-events")) and _ROLE not in d
        )
        if body:
            rules.append(f"{','.join(kept)}{{{body}}}")
    # Titles and folds are for a pointer, and nothing can be pointed at here.
    return "".join([*rules, ".om-fold,.om-hit{display:none}"])


def _is_drawn(selector: str) -> bool:
    return selector.startswith(".om-svg ") and ":" not in selector


def _constant(value: str) -> str:
    """``#fff`` of ``var(--jp-a, var(--vscode-b, #fff))``."""
    return re.sub(r"^\s*(?:var\([\w-]+,\s*)*|\)*\s*$", "", value)


def first_picture(fragment: str) -> str | None:
    """The first picture in static HTML, or None where it holds none."""
    found = _PICTURE.search(fragment)
    return found[0] if found else None


def with_fallbacks(fragment: str) -> str:
    """Static HTML whose pictures are still seen where SVG and style sheets are stripped.

    A notebook that is not trusted keeps text, tables and images of its outputs. The words of
    a picture would run into one another there; they are hidden, and its PNG is shown instead.
    """
    if _PICTURE.search(fragment) is None:
        return fragment
    return _UNSTYLED + _PICTURE.sub(lambda found: _both(found[0]), fragment)


def _both(picture: str) -> str:
    encoded = base64.b64encode(png(picture)).decode("ascii")
    label = _LABEL.match(picture)
    # With a value: JupyterLab's sanitiser drops attributes that have none.
    return (
        f'<div class="om-vector" hidden="hidden">{picture}</div>'
        f'<img class="om-raster" alt="{label[1] if label else ""}" '
        f'src="data:image/png;base64,{encoded}">'
    )
