"""What the tests share: where the repository and the real data are, a small disk, and one thread for torch."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

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
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MiB, mounted for the test."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]).returncode:
        pytest.skip("only an administrator can mount a small disk")
    yield disk
    subprocess.run(["umount", disk], check=True)
