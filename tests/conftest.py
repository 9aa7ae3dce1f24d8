"""What the tests share: where the repository and the real data are, a browser, and one thread for torch."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of the real data files: TMFT_TEST_DATA, or shared/data beside the repository."""
    folder = Path(os.environ.get("TMFT_TEST_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the real data files are not here; TMFT_TEST_DATA names their folder")
    return folder


@pytest.fixture
def browser_page() -> Iterator[Page]:
    """A page of the system's Chromium, without a network; nothing may go wrong in it and nothing be asked for."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    problems = []

    def note_request(request):
        if not request.url.startswith(("file:", "data:", "blob:")):
            problems.append(request.url)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 1000})
        page.set_default_timeout(300_000)
        page.on("request", note_request)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        yield page
        browser.close()
    assert problems == []
