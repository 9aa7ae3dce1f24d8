"""What a comparison of two results names: results/compare/TASK/FIRST/vs/SECOND."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tmft.runtime.errors import InputError

if TYPE_CHECKING:
    from tmft.experiment.configuration import Experiment, Run

SIDE = r"[^/]+/[^/]+(?:/layer\d+(?:/seed\d+)?)?"


class Side(NamedTuple):
    """A recipe of an encoder, at all layers or one, with all seeds or one."""

    recipe: str
    encoder: str
    layer: int | None = None
    seed: int | None = None


def parse_side(text: str) -> Side:
    """RECIPE/ENCODER, RECIPE/ENCODER/layerN or RECIPE/ENCODER/layerN/seedS."""
    recipe, encoder, *rest = text.split("/")
    return Side(recipe, encoder, *(int(re.sub(r"\D", "", part)) for part in rest))


def compared_layers(experiment: "Experiment", first: Side, second: Side) -> list[tuple[int, int]]:
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


def compared_runs(experiment: "Experiment", task: str, first: Side, second: Side) -> "Iterator[Run]":
    """The runs behind a comparison. Raises InputError where there is no such recipe, layer or seed."""
    layers = compared_layers(experiment, first, second)
    for side, needed in zip((first, second), zip(*layers, strict=True), strict=True):
        experiment.check_objective(task, side.recipe)
        runs = list(experiment.runs(task, [side.recipe], [side.encoder], layers=list(dict.fromkeys(needed))))
        own = [run for run in runs if side.seed in (None, run.seed)]
        if not own:
            raise InputError(f"seed {side.seed} of {side.recipe}/{side.encoder}: the config has no such seed")
        yield from own
