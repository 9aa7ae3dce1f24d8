"""Tidy tables of results: one row per run and metric, and their summary over seeds."""

from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from tmft.experiment.metrics import METRICS
from tmft.runtime.errors import InputError
from tmft.training.records import versions

RUN = ["task", "recipe", "encoder", "layer", "seed"]
OUTCOME = ["status", "reason", "best_epoch", "parameters", "seconds", "versions"]
GROUP = ["task", "recipe", "encoder", "layer"]
MEASURE = ["split", "metric"]


def tabulate_runs(records: Iterable[dict[str, Any]], runs: list[list[Any]]) -> pd.DataFrame:
    """One row per run, split and metric: RUN, OUTCOME, MEASURE, value, baseline.

    ``baseline`` is what a constant answer scores, given for the test split of tasks where that is something.
    ``runs`` are the expected runs in order, RUN each; others among the records are left out. A collapsed run has a row
    for each split and metric that the others of its task have (those of its objective where all collapsed), without a
    value. Raises InputError for an expected run that is missing.
    """
    found = {tuple(record["run"][key] for key in RUN): record for record in records}
    expected = [tuple(run) for run in runs]
    missing = [run for run in expected if run not in found]
    if missing:
        raise InputError(f"no result for {', '.join(f'{k} {v}' for k, v in zip(RUN, missing[0], strict=True))}")
    measures = {}  # of each task, in order
    for run in expected:
        for split, metrics in (found[run]["metrics"] or {}).items():
            measures.setdefault(run[0], {}).update(dict.fromkeys((split, metric) for metric in metrics))
    for run in expected:
        if run[0] not in measures:
            shown = METRICS[found[run]["provenance"]["settings"]["objective"]]
            measures[run[0]] = dict.fromkeys(product(("validation", "test"), shown))
    rows = []
    for run in expected:
        record = found[run]
        common = dict(zip(RUN, run, strict=True)) | {
            "status": record["status"],
            "reason": record["reason"],
            "best_epoch": record["best_epoch"],
            "parameters": record["parameters"]["published"],
            "seconds": record["cost"]["seconds"],
            "versions": versions(record),
        }
        for split, metric in measures[run[0]]:
            value = record["metrics"][split][metric] if record["metrics"] else None
            baseline = record.get("baseline", {}).get(metric) if split == "test" else None
            rows.append(common | {"split": split, "metric": metric, "value": value, "baseline": baseline})
    table = pd.DataFrame(rows, columns=[*RUN, *OUTCOME, *MEASURE, "value", "baseline"])
    return table.astype({"seed": "Int64", "best_epoch": "Int64", "value": "float64", "baseline": "float64"})


def tabulate_records(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """``tabulate_runs`` of all of these results."""
    return tabulate_runs(records, [[record["run"][key] for key in RUN] for record in records])


def version_note(runs: pd.DataFrame) -> str:
    """A sentence on library versions and how many of the ``runs`` have each; empty where all have the same."""
    counts = runs.drop_duplicates(RUN).groupby("versions", sort=False).size()
    if len(counts) < 2:
        return ""
    parts = "; ".join(f"{count} with {found or 'versions unknown'}" for found, count in counts.items())
    return f"These runs mix versions of libraries: {parts}."


def with_collapsed(runs: pd.DataFrame) -> pd.Series:
    """The values of runs; of collapsed ones what a constant answer scores, ``baseline`` where it is given, or 0."""
    return runs["value"].fillna(runs["baseline"].astype(float)).fillna(0.0)


def summarise(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per GROUP, split and metric, in the order of ``runs``: parameters, baseline, and the rest over seeds.

    ``mean`` and ``sd`` (sample standard deviation, ddof 1; empty for one run) are over the ``n`` runs that have a
    value; ``collapsed`` counts those that have none. ``mean_all`` and ``sd_all`` are over both, as the paper's means
    are (``with_collapsed``).
    """
    groups = runs.assign(all=with_collapsed(runs)).groupby(
        [*GROUP, "parameters", *MEASURE, "baseline"], sort=False, dropna=False
    )
    summary = groups.agg(
        mean=("value", "mean"),
        sd=("value", "std"),
        n=("value", "count"),
        collapsed=("value", lambda values: values.isna().sum()),
        mean_all=("all", "mean"),
        sd_all=("all", "std"),
    )
    return summary.reset_index()


def read_table(path: Path) -> pd.DataFrame:
    """Read a table that write_csv wrote; keys that look like missing values, such as an encoder 'nan', stay text."""
    return pd.read_csv(
        path,
        keep_default_na=False,
        na_values=dict.fromkeys(("value", "baseline", "mean", "sd", "mean_all", "sd_all", "seed"), ""),
    )


def curve_table(points: pd.DataFrame) -> str:
    """The plotted numbers of a layer curve as text: a row per layer, a column per line, 'mean ± sd'."""

    def cell(point: pd.Series) -> str:
        if point["n"] == 0:
            return "collapsed"
        spread = f" ± {point['sd']:.1f}" if point["n"] > 1 else ""
        collapsed = f" ({point['collapsed']} collapsed)" if point["collapsed"] else ""
        return f"{point['mean']:.1f}{spread}{collapsed}"

    cells = points.assign(cell=points.apply(cell, axis=1))
    table = cells.pivot(index="layer", columns="line", values="cell")[list(dict.fromkeys(points["line"]))]
    return table.fillna("").rename_axis(columns=None).reset_index().to_string(index=False)
