"""What the tests share: where the repository and the real data are, and one thread for torch."""

import os
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


@pytest.fixture(scope="session")
def authors_scores() -> Path:
    """The authors' published scores: in TMFT_TEST_REFERENCE, or shared/reference beside the repository."""
    reference = Path(os.environ.get("TMFT_TEST_REFERENCE", ROOT.parent / "shared" / "reference"))
    if not (reference / "authors_results.csv").is_file():
        pytest.skip("the authors' scores are not here; TMFT_TEST_REFERENCE names their folder")
    return reference / "authors_results.csv"
