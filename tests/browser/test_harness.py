"""The harness runs a notebook, carries a click to Python, and its guard does record."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser import harness

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDGET = '''
import anywidget, traitlets
class Probe(anywidget.AnyWidget):
    _esm = """
    export default { render({ model, el }) {
        const button = document.createElement("button");
        button.className = "probe";
        button.textContent = "pick";
        button.onclick = () => { model.set("picked", "node 7"); model.save_changes(); };
        el.appendChild(button);
    } };
    """
    picked = traitlets.Unicode("").tag(sync=True)
probe = Probe()
probe
'''
CHECK = "print('picked:', probe.picked)"


def test_a_click_in_the_page_is_seen_in_python(
    lab: harness.Lab, notebook_page: harness.NotebookPage, tmp_path: Path
) -> None:
    # Without a kernelspec Lab would ask which kernel to start.
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": kernelspec})
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in (WIDGET, CHECK)]
    nbformat.write(notebook, lab.notebooks / "probe.ipynb")
    notebook_page.open(lab, "probe.ipynb")
    notebook_page.run_all()
    notebook_page.page.locator("button.probe").click()
    expect(notebook_page.page.locator("button.probe")).to_have_count(1)
    assert "picked: node 7" in notebook_page.run_last_cell()
    assert notebook_page.save_picture(tmp_path / "probe.png").stat().st_size > 10_000
    assert notebook_page.watch.complaints() == []

    # On the same page, since opening one is dear: what the watch is there for is told.
    page, watch = notebook_page.page, notebook_page.watch
    page.evaluate("fetch('https://example.org/beacon').catch(() => null)")
    page.evaluate("console.error('planted')")
    page.evaluate("setTimeout(() => { throw new Error('thrown') }, 0)")
    page.evaluate("fetch('/api/contents/absent.ipynb').catch(() => null)")
    page.wait_for_timeout(300)
    assert watch.foreign == ["https://example.org/beacon"]
    assert "planted" in watch.console
    assert any("thrown" in text for text in watch.page_errors)
    assert any(text.startswith("404 ") for text in watch.failed)
