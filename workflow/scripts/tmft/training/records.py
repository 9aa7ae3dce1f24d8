"""The result of a run as strict JSON: the only thing that later stages read of it."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tmft.encoders.origin import encoder_origin
from tmft.runtime.environment import LIBRARIES
from tmft.runtime.errors import InputError
from tmft.runtime.files import atomic_file, file_sha256, read_json

if TYPE_CHECKING:
    import numpy as np

    from tmft.datasets.tokens import TokenPairs, Tokens
    from tmft.training.loop import Outcome

FORMAT = 1


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


def record(
    run: dict[str, Any],
    outcome: "Outcome",
    parameters: dict[str, int],
    tokens: "Tokens",
    provenance: Provenance,
    environment: dict[str, Any],
) -> dict[str, Any]:
    """One result.

    ``run`` is task, recipe, encoder, layer and seed; ``parameters`` the sizes of the truncated encoder; ``environment``
    that of ``tmft.training.environment``. All but ``cost`` (docs/costs.md), the seconds in ``history`` and
    ``environment`` is the same each time the run is made on CPU with the same number of threads.
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
        "environment": environment,
    }


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


def read_all(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """The records of several result files, one after the other. Raises InputError as ``read_records``."""
    return [record for path in paths for record in read_records(path)]


def check_results(files: Any) -> Any:
    """The same result files, a list or under ``results``. Raises InputError for one that is there and no result."""
    for file in files["results"] if isinstance(files, dict) else files:
        _check_result(Path(file))
    return files


@cache
def _check_result(path: Path) -> None:
    if path.exists():
        read_records(path)


def read_records(path: Path) -> list[dict[str, Any]]:
    """The records of a result file: one, or a list of them.

    Raises InputError where it is cut short, no result, or of another format: its run has to be repeated.
    """
    content = read_json(path)
    records = content if isinstance(content, list) else [content]
    for one in records:
        if not isinstance(one, dict) or one.get("format") != FORMAT:
            raise InputError(f"{path}: not a result of format {FORMAT}; remove it and run the same command again")
    return records
