"""What the jobs of each rule need: their inputs, the settings that decide their results, and how runs share a job."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from tmft.experiment import paths
from tmft.experiment.configuration import PARTS, START_SEED, Experiment, Run
from tmft.experiment.figures import figure_runs
from tmft.runtime.errors import InputError
from tmft.runtime.files import read_json


class Batch(NamedTuple):
    """Runs of one task, recipe and encoder that one job makes in turn."""

    name: str  # of the rule
    encoders: str  # as a regular expression
    place: str  # of its log
    units: list[tuple[int, int]]  # none where its wildcards name the one

    @property
    def wildcards(self) -> tuple[str, ...]:
        """The wildcards of its files, beside task, recipe and encoder."""
        return () if self.units else ("layer", "seed")

    @property
    def results(self) -> list[str]:
        """Its result files, with wildcards."""
        run = "results/{{task}}/{{recipe}}/{{encoder}}/layer{}/seed{}.json"
        return [run.format(*unit) for unit in self.units or [("{layer}", "{seed}")]]


def finetune_batches(experiment: Experiment) -> Iterator[Batch]:
    """One batch per run, or up to ``units_per_job`` runs of an encoder: all layers of some seeds, or some of one seed.

    Of a snapshot mostly the last layer alone is asked for, so its runs stay single.
    """
    size, seeds = experiment.settings["units_per_job"], experiment.settings["seeds"]
    encoders = experiment.settings["encoders"]
    whole = {key: own["depth"] for key, own in encoders.items() if own["step"] is None and size > 1}
    place = "{task}/{recipe}/{encoder}/layer{layer}/seed{seed}"
    single = r"[^/]+" if size == 1 else one_of(key for key in encoders if key not in whole)
    yield Batch("finetune", single, place, [])
    for depth in sorted(set(whole.values())):
        layers = range(depth + 1)
        together = max(1, size // len(layers))
        groups = [seeds[start : start + together] for start in range(0, len(seeds), together)]
        runs = [[(layer, seed) for seed in group for layer in layers] for group in groups]
        parts = [own[start : start + size] for own in runs for start in range(0, len(own), size)]
        keys = one_of(key for key, own in whole.items() if own == depth)
        for number, units in enumerate(parts):
            place = f"{{task}}/{{recipe}}/{{encoder}}/batch{number}"
            yield Batch(f"finetune_depth{depth}_batch{number}", keys, place, units)


def one_of(keys: Iterable[str]) -> str:
    """A regular expression that matches just these keys."""
    return "|".join(map(re.escape, keys)) or "(?!)"


def forms(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """The rules that come in several forms, each with the name of a form."""
    yield from (("finetune", batch.name) for batch in finetune_batches(experiment))
    yield from (("pretrain", f"pretrain_{key}") for key in experiment.settings["pretraining"])


def unit(experiment: Experiment, layer: str, seed: str) -> tuple[int, int]:
    """The layer and the seed that wildcards name."""
    return int(layer), int(seed)


def batch_units(experiment: Experiment, *wildcards: str, batch: Batch) -> list[tuple[int, int]]:
    """The layer and the seed of each run of a batch."""
    return batch.units or [unit(experiment, *wildcards)]


def batch_inputs(
    experiment: Experiment, task: str, recipe: str, encoder: str, *wildcards: str, batch: Batch
) -> dict[str, Any]:
    """What the runs of a batch need, as ``run_inputs``."""
    layers = [layer for layer, _ in batch_units(experiment, *wildcards, batch=batch)]
    return run_inputs(experiment, task, recipe, encoder, *layers, kind="finetune")


def run_inputs(
    experiment: Experiment, task: str, recipe: str, encoder: str, *layers: int | str, kind: str
) -> dict[str, Any]:
    """The tokens of a task, and the folder that a run of a recipe of this kind starts from at each of these layers.

    Raises InputError where the recipe is of another kind, cannot be scored on the task, or the encoder lacks a layer.
    """
    own = experiment.recipe(recipe)["kind"]
    if own != kind:
        raise InputError(f"recipe '{recipe}' is of kind {own}; this file is made by a recipe of kind {kind}")
    experiment.check_objective(task, recipe)
    experiment.encoder(encoder)
    for layer in layers:
        experiment.check_layer(encoder, int(layer))
    folders = [paths.start_folder(experiment, recipe, encoder, layer) for layer in layers or [None]]
    return {"tokens": f"data/tokens/{task}/{encoder}.parquet", "encoders": folders}


def frozen_settings(experiment: Experiment, task: str, recipe: str) -> dict[str, Any]:
    """What decides the result of an evaluation without training."""
    return {
        "objective": experiment.task(task)["objective"],
        "label_range": experiment.label_range(task),
        "start": experiment.recipe(recipe)["start"],
        "precision": experiment.training(recipe)["precision"],
    }


def finetune_settings(experiment: Experiment, task: str, recipe: str) -> dict[str, Any]:
    """What decides the result of a fine-tuning run, beyond its inputs, its layer and its seed."""
    return frozen_settings(experiment, task, recipe) | experiment.training(recipe)


def tokens(experiment: Experiment, task: str, *encoders: str) -> list[str]:
    """The tokens of a task for each of these encoders."""
    experiment.task(task)
    return [f"data/tokens/{task}/{key}.parquet" for key in encoders]


def pretrained_folders(experiment: Experiment, encoder: str) -> list[str]:
    """The folder of an encoder that is not fine-tuned."""
    return [paths.encoder_folder(experiment, encoder)]


def finetuned_folders(
    experiment: Experiment, task: str, recipe: str, seed: str, encoder: str, *others: str
) -> list[str]:
    """The encoder fine-tuned at each layer, as far as the others have one too."""
    layers = common_layers(experiment, encoder, *others)
    return [f"data/finetuned/{task}/{recipe}/{encoder}/layer{layer}/seed{seed}" for layer in layers]


def common_layers(experiment: Experiment, *encoders: str) -> range:
    """The layers that all of these encoders have."""
    return min((experiment.layers(key) for key in encoders), key=len)


def kept_result(run: Run) -> str:
    """The file that holds the result of a run whose weights are kept."""
    return paths.result_file(run).replace("results/", "results/finetuned/", 1)


def curve_runs(
    experiment: Experiment, task: str, recipe: str, encoder: str, layers: list[int] | None = None
) -> list[Run]:
    """All seeds of a recipe, an encoder and these layers of it (None is all) on a task."""
    experiment.check_objective(task, recipe)
    return list(experiment.runs(task, [recipe], [encoder], layers=layers))


def curve_results(experiment: Experiment, task: str, recipe: str, encoder: str) -> list[str]:
    """The results of all layers and seeds of a recipe and an encoder on a task."""
    return paths.result_files(curve_runs(experiment, task, recipe, encoder))


def exported_results(experiment: Experiment, task: str, recipe: str, encoder: str, exported: str) -> list[str]:
    """The results among which an export is chosen: of all seeds of its layer, or of all layers."""
    if not experiment.trains(recipe):
        raise InputError(f"recipe '{recipe}' trains nothing; export a recipe of kind finetune")
    if exported == "best":
        return curve_results(experiment, task, recipe, encoder)
    experiment.check_layer(encoder, int(exported))
    return paths.result_files(curve_runs(experiment, task, recipe, encoder, [int(exported)]))


def exported_run(choice: str, wildcards: Mapping[str, str]) -> dict[str, str]:
    """The weights and the result of the run that an export is made of, which the file ``choice`` names."""
    run = "{task}/{recipe}/{encoder}/layer{layer}/seed{seed}".format(**{**wildcards, **read_json(Path(choice))})
    return {"weights": f"data/finetuned/{run}", "result": f"results/finetuned/{run}.json"}


def searched_runs(experiment: Experiment, task: str, encoder: str) -> list[Run]:
    """The runs among which a search for the best layer draws: all layers and seeds of its recipe."""
    recipe = experiment.settings["best_layer"]["recipe"]
    kind = experiment.recipe(recipe)["kind"]
    if kind != "finetune":
        raise InputError(f"config: best_layer.recipe '{recipe}' is of kind {kind}; name one of kind finetune")
    return curve_runs(experiment, task, recipe, encoder)


def sweep(experiment: Experiment, task: str, encoder: str) -> list[tuple[int, int, str]]:
    """Layer, seed and result file of each of them."""
    return [(run.layer, run.seed, paths.result_file(run)) for run in searched_runs(experiment, task, encoder)]


def search_inputs(experiment: Experiment, task: str, encoder: str) -> dict[str, Any]:
    """What a search starts from at each layer, and what proposes layers without training.

    The latter are the zero-shot curve, and CKA with another encoder.
    """
    searched_runs(experiment, task, encoder)
    own = experiment.settings["best_layer"]
    files = run_inputs(experiment, task, own["recipe"], encoder, *experiment.layers(encoder), kind="finetune")
    if own["frozen"] is not None and experiment.can_score(own["frozen"], task):
        files["frozen"] = [f"results/{task}/{own['frozen']}/{encoder}/all-layers.json"]
    if own["reference"] not in (None, encoder):
        files["similarities"] = [f"results/cka/{task}/{own['reference']}-vs-{encoder}.json"]
    return files


def subset_settings(experiment: Experiment, task: str) -> dict[str, Any]:
    """What decides the result of a search for the layers to keep."""
    objective = experiment.task(task)["objective"]
    if objective == "difference_classification":
        raise InputError(f"the classifier of task '{task}' has to be trained; search on a task of cosines")
    precision = experiment.settings["training"]["precision"]
    return {"objective": objective, "label_range": experiment.label_range(task), "precision": precision}


def pretrained_parts(experiment: Experiment) -> dict[str, tuple[str, ...]]:
    """The encoders that each pre-training makes."""
    settings = experiment.settings["pretraining"]
    return {key: PARTS[own["objective"]] for key, own in settings.items()}


def shown_runs(experiment: Experiment, name: str) -> list[Run]:
    """The runs that a figure or a table shows."""
    table = name in experiment.settings["tables"]
    return list(experiment.table_runs(name)) if table else figure_runs(experiment, name)


def shown_results(experiment: Experiment, name: str) -> list[str]:
    """The result files that a figure or a table shows, each once."""
    return paths.result_files(shown_runs(experiment, name))


def shown_keys(experiment: Experiment, name: str) -> list[list[Any]]:
    """Task, recipe, encoder, layer and seed of the runs that a figure or a table shows."""
    return [list(astuple(run)) for run in shown_runs(experiment, name)]


def shown(experiment: Experiment) -> list[str]:
    """All figures and tables."""
    return [*experiment.settings["figures"], *experiment.settings["tables"]]


def all_runs(experiment: Experiment) -> list[Run]:
    """The runs that all figures and tables show, each once."""
    return list(dict.fromkeys(run for name in shown(experiment) for run in shown_runs(experiment, name)))


def costly_files(experiment: Experiment, *, partial: bool = False) -> dict[str, list[str]]:
    """Whose costs are summed: the results of runs, and of the adaptations and pre-trainings that they start from.

    Of these what is on disk where it is ``partial``.
    """
    results: dict[str, None] = {}
    pretrainings: dict[str, None] = {}

    def add(run: Run, file: str) -> None:
        results[file] = None
        match experiment.recipe(run.recipe)["start"]:
            case {"adaptation": adaptation}:
                pretrainings[f"results/adaptation/{adaptation}/{run.encoder}.json"] = None
            case {"task": task, "recipe": first}:
                start = Run(task, first, run.encoder, run.layer, START_SEED)
                add(start, kept_result(start))
        if pretraining := experiment.encoder(run.encoder).get("pretraining"):
            pretrainings[f"results/pretraining/{pretraining}.json"] = None

    for run in all_runs(experiment):
        add(run, paths.result_file(run))
    for figure in experiment.settings["figures"].values():
        if figure["kind"] == "cka_curve" and figure["recipe"]:
            for layer, encoder in product(common_layers(experiment, *figure["encoders"]), figure["encoders"]):
                run = Run(figure["task"], figure["recipe"], encoder, layer, figure["seed"])
                add(run, kept_result(run))
    kept = so_far if partial else list
    return {"results": kept(results), "pretrainings": kept(pretrainings)}


def so_far(files: Iterable[str]) -> list[str]:
    """Those of these files that are on disk."""
    return [file for file in files if Path(file).exists()]
