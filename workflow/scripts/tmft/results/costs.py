"""What the results that are there have cost (docs/costs.md)."""

from pathlib import Path
from typing import Any

import pandas as pd

from tmft.runtime.files import read_json
from tmft.training.records import read_records

GROUP = ["task", "recipe", "encoder", "layer", "device"]
SUMS = ["runs", "training_seconds", "evaluation_seconds", "training_tokens", "evaluated_tokens"]
PEAK = "peak_memory_mb"


def run_costs(result: Path) -> dict[str, Any]:
    """GROUP, SUMS and PEAK of one result file.

    The pass that scores all layers of an encoder without training is one run, without layer. What a result of an
    earlier version does not say stays empty.
    """
    record = read_records(result)[0]
    run, cost = record["run"], record["cost"]
    layer = None if run["seed"] is None else run["layer"]
    group = {key: run[key] for key in ("task", "recipe", "encoder")} | {"layer": layer}
    costs = {key: cost.get(key) for key in [*SUMS[1:], PEAK]}
    return group | {"device": record["environment"]["device_name"], "runs": 1} | costs


def pretraining_costs(metrics: Path) -> dict[str, Any]:
    """The same of the metrics of a pre-training or an adaptation, as far as they are known.

    Its recipe is the folder of the file: ``pretraining``, or the key of the adaptation.
    """
    content = read_json(metrics)
    costs = {"training_seconds": content["seconds"], "training_tokens": content["tokens_seen"]}
    return {"recipe": metrics.parent.name, "encoder": metrics.stem, "runs": 1} | costs


def sum_costs(costs: list[dict[str, Any]]) -> pd.DataFrame:
    """One row per task, recipe, encoder, layer and device: sums over its runs, and the highest peak of memory."""
    whole = ["layer", "runs", "training_tokens", "evaluated_tokens"]
    table = pd.DataFrame(costs, columns=[*GROUP, *SUMS, PEAK]).astype(dict.fromkeys(whole, "Int64"))
    return _sum(table, GROUP)


def to_markdown(costs: pd.DataFrame) -> str:
    """The sums over layers, in hours and millions of tokens, and their total."""
    names = [key for key in GROUP if key != "layer"]
    rows = pd.concat([_sum(costs, names), _sum(costs.assign(task="all"), ["task"])])
    numbers = {
        "runs": rows["runs"].map("{:d}".format),
        "training, hours": _cells(rows["training_seconds"] / 3600, "{:.2f}"),
        "evaluation, hours": _cells(rows["evaluation_seconds"] / 3600, "{:.2f}"),
        "million tokens trained": _cells(rows["training_tokens"] / 1e6, "{:.1f}"),
        "million tokens evaluated": _cells(rows["evaluated_tokens"] / 1e6, "{:.1f}"),
        "peak memory, MB": _cells(rows[PEAK], "{:.0f}"),
    }
    cells = rows[names].fillna("").assign(**numbers)
    lines = [cells.columns, ["---"] * len(names) + ["---:"] * len(numbers), *cells.itertuples(index=False)]
    return "\n".join(["# What the results have cost", "", *("| " + " | ".join(line) + " |" for line in lines)]) + "\n"


def _sum(costs: pd.DataFrame, group: list[str]) -> pd.DataFrame:
    """Sums by ``group``; of nothing but unknown values the sum is unknown."""
    groups = costs.groupby(group, sort=False, dropna=False)
    return groups[SUMS].sum(min_count=1).join(groups[PEAK].max()).reset_index()


def _cells(values: pd.Series, form: str) -> pd.Series:
    """The values as text, empty where unknown."""
    return values.map(form.format, na_action="ignore").fillna("")
