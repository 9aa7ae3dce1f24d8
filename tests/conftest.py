"""What the tests share: repository and real data, an experiment, a hub, a disk, a browser, and one thread for torch."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hub_stand_in import Hub, serving
from hypothesis import settings
from pipeline_runs import CONFIG, FIGURE, ROOT, snakemake
from playwright.sync_api import Page, sync_playwright

torch.set_num_threads(1)
settings.register_profile("same_examples_each_time", derandomize=True, deadline=None)
settings.load_profile("same_examples_each_time")


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


@pytest.fixture(scope="session")
def experiment(tmp_path_factory, root) -> tuple[Path, str]:
    """A finished small experiment and what Snakemake printed."""
    folder = tmp_path_factory.mktemp("experiment")
    (folder / "config.yaml").write_text(CONFIG)
    run = snakemake(folder, "--cores", "2", FIGURE, root=root)
    assert run.returncode == 0, run.stdout
    return folder, run.stdout


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A stand-in for the Hugging Face hub."""
    with serving(Hub()) as served:
        yield served


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MiB, mounted for the test."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]).returncode:
        pytest.skip("only an administrator can mount a small disk")
    yield disk
    subprocess.run(["umount", disk], check=True)


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


@pytest.fixture(scope="session")
def authors_scores() -> Path:
    """The authors' published scores: in TMFT_TEST_REFERENCE, or shared/reference beside the repository."""
    reference = Path(os.environ.get("TMFT_TEST_REFERENCE", ROOT.parent / "shared" / "reference"))
    if not (reference / "authors_results.csv").is_file():
        pytest.skip("the authors' scores are not here; TMFT_TEST_REFERENCE names their folder")
    return reference / "authors_results.csv"
