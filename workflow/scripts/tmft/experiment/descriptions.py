"""What tables, comparisons, searches and model cards call the things that they show."""

from pathlib import Path
from typing import Any

from tmft.experiment.compared import compared_layers
from tmft.experiment.configuration import Experiment
from tmft.experiment.paths import pinned_files
from tmft.experiment.sides import parse_side


def labels(experiment: Experiment, kind: str, keys: list[str]) -> dict[str, str]:
    """The labels of encoders or recipes by key."""
    return {key: experiment.settings[kind][key]["label"] for key in keys}


def task_label(experiment: Experiment, task: str) -> dict[str, Any]:
    """The label of a task and its metrics."""
    return {"task": experiment.task(task)["label"], "metrics": list(experiment.metrics(task))}


def layer_table(experiment: Experiment, name: str) -> dict[str, Any]:
    """Title, task, rows and labels of a table."""
    table = experiment.table(name)
    kept = {key: table[key] for key in ("title", "rows", "reference")}
    kept["depths"] = {key: experiment.encoder(key)["depth"] for key in table["encoders"]}
    shown = {kind: labels(experiment, kind, table[kind]) for kind in ("recipes", "encoders")}
    return kept | shown | task_label(experiment, table["task"])


def comparison(experiment: Experiment, task: str, first: str, second: str) -> dict[str, Any]:
    """Sides, pairs of layers, metric and labels of a comparison."""
    sides = parse_side(first), parse_side(second)
    names = {"task": experiment.task(task)["label"]}
    for name, side in zip(("first", "second"), sides, strict=True):
        at = [f"{kind} {value}" for kind, value in (("layer", side.layer), ("seed", side.seed)) if value is not None]
        own = experiment.encoder(side.encoder)["label"], experiment.recipe(side.recipe)["label"]
        names[name] = ", ".join([*own, *at])
    return {
        "sides": list(map(tuple, sides)),
        "layers": compared_layers(experiment, *sides),
        "metric": experiment.metrics(task)[0],
        "labels": names,
    }


def curve_labels(experiment: Experiment, task: str, encoder: str, recipe: str | None = None) -> dict[str, str]:
    """The labels of task, encoder and recipe, and the metric that counts."""
    kinds = {"task": experiment.task(task), "encoder": experiment.encoder(encoder)}
    if recipe is not None:
        kinds["recipe"] = experiment.recipe(recipe)
    return {kind: own["label"] for kind, own in kinds.items()} | {"metric": experiment.metrics(task)[0]}


def encoder_source(experiment: Experiment, encoder: str) -> dict[str, str]:
    """Where an encoder comes from."""
    own = experiment.encoder(encoder)
    return {key: own[key] for key in ("hub", "revision", "path", "package", "family") if own.get(key)}


def direction(experiment: Experiment, task: str) -> dict[str, str]:
    """Languages and formality of a translation."""
    return {key: experiment.task(task)["translation"][key] for key in ("source", "target", "formality")}


def card_facts(experiment: Experiment, encoder: str, task: str) -> dict[str, Any]:
    """What a model card says of encoder and task beyond the result of the run."""
    own = experiment.encoder(encoder)
    return {
        "label": own["label"],
        "depth": own["depth"],
        "encoder": {key: own[key] for key in ("hub", "path", "package", "pretraining", "part") if key in own},
        "task": experiment.task(task)["label"],
        "objective": experiment.task(task)["objective"],
        "metrics": list(experiment.metrics(task)),
    } | data_origin(experiment, task)


def data_origin(experiment: Experiment, task: str) -> dict[str, str]:
    """Where a task's pairs are from and under which terms."""
    match experiment.task(task):
        case {"source": source}:
            pinned = experiment.source(task)
            files = ", ".join(file["url"] for file in pinned_files(pinned).values())
            return {"data": f"{source}: {files}", "licence": pinned["licence"]}
        case {"translation": {"from": original, "target": target}}:
            found = data_origin(experiment, original)
            return found | {"data": f"{found['data']}, translated into {target} by DeepL"}
        case {"csv": {"path": path}}:
            return {"data": f"own pairs ({Path(path).name})", "licence": "that of these pairs, not known here"}
        case _:
            return {"data": "the synthetic language of scenes", "licence": "none needed, the sentences are generated"}
