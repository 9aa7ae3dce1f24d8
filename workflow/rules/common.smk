import re
import sys
from dataclasses import asdict, astuple
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from tmft.experiment.code_hash import code_hash
from tmft.experiment.configuration import ADAPTIVE, START_SEED, load
from tmft.translation.key import auth_key
from tmft.runtime.errors import InputError
from tmft.runtime.files import read_json
from tmft.pretraining.snapshots import snapshot_folder
from tmft.experiment.schema import check_spelling
from tmft.experiment.resources import DAY, FINETUNING_SENTENCES, folder_mb, memory_mb, minutes, pretraining_mb
from tmft.experiment.compared import SIDE, compared_layers, compared_runs, parse_side
from tmft.experiment.reproduced import reproduced, reproduced_runs
from tmft.results.records import predictions_file, read_records


wildcard_constraints:
    task=r"[^/]+",
    recipe=r"[^/]+",
    encoder=r"[^/]+",
    figure=r"[^/]+",
    shown=r"[^/]+",
    layer=r"-?\d+",
    seed=r"\d+",


def refuse(error):
    """Turn bad input into Snakemake's own kind of error: one line, no traceback."""
    return WorkflowError(str(error))


try:
    for configfile in map(Path, workflow.configfiles):
        check_spelling(configfile.read_text(encoding="utf-8"), configfile.name)
    experiment = load(config, yaml.safe_load((ROOT / "workflow" / "sources.yaml").read_text()))
except InputError as error:
    raise refuse(error) from None
config.clear()
config.update(experiment.settings)

PAPER = yaml.safe_load((ROOT / "workflow" / "paper.yaml").read_text())
GPU = 0 if config["device"] == "cpu" else 1
DOWNLOADED = [task for task in config["tasks"] if "source" in config["tasks"][task]]
WORDS = [task for task in DOWNLOADED if "lists" in experiment.source(task)]
OWN = [task for task in config["tasks"] if "csv" in config["tasks"][task]]
SYNTHETIC = [task for task in config["tasks"] if "scenes" in config["tasks"][task]]
TRANSLATED = [task for task in config["tasks"] if "translation" in config["tasks"][task]]


def one_of(keys):
    """A regular expression that matches just these keys."""
    return "|".join(map(re.escape, keys)) or "(?!)"


@cache
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
        return pretrained_folder(encoder["pretraining"], encoder["part"], encoder["step"])
    return f"data/encoders/{key}"


def pretrained_folder(pretraining, part, step=None):
    """The folder of an encoder pre-trained here, at the end or after some steps."""
    folder = f"data/pretrained/{pretraining}/{part}"
    return folder if step is None else str(snapshot_folder(Path(folder), step))


def snapshot_folders(pretraining, part):
    """The folders of all snapshots of one part of a pre-training."""
    return [pretrained_folder(pretraining, part, step) for step in config["pretraining"][pretraining]["snapshots"]]


def corpus_file(key):
    """The text file of a corpus, one sentence a line."""
    return experiment.corpus(key).get("path", f"data/corpora/{key}.txt")


def tokenizer_folder(key):
    """The folder of a tokenizer: one trained here, or an encoder's own."""
    return f"data/tokenizers/{key}" if key in config["tokenizers"] else encoder_folder(key)


def corpora(kind):
    """The corpora of this kind."""
    return [key for key, corpus in config["corpora"].items() if kind in corpus]


def pretrainings(objective):
    """The pre-trainings with this objective."""
    return [key for key, pretraining in config["pretraining"].items() if pretraining["objective"] == objective]


def source_files(source):
    """The pinned files of a data set: by split, by word list, or by name."""
    return source.get("lists") or source.get("files", {})


PINNED_FILES = {file["name"]: file for source in experiment.sources.values() for file in source_files(source).values()}


def pinned_file(wildcards):
    """Address and sha256 of a raw file."""
    file = PINNED_FILES[f"{wildcards.collection}/{wildcards.file}"]
    return {"url": file["url"], "sha256": file["sha256"]}


def encoder_source(wildcards):
    """Where an encoder comes from."""
    encoder = config["encoders"][wildcards.encoder]
    return {key: encoder[key] for key in ("hub", "revision", "path", "package", "family") if encoder.get(key)}


def local_files(encoder):
    """The files of an encoder that lies in a local folder, so that a change of them is seen."""
    folder = experiment.encoder(encoder).get("path")
    return sorted(str(file) for file in Path(folder).glob("*") if file.is_file()) if folder else []


def raw_files(source):
    """Where the pinned files of a data set are downloaded to."""
    return {key: f"data/raw/{file['name']}" for key, file in source_files(source).items()}


def translated_from(task):
    """The key of the task whose pairs a task translates."""
    return config["tasks"][task]["translation"]["from"]


def translation_direction(task):
    """Languages and formality of a translation."""
    return {key: config["tasks"][task]["translation"][key] for key in ("source", "target", "formality")}


def require_key():
    """Refuse to start where DeepL is to translate something and there is no key."""
    if any(job.rule.name == "translate_pairs" for job in workflow.dag.needrun_jobs()):
        try:
            auth_key()
        except InputError as error:
            raise refuse(error) from None


def result_file(run):
    """The file that holds a run's result."""
    if run.seed is None:
        return f"results/{run.task}/{run.recipe}/{run.encoder}/all-layers.json"
    return f"results/{run.task}/{run.recipe}/{run.encoder}/layer{run.layer}/seed{run.seed}.json"


def result_files(runs):
    """The files of the results of these runs, each once and checked."""
    return [checked_result(file) for file in dict.fromkeys(map(result_file, runs))]


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


def growing(amount):
    """Memory or time that grows with each attempt."""
    return lambda wildcards, attempt: attempt * amount


def encoder_memory(folders, attempt):
    """Memory of a job that has one of these encoders at a time."""
    return memory_mb(max(map(folder_mb, folders)), attempt)


def training_time(folders, attempt):
    """Time of a job that fine-tunes these encoders in turn."""
    return minutes(max(map(folder_mb, folders)), len(folders) * FINETUNING_SENTENCES, bool(GPU), attempt)


def pretraining_memory(key):
    """Memory of a pre-training, as a function of the attempt."""
    weights_mb = pretrained_mb(key)
    return lambda wildcards, attempt: memory_mb(weights_mb, attempt)


def pretraining_time(key):
    """Time of a pre-training, as a function of the attempt."""
    weights_mb, settings = pretrained_mb(key), experiment.pretraining(key)
    sentences = settings["steps"] * settings["batch_size"]
    return lambda wildcards, attempt: minutes(weights_mb, sentences, bool(GPU), attempt)


def pretrained_mb(key):
    """Size of the weights that a pre-training trains; an encoder's own vocabulary is taken as BERT's."""
    settings = experiment.pretraining(key)
    tokenizer = config["tokenizers"].get(settings["tokenizer"], {"size": 30522})
    return pretraining_mb(settings, tokenizer["size"])


def own_unit(wildcards):
    """The (layer, seed) that a file's own name gives."""
    return [(int(wildcards.layer), int(wildcards.seed))]


def unit_of(result):
    """The (layer, seed) that the name of a result file gives."""
    return tuple(map(int, re.search(r"layer(\d+)/seed(\d+)\.json$", result).groups()))


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
    """One batch a run, or up to ``units_per_job`` runs of an encoder: all layers of some seeds, or some of one seed.

    Of a snapshot mostly the last layer alone is asked for, so its runs stay single.
    """
    run = "{task}/{recipe}/{encoder}/layer{layer}/seed{seed}"
    size, seeds = config["units_per_job"], config["seeds"]
    if size == 1:
        yield Batch("finetune", r"[^/]+", run, [f"results/{run}.json"], own_unit)
        return
    whole = {key: encoder["depth"] for key, encoder in config["encoders"].items() if encoder["step"] is None}
    snapshots = one_of(key for key in config["encoders"] if key not in whole)
    yield Batch("finetune", snapshots, run, [f"results/{run}.json"], own_unit)
    for depth in sorted(set(whole.values())):
        layers = range(depth + 1)
        together = max(1, size // len(layers))
        groups = [seeds[start : start + together] for start in range(0, len(seeds), together)]
        runs = [[(layer, seed) for seed in group for layer in layers] for group in groups]
        parts = [own[start : start + size] for own in runs for start in range(0, len(own), size)]
        encoders = one_of(key for key, own in whole.items() if own == depth)
        for number, units in enumerate(parts):
            results = [f"results/{{task}}/{{recipe}}/{{encoder}}/layer{layer}/seed{seed}.json" for layer, seed in units]
            place = f"{{task}}/{{recipe}}/{{encoder}}/batch{number}"
            yield Batch(f"finetune_depth{depth}_batch{number}", encoders, place, results, lambda _, units=units: units)


def frozen_settings(wildcards):
    """What decides the result of an evaluation without training."""
    return {
        "objective": experiment.task(wildcards.task)["objective"],
        "label_range": experiment.label_range(wildcards.task),
        "start": experiment.recipe(wildcards.recipe)["start"],
        "precision": experiment.training(wildcards.recipe)["precision"],
    }


def finetune_settings(wildcards):
    """What decides the result of a fine-tuning run, beyond its inputs, its layer and its seed."""
    return frozen_settings(wildcards) | experiment.training(wildcards.recipe)


def recipes_of(kind):
    """The recipes of a kind."""
    return [key for key, recipe in config["recipes"].items() if recipe["kind"] == kind]


def figures_of(kind):
    """The figures of a kind."""
    return [key for key, figure in config["figures"].items() if figure["kind"] == kind]


def figure_labels(form):
    """What the report's menu says of a figure in this form."""
    return lambda wildcards: {"figure": config["figures"][wildcards.figure]["title"], "form": form}


def shown_runs(name):
    """The runs that a figure or a table shows."""
    return list(experiment.table_runs(name) if name in config["tables"] else experiment.figure_runs(name))


@cache
def checked_result(file):
    """A result file; one that is there and no result is named, and made again."""
    if Path(file).exists():
        try:
            read_records(Path(file))
        except InputError as error:
            logger.warning(f"{str(error).partition(';')[0]}; it is made again")
            workflow.dag.forcefiles.add(file)
    return file


def shown_results(name):
    """The result files that a figure or a table shows, each once."""
    return result_files(shown_runs(name))


def labels(kind, keys):
    """The labels of encoders or recipes by key."""
    return {key: config[kind][key]["label"] for key in keys}


def task_label(task):
    """The label of a task and its metrics."""
    return {"task": experiment.task(task)["label"], "metrics": list(experiment.metrics(task))}


def layer_curve(name):
    """Title, task and the lines of a layer curve."""
    figure = experiment.figure(name)
    several = len(figure["recipes"]) > 1
    lines = []
    for encoder in figure["encoders"]:
        for recipe in figure["recipes"]:
            label = experiment.encoder(encoder)["label"]
            if several:
                label += f", {experiment.recipe(recipe)['label']}"
            lines.append({"encoder": encoder, "recipe": recipe, "label": label})
    return {"title": figure["title"], "lines": lines} | task_label(figure["task"])


def pareto(name):
    """Title, task and the families of a Pareto plot, each with the labels of its encoders."""
    figure = experiment.figure(name)
    families = {family: labels("encoders", encoders) for family, encoders in figure["families"].items()}
    return {"title": figure["title"], "families": families} | task_label(figure["task"])


def pretraining_efficiency(name):
    """Title, tasks and pre-trainings of an efficiency plot, and the encoders of each of its lines."""
    figure = experiment.figure(name)
    points = []
    for line, keys in figure["lines"].items():
        for key in keys:
            encoder = experiment.encoder(key)
            steps = encoder["step"] or experiment.pretraining(encoder["pretraining"])["steps"]
            points.append({"line": line, "encoder": key, "pretraining": encoder["pretraining"], "steps": steps})
    return {
        "title": figure["title"],
        "tasks": {task: task_label(task) for task in figure["tasks"]},
        "pretrainings": list(dict.fromkeys(point["pretraining"] for point in points)),
        "points": points,
    }


def layer_table(name):
    """Title, task, rows and labels of a table."""
    table = experiment.table(name)
    kept = {key: table[key] for key in ("title", "rows", "reference")}
    kept["depths"] = {key: experiment.encoder(key)["depth"] for key in table["encoders"]}
    return kept | {kind: labels(kind, table[kind]) for kind in ("recipes", "encoders")} | task_label(table["task"])


def cka_files(name):
    """The comparisons a CKA curve is drawn from, by the name of the curve."""
    figure = experiment.figure(name)
    finetuned = f"results/cka/{figure['task']}/{figure['recipe']}/seed{figure['seed']}"
    if len(figure["encoders"]) == 1:
        return {"own": f"{finetuned}/{figure['encoders'][0]}.json"}
    pair = "-vs-".join(figure["encoders"])
    files = {"untouched": f"results/cka/{figure['task']}/{pair}.json"}
    return files | ({"finetuned": f"{finetuned}/{pair}.json"} if figure["recipe"] else {})


def cka_curve(name):
    """Title and labels of a CKA curve."""
    figure = experiment.figure(name)
    recipe = figure["recipe"] and f"{experiment.recipe(figure['recipe'])['label']}, seed {figure['seed']}"
    curves = {"own": f"before and after {recipe}", "untouched": "pre-trained", "finetuned": f"after {recipe}"}
    return {"title": figure["title"], "curves": {key: curves[key] for key in cka_files(name)}}


def compared_tokens(task, encoders):
    """The tokens of a task for each of these encoders."""
    experiment.task(task)
    return [f"data/tokens/{task}/{key}.parquet" for key in encoders]


def finetuned_folders(wildcards, encoder, *others):
    """The encoder fine-tuned at each layer, as far as the others have one too."""
    layers = min(experiment.layers(key)[-1] for key in (encoder, *others)) + 1
    run = f"{wildcards.task}/{wildcards.recipe}/{encoder}"
    return [f"data/finetuned/{run}/layer{layer}/seed{wildcards.seed}" for layer in range(layers)]


def compared_files(task, runs):
    """What comparisons of runs on a task are made from: their results, predictions, and the pairs."""
    results = result_files(runs)
    return {"results": results, "predictions": predictions(results), "pairs": f"data/pairs/{task}.csv"}


def sides(wildcards):
    """The two sides of a comparison."""
    return parse_side(wildcards.first), parse_side(wildcards.second)


def sides_runs(wildcards):
    """The runs of both sides of a comparison."""
    return list(compared_runs(experiment, wildcards.task, *sides(wildcards)))


def compared_labels(wildcards):
    """What a comparison calls its task and its sides."""
    names = {"task": experiment.task(wildcards.task)["label"]}
    for name, side in zip(("first", "second"), sides(wildcards), strict=True):
        at = [f"{kind} {value}" for kind, value in (("layer", side.layer), ("seed", side.seed)) if value is not None]
        names[name] = ", ".join(
            [experiment.encoder(side.encoder)["label"], experiment.recipe(side.recipe)["label"], *at]
        )
    return names


def curve_runs(wildcards, layers=None):
    """All seeds of a recipe, an encoder and these layers of it (None is all) on a task."""
    experiment.check_objective(wildcards.task, wildcards.recipe)
    return list(experiment.runs(wildcards.task, [wildcards.recipe], [wildcards.encoder], layers=layers))


def curve_labels(wildcards):
    """The labels of encoder, recipe and task, and the metric that counts."""
    kinds = {kind: getattr(experiment, kind)(wildcards[kind])["label"] for kind in ("encoder", "recipe", "task")}
    return kinds | {"metric": experiment.metrics(wildcards.task)[0]}


def choosing_runs(wildcards):
    """The runs among which an export is chosen: all seeds of its layer, or of all layers."""
    if experiment.recipe(wildcards.recipe)["kind"] == "frozen":
        raise InputError(f"recipe '{wildcards.recipe}' trains nothing; export a recipe of kind finetune")
    if wildcards.exported == "best":
        return curve_runs(wildcards)
    experiment.check_layer(wildcards.encoder, int(wildcards.exported))
    return curve_runs(wildcards, [int(wildcards.exported)])


def exported_run(wildcards):
    """The weights of the run that an export is made of, and its result."""
    choice = read_json(Path(checkpoints.choose_run.get(**wildcards).output[0]))
    run = "{task}/{recipe}/{encoder}/layer{layer}/seed{seed}".format(**{**wildcards, **choice})
    return {"weights": f"data/finetuned/{run}", "result": f"results/finetuned/{run}.json"}


def card_facts(wildcards):
    """What a model card says of encoder and task beyond the result of the run."""
    encoder, task = experiment.encoder(wildcards.encoder), experiment.task(wildcards.task)
    kept = {key: encoder[key] for key in ("hub", "path", "package", "pretraining", "part") if key in encoder}
    return {
        "label": encoder["label"],
        "depth": encoder["depth"],
        "encoder": kept,
        "task": task["label"],
        "objective": task["objective"],
        "metrics": list(experiment.metrics(wildcards.task)),
    } | data_origin(wildcards.task)


def data_origin(task):
    """Where a task's pairs are from and under which terms."""
    match experiment.task(task):
        case {"source": source}:
            files = ", ".join(file["url"] for file in source_files(experiment.source(task)).values())
            return {"data": f"{source}: {files}", "licence": experiment.source(task)["licence"]}
        case {"translation": translation}:
            original = data_origin(translation["from"])
            return original | {"data": f"{original['data']}, translated into {translation['target']} by DeepL"}
        case {"scenes": _}:
            return {"data": "the synthetic language of scenes", "licence": "none needed, the sentences are generated"}
        case {"csv": {"path": path}}:
            return {"data": f"own pairs ({Path(path).name})", "licence": "that of these pairs, not known here"}


def cost_tables(name):
    """The tables of layers that a cost curve is drawn from."""
    figure = experiment.figure(name)
    return [f"results/export/{figure['task']}/{figure['recipe']}/{key}/layers.csv" for key in figure["encoders"]]


def cost_curve(name):
    """Title, task and the labels of the encoders of a cost curve."""
    figure = experiment.figure(name)
    return {"title": figure["title"], "encoders": labels("encoders", figure["encoders"])} | task_label(figure["task"])


OURS = reproduced(experiment, PAPER)


def published_runs(needed=False):
    """The files of the authors' published runs: a table, or the archives in a folder; none where no place is given."""
    place = config["published_runs"]
    files = [place] if place else []
    if place and Path(place).is_dir():
        files = sorted(map(str, Path(place).glob("*.tar.gz")))
    if not files and (needed or place):
        problem = f"{place}: no *.tar.gz in it" if place else "config: published_runs is not set"
        raise InputError(f"{problem}; docs/reproduction.md says how to get the published runs")
    return files


def compared_similarities():
    """The files of CKA curves of BERT with another of the paper's encoders: encoder, task and recipe by file."""
    files = {}
    for name in figures_of("cka_curve") if OURS["comparable"] else []:
        figure = experiment.figure(name)
        known = [key for key in figure["encoders"] if key in OURS["encoders"]]
        if len(known) == 2 and figure["task"] in OURS["tasks"] and OURS["encoders"][known[0]]["role"] == "bert":
            for curve, file in cka_files(name).items():
                recipe = {"untouched": "pre-trained", "finetuned": "fine-tuned"}[curve]
                files[file] = (known[1], OURS["tasks"][figure["task"]], recipe)
    return {file: of for file, of in files.items() if everything_is_made() or Path(file).exists()}


def reproduction_inputs(wildcards):
    """What is held against the paper: everything where everything is made, else what is on disk."""
    shown = [run for name in SHOWN for run in shown_runs(name)]
    files = dict.fromkeys(map(result_file, reproduced_runs(experiment, PAPER, shown)))
    costs = "results/costs.csv"
    return {
        "results": [checked_result(file) for file in files if everything_is_made() or Path(file).exists()],
        "similarities": list(compared_similarities()),
        "costs": [costs] if OURS["comparable"] and (everything_is_made() or Path(costs).exists()) else [],
        "published": published_runs(),
    }


def everything_is_made():
    """Whether Snakemake was asked for all figures and tables."""
    made = workflow.dag_settings
    return "all" in made.targets or not (made.targets or made.target_jobs)


class Page(NamedTuple):
    """A table that the report shows."""

    table: str  # its path without the ending
    category: str
    title: object  # a function of the wildcards


PAGES = {
    "table": Page("results/tables/{table}", "Tables", lambda wildcards: config["tables"][wildcards.table]["title"]),
    "reproduction": Page("results/reproduction", "Reproduction", lambda wildcards: "The paper's numbers and ours"),
    "data": Page("results/data", "Data", lambda wildcards: "The pairs of each task"),
    "costs": Page("results/costs", "Costs", lambda wildcards: "What the results have cost"),
}


def report_pages():
    """All pages of the experiment."""
    curves = expand("figures/{figure}.html", figure=figures_of("layer_curve"))
    return curves + expand([f"{page.table}.html" for page in PAGES.values()], table=config["tables"])
