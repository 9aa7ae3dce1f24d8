# What a search for the best layer asks for, round by round.
from tmft.experiment.metrics import METRIC_NAMES
from tmft.results.best_layer import ROUNDS, competitors, plan
from tmft.runtime.files import read_json


def search_plan(encoder):
    """What a search runs."""
    return plan(len(experiment.layers(encoder)), len(config["seeds"]))


def searched_runs(task, encoder, layers=None):
    """The runs of the full protocol at these layers; all that the sweep has without them."""
    recipe = config["best_layer"]["recipe"]
    kind = experiment.recipe(recipe)["kind"]
    if kind != "finetune":
        raise InputError(f"config: best_layer.recipe '{recipe}' is of kind {kind}; name one of kind finetune")
    return list(experiment.runs(task, [recipe], [encoder], layers=layers))


def round_results(task, encoder, name):
    """The result files of a round, all of them the sweep's own."""
    if config["units_per_job"] > 1:
        raise InputError(
            "a search for the best layer fine-tunes single layers, a job with units_per_job "
            f"{config['units_per_job']} several; add --config units_per_job=1"
        )
    before = dict(zip(ROUNDS[1:], ROUNDS)).get(name)
    named = named_layers(task, encoder, before) if before else []
    layers, seeds = competitors(name, search_plan(encoder), named, config["seeds"])
    return [result_file(run) for run in searched_runs(task, encoder, layers) if run.seed in seeds]


def named_layers(task, encoder, name):
    """The layers that a round names when it is over."""
    return read_json(Path(checkpoints.name_layers.get(task=task, encoder=encoder, round=name).output[0]))["named"]


def search_files(wildcards):
    """What the report of a search is made from."""
    task, encoder = wildcards.task, wildcards.encoder
    results = [round_results(task, encoder, name) for name in ROUNDS]
    return {
        "rounds": [f"results/best_layer/{task}/{encoder}/{name}.json" for name in ROUNDS],
        "results": list(dict.fromkeys(file for files in results for file in files)),
    } | proposal_files(task, encoder)


def proposal_files(task, encoder):
    """What layers are proposed from without training: the frozen curve, and CKA with another encoder."""
    frozen, reference = (config["best_layer"][key] for key in ("frozen", "reference"))
    files = {}
    if frozen is not None and experiment.task(task)["objective"] != "difference_classification":
        files["frozen"] = [f"results/{task}/{frozen}/{encoder}/all-layers.json"]
    if reference not in (None, encoder):
        files["similarities"] = [f"results/cka/{task}/{reference}-vs-{encoder}.json"]
    return files


def search_labels(wildcards):
    """The labels of what is searched."""
    return {
        "task": experiment.task(wildcards.task)["label"],
        "recipe": experiment.recipe(config["best_layer"]["recipe"])["label"],
        "encoder": experiment.encoder(wildcards.encoder)["label"],
    }


@checked
def subset_settings(wildcards):
    """What decides the result of a search for the layers to keep."""
    task = experiment.task(wildcards.task)
    if task["objective"] == "difference_classification":
        raise InputError(f"the classifier of task '{wildcards.task}' has to be trained; search on a task of cosines")
    return {
        "objective": task["objective"],
        "label_range": experiment.label_range(wildcards.task),
        "precision": config["training"]["precision"],
    }


def subset_labels(wildcards):
    """The labels of what is searched."""
    return {
        "task": experiment.task(wildcards.task)["label"],
        "encoder": experiment.encoder(wildcards.encoder)["label"],
        "metric": METRIC_NAMES[experiment.metrics(wildcards.task)[0]],
    }
