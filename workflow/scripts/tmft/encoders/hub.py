"""Models of the Hugging Face hub: which commit is taken, and its files, each checked against its hash there."""

import fcntl
import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from errno import ENOSPC
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    HTTPError,  # pyright: ignore[reportPrivateImportUsage]
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.sha import git_hash

from tmft.encoders.weights import INDEX, PICKLE, SAFETENSORS, weight_files
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


def download(model: str, revision: str, files: Collection[str]) -> Path:
    """Bring the weights of a commit and those of its ``files`` (names, at its top) that it has into a local folder.

    Weights are safetensors where there are any, else a pickle; in one file or in shards.
    Raises InputError where the hub does not provide them, or other files than the commit's.
    """
    with _failures_reported(model, revision):
        hashes: dict[str, str] = {}
        for weights in (SAFETENSORS, PICKLE):
            wanted = [*files, weights, f"{weights}{INDEX}"]
            snapshot = Path(snapshot_download(model, revision=revision, allow_patterns=wanted))
            if found := weight_files(snapshot):
                snapshot_download(model, revision=revision, allow_patterns=[file.name for file in found])
                break
        for file in snapshot.iterdir():
            if file in found or any(fnmatch(file.name, pattern) for pattern in files):
                if not (file.is_symlink() or hashes):  # a cache without links does not say what its files are
                    hashes = _hashes(model, revision)
                _check(file, hashes, model, revision)
    return snapshot


def _hashes(model: str, revision: str) -> dict[str, str]:
    """The hash of each file at the top of a commit: its sha256 if it is large, else its hash in git."""
    entries = HfApi().list_repo_tree(model, revision=revision)
    return {file.path: file.lfs.sha256 if file.lfs else file.blob_id for file in entries if isinstance(file, RepoFile)}


def _check(file: Path, hashes: dict[str, str], model: str, revision: str) -> None:
    """Compare a file with its hash: its name in the hub's cache where it is a link there, else what the hub says."""
    content = file.resolve()
    expected = content.name if file.is_symlink() else hashes.get(file.name)
    found = file_sha256(content) if expected and len(expected) == 64 else git_hash(content.read_bytes())
    if found != expected:
        content.unlink()
        file.unlink(missing_ok=True)
        raise InputError(f"{model}: {file.name} is not the file of commit {revision}; run the command again")


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.with_name(f".{lock.name}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # until it is closed
        yield


def _read(lock: Path) -> dict[str, str]:
    try:
        return json.loads(lock.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{lock}: not a JSON file; correct it, or remove it to take the newest commits") from error


@contextmanager
def _failures_reported(model: str, revision: str) -> Iterator[None]:
    remedy = "or download the model elsewhere and give its folder as the encoder's `path` instead of `hub`"
    try:
        yield
    except GatedRepoError as error:
        raise InputError(
            f"{model}: the hub gives it only to those who accepted its terms; accept them on the model's page and set "
            f"HF_TOKEN, {remedy}"
        ) from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise InputError(f"{model}: the hub has no such model, or it is private; correct the id, {remedy}") from error
    except RevisionNotFoundError as error:
        raise InputError(f"{model}: the hub has no revision {revision}; correct it, {remedy}") from error
    except (OSError, HTTPError) as error:
        if getattr(error, "errno", None) == ENOSPC:
            raise
        reason = type(error.__cause__ or error).__name__
        raise InputError(f"{model}: the hub does not provide it ({reason}); check the network, {remedy}") from error
