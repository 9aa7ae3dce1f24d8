"""Files that are written whole or not at all (under a temporary sibling name, then renamed), and their sha256."""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tmft.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling of ``path`` to write; it becomes ``path`` at the end, or vanishes if the body raises.

    Raises InputError when the disk is full.
    """
    partial = path.with_name(f"{path.name}.partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with _disk_full_reported(path):
            yield partial
            os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield an empty temporary sibling of ``path`` to fill; it becomes ``path`` at the end, as in atomic_file."""
    partial = path.with_name(f"{path.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        with _disk_full_reported(path):
            partial.mkdir(parents=True)
            yield partial
            shutil.rmtree(path, ignore_errors=True)
            os.replace(partial, path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def _disk_full_reported(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise InputError(f"{path}: no space left on the device; free some and run the same command again") from error


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8, line ends as they are."""
    with atomic_file(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="")


def write_json(path: Path, value: Any) -> None:
    """Write strict JSON. Raises ValueError for NaN and infinity, which JSON does not have."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read what write_json wrote."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_csv(path: Path, table: "DataFrame") -> None:
    """Write ``table`` with a header, without its index; floats keep all their digits."""
    write_text(path, table.to_csv(index=False, lineterminator="\n"))


def file_sha256(path: Path) -> str:
    """The sha256 of a file's content, 64 hexadecimal digits."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def files_sha256(paths: Iterable[Path]) -> str:
    """One sha256 of several files' names and contents, whatever their order."""
    lines = [f"{file_sha256(path)}  {path.name}\n" for path in sorted(paths)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
