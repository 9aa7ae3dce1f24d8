"""The result of a run as strict JSON: the only thing that later stages read of it."""

import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tmft.errors import InputError
from tmft.files import read_json, write_json

if TYPE_CHECKING:
    import torch

    from tmft.tokens import Tokens
    from tmft.training import Outcome

FORMAT = 1
LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "scipy")


def record(
    run: dict[str, Any],
    outcome: "Outcome",
    settings: dict[str, Any],
    parameters: dict[str, int],
    tokens: "Tokens",
    encoder: dict[str, Any],
    device: "torch.device",
) -> dict[str, Any]:
    """One result.

    ``run`` is task, recipe, encoder, layer and seed; ``parameters`` the sizes of the truncated encoder; ``encoder``
    the provenance of its weights. All but ``cost``, the seconds in ``history`` and ``environment`` is the same each
    time the run is made on CPU with the same number of threads.
    """
    return {
        "format": FORMAT,
        "run": run,
        "status": outcome.status,
        "reason": outcome.reason,
        "metrics": outcome.metrics,
        "best_epoch": outcome.best_epoch,
        "history": outcome.history,
        "settings": settings,
        "parameters": parameters,
        "data": {
            "pairs": {split: len(pairs) for split, pairs in tokens.splits.items()},
            "max_length": tokens.max_length,
            "truncated_sentences": tokens.truncated,
        },
        "encoder": {key: encoder[key] for key in ("source", "commit", "sha256")},
        "cost": outcome.cost,
        "environment": environment(device),
    }


def environment(device: "torch.device") -> dict[str, Any]:
    """Device, threads and versions of the main libraries."""
    import torch

    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    return {
        "device": device.type,
        "device_name": name,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        **{library: version(library) for library in LIBRARIES},
    }


def write_records(path: Path, records: list[dict[str, Any]]) -> None:
    """Write one record as an object, several as a list of objects."""
    write_json(path, records[0] if len(records) == 1 else records)


def read_records(path: Path) -> list[dict[str, Any]]:
    """The records of a result file.

    Raises InputError where it is cut short, no result, or of another format: its run has to be made again.
    """
    remedy = f"remove {path} and run the same command again"
    try:
        content = read_json(path)
    except ValueError as error:
        raise InputError(f"{path}: not a whole JSON file; {remedy}") from error
    records = content if isinstance(content, list) else [content]
    for one in records:
        if not isinstance(one, dict) or one.get("format") != FORMAT:
            raise InputError(f"{path}: not a result of format {FORMAT}; {remedy}")
    return records
