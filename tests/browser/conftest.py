"""One server for all browser tests, one browser a file: starting them takes most of the time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, sync_playwright

from tests.browser import harness

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")  # while Playwright lives its event loop counts as running
def chromium() -> Iterator[Browser]:
    executable = harness.find_chromium()
    if executable is None:
        reason = "no Chromium: install one, or name it by the variable CHROMIUM"
        if os.environ.get("CI"):
            pytest.fail(reason)  # where it is promised, its absence is a fault and no skip
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=list(harness.CHROMIUM_FLAGS)
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[harness.Lab]:
    folder = tmp_path_factory.mktemp("lab")
    with harness.running_lab(folder, [ROOT, ROOT / "widgets"]) as running:
        yield running


@pytest.fixture
def notebook_page(
    chromium: Browser, lab: harness.Lab, tmp_path: Path
) -> Iterator[harness.NotebookPage]:
    """A fresh, watched page; its picture and complaints are kept in the test's folder."""
    context = chromium.new_context(viewport={"width": 1320, "height": 1400})
    watch = harness.Watch(lab.port)
    watch.guard(context)
    opened = harness.NotebookPage(context.new_page(), watch)
    yield opened
    with contextlib.suppress(Error):  # a page that crashed has no picture
        opened.save_picture(tmp_path / "last.png")
    (tmp_path / "complaints.txt").write_text("\n".join(watch.complaints()), encoding="utf-8")
    context.close()
