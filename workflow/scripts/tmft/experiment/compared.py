"""What a comparison of two results needs."""

from collections.abc import Iterator
from typing import Any

from tmft.experiment.configuration import Experiment, Run
from tmft.experiment.paths import predictions, result_files
from tmft.experiment.sides import Side, parse_side
from tmft.runtime.errors import InputError


def compared_layers(experiment: Experiment, first: Side, second: Side) -> list[tuple[int, int]]:
    """The layers that are compared: of a side that names none all that it has, with the same one of the other.

    Raises InputError where an encoder lacks a layer that is named.
    """
    for side in (first, second):
        if side.layer is not None:
            experiment.check_layer(side.encoder, side.layer)
    if first.layer is not None:
        return [(first.layer, first.layer if second.layer is None else second.layer)]
    if second.layer is not None:
        return [(layer, second.layer) for layer in experiment.layers(first.encoder)]
    common = min(experiment.layers(first.encoder), experiment.layers(second.encoder), key=len)
    return [(layer, layer) for layer in common]


def compared_files(task: str, runs: list[Run]) -> dict[str, Any]:
    """What comparisons of runs on a task are made from: their results, predictions, and the pairs."""
    results = result_files(runs)
    return {"results": results, "predictions": predictions(results), "pairs": f"data/pairs/{task}.csv"}


def sides_files(experiment: Experiment, task: str, first: str, second: str) -> dict[str, Any]:
    """What a comparison of two sides is made from. Raises InputError where there is no such recipe, layer or seed."""
    runs = compared_runs(experiment, task, parse_side(first), parse_side(second))
    return compared_files(task, list(runs))


def table_files(experiment: Experiment, name: str) -> dict[str, Any]:
    """What the comparisons below a table are made from."""
    return compared_files(experiment.table(name)["task"], list(experiment.table_runs(name)))


def compared_runs(experiment: Experiment, task: str, first: Side, second: Side) -> Iterator[Run]:
    """The runs behind a comparison. Raises InputError where there is no such recipe, layer or seed."""
    layers = compared_layers(experiment, first, second)
    for side, needed in zip((first, second), zip(*layers, strict=True), strict=True):
        experiment.check_objective(task, side.recipe)
        runs = list(experiment.runs(task, [side.recipe], [side.encoder], layers=list(dict.fromkeys(needed))))
        own = [run for run in runs if side.seed in (None, run.seed)]
        if not own:
            raise InputError(f"seed {side.seed} of {side.recipe}/{side.encoder}: the config has no such seed")
        yield from own
