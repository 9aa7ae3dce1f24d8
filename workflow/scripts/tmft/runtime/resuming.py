"""Runs that are stopped and go on: what has changed since their start, kept beside their result while they last."""

import time
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import torch

from tmft.runtime.files import atomic_file, checkpoint_file


class Checkpoint:
    """The state of a run in a file beside its ``result``, at most every ``minutes``.

    ``identity`` is all that decides the result: a checkpoint of another identity is not used.
    """

    def __init__(self, result: Path, identity: dict[str, Any], minutes: float) -> None:
        self.path, self.identity, self.seconds = checkpoint_file(result), identity, 60 * minutes
        self.written = time.monotonic()

    @property
    def due(self) -> bool:
        return time.monotonic() - self.written >= self.seconds

    def save(self, state: dict[str, Any]) -> None:
        """Write ``state``: tensors, numbers, texts, None, and lists and dicts of them."""
        with atomic_file(self.path) as partial, partial.open("wb") as stream:
            try:
                torch.save({"identity": self.identity, "state": state}, stream)
            except RuntimeError as error:  # torch's own, on top of that of a full disk
                raise error.__context__ or error from None
        self.written = time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """The state that was written last, on the CPU; None, with a line in the log, where there is none to use."""
        if not self.path.exists():
            return None
        try:
            with ZipFile(self.path) as archive:
                sound = archive.testzip() is None  # torch does not compare the sums
            found = torch.load(self.path, map_location="cpu", weights_only=True)
        except Exception as error:  # a damaged file can raise anything
            print(f"{self.path}: {type(error).__name__}: {' '.join(str(error).split())}")
            sound = False
        if not sound:
            print(f"{self.path}: damaged, not used")
            return None
        if found["identity"] != self.identity:
            print(f"{self.path}: of a run with other settings, inputs or code, not used")
            return None
        print(f"{self.path}: the run goes on from here")
        return found["state"]

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
