"""How far the experiment is, by figure and table: runs done, collapsed and left, and the hours that these take."""

from pathlib import Path
from typing import Any

import pandas as pd

from tmft.runtime.errors import InputError
from tmft.training.records import read_all

COLUMNS = ["figure", "runs", "done", "collapsed", "left", "hours left"]


def status(shown: dict[str, list[str]]) -> pd.DataFrame:
    """One row of COLUMNS per figure or table, and one of all together, where a shared run counts once.

    ``shown`` has the result files that each needs. The hours are of one job at a time, from the mean of finished runs
    of the same encoder at the same layer, or else at its other layers; runs of encoders without any are unknown.
    """
    files = list(dict.fromkeys(file for own in shown.values() for file in own))
    found = {file: records for file in files if (records := _read(Path(file)))}
    means = _mean_seconds([record for records in found.values() for record in records])
    rows = [_row(name, own, found, means) for name, own in [*shown.items(), ("all", files)] if own]
    return pd.DataFrame(rows, columns=COLUMNS)


def _read(file: Path) -> list[dict[str, Any]]:
    try:
        return read_all([file]) if file.exists() else []
    except InputError:  # damaged, so that it is still to be computed
        return []


def _mean_seconds(records: list[dict[str, Any]]) -> dict[tuple[str, int | None], float]:
    """The mean seconds of trained runs by encoder and layer, and of all an encoder's runs with layer None."""
    runs = [
        (record["run"]["encoder"], record["run"]["layer"], record["cost"]["seconds"])
        for record in records
        if record["run"]["seed"] is not None
    ]
    table = pd.DataFrame(runs, columns=["encoder", "layer", "seconds"])
    by_layer = table.groupby(["encoder", "layer"])["seconds"].mean().to_dict()
    return by_layer | {(encoder, None): mean for encoder, mean in table.groupby("encoder")["seconds"].mean().items()}


def _row(
    name: str, files: list[str], found: dict[str, list[dict[str, Any]]], means: dict[tuple[str, int | None], float]
) -> list[Any]:
    left = [file for file in files if file not in found]
    collapsed = sum(record["status"] == "collapsed" for file in files for record in found.get(file, []))
    seconds = [_estimate(Path(file), means) for file in left]
    known = [one for one in seconds if one is not None]
    hours = f"{sum(known) / 3600:.1f}" if known or not left else ""
    unknown = f"{len(left) - len(known)} unknown" if len(known) < len(left) else ""
    return [name, len(files), len(files) - len(left), collapsed, len(left), " + ".join(filter(None, [hours, unknown]))]


def _estimate(file: Path, means: dict[tuple[str, int | None], float]) -> float | None:
    """Seconds of the run with this result file: results/TASK/RECIPE/ENCODER/layerN/seedS.json or .../all-layers.json.

    What trains nothing takes next to no time.
    """
    if file.name == "all-layers.json":
        return 0.0
    encoder, layer = file.parent.parent.name, int(file.parent.name.removeprefix("layer"))
    return means.get((encoder, layer), means.get((encoder, None)))


def to_markdown(table: pd.DataFrame) -> str:
    """The table as a document."""
    lines = [COLUMNS, ["---", *["---:"] * (len(COLUMNS) - 1)], *table.itertuples(index=False)]
    return "\n".join(["# What is left", "", *("| " + " | ".join(map(str, line)) + " |" for line in lines)]) + "\n"
