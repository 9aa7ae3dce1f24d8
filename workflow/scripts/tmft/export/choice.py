"""Which run becomes the exported encoder: its layer and its seed, both chosen on validation."""

from pathlib import Path
from typing import Any

import pandas as pd

from tmft.results.layer_tables import best_layers
from tmft.results.tables import summarise
from tmft.runtime.errors import InputError
from tmft.runtime.files import read_json

NEEDS_A_LAYER = ("deberta-v2", "modernbert")
"""Families that transformers cannot run, or not even describe, with `num_hidden_layers` 0."""


def choose_run(runs: pd.DataFrame, metric: str) -> dict[str, Any]:
    """The best layer among ``runs`` (of `tmft.results.tables`, one curve) and the best seed of that layer.

    The layer is the one that Tables choose (`best_layers`); the seed has the highest validation score, of equal ones
    the lowest. ``seeds`` are that layer's validation scores, None where one collapsed; ``scores`` are mean, sd, n and
    collapsed over its seeds, by split and metric.
    Raises InputError where every run collapsed.
    """
    summary = summarise(runs)
    best = best_layers(summary, metric)
    if best.empty:
        raise InputError(f"all {runs['seed'].nunique()} seeds collapsed at every layer asked for; export another layer")
    layer = int(best.loc[0, "layer"])
    validation = runs[(runs["layer"] == layer) & (runs["split"] == "validation") & (runs["metric"] == metric)]
    seeds = validation.set_index("seed")["value"].sort_index()
    scores = summary[summary["layer"] == layer][["split", "metric", "mean", "sd", "n", "collapsed"]]
    return {
        "layer": layer,
        "seed": int(seeds.idxmax()),
        "metric": metric,
        "seeds": {str(seed): None if pd.isna(value) else value for seed, value in seeds.items()},
        "scores": scores.astype(object).where(scores.notna(), None).to_dict("records"),
    }


def check_exportable(encoder: Path, layer: int) -> None:
    """Raise InputError for layer 0 of an encoder folder whose family cannot be run without layers."""
    family = read_json(encoder / "config.json")["model_type"]
    if layer == 0 and family in NEEDS_A_LAYER:
        raise InputError(f"{encoder}: transformers cannot run a {family} without layers; export layer 1 or a later one")
