"""What of an experiment can be held against the paper (workflow/paper.yaml)."""

from collections.abc import Iterable, Mapping
from typing import Any

from tmft.experiment.configuration import Experiment, Run


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
