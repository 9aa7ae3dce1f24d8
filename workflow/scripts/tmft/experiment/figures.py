"""The kinds of figures: which runs and files each needs, and what it calls them.

A kind is one entry here, its drawing the module of the same name in ``tmft.figures``, its keys a branch of the schema.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

from tmft.experiment.configuration import Experiment, Run
from tmft.experiment.descriptions import labels, task_label
from tmft.experiment.looks import look_of

Settings = dict[str, Any]


class FigureKind(NamedTuple):
    """What a kind of figure needs, as functions of the experiment and the figure's settings.

    ``parameters`` are what its module is told, beside kind and title. The caption may name title and task.
    """

    runs: Callable[[Experiment, Settings], Iterator[Run]]
    files: Callable[[Experiment, str], dict[str, Any]]
    parameters: Callable[[Experiment, Settings], dict[str, Any]]
    caption: str


def _no_runs(experiment: Experiment, figure: Settings) -> Iterator[Run]:
    return iter(())


def _tables(experiment: Experiment, name: str) -> dict[str, Any]:
    return {table: f"results/tables/{name}_{table}.csv" for table in ("runs", "summary")}


def _looks(experiment: Experiment, encoders: dict[str, str]) -> dict[str, Any]:
    """The looks of lines by label, from the encoder that each line is of."""
    own = experiment.settings["looks"]
    return {"looks": {line: look_of(experiment.encoder(key), own) for line, key in encoders.items()}}


def _curve_runs(experiment: Experiment, figure: Settings) -> Iterator[Run]:
    shown = {key: figure[key] for key in ("seeds", "layers")}
    return experiment.runs(figure["task"], figure["recipes"], figure["encoders"], **shown)


def _curve_lines(experiment: Experiment, figure: Settings) -> dict[str, Any]:
    """The task, and encoder, recipe, label and look of each line."""
    lines = []
    for encoder, recipe in product(figure["encoders"], figure["recipes"]):
        label = experiment.encoder(encoder)["label"]
        if len(figure["recipes"]) > 1:
            label += f", {experiment.recipe(recipe)['label']}"
        lines.append({"encoder": encoder, "recipe": recipe, "label": label})
    looks = _looks(experiment, {line["label"]: line["encoder"] for line in lines})
    return {"lines": lines} | looks | task_label(experiment, figure["task"])


def _pareto_runs(experiment: Experiment, figure: Settings) -> Iterator[Run]:
    encoders = [encoder for family in figure["families"].values() for encoder in family]
    return experiment.runs(figure["task"], [figure["recipe"]], encoders, seeds=figure["seeds"])


def _families(experiment: Experiment, figure: Settings) -> dict[str, Any]:
    families = {family: labels(experiment, "encoders", keys) for family, keys in figure["families"].items()}
    looks = _looks(experiment, {family: keys[0] for family, keys in figure["families"].items()})
    seeded = {"seeded": experiment.trains(figure["recipe"])}
    return {"families": families} | looks | seeded | task_label(experiment, figure["task"])


def _efficiency_runs(experiment: Experiment, figure: Settings) -> Iterator[Run]:
    encoders = [encoder for line in figure["lines"].values() for encoder in line]
    for task, encoder in product(figure["tasks"], encoders):
        last = experiment.layers(encoder)[-1]
        yield from experiment.runs(task, [figure["recipe"]], [encoder], seeds=figure["seeds"], layers=[last])


def _efficiency_points(experiment: Experiment, figure: Settings) -> dict[str, Any]:
    """The tasks, and line, encoder, pre-training and steps of each point."""
    points = []
    for line, keys in figure["lines"].items():
        for key in keys:
            own = experiment.encoder(key)
            steps = own["step"] or experiment.pretraining(own["pretraining"])["steps"]
            points.append({"line": line, "encoder": key, "pretraining": own["pretraining"], "steps": steps})
    looks = _looks(experiment, {line: keys[0] for line, keys in figure["lines"].items()})
    return {"tasks": {task: task_label(experiment, task) for task in figure["tasks"]}, "points": points} | looks


def _efficiency_files(experiment: Experiment, name: str) -> dict[str, Any]:
    points = _efficiency_points(experiment, experiment.figure(name))["points"]
    keys = dict.fromkeys(point["pretraining"] for point in points)
    return _tables(experiment, name) | {"pretraining": [f"results/pretraining/{key}.json" for key in keys]}


def cka_files(experiment: Experiment, name: str) -> dict[str, str]:
    """The comparisons that a CKA curve is drawn from, by the state of the encoders: one with itself, or two."""
    figure = experiment.figure(name)
    place, pair = f"results/cka/{figure['task']}", "-vs-".join(figure["encoders"])
    finetuned = f"{place}/{figure['recipe']}/seed{figure['seed']}/{pair}.json"
    return {state: f"{place}/{pair}.json" if state == "pretrained" else finetuned for state in _cka_states(figure)}


def _cka_states(figure: Settings) -> list[str]:
    if len(figure["encoders"]) == 1:
        return ["own"]
    return ["pretrained", "finetuned"] if figure["recipe"] else ["pretrained"]


def _cka_curves(experiment: Experiment, figure: Settings) -> dict[str, Any]:
    """The label and the look of each curve, its second encoder's, by the state of its encoders."""
    recipe = figure["recipe"] and f"{experiment.recipe(figure['recipe'])['label']}, seed {figure['seed']}"
    curves = {
        "own": f"before and after {recipe}",
        "pretrained": "pre-trained, not fine-tuned",
        "finetuned": f"after {recipe}",
    }
    shown = {state: curves[state] for state in _cka_states(figure)}
    return {"curves": shown} | _looks(experiment, dict.fromkeys(shown.values(), figure["encoders"][-1]))


def _cost_runs(experiment: Experiment, figure: Settings) -> Iterator[Run]:
    return experiment.runs(figure["task"], [figure["recipe"]], figure["encoders"])


def _cost_files(experiment: Experiment, name: str) -> dict[str, Any]:
    figure = experiment.figure(name)
    place = f"results/export/{figure['task']}/{figure['recipe']}"
    return {"tables": [f"{place}/{key}/layers.csv" for key in figure["encoders"]]}


def _cost_labels(experiment: Experiment, figure: Settings) -> dict[str, Any]:
    shown = labels(experiment, "encoders", figure["encoders"])
    looks = _looks(experiment, {label: key for key, label in shown.items()})
    seeded = {"seeded": experiment.trains(figure["recipe"])}
    return {"encoders": shown} | looks | seeded | task_label(experiment, figure["task"])


KINDS = {
    "layer_curve": FigureKind(
        _curve_runs,
        _tables,
        _curve_lines,
        "{title}: the score on the test split of {task} by layer, 0 being the embeddings. Points are means over seeds, "
        "bands 95 % t intervals of these means, dots single seeds. A run that collapsed (constant predictions, or a "
        "loss that is not finite) has no score; their number is written at their layer.",
    ),
    "seed_spread": FigureKind(
        _curve_runs,
        _tables,
        _curve_lines,
        "{title}: how far seeds differ on the test split of {task}, by layer. Boxes reach from the lower to the upper "
        "quartile, with the median; whiskers to the lowest and the highest seed. Collapsed runs have no score.",
    ),
    "pareto": FigureKind(
        _pareto_runs,
        _tables,
        _families,
        "{title}: the score on the test split of {task} against the parameters of the truncated encoder, each encoder "
        "at the layer that is best on validation, and hollow at its last. A line is a family, bars are 95 % t "
        "intervals over seeds. A point is on the Pareto front where no other has at most its parameters and at least "
        "its score.",
    ),
    "pretraining_efficiency": FigureKind(
        _efficiency_runs,
        _efficiency_files,
        _efficiency_points,
        "{title}: the test score of the whole encoder, fine-tuned, against the compute that pre-training had taken "
        "up to there, in floating-point operations.",
    ),
    "cka_curve": FigureKind(
        _no_runs,
        cka_files,
        _cka_curves,
        "{title}: how similar layer *i* of the one encoder is to layer *i* of the other, by linear CKA over the test "
        "sentences. 1 is the same up to rotation and scale.",
    ),
    "cost_curve": FigureKind(
        _cost_runs,
        _cost_files,
        _cost_labels,
        "{title}: the score on the test split of {task} against the measured CPU time per sentence, by layer. A point "
        "is on the Pareto front where no other has at most its time and at least its score.",
    ),
    "method": FigureKind(
        _no_runs,
        lambda experiment, name: {},
        lambda experiment, figure: {},
        "{title}: the encoder is cut after a layer, its token vectors are averaged, and the rest is fine-tuned.",
    ),
}


def figure_runs(experiment: Experiment, name: str) -> list[Run]:
    """The runs that a figure draws, in the order of the configuration; none where it draws no results."""
    figure = experiment.figure(name)
    return list(KINDS[figure["kind"]].runs(experiment, figure))


def figure_files(experiment: Experiment, name: str) -> dict[str, Any]:
    """The files that a figure is drawn from, by name."""
    return KINDS[experiment.figure(name)["kind"]].files(experiment, name)


def figure_parameters(experiment: Experiment, name: str) -> dict[str, Any]:
    """Kind, title and caption of a figure, and what its module is told."""
    figure = experiment.figure(name)
    kind = KINDS[figure["kind"]]
    told = kind.parameters(experiment, figure)
    caption = kind.caption.format(title=figure["title"], task=told.get("task"))
    return {"kind": figure["kind"], "title": figure["title"], "caption": caption} | told
