"""What all widgets share: the front end as strings, the MIME bundle, a quiet repr, a full close."""

from __future__ import annotations

import base64
import functools
import logging
from collections.abc import Callable
from importlib import resources
from typing import Any

import anywidget
import traitlets

from onemodel_widgets.views import page, raster

_log = logging.getLogger(__name__)


@functools.cache
def _static(name: str) -> str:
    return resources.files("onemodel_widgets").joinpath("static", name).read_text("utf-8")


@functools.cache
def front_end(panel: str, *files: str) -> str:
    """The ES module of one widget: shared functions, its panels, and the line that mounts one.

    A string, not a path: anywidget watches paths, and a watched widget is never freed.
    """
    parts = [_static(name) for name in ("common.js", *files)]
    return "\n".join([*parts, f"export default {{ render: mount({panel}) }};\n"])


class View(anywidget.AnyWidget):
    """Base of the widgets: one selection, a static form, deterministic text.

    Traits:
        selected: key of the selected node, graph input or module; "" for none. A click
            in the browser sets it, Python may set and observe it.
    """

    _css = page.style()
    selected = traitlets.Unicode("").tag(sync=True)

    def to_html(self) -> str:
        """The view as a static HTML fragment: no script, nothing fetched."""
        raise NotImplementedError

    def to_text(self) -> str:
        """The view as plain text."""
        raise NotImplementedError

    def to_png(self) -> bytes:
        """The view as a PNG picture on a light ground: its graph, or else its table.

        Raises:
            RasterError: there is nothing to draw, or too much; see ``views.raster``.
        """
        return raster.png(self._to_picture(self.to_html()))

    def _to_picture(self, fragment: str) -> str:
        """The ``<svg>`` that stands for the view: the first in its static HTML."""
        picture = raster.first_picture(fragment)
        if picture is None:
            raise raster.RasterError(f"a {type(self).__name__} without a picture")
        return picture

    def save_html(self, path: Any) -> None:
        """Writes the view as one self-contained HTML page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(page.document(type(self).__name__, self.to_html()))

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        data["text/html"] = fragment = _safely(self.to_html)
        data["text/plain"] = _safely(self.to_text)
        try:
            data["image/png"] = base64.b64encode(raster.png(self._to_picture(fragment))).decode()
            data["text/html"] = raster.with_fallbacks(fragment)
        except Exception as error:  # a picture too few must not take the view with it
            _log.warning("no PNG of this %s: %s", type(self).__name__, error)
        return data, metadata

    def close(self) -> None:
        """Frees the widget on both sides, and the layout that belongs to it alone."""
        layout = self.layout if self.comm is not None else None
        super().close()
        if layout is not None:
            layout.close()


def _safely(render: Callable[[], str]) -> str:
    """A static form that cannot be made must not take the live one with it."""
    try:
        return render()
    except Exception as error:
        return f"(no static form: {type(error).__name__})"
