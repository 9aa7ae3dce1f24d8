"""The authors' published scores of single runs: as a table, or in the archives of their repository."""

import json
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tmft.results.scores import TIDY, Scores
from tmft.runtime.errors import InputError

COLUMNS = ["model", "task", "recipe", "layer", "seed", "split", "spearman", "pearson"]
MEMBER = re.compile(r"([^/]+)/mean/(\d+)_to_\d+/(test|val)_results(.*)\.json$")  # model, layer, split, what was done
RECIPES = {"dapt": re.compile(r".*_mlm"), "ws": re.compile(r"_?word_similarity"), "tmft": re.compile("")}
DATA_SETS = re.compile(r"(_?(stsb|kor_sts|german_sts|spanish_sts))*$")  # may end the name


def read_published(files: Sequence[Path], paper: Mapping[str, Any]) -> Scores:
    """Scores from a CSV table of runs (COLUMNS), or from archives with a JSON file a model, layer, split and recipe.

    Roles, sizes and parameters are those of the content of workflow/paper.yaml; other models are left out. Raises
    InputError for a table without these columns, and where there is no run of these models.
    """
    encoders = {encoder.get("known_as", encoder["hub"]): encoder for encoder in paper["encoders"].values()}
    if files[0].suffix == ".csv":
        table = pd.read_csv(files[0])
        if missing := [column for column in COLUMNS if column not in table]:
            raise InputError(f"{files[0]}: no table of published runs, it has no column {', '.join(missing)}")
    else:
        table = pd.DataFrame(_archived_runs(files, encoders, paper), columns=COLUMNS)
    own = table[table["model"].isin(encoders)].drop_duplicates(COLUMNS[:6])
    if own.empty:
        raise InputError(f"{', '.join(map(str, files))}: no run of the paper's encoders; see docs/reproduction.md")
    described = own["model"].map(encoders)
    columns = {column: described.str[column] for column in ("role", "size", "depth")}
    wide = own.assign(**columns, replicate=own["seed"], collapsed=False, parameters=None)
    long = wide.melt([column for column in TIDY if column not in ("metric", "score")], COLUMNS[6:], "metric", "score")
    return Scores(long.assign(score=100 * long["score"])[TIDY], dict(_parameters(encoders.values(), paper["task"])))


def _archived_runs(files: Iterable[Path], encoders: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterator[tuple]:
    models = {name.replace("/", "-"): name for name in encoders}
    for file in files:
        with tarfile.open(file) as archive:
            for member in archive:
                found = MEMBER.search(member.name)
                recipe = found and next((key for key, name in RECIPES.items() if _is_named(found[4], name)), None)
                if recipe is None or found[1] not in models:
                    continue
                scores = json.load(archive.extractfile(member))
                model, split = models[found[1]], {"test": "test", "val": "validation"}[found[3]]
                task = encoders[model].get("tasks", [paper["task"]])[0]
                for seed, values in enumerate(zip(scores["values_spearman"], scores["values_pearson"], strict=True)):
                    yield model, task, recipe, int(found[2]), seed, split, *values


def _is_named(rest: str, name: re.Pattern) -> bool:
    matched = name.match(rest)
    return matched is not None and DATA_SETS.fullmatch(rest[matched.end() :]) is not None


def _parameters(encoders: Iterable[dict[str, Any]], task: str) -> Iterator[tuple[tuple, int]]:
    for encoder in encoders:
        if "parameters" in encoder:
            embeddings, of_a_layer = encoder["parameters"]
            for layer in range(encoder["depth"] + 1):
                yield (encoder["role"], encoder["size"], task, layer), embeddings + layer * of_a_layer
