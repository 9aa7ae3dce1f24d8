"""The validated experiment: encoders, tasks, recipes and figures, and which runs a figure needs."""

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tmft.experiment import schema
from tmft.experiment.languages import source_code, target_code
from tmft.experiment.looks import LOOKS
from tmft.experiment.metrics import METRICS
from tmft.experiment.places import check_places
from tmft.experiment.recipes import KINDS
from tmft.runtime.errors import InputError
from tmft.runtime.files import read_json

SCENES_RANGES = {"sts": [0.0, 5.0], "paraphrase": [0.0, 1.0], "entailment": [0.0, 2.0], "words": [0.0, 10.0]}
START_SEED = 0  # of the run that feeds all seeds of a recipe that starts from it
PARTS = {"masked_language_modelling": ("encoder",), "replaced_token_detection": ("generator", "discriminator")}
"""The encoders that a pre-training with each objective makes."""
PROTOCOLS = {
    "published": {"dropout": "published", "train_head": False, "clip_norm": None, "schedule": "batches"},
    "corrected": {"dropout": "from_the_first_step", "train_head": True, "clip_norm": 1.0, "schedule": "steps"},
}
"""What each protocol means for an adaptation (docs/protocol.md)."""


@dataclass(frozen=True)
class Run:
    """One result: a layer of an encoder under a recipe on a task; ``seed`` is None where nothing is random."""

    task: str
    recipe: str
    encoder: str
    layer: int
    seed: int | None


@dataclass(frozen=True)
class Experiment:
    """A validated configuration with all defaults filled in, and the pinned sources of its data.

    The mappings are keyed by the short names that also appear in paths; their values are as the schema describes.
    """

    settings: dict[str, Any]
    sources: dict[str, Any]

    def keys(self, section: str, *having: str, **equal: str) -> list[str]:
        """The keys of the entries of a section that have these settings, and these with these values."""
        entries = self.settings[section].items()
        return [key for key, own in entries if own.keys() >= set(having) and equal.items() <= own.items()]

    def encoder(self, key: str) -> dict[str, Any]:
        return _lookup(self.settings["encoders"], key, "encoder")

    def task(self, key: str) -> dict[str, Any]:
        return _lookup(self.settings["tasks"], key, "task")

    def recipe(self, key: str) -> dict[str, Any]:
        return _lookup(self.settings["recipes"], key, "recipe")

    def figure(self, key: str) -> dict[str, Any]:
        return _lookup(self.settings["figures"], key, "figure")

    def table(self, key: str) -> dict[str, Any]:
        return _lookup(self.settings["tables"], key, "table")

    def pretraining(self, key: str) -> dict[str, Any]:
        return _lookup(self.settings["pretraining"], key, "pretraining")

    def adaptation(self, key: str) -> dict[str, Any]:
        return _lookup(self.settings["adaptation"], key, "adaptation")

    def corpus(self, key: str) -> dict[str, Any]:
        return _lookup(self.settings["corpora"], key, "corpus")

    def source(self, task: str) -> dict[str, Any]:
        """The pinned data set of a task that is downloaded."""
        labelled = {key: source for key, source in self.sources.items() if "label_range" in source}
        return _lookup(labelled, self.task(task)["source"], "source")

    def corpus_source(self, corpus: str) -> dict[str, Any]:
        """The pinned data sets of a corpus that is downloaded."""
        unlabelled = {key: source for key, source in self.sources.items() if "label_range" not in source}
        return _lookup(unlabelled, self.corpus(corpus)["source"], "source")

    def label_range(self, task: str) -> list[float]:
        """Lowest and highest label of a task."""
        match self.task(task):
            case {"translation": {"from": original}}:
                return self.label_range(original)
            case {"scenes": {"kind": kind}}:
                return SCENES_RANGES[kind]
            case {"csv": {"label_range": label_range}}:
                return label_range
            case {"csv": {"labels": labels}}:
                return [0, len(labels) - 1]
            case _:
                return self.source(task)["label_range"]

    def metrics(self, task: str) -> tuple[str, ...]:
        """The metrics of a task, its main one first."""
        return METRICS[self.task(task)["objective"]]

    def layers(self, encoder: str) -> range:
        """All layers of an encoder, 0 (the embeddings) to its depth."""
        return range(self.encoder(encoder)["depth"] + 1)

    def check_layer(self, encoder: str, layer: int) -> None:
        """Raise InputError where the encoder has no such layer."""
        layers = self.layers(encoder)
        if layer not in layers:
            raise InputError(f"layer {layer} of encoder '{encoder}': it has layers 0 to {layers[-1]}")

    def trains(self, recipe: str) -> bool:
        """Whether a recipe trains anything."""
        return KINDS[self.recipe(recipe)["kind"]].trains

    def can_score(self, recipe: str, task: str) -> bool:
        """False where the recipe trains nothing and the task's objective has weights of its own."""
        objective = self.task(task)["objective"]
        return self.trains(recipe) or objective != "difference_classification"

    def check_objective(self, task: str, recipe: str) -> None:
        """Raise InputError where the recipe cannot be scored on the task."""
        if not self.can_score(recipe, task):
            raise InputError(
                f"recipe '{recipe}' trains nothing, and the classifier of task '{task}' has to be trained; choose "
                "a recipe of kind finetune"
            )

    def training(self, recipe: str) -> dict[str, Any]:
        """Hyper-parameters of a recipe: the common ones, overridden by its own."""
        return self.settings["training"] | self.recipe(recipe).get("training", {})

    def table_runs(self, name: str) -> Iterator[Run]:
        """The runs a table shows: all layers, as one of them is chosen."""
        table = self.table(name)
        yield from self.runs(table["task"], table["recipes"], table["encoders"], seeds=table["seeds"])

    def runs(
        self,
        task: str,
        recipes: list[str],
        encoders: list[str],
        *,
        seeds: int | None = None,
        layers: list[int] | None = None,
    ) -> Iterator[Run]:
        """The runs of these recipes and encoders on a task; ``seeds`` is how many of the first, None all.

        Without ``layers`` they are all that an encoder has.
        """
        for recipe in recipes:
            for encoder in encoders:
                for layer in layers or self.layers(encoder):
                    for seed in self.settings["seeds"][:seeds] if self.trains(recipe) else [None]:
                        yield Run(task, recipe, encoder, layer, seed)


def load_files(files: Iterable[Path], config: dict[str, Any], sources: Path) -> Experiment:
    """The experiment of ``config``, which Snakemake read from these files and the command line, and a file of sources.

    Raises InputError as ``load``, and where a file is spelt in a way that YAML reads as something else.
    """
    for file in map(Path, files):
        schema.check_spelling(file.read_text(encoding="utf-8"), file.name)
    return load(config, yaml.safe_load(sources.read_text(encoding="utf-8")))


def load(config: dict[str, Any], sources: dict[str, Any]) -> Experiment:
    """Validate ``config`` against the schema, fill in defaults, and check what its keys and paths refer to.

    Configurations that say the same in other words give equal settings, in one order.
    Raises InputError with one line that names the key and the remedy.
    """
    settings = schema.validated(config)
    check_places(schema.paths(settings))
    experiment = Experiment(settings, sources)
    if "figures" not in settings:
        settings |= schema.completed(settings | {"figures": _default_figures(experiment)})
    _check_references(experiment)
    return Experiment(schema.completed(settings), sources)


def _lookup(mapping: dict[str, Any], key: str, kind: str) -> Any:
    if key not in mapping:
        raise InputError(f"unknown {kind} '{key}': the config has {', '.join(mapping) or 'none'}")
    return mapping[key]


def _check_references(experiment: Experiment) -> None:
    settings = experiment.settings
    for key, encoder in settings["encoders"].items():
        _one_of(encoder, ["hub", "path", "package", "pretraining"], f"encoders.{key}")
        if "pretraining" in encoder:
            pretraining = experiment.pretraining(encoder["pretraining"])
            parts = PARTS[pretraining["objective"]]
            if encoder["part"] not in parts:
                raise InputError(f"config: encoders.{key}.part is '{encoder['part']}'; choose from {', '.join(parts)}")
            if encoder["step"] not in [None, *pretraining["snapshots"]]:
                raise InputError(
                    f"config: encoders.{key}.step: {encoder['step']} is none of pretraining.{encoder['pretraining']}."
                    f"snapshots {pretraining['snapshots']}; add it there"
                )
            sizes = pretraining["generator"] if encoder["part"] == "generator" else pretraining
            encoder.setdefault("depth", sizes["layers"])
        elif encoder["step"] is not None:
            raise InputError(f"config: encoders.{key}.step is for encoders with 'pretraining' only; remove it")
        if "path" in encoder and "depth" not in encoder:
            encoder["depth"] = _own_depth(Path(encoder["path"]), f"encoders.{key}")
        if "depth" not in encoder:
            raise InputError(f"config: key 'depth' (the number of layers) is missing at encoders.{key}")
        encoder.setdefault("label", key)
        families = LOOKS | settings["looks"]
        if encoder["drawn_as"] not in (None, *families):
            raise InputError(
                f"config: encoders.{key}.drawn_as: '{encoder['drawn_as']}' is no family; choose from "
                f"{', '.join(families)}, or add it to looks"
            )
    for key, task in settings["tasks"].items():
        _one_of(task, ["source", "csv", "scenes", "translation"], f"tasks.{key}")
        task.setdefault("label", key)
        if "translation" in task:
            _check_translation(experiment, key)
        if "csv" in task:
            _check_csv(task, f"tasks.{key}")
        experiment.label_range(key)
    for key, recipe in settings["recipes"].items():
        recipe.setdefault("label", key)
        _check_start(experiment, key)
    for key, corpus in settings["corpora"].items():
        _one_of(corpus, ["path", "scenes", "source"], f"corpora.{key}")
        if "source" in corpus:
            experiment.corpus_source(key)
        for task in corpus.get("scenes", {}).get("exclude", []):
            experiment.task(task)
    for key, adaptation in settings["adaptation"].items():
        experiment.corpus(adaptation["corpus"])
        settings["adaptation"][key] = PROTOCOLS[settings["protocol"]] | adaptation
        _check_shares(adaptation, f"adaptation.{key}")
    for tokenizer in settings["tokenizers"].values():
        experiment.corpus(tokenizer["corpus"])
    for key, pretraining in settings["pretraining"].items():
        experiment.corpus(pretraining["corpus"])
        if pretraining["tokenizer"] not in settings["tokenizers"]:
            experiment.encoder(pretraining["tokenizer"])
        masked = pretraining["objective"] == "masked_language_modelling"
        pretraining.setdefault("mask_share", 0.8 if masked else 0.85)
        pretraining.setdefault("random_share", 0.1 if masked else 0.0)
        _check_shares(pretraining, f"pretraining.{key}")
        if max(pretraining["snapshots"], default=0) > pretraining["steps"]:
            raise InputError(
                f"config: pretraining.{key}.snapshots: {max(pretraining['snapshots'])} is beyond its "
                f"{pretraining['steps']} steps; remove it"
            )
    for key, figure in settings["figures"].items():
        figure.setdefault("title", key)
        _check_shown(experiment, figure)
    for key, kind in (("frozen", experiment.recipe), ("reference", experiment.encoder)):
        if settings["best_layer"][key] is not None:
            kind(settings["best_layer"][key])
    for key, table in settings["tables"].items():
        table.setdefault("title", key)
        _check_shown(experiment, table)
        if table["reference"] not in (None, *table["encoders"]):
            raise InputError(
                f"config: tables.{key}.reference is '{table['reference']}', none of its encoders; name one"
            )
        if key in settings["figures"]:
            raise InputError(f"config: '{key}' names a figure and a table; rename one of them")


def _own_depth(folder: Path, where: str) -> int:
    """The number of layers that an encoder's folder says it has."""
    path = folder / "config.json"
    if not path.is_file():
        raise InputError(f"config: {where}.path: there is no {path}; give the encoder's folder, seen from {Path.cwd()}")
    config = read_json(path)
    depth = config.get("num_hidden_layers", config.get("n_layers"))
    if depth is None:
        raise InputError(f"config: {where}: {path} does not say the number of layers; add it as 'depth'")
    return depth


def _check_csv(task: dict[str, Any], where: str) -> None:
    """Refuse a declaration of labels that does not fit the objective."""
    wanted = "label_range" if task["objective"] == "cosine_regression" else "labels"
    declared = [key for key in ("label_range", "labels") if key in task["csv"]]
    if declared != [wanted]:
        found = " and ".join(declared) or "neither"
        raise InputError(f"config: {where}.csv: objective {task['objective']} needs {wanted} alone; it has {found}")
    if wanted == "label_range" and task["csv"]["label_range"][0] >= task["csv"]["label_range"][1]:
        raise InputError(f"config: {where}.csv.label_range: give the lowest score first, then the highest")
    try:
        codecs.lookup(task["csv"]["encoding"])
    except LookupError:
        raise InputError(
            f"config: {where}.csv.encoding: '{task['csv']['encoding']}' is not an encoding; name one such as utf-8, "
            "utf-16 or cp1252"
        ) from None
    if task["objective"] == "cosine_logit" and len(task["csv"]["labels"]) != 2:
        raise InputError(f"config: {where}.csv.labels: objective cosine_logit has two labels, the negative one first")


def _default_figures(experiment: Experiment) -> dict[str, Any]:
    """A layer curve for each task: all encoders, under all recipes that can be scored on it."""
    settings = experiment.settings
    return {
        key: {
            "kind": "layer_curve",
            "title": task.get("label", key),
            "task": key,
            "recipes": [recipe for recipe in settings["recipes"] if experiment.can_score(recipe, key)],
            "encoders": list(settings["encoders"]),
        }
        for key, task in settings["tasks"].items()
    }


def _check_shown(experiment: Experiment, shown: dict[str, Any]) -> None:
    """Check what a figure or a table refers to."""
    if (shown.get("seeds") or 0) > len(experiment.settings["seeds"]):
        raise InputError(
            f"config: '{shown['title']}' shows {shown['seeds']} seeds, but 'seeds' are {experiment.settings['seeds']}"
        )
    tasks = [task for task in shown.get("tasks", [shown.get("task")]) if task is not None]
    for task in tasks:
        experiment.task(task)
    for recipe in shown.get("recipes", [shown.get("recipe")]):
        for task in tasks if recipe is not None else []:
            experiment.check_objective(task, recipe)
    families, labels = shown.get("families", {}).values(), {}
    for encoder in [*shown.get("encoders", []), *(encoder for family in families for encoder in family)]:
        for layer in shown.get("layers") or []:
            experiment.check_layer(encoder, layer)
        experiment.encoder(encoder)
        label = experiment.encoder(encoder)["label"]
        if labels.setdefault(label, encoder) != encoder:
            raise InputError(
                f"config: '{shown['title']}' shows encoders '{labels[label]}' and '{encoder}', both with the label "
                f"'{label}'; give one of them another"
            )
    if shown.get("kind") == "cka_curve" and len(shown["encoders"]) == 1 and not shown["recipe"]:
        raise InputError(
            f"config: figure '{shown['title']}' compares an encoder with itself, but after nothing; give it a 'recipe' "
            "or a second encoder"
        )
    for encoder in (encoder for line in shown.get("lines", {}).values() for encoder in line):
        if "pretraining" not in experiment.encoder(encoder):
            raise InputError(
                f"config: encoder '{encoder}' is not pre-trained here, so that its compute is unknown; leave it out of "
                f"figure '{shown['title']}'"
            )


def _check_translation(experiment: Experiment, key: str) -> None:
    """Refuse a translation of a translation and unknown languages; bring the codes into their fixed form."""
    translation = experiment.task(key)["translation"]
    if "translation" in experiment.task(translation["from"]):
        raise InputError(
            f"config: tasks.{key}.translation.from: '{translation['from']}' is a translation itself; name the original"
        )
    for end, fixed_form in (("source", source_code), ("target", target_code)):
        try:
            translation[end] = fixed_form(translation[end])
        except InputError as error:
            raise InputError(f"config: tasks.{key}.translation.{end}: {error}") from None


def _check_start(experiment: Experiment, recipe: str) -> None:
    """Follow a recipe's start to its end."""
    chain = [recipe]
    while True:
        current = experiment.recipe(chain[-1])
        match current["start"]:
            case {"adaptation": adaptation}:
                experiment.adaptation(adaptation)
                return
            case {"task": task, "recipe": first}:
                experiment.task(task)
                for key in (chain[-1], first):
                    if (kind := experiment.recipe(key)["kind"]) != "finetune":
                        raise InputError(
                            f"config: recipes.{chain[-1]}.start: recipe '{key}' is of kind {kind}; a start by task and "
                            "recipe needs two of kind finetune"
                        )
                if first in chain:
                    raise InputError(f"config: recipes.{recipe}.start leads in a circle: {' > '.join([*chain, first])}")
                chain.append(first)
            case _:
                return


def _check_shares(settings: dict[str, Any], where: str) -> None:
    if settings["mask_share"] + settings["random_share"] > 1:
        raise InputError(f"config: {where}: mask_share and random_share are more than 1 together")


def _one_of(value: dict[str, Any], keys: list[str], where: str) -> None:
    given = [key for key in keys if key in value]
    if len(given) != 1:
        found = " and ".join(given) or "none"
        raise InputError(f"config: {where} needs exactly one of {', '.join(keys)}; it has {found}")
