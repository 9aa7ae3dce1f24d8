"""The authors' published scores of single runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from tmft.results.scores import TIDY, Scores
from tmft.runtime.errors import InputError

METRICS = ["spearman", "pearson"]
COLUMNS = ["model", "task", "recipe", "layer", "seed", "split", *METRICS]


def read_published(files: Sequence[str], paper: Mapping[str, Any]) -> Scores:
    """The scores in the file of published runs, if there is one. Raises InputError where columns are missing."""
    tables = [pd.read_csv(file) for file in files] or [pd.DataFrame(columns=COLUMNS)]
    for file, table in zip(files, tables, strict=False):
        if missing := [column for column in COLUMNS if column not in table]:
            raise InputError(f"{file}: no column '{missing[0]}'; the published runs have {', '.join(COLUMNS)}")
    return published_scores(pd.concat(tables), paper)


def published_scores(table: pd.DataFrame, paper: Mapping[str, Any]) -> Scores:
    """Scores from a table of published runs: model, task, recipe, layer, seed, split, spearman, pearson.

    Roles, sizes and parameters are those of the content of workflow/paper.yaml; other models are left out.
    """
    known = {encoder.get("known_as", encoder["hub"]): encoder for encoder in paper["encoders"].values()}
    own = table[table["model"].isin(known)]
    described = own["model"].map(known)
    columns = {column: described.str[column] for column in ("role", "size", "depth")}
    wide = own.assign(**columns, replicate=own["seed"], collapsed=False, parameters=None)
    long = wide.melt(set(TIDY) - {"metric", "score"}, METRICS, "metric", "score")
    return Scores(long.assign(score=100 * long["score"])[TIDY], dict(_parameters(known.values(), paper["task"])))


def _parameters(encoders: Iterable[dict[str, Any]], task: str) -> Iterator[tuple[tuple, int]]:
    for encoder in encoders:
        if "parameters" in encoder:
            embeddings, of_a_layer = encoder["parameters"]
            for layer in range(encoder["depth"] + 1):
                yield (encoder["role"], encoder["size"], task, layer), embeddings + layer * of_a_layer
