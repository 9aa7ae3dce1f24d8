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
from uuid import uuid4

from tmft.runtime.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame


FREE = "free some and run the same command again"
REMEDIES = {
    errno.ENOSPC: FREE,
    errno.EDQUOT: FREE,
    errno.EROFS: "make it writable, or work in another folder (--directory)",
    errno.EACCES: "give yourself access to it, or work in another folder (--directory)",
}


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling of ``path`` to write; it becomes ``path`` at the end, or vanishes if the body raises.

    Its mode follows the umask. Raises InputError when the disk is full or may not be written.
    """
    partial = _partial(path)
    with _refusals_reported(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.touch()
        mode = partial.stat().st_mode
        try:
            yield partial
            partial.chmod(mode)  # libraries that write by way of a private file of their own leave its mode
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield an empty temporary sibling of ``path`` to fill; it becomes ``path`` at the end, as in atomic_file."""
    partial = _partial(path)
    with _refusals_reported(path):
        partial.mkdir(parents=True)
        mode = partial.stat().st_mode
        try:
            yield partial
            for content in partial.rglob("*"):
                content.chmod(mode if content.is_dir() else mode & 0o666)
            shutil.rmtree(path, ignore_errors=True)
            os.replace(partial, path)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _partial(path: Path) -> Path:
    """A name of its own for each attempt: one that outlives its Snakemake cannot spoil what the next one writes."""
    return path.with_name(f"{path.name}.{uuid4().hex[:8]}.partial")


@contextmanager
def _refusals_reported(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in REMEDIES:
            raise
        refused = error.filename if error.errno == errno.EACCES else path  # what was being read may be closed, too
        raise InputError(f"{refused}: {os.strerror(error.errno).lower()}; {REMEDIES[error.errno]}") from error


def waiting(final: Path) -> Path:
    """Where a finished output waits for the rest of its job: Snakemake removes the outputs of a job that fails."""
    return final.with_name(f"{final.name}.finished")


def release(finals: Iterable[Path]) -> None:
    """Give outputs that wait their final names."""
    for final in finals:
        os.replace(waiting(final), final)


def checkpoint_file(result: Path) -> Path:
    """The file beside a result from which its run goes on where it was stopped."""
    return result.with_name(f"{result.name}.checkpoint")


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8, line ends as they are."""
    with atomic_file(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="")


def write_json(path: Path, value: Any) -> None:
    """Write strict JSON. Raises ValueError for NaN and infinity, which JSON does not have."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read what write_json wrote. Raises InputError where it is cut short or no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not a whole JSON file; remove it and run the same command again") from error


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
