"""Models of the Hugging Face hub: which commit is taken, and its files, each checked against its hash there."""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import HFValidationError, HTTPError, RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.utils.sha import git_hash

from tmft.runtime.errors import InputError
from tmft.runtime.files import file_sha256, write_json


def pinned(source: dict[str, Any], lock: Path) -> dict[str, Any]:
    """The ``source`` of an encoder with a commit as its revision, if it is on the hub.

    Where it has none, that of the lock file is taken: a JSON object of commits by model. A model that is not there yet
    gets its newest commit, which is written there, so that all later fetches with this file take it. Jobs side by side
    wait for each other.

    Raises InputError for a lock file that is no JSON, and for a model that the hub does not provide.
    """
    if "hub" not in source or source.get("revision"):
        return source
    model = source["hub"]
    with _alone(lock):
        revisions = _read(lock) if lock.exists() else {}
        if model not in revisions:
            with _failures_reported(model, "main"):
                revisions[model] = HfApi().model_info(model, revision="main").sha
            write_json(lock, dict(sorted(revisions.items())))
    return source | {"revision": revisions[model]}


def download(model: str, revision: str, files: list[str], weights: tuple[str, str]) -> Path:
    """Bring the ``files`` (patterns) of a commit and the first of the two ``weights`` that it has into a local folder.

    Raises InputError where the hub does not provide them, or other files than the commit's.
    """
    first, second = weights
    with _failures_reported(model, revision):
        snapshot = Path(snapshot_download(model, revision=revision, allow_patterns=[*files, first]))
        if not (snapshot / first).exists():
            snapshot_download(model, revision=revision, allow_patterns=second)
    for file in snapshot.iterdir():
        _check(file, model, revision)
    return snapshot


def _check(link: Path, model: str, revision: str) -> None:
    """Compare a file with its name in the hub's cache: its sha256 if it is large, else its hash in git."""
    file = link.resolve()
    found = file_sha256(file) if len(file.name) == 64 else git_hash(file.read_bytes())
    if found != file.name:
        file.unlink()
        link.unlink()
        raise InputError(f"{model}: {link.name} came otherwise than it is in commit {revision}; run the command again")


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.with_name(f".{lock.name}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # until it is closed
        yield


def _read(lock: Path) -> dict[str, str]:
    try:
        return json.loads(lock.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{lock}: not a JSON file; mend it, or remove it to take the newest commits") from error


@contextmanager
def _failures_reported(model: str, revision: str) -> Iterator[None]:
    remedy = "or download the model elsewhere and give its folder as the encoder's `path` instead of `hub`"
    try:
        yield
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise InputError(f"{model}: the hub has no such model, or it is private; correct the id, {remedy}") from error
    except RevisionNotFoundError as error:
        raise InputError(f"{model}: the hub has no revision {revision}; correct it, {remedy}") from error
    except (OSError, HTTPError) as error:
        if getattr(error, "errno", None) == ENOSPC:
            raise
        reason = type(error.__cause__ or error).__name__
        raise InputError(f"{model}: the hub does not provide it ({reason}); check the network, {remedy}") from error
