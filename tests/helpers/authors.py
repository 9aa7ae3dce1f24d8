"""The authors' published scores of single runs, as results of this pipeline."""

import csv
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from transformers import AutoConfig

from tmft.encoders.truncation import count_parameters
from tmft.results.tables import tabulate_runs
from tmft.training.records import FORMAT

NAMES = {"bert-base-cased": "google-bert/bert-base-cased", "bert-large-cased": "google-bert/bert-large-cased"}


def authors_records(
    scores: Path, config: dict[str, Any], parameters: dict[str, tuple[int, int]]
) -> list[dict[str, Any]]:
    """One result per run of the authors' table whose encoder is in ``config``; a run without validation has test only.

    ``parameters`` gives, by hub id, the sizes of the embeddings and of one layer; others count as 0.
    """
    keys = {encoder["hub"]: key for key, encoder in config["encoders"].items() if "hub" in encoder}
    records: dict[tuple, dict[str, Any]] = {}
    with scores.open() as lines:
        for row in csv.DictReader(lines):
            hub = NAMES.get(row["model"], row["model"])
            if hub not in keys:
                continue
            run = {"task": row["task"], "recipe": row["recipe"], "encoder": keys[hub]}
            run |= {"layer": int(row["layer"]), "seed": int(row["seed"])}
            embeddings, layer = parameters.get(hub, (0, 0))
            record = {
                "format": FORMAT,
                "run": run,
                "status": "complete",
                "reason": None,
                "metrics": {},
                "best_epoch": None,
                "history": [],
                "parameters": {"published": embeddings + run["layer"] * layer},
                "cost": {"seconds": 0.0},
            }
            metrics = records.setdefault(tuple(run.values()), record)["metrics"]
            metrics[row["split"]] = {metric: float(row[metric]) for metric in ("spearman", "pearson")}
    return list(records.values())


def authors_runs(records: list[dict[str, Any]]) -> pd.DataFrame:
    """The table of runs; those without validation are tabulated apart, so that they do not count as collapsed."""
    parts = [[one for one in records if ("validation" in one["metrics"]) is validated] for validated in (True, False)]
    return pd.concat(tabulate_runs(part, [list(one["run"].values()) for one in part]) for part in parts)


def table2_parameters(path: Path) -> dict[str, tuple[int, int]]:
    """Sizes of the embeddings and of one layer of each encoder of Table 2, by hub id."""
    sizes = {}
    for hub, encoder in yaml.safe_load(path.read_text()).items():
        config = AutoConfig.for_model(**encoder["config"])
        embeddings, first = (count_parameters(config, layer).published for layer in (0, 1))
        sizes[hub] = (embeddings, first - embeddings)
    return sizes
