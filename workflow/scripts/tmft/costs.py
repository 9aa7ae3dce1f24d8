"""What the results that are there have cost (docs/costs.md)."""

from pathlib import Path
from typing import Any

import pandas as pd

from tmft.files import read_json
from tmft.results import read_records

GROUP = ["task", "recipe", "encoder", "layer", "device"]
SUMS = ["runs", "training_seconds", "evaluation_seconds", "training_tokens", "evaluated_tokens"]
PEAK = "peak_memory_mb"


def run_costs(result: Path) -> dict[str, Any]:
    """GROUP, SUMS and PEAK of one result file.

    The pass that scores all layers of an untouched encoder is one run, without layer.
    """
    record = read_records(result)[0]
    run, cost = record["run"], record["cost"]
    layer = None if run["seed"] is None else run["layer"]
    group = {key: run[key] for key in ("task", "recipe", "encoder")} | {"layer": layer}
    costs = {key: cost[key] for key in [*SUMS[1:], PEAK]}
    return group | {"device": record["environment"]["device_name"], "runs": 1} | costs


def pretraining_costs(metrics: Path) -> dict[str, Any]:
    """The same of the metrics of a pre-training or an adaptation, as far as they are known.

    Its recipe is the folder of the file: ``pretraining``, or the key of the adaptation.
    """
    content = read_json(metrics)
    costs = {"training_seconds": content["seconds"], "training_tokens": content["tokens_seen"]}
    return {"recipe": metrics.parent.name, "encoder": metrics.stem, "runs": 1} | costs


def sum_costs(costs: list[dict[str, Any]]) -> pd.DataFrame:
    """One row a task, recipe, encoder, layer and device: sums over its runs, and the highest peak of memory."""
    table = pd.DataFrame(costs, columns=[*GROUP, *SUMS, PEAK]).astype({"layer": "Int64"})
    groups = table.groupby(GROUP, sort=False, dropna=False)
    summed = groups.agg(dict.fromkeys(SUMS, "sum") | {PEAK: "max"}).reset_index()
    return summed.astype({"training_tokens": "Int64", "evaluated_tokens": "Int64"})


def to_markdown(costs: pd.DataFrame) -> str:
    """The sums over layers, in hours and millions of tokens, and their total."""
    over_layers = [key for key in GROUP if key != "layer"]
    groups = costs.groupby(over_layers, sort=False, dropna=False)
    rows = groups.agg(dict.fromkeys(SUMS, "sum") | {PEAK: "max"}).reset_index()
    total = {key: rows[key].sum() for key in SUMS} | {PEAK: rows[PEAK].max(), "task": "all"}
    lines = [
        "# What the results have cost",
        "",
        "| task | recipe | encoder | device | runs | training, hours | evaluation, hours | million tokens trained "
        "| million tokens evaluated | peak memory, MB |",
        "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in [*rows.to_dict("records"), total]:
        names = ["" if pd.isna(row.get(key)) else row[key] for key in over_layers]
        hours = [f"{row[key] / 3600:.2f}" for key in ("training_seconds", "evaluation_seconds")]
        tokens = [f"{row[key] / 1e6:.1f}" for key in ("training_tokens", "evaluated_tokens")]
        peak = "" if pd.isna(row[PEAK]) else f"{row[PEAK]:.0f}"
        lines.append("| " + " | ".join([*names, str(row["runs"]), *hours, *tokens, peak]) + " |")
    return "\n".join(lines) + "\n"
