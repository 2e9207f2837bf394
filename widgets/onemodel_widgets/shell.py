"""What all widgets share: the front end as strings, the MIME bundle, a quiet repr, a full close."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import resources
from typing import Any

import anywidget
import traitlets

from onemodel_widgets.views import page


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

    def save_html(self, path: Any) -> None:
        """Writes the view as one self-contained HTML page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(page.document(type(self).__name__, self.to_html()))

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        data["text/html"] = _safely(self.to_html)
        data["text/plain"] = _safely(self.to_text)
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
