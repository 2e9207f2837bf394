"""A JupyterLab of our own and a Chromium that is watched.

The server reads no configuration of the machine's user, listens on a free port
of 127.0.0.1 and is ended with its process group. The page may talk to that
server alone: any other request is stopped and recorded.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Route

STARTUP_SECONDS = 120
"""For the server and the page alone; a loaded two-core machine has needed 40."""

CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)

SETTINGS: dict[str, dict[str, Any]] = {
    # Without it a pop-up about news covers part of the page.
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    # Cells outside the window stay in the page, where a locator finds them.
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
}

ALLOWED_CONSOLE = (
    "WebSocket connection to",  # Lab retries while a kernel comes up
    "net::ERR_FAILED",  # the browser's word for a request that the guard stopped; see `foreign`
)

READY = """() => {
    const app = window.jupyterapp;
    const session = app?.shell?.currentWidget?.context?.sessionContext;
    return Boolean(session?.isReady && session.session?.kernel?.status === 'idle');
}"""


def find_chromium() -> str | None:
    """The variable ``CHROMIUM``, else a Chromium or Chrome on the PATH."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        found = shutil.which(name)
        if found:
            return found
    return None


@dataclass
class Lab:
    """A running server: where it listens, its token, and the folder it serves."""

    port: int
    token: str
    notebooks: Path
    log: Path

    def url(self, notebook: str, app: str = "lab") -> str:
        """Address of a notebook in JupyterLab (an empty workspace) or in Notebook 7."""
        where = {"lab": "lab/tree", "notebook": "notebooks"}[app]
        return (
            f"http://127.0.0.1:{self.port}/{where}/{urllib.parse.quote(notebook)}"
            f"?reset&token={self.token}"
        )


@contextmanager
def running_lab(folder: Path, python_path: list[Path]) -> Iterator[Lab]:
    """Start JupyterLab on ``folder/notebooks`` and end it with all its kernels.

    Raises RuntimeError with the server's log if it does not answer in time.
    """
    notebooks = folder / "notebooks"
    notebooks.mkdir(parents=True, exist_ok=True)
    lab = Lab(_free_port(), secrets.token_hex(16), notebooks, folder / "server.log")
    environment = _environment(folder, python_path)
    _write_settings(Path(environment["JUPYTERLAB_SETTINGS_DIR"]))
    with lab.log.open("wb") as log:
        server = subprocess.Popen(
            _command(lab),
            cwd=notebooks,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_until_it_answers(lab, server)
            yield lab
        finally:
            _end_group(server)


def _command(lab: Lab) -> list[str]:
    return [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--port={lab.port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={lab.token}",
        f"--ServerApp.root_dir={lab.notebooks}",
        "--ServerApp.terminals_enabled=False",
        "--expose-app-in-browser",
        "--JupyterNotebookApp.expose_app_in_browser=True",  # the same server serves Notebook 7
        "--LabApp.news_url=None",
    ]


def _environment(folder: Path, python_path: list[Path]) -> dict[str, str]:
    own = {
        name: str(folder / name.lower())
        for name in (
            "JUPYTER_CONFIG_DIR",
            "JUPYTER_DATA_DIR",
            "JUPYTER_RUNTIME_DIR",
            "JUPYTERLAB_SETTINGS_DIR",
            "JUPYTERLAB_WORKSPACES_DIR",
            "IPYTHONDIR",
        )
    }
    paths = [str(path) for path in python_path]
    inherited = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        **own,
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PYTHONPATH": os.pathsep.join([*paths, *([inherited] if inherited else [])]),
    }


def _write_settings(folder: Path) -> None:
    for name, value in SETTINGS.items():
        path = folder / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_it_answers(lab: Lab, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + STARTUP_SECONDS
    while time.monotonic() < deadline:
        try:
            address = f"http://127.0.0.1:{lab.port}/api?token={lab.token}"
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            if server.poll() is not None:
                break
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{lab.log.read_text(errors='replace')[-4000:]}")


def _end_group(server: subprocess.Popen[bytes]) -> None:
    for sign, patience in ((signal.SIGTERM, 15), (signal.SIGKILL, 15)):
        try:
            os.killpg(server.pid, sign)
        except ProcessLookupError:
            return
        try:
            server.wait(patience)
        except subprocess.TimeoutExpired:
            continue
    # The leader has gone; kernels of the group that outlived it go now.


@dataclass
class Watch:
    """What a page did that it should not have done."""

    port: int
    foreign: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    page_errors: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def guard(self, context: BrowserContext) -> None:
        """Let only requests to the server through, in every page of the context."""
        context.route("**/*", self._route)
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self.page_errors.append(str(error.error)))
        context.on("response", lambda r: self._on_status(r.status, r.url))
        context.on("page", self._on_page)

    def is_local(self, url: str) -> bool:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme in {"data", "blob", "about", "file"}:
            return True
        return parts.hostname in {"127.0.0.1", "localhost"} and parts.port == self.port

    def _route(self, route: Route, request: Request) -> None:
        if self.is_local(request.url):
            route.continue_()
        else:
            self.foreign.append(request.url)
            route.abort()

    def _on_page(self, page: Page) -> None:
        page.on("websocket", lambda ws: self._on_socket(ws.url))

    def _on_socket(self, url: str) -> None:
        if not self.is_local(url):
            self.foreign.append(url)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(part in message.text for part in ALLOWED_CONSOLE):
            self.console.append(message.text)

    def _on_status(self, status: int, url: str) -> None:
        if status >= 400:
            self.failed.append(f"{status} {url}")

    def complaints(self) -> list[str]:
        """Everything recorded, one line each."""
        return [
            *(f"request beyond the server: {url}" for url in self.foreign),
            *(f"console error: {text}" for text in self.console),
            *(f"page error: {text}" for text in self.page_errors),
            *(f"failed response: {text}" for text in self.failed),
        ]


@dataclass
class NotebookPage:
    """A notebook open in JupyterLab or in Notebook 7."""

    page: Page
    watch: Watch

    def open(self, lab: Lab, name: str, app: str = "lab") -> None:
        """Go to the notebook and wait for its kernel to be idle."""
        limit = STARTUP_SECONDS * 1000
        self.page.goto(lab.url(name, app), wait_until="domcontentloaded", timeout=limit)
        self.page.locator(".jp-CodeCell").first.wait_for(timeout=limit)
        self.page.wait_for_function(READY, timeout=limit)

    def command(self, name: str, **arguments: Any) -> None:
        """One of JupyterLab's own commands, waited for; steadier than menus and keys."""
        self.page.evaluate(
            "([name, args]) => window.jupyterapp.commands.execute(name, args).then(() => null)",
            [name, arguments],
        )

    def run_all(self) -> None:
        """Run every cell; cells tagged ``raises-exception`` may raise."""
        self.command("notebook:run-all-cells")

    def run_cell(self, index: int) -> None:
        """Run the cell at ``index``, counted from the end where negative, and wait for it."""
        self.page.evaluate(
            """(index) => {
                const notebook = window.jupyterapp.shell.currentWidget.content;
                notebook.activeCellIndex = index < 0 ? notebook.widgets.length + index : index;
            }""",
            index,
        )
        self.command("notebook:run-cell")

    def run_last_cell(self) -> str:
        """Run the last cell again; the text of its output."""
        self.run_cell(-1)
        return self.page.locator(".jp-CodeCell").last.locator(".jp-OutputArea").inner_text()

    def ask(self, code: str) -> str:
        """What ``code`` prints in the notebook's kernel; no cell runs and no focus moves."""
        return self.page.evaluate(
            """async (code) => {
                const { sessionContext } = window.jupyterapp.shell.currentWidget.context;
                const { kernel } = sessionContext.session;
                const run = kernel.requestExecute({ code, store_history: false });
                let text = "";
                run.onIOPub = ({ header, content }) => {
                    if (header.msg_type === "stream") text += content.text;
                    if (header.msg_type === "error") text += content.evalue;
                };
                await run.done;
                return text;
            }""",
            code,
        )

    def save_picture(self, path: Path) -> Path:
        self.page.screenshot(path=path)
        return path
