"""Pinned downloads: a file is known by its sha256, whether a mirror or its URL provides it."""

import errno
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pooch import HTTPDownloader

from tmft.runtime.errors import InputError
from tmft.runtime.files import atomic_file, file_sha256


def resolve_mirror(configured: str | None) -> str | None:
    """The mirror in force, a folder or a URL prefix: environment variable TMFT_MIRROR, else the configured one."""
    return os.environ.get("TMFT_MIRROR") or configured


def fetch(url: str, sha256: str, target: Path, name: str, mirror: str | None) -> dict[str, Any]:
    """Bring a pinned file to ``target``: from ``mirror``/``name`` if it is there, else from ``url``.

    A ``target`` that already has the right hash is left as it is.

    Returns its provenance: file (its name), url, origin (what provided it), sha256, bytes, retrieved (UTC date).
    Raises InputError when no origin provides the file, when the disk is full, and when the hash differs: the file is
    then kept beside ``target`` with the suffix ``.wrong-sha256`` and not used.
    """
    if target.exists() and file_sha256(target) == sha256:
        origin = "earlier download"
    else:
        origin = _retrieve([f"{mirror.rstrip('/')}/{name}", url] if mirror else [url], sha256, target, name)
    status = target.stat()
    return {
        "file": name,
        "url": url,
        "origin": origin,
        "sha256": sha256,
        "bytes": status.st_size,
        "retrieved": datetime.fromtimestamp(status.st_mtime, UTC).date().isoformat(),
    }


def _retrieve(origins: list[str], sha256: str, target: Path, name: str) -> str:
    """Copy ``target`` from the first of the ``origins`` that has it; return that origin."""
    failures = []
    with atomic_file(target) as partial:
        for origin in origins:
            try:
                _copy(origin, partial)
            except OSError as error:  # the errors of requests among them
                if error.errno == errno.ENOSPC:
                    raise
                failures.append(f"{origin} ({_reason(error)})")
                continue
            if (found := file_sha256(partial)) != sha256:
                kept = Path(f"{target}.wrong-sha256")
                os.replace(partial, kept)
                raise InputError(
                    f"{name}: sha256 is {found}, expected {sha256}; the file from {origin} is kept as {kept} and not "
                    "used: fetch again, and if it stays so, the source has changed: use a mirror with the pinned file"
                )
            return origin
        raise InputError(
            f"{name}: not found at {' nor at '.join(failures)}; check the network, or set a mirror that holds the file "
            "(config key `mirror` or environment variable TMFT_MIRROR: a folder or a URL)"
        )


def _copy(origin: str, target: Path) -> None:
    if origin.startswith(("http://", "https://")):
        HTTPDownloader()(origin, str(target), None)
    else:
        shutil.copyfile(origin, target)


def _reason(error: OSError) -> str:
    response = getattr(error, "response", None)
    return f"HTTP status {response.status_code}" if response is not None else error.strerror or type(error).__name__
