"""The result of a run as strict JSON: the only thing that later stages read of it."""

import platform
import re
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tmft.runtime.errors import InputError
from tmft.runtime.files import atomic_file, checkpoint_file, file_sha256, read_json, release, waiting, write_json

if TYPE_CHECKING:
    import numpy as np
    import torch

    from tmft.datasets.tokens import TokenPairs, Tokens
    from tmft.training.loop import Outcome

FORMAT = 1
LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "scipy")


@dataclass(frozen=True)
class Provenance:
    """What decides a result beside its run: two results of one run with equal provenance are the same."""

    settings: dict[str, Any]
    encoder: dict[str, Any]  # source, commit and sha256 of the weights
    tokens_sha256: str
    code: str

    @classmethod
    def of(cls, encoder: Path, tokens: Path, settings: dict[str, Any], code: str) -> "Provenance":
        """Read the provenance of an encoder folder and of a tokens file; ``code`` is the hash of the rule's code."""
        return cls(settings, encoder_origin(encoder), file_sha256(tokens), code)


def encoder_origin(folder: Path) -> dict[str, Any]:
    """Where the weights in an encoder folder are from: source, commit and sha256; a source may name its own start."""
    provenance = read_json(folder / "provenance.json")
    return {key: provenance[key] for key in ("source", "commit", "sha256")}


def record(
    run: dict[str, Any],
    outcome: "Outcome",
    parameters: dict[str, int],
    tokens: "Tokens",
    provenance: Provenance,
    device: "torch.device",
) -> dict[str, Any]:
    """One result.

    ``run`` is task, recipe, encoder, layer and seed; ``parameters`` the sizes of the truncated encoder. All but
    ``cost`` (docs/costs.md), the seconds in ``history`` and ``environment`` is the same each time the run is made on
    CPU with the same number of threads.
    """
    return {
        "format": FORMAT,
        "run": run,
        "status": outcome.status,
        "reason": outcome.reason,
        "metrics": outcome.metrics,
        "baseline": outcome.baseline,
        "best_epoch": outcome.best_epoch,
        "micro_batch_size": outcome.micro_batch_size,
        "history": outcome.history,
        "parameters": parameters,
        "data": {
            "pairs": {split: len(pairs) for split, pairs in tokens.splits.items()},
            "max_length": tokens.max_length,
            "truncated_sentences": tokens.truncated,
        },
        "provenance": asdict(provenance),
        "cost": outcome.cost,
        "environment": environment(device),
    }


def environment(device: "torch.device") -> dict[str, Any]:
    """Device, threads and versions of the main libraries."""
    import torch

    return {
        "device": device.type,
        "device_name": _device_name(device),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        **{library: version(library) for library in LIBRARIES},
    }


def _device_name(device: "torch.device") -> str:
    """The name of the GPU, or of the processor, where Linux knows it, or else its architecture."""
    import torch

    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    names = re.findall(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return names[0] if names else platform.machine()


def versions(record: dict[str, Any]) -> str:
    """The versions of the main libraries behind a result, as one text; empty where it does not say them."""
    found = record.get("environment", {})
    return ", ".join(f"{library} {found[library]}" for library in LIBRARIES if library in found)


def predictions_file(result: Path) -> Path:
    """The file beside a result that holds the run's test predictions."""
    return result.with_suffix(".predictions.parquet")


def write_predictions(path: Path, pairs: "TokenPairs", predictions: dict[int, "np.ndarray | None"]) -> None:
    """Write the test predictions of runs by layer as a table: layer, pair_id, prediction (empty where a run has none).

    A prediction is a cosine similarity, or the class where the objective has classes.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = []
    for layer, values in predictions.items():
        column = pa.nulls(len(pairs), pa.float32()) if values is None else pa.array(values.astype("float32"))
        tables.append(pa.table({"layer": [layer] * len(pairs), "pair_id": pairs.pair_ids, "prediction": column}))
    with atomic_file(path) as partial:
        pq.write_table(pa.concat_tables(tables), partial)


def make_in_turn(
    make: Callable[[int, int, Path], dict[str, Any]],
    provenances: dict[tuple[int, int], Provenance],
    outputs: list[Path],
) -> None:
    """Make the results of several (layer, seed) units, a file each; one that fails does not take the others with it.

    ``make(layer, seed, path)`` returns a result and writes the predictions of its run to ``path``. Both wait beside
    their final names, as ``*.finished``, until all are there, because Snakemake removes the outputs of a job that
    fails. The next attempt takes up what waits, if its provenance is still the same. Once a result is there, the
    checkpoint of its run goes.
    Raises InputError for the units that failed; their tracebacks are in the log.
    """
    failed = {}
    for ((layer, seed), provenance), output in zip(provenances.items(), outputs, strict=True):
        result, predictions = map(waiting, (output, predictions_file(output)))
        if _is_of(result, provenance):
            continue
        try:
            write_json(result, make(layer, seed, predictions))
            checkpoint_file(output).unlink(missing_ok=True)
        except Exception as error:
            traceback.print_exc()
            failed[layer, seed] = error
    if failed:
        (layer, seed), error = next(iter(failed.items()))
        problem = f"layer {layer}, seed {seed}: {' '.join(str(error).split())}"
        others = "" if len(outputs) == 1 else f" ({len(failed)} of {len(outputs)} runs failed, the others are kept)"
        raise InputError(f"{problem}{others}") from error
    for output in outputs:
        release([output, predictions_file(output)])


def _is_of(result: Path, provenance: Provenance) -> bool:
    """Whether a result is there, whole, and of this provenance."""
    try:
        return result.exists() and read_records(result)[0]["provenance"] == asdict(provenance)
    except InputError as error:
        print(error)
        return False


def read_records(path: Path) -> list[dict[str, Any]]:
    """The records of a result file: one, or a list of them.

    Raises InputError where it is cut short, no result, or of another format: its run has to be made again.
    """
    content = read_json(path)
    records = content if isinstance(content, list) else [content]
    for one in records:
        if not isinstance(one, dict) or one.get("format") != FORMAT:
            raise InputError(f"{path}: not a result of format {FORMAT}; remove it and run the same command again")
    return records
