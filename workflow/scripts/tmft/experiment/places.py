"""Where a user's own files may lie: nowhere that the pipeline writes, because it clears what it is about to write."""

import os
from collections.abc import Iterable
from pathlib import Path

from tmft.runtime.errors import InputError

WRITTEN = ("data", "results", "figures", "logs", ".snakemake")
"""The folders of the working directory that the pipeline writes."""


def check_places(paths: Iterable[tuple[str, str]]) -> None:
    """Refuse a path that is, holds or lies within a folder that the pipeline writes, as written or behind links.

    ``paths`` are keys and the paths they name, seen from the working directory; URLs pass. Nothing on disk changes.
    Raises InputError.
    """
    for key, path in [*paths, ("the environment variable TMFT_MIRROR", os.environ.get("TMFT_MIRROR", ""))]:
        if path and "://" not in path:
            for folder in WRITTEN:
                if any(_overlap(*map(form, (path, folder))) for form in (os.path.abspath, os.path.realpath)):
                    raise InputError(
                        f"config: {key}: {path} overlaps with {folder}/, which the pipeline writes and clears; move it "
                        f"elsewhere, for example to {_elsewhere(path)}, and name that"
                    )


def _overlap(one: str, other: str) -> bool:
    return Path(one).is_relative_to(other) or Path(other).is_relative_to(one)


def _elsewhere(path: str) -> str:
    return f"own/{Path(os.path.abspath(path)).name or 'files'}"
