"""Open the tour in JupyterLab, or with `--headless` run it and write it as a page.

    python scripts/workbench.py [--headless] [--output DIR]

Headless means no browser, no terminal and no network: the notebook is executed
by nbclient and `output/00_tour.html` holds every picture in itself.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent
TOUR = ROOT / "notebooks" / "00_tour.ipynb"

# A page that asks nothing of any other machine. Widgets need a CDN in nbconvert's pages, so the
# picture in text/html is preferred to the widget.
OFFLINE = Config(
    {
        "HTMLExporter": {
            "require_js_url": "",
            "mathjax_url": "",
            "jquery_url": "",
        },
        "NbConvertBase": {
            "display_data_priority": [
                "text/html",
                "image/svg+xml",
                "image/png",
                "text/markdown",
                "text/plain",
            ]
        },
    }
)


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0 when JupyterLab ended or the page was written, 1 when a cell failed."""
    parser = argparse.ArgumentParser(description="Open the tour, or run it without a browser.")
    parser.add_argument("--headless", action="store_true", help="run the tour and write a page")
    parser.add_argument("--output", type=Path, default=ROOT / "output", help="where the page goes")
    options = parser.parse_args(arguments)
    if options.headless:
        return run_headless(TOUR, options.output)
    return open_lab(TOUR)


def run_headless(notebook: Path, output: Path) -> int:
    """Execute ``notebook`` in its own folder and write ``<output>/<name>.html``."""
    document = nbformat.read(notebook, as_version=4)
    # Saved widget state would make the page ask a CDN for the widget manager.
    client = NotebookClient(
        document,
        timeout=600,
        store_widget_state=False,
        resources={"metadata": {"path": str(notebook.parent)}},
    )
    print(f"Running {notebook.name} ...", flush=True)
    failed = None
    try:
        client.execute()
    except CellExecutionError as error:
        failed = error
    page, _ = HTMLExporter(config=OFFLINE).from_notebook_node(
        document, resources={"metadata": {"name": notebook.stem}}
    )
    output.mkdir(parents=True, exist_ok=True)
    target = output / f"{notebook.stem}.html"
    target.write_text(page, encoding="utf-8")
    if failed is not None:
        print(f"A cell failed; what ran until then is in {target}\n{failed}", file=sys.stderr)
        return 1
    print(f"The tour ran from top to bottom: {target}")
    return 0


def open_lab(notebook: Path) -> int:
    """Replace this process by JupyterLab, so that Ctrl-C and signals reach it directly."""
    # As the default address, not as a file to open: the printed link then leads to it as well.
    address = f"/lab/tree/{notebook.relative_to(ROOT).as_posix()}"
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--ip=127.0.0.1",
        f"--ServerApp.root_dir={ROOT}",
        f"--LabApp.default_url={address}",
    ]
    if os.geteuid() == 0:
        command.append("--allow-root")  # JupyterLab refuses to start as root without it
    os.execv(sys.executable, command)


if __name__ == "__main__":
    sys.exit(main())
