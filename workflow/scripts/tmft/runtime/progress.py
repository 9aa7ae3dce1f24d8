"""Progress bars for people: shown on a terminal, silent in logs and on clusters."""

import os
from collections.abc import Iterable
from typing import TypeVar

from tqdm import tqdm

Item = TypeVar("Item")

# A job's own stderr goes to its log file; bars and failure lines go to the terminal it was started from.
console = os.fdopen(os.dup(2), "w", buffering=1)


def progress(items: Iterable[Item], title: str, total: int | None = None) -> "tqdm[Item]":
    """Iterate over ``items`` with a bar (count, rate, time left) where a person watches, and without one elsewhere."""
    return tqdm(items, desc=title, total=total, file=console, disable=not console.isatty(), leave=False)
