"""What of an experiment can be held against the paper (workflow/paper.yaml)."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tmft.experiment.configuration import Experiment, Run
from tmft.experiment.figures import cka_files
from tmft.experiment.jobs import all_runs, so_far
from tmft.experiment.paths import result_files
from tmft.runtime.errors import InputError


def reproduced(experiment: Experiment, paper: Mapping[str, Any]) -> dict[str, Any]:
    """The keys under which the experiment has the paper's encoders and tasks, and the recipes that differ from its.

    encoders: role, size, depth and tasks by key; tasks: the paper's name by key; recipes: those that are comparable;
    foreign: those with other hyper-parameters; comparable: whether there is an encoder and the tables' task at all.
    """
    hubs = {encoder["hub"]: encoder for encoder in paper["encoders"].values()}
    encoders, tasks = {}, {}
    for key, encoder in experiment.settings["encoders"].items():
        known = hubs.pop(encoder.get("hub"), None)
        if known is not None and encoder["depth"] == known["depth"]:
            kept = {name: known[name] for name in ("role", "size", "depth")}
            encoders[key] = kept | {"tasks": known.get("tasks", paper["tasks"])}
    names = {name for encoder in encoders.values() for name in encoder["tasks"]}
    for key, task in experiment.settings["tasks"].items():
        if task.get("source") in names - set(tasks.values()):
            tasks[key] = task["source"]
    recipes = {row["recipe"] for row in paper["rows"]} & set(experiment.settings["recipes"])
    foreign = sorted(key for key in recipes if not paper["training"].items() <= experiment.training(key).items())
    comparable = bool(encoders) and paper["task"] in tasks.values()
    return {
        "encoders": encoders,
        "tasks": tasks,
        "recipes": sorted(recipes - set(foreign)),
        "foreign": foreign,
        "comparable": comparable,
    }


def reproduced_runs(experiment: Experiment, paper: Mapping[str, Any], shown: Iterable[Run]) -> list[Run]:
    """The runs that are held against the paper: those behind its tables, and others of its kind that are ``shown``."""
    ours = reproduced(experiment, paper)
    if not ours["comparable"]:
        return []
    (task,) = (key for key, name in ours["tasks"].items() if name == paper["task"])
    keys = {experiment.encoder(key)["hub"]: key for key in ours["encoders"]}
    cells = dict.fromkeys((row["recipe"], paper["encoders"][row["encoder"]]["hub"]) for row in paper["rows"])
    own = [(recipe, keys[hub]) for recipe, hub in cells if hub in keys and recipe in ours["recipes"]]
    runs = [run for recipe, key in own for run in experiment.runs(task, [recipe], [key])]
    return list(dict.fromkeys([*runs, *(run for run in shown if _is_the_papers(run, ours))]))


def _is_the_papers(run: Run, ours: Mapping[str, Any]) -> bool:
    known = run.encoder in ours["encoders"] and run.task in ours["tasks"] and run.recipe in ours["recipes"]
    return known and ours["tasks"][run.task] in ours["encoders"][run.encoder]["tasks"]


def published_runs(experiment: Experiment, needed: bool = False) -> list[str]:
    """The files of the authors' published runs: a table, or the archives in a folder; none where no place is given.

    Raises InputError where there is none in the place, or none is given and they are needed.
    """
    place = experiment.settings["published_runs"]
    files = [place] if place else []
    if place and Path(place).is_dir():
        files = sorted(map(str, Path(place).glob("*.tar.gz")))
    if not files and (needed or place):
        problem = f"{place}: no *.tar.gz in it" if place else "config: published_runs is not set"
        raise InputError(f"{problem}; docs/reproduction.md says how to get the published runs")
    return files


def compared_similarities(experiment: Experiment, paper: Mapping[str, Any]) -> dict[str, tuple[str, str, str]]:
    """The files of CKA curves of BERT with another of the paper's encoders: encoder, task and state by file."""
    ours, files = reproduced(experiment, paper), {}
    for name, figure in experiment.settings["figures"].items() if ours["comparable"] else []:
        known = [key for key in figure.get("encoders", []) if key in ours["encoders"]]
        roles = [ours["encoders"][key]["role"] for key in known]
        if figure["kind"] == "cka_curve" and roles[1:] and roles[0] == "bert" and figure["task"] in ours["tasks"]:
            for curve, file in cka_files(experiment, name).items():
                state = {"pretrained": "pre-trained", "finetuned": "fine-tuned"}[curve]
                files[file] = (known[1], ours["tasks"][figure["task"]], state)
    return files


def similarity_keys(
    experiment: Experiment, paper: Mapping[str, Any], *, partial: bool = False
) -> list[tuple[str, str, str]]:
    """Encoder, task and state of each of these files, of those on disk where they are ``partial``."""
    files = compared_similarities(experiment, paper)
    return [files[file] for file in (so_far(files) if partial else files)]


def reproduction_inputs(experiment: Experiment, paper: Mapping[str, Any], *, partial: bool = False) -> dict[str, Any]:
    """What is held against the paper; of it what is on disk where it is ``partial``.

    All that the figures and tables show of the paper's encoders, tasks and recipes, the runs behind its tables, CKA
    curves, costs, and the authors' published runs where they are given.
    """
    kept = so_far if partial else list
    runs = reproduced_runs(experiment, paper, all_runs(experiment))
    comparable = reproduced(experiment, paper)["comparable"]
    return {
        "results": kept(result_files(runs)),
        "similarities": kept(compared_similarities(experiment, paper)),
        "costs": kept(["results/costs.csv"] if comparable else []),
        "published": published_runs(experiment),
    }
