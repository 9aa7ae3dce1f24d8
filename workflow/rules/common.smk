import re
import sys
from dataclasses import astuple
from itertools import product
from pathlib import Path
from typing import NamedTuple

import yaml
from snakemake.exceptions import WorkflowError

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from tmft.code import code_hash
from tmft.config import START_SEED, load
from tmft.errors import InputError
from tmft.results import predictions_file


wildcard_constraints:
    task=r"[^/]+",
    recipe=r"[^/]+",
    encoder=r"[^/]+",
    figure=r"[^/]+",
    layer=r"-?\d+",
    seed=r"\d+",


def refuse(error):
    """Turn bad input into Snakemake's own kind of error: one line, no traceback."""
    return WorkflowError(str(error))


try:
    experiment = load(config, yaml.safe_load((ROOT / "workflow" / "sources.yaml").read_text()))
except InputError as error:
    raise refuse(error) from None
config.clear()
config.update(experiment.settings)

GPU = 0 if config["device"] == "cpu" else 1
PINNED_FILES = {file["name"]: file for source in experiment.sources.values() for file in source["files"].values()}
DOWNLOADED = [task for task in config["tasks"] if "source" in config["tasks"][task]]
SYNTHETIC = [task for task in config["tasks"] if "scenes" in config["tasks"][task]]


def one_of(keys):
    """A regular expression that matches just these keys."""
    return "|".join(map(re.escape, keys)) or "(?!)"


def code(script):
    """The hash of a rule's script and of the library modules it uses; as a parameter it makes an edit visible."""
    return code_hash(ROOT / "workflow" / "scripts" / f"{script}.py")


def checked(function):
    """An input function whose InputErrors are reported as one line."""

    def wrapper(wildcards):
        try:
            return function(wildcards)
        except InputError as error:
            raise refuse(error) from None

    return wrapper


def encoder_folder(key):
    """The folder with an encoder's config, tokenizer and weights."""
    encoder = experiment.encoder(key)
    if "pretraining" in encoder:
        return f"data/pretrained/{encoder['pretraining']}/{encoder['part']}"
    return f"data/encoders/{key}"


def corpus_file(key):
    """The text file of a corpus, one sentence a line."""
    return experiment.corpus(key).get("path", f"data/corpora/{key}.txt")


def tokenizer_folder(key):
    """The folder of a tokenizer: one trained here, or an encoder's own."""
    return f"data/tokenizers/{key}" if key in config["tokenizers"] else encoder_folder(key)


def pretrainings(objective):
    """The pre-trainings with this objective."""
    return [key for key, pretraining in config["pretraining"].items() if pretraining["objective"] == objective]


def pinned_file(wildcards):
    """Address and sha256 of a raw file."""
    file = PINNED_FILES[f"{wildcards.collection}/{wildcards.file}"]
    return {"url": file["url"], "sha256": file["sha256"]}


def encoder_source(wildcards):
    """Where an encoder comes from."""
    encoder = config["encoders"][wildcards.encoder]
    return {key: encoder[key] for key in ("hub", "revision", "path", "package") if encoder.get(key)}


def raw_files(task):
    """The downloaded files of a task by split."""
    source = config["tasks"][task]["source"]
    return {split: f"data/raw/{file['name']}" for split, file in experiment.source(task)["files"].items()}


def result_file(run):
    """The file that holds a run's result."""
    if run.seed is None:
        return f"results/{run.task}/{run.recipe}/{run.encoder}/all-layers.json"
    return f"results/{run.task}/{run.recipe}/{run.encoder}/layer{run.layer}/seed{run.seed}.json"


def start_folder(recipe, encoder, layer):
    """The folder with the weights that a run starts from: the encoder's own, or those that another rule left."""
    match experiment.recipe(recipe)["start"]:
        case {"adaptation": adaptation}:
            return f"data/adapted/{adaptation}/{encoder}"
        case {"task": task, "recipe": first}:
            return f"data/finetuned/{task}/{first}/{encoder}/layer{layer}/seed{START_SEED}"
        case _:
            return encoder_folder(encoder)


def run_inputs(kind, units):
    """The input function of runs by a recipe of this kind: tokens, and the encoder that each unit starts from."""

    def inputs(wildcards):
        recipe = experiment.recipe(wildcards.recipe)
        if recipe["kind"] != kind:
            raise InputError(f"recipe '{wildcards.recipe}' is of kind {recipe['kind']}; this file is made by {kind}")
        experiment.check_objective(wildcards.task, wildcards.recipe)
        experiment.encoder(wildcards.encoder)
        if "layer" in wildcards.keys():
            experiment.check_layer(wildcards.encoder, int(wildcards.layer))
        folders = [start_folder(wildcards.recipe, wildcards.encoder, layer) for layer, _ in units(wildcards)]
        return {"tokens": f"data/tokens/{wildcards.task}/{wildcards.encoder}.parquet", "encoders": folders}

    return checked(inputs)


def own_unit(wildcards):
    """The (layer, seed) that a file's own name gives."""
    return [(int(wildcards.layer), int(wildcards.seed))]


def predictions(results):
    """The files of the test predictions, one beside each result file."""
    return [str(predictions_file(Path(result))) for result in results]


class Batch(NamedTuple):
    """Runs of one task, recipe and encoder that one job makes in turn."""

    name: str  # of the rule
    encoders: str  # which encoders it is for, as a regular expression
    place: str  # of its log
    results: list  # a file a unit
    units: object  # (layer, seed) of each, as a function of the wildcards


def finetune_batches():
    """One batch a run, or for each depth of encoders ``units_per_job`` of its runs a batch, seed by seed."""
    run = "{task}/{recipe}/{encoder}/layer{layer}/seed{seed}"
    if config["units_per_job"] == 1:
        yield Batch("finetune", r"[^/]+", run, [f"results/{run}.json"], own_unit)
        return
    for depth in sorted({encoder["depth"] for encoder in config["encoders"].values()}):
        encoders = one_of(key for key, encoder in config["encoders"].items() if encoder["depth"] == depth)
        runs = list(product(config["seeds"], range(depth + 1)))
        for number, start in enumerate(range(0, len(runs), config["units_per_job"])):
            units = [(layer, seed) for seed, layer in runs[start : start + config["units_per_job"]]]
            results = [f"results/{{task}}/{{recipe}}/{{encoder}}/layer{layer}/seed{seed}.json" for layer, seed in units]
            place = f"{{task}}/{{recipe}}/{{encoder}}/batch{number}"
            yield Batch(f"finetune_depth{depth}_batch{number}", encoders, place, results, lambda _, units=units: units)


def frozen_settings(wildcards):
    """What decides the result of an evaluation without training."""
    return {
        "objective": experiment.task(wildcards.task)["objective"],
        "label_range": experiment.label_range(wildcards.task),
        "start": experiment.recipe(wildcards.recipe)["start"],
        "chunk_size": experiment.training(wildcards.recipe)["chunk_size"],
    }


def finetune_settings(wildcards):
    """What decides the result of a fine-tuning run, beyond its inputs, its layer and its seed."""
    return frozen_settings(wildcards) | experiment.training(wildcards.recipe)


def figure_results(name):
    """The result files a figure is drawn from, each once."""
    return list(dict.fromkeys(map(result_file, experiment.figure_runs(name))))


def layer_curve(name):
    """Title, axis label and the lines of a layer curve."""
    figure = experiment.figure(name)
    several = len(figure["recipes"]) > 1
    lines = []
    for encoder in figure["encoders"]:
        for recipe in figure["recipes"]:
            label = experiment.encoder(encoder)["label"]
            if several:
                label += f", {experiment.recipe(recipe)['label']}"
            lines.append({"encoder": encoder, "recipe": recipe, "label": label})
    return {
        "title": figure["title"],
        "task": experiment.task(figure["task"])["label"],
        "metrics": list(experiment.metrics(figure["task"])),
        "lines": lines,
    }
