# What a search for the best layer asks for, round by round.
from tmft.best_layer import plan
from tmft.files import read_json


def search_plan(encoder):
    """The rounds of a search."""
    return plan(len(experiment.layers(encoder)), config["seeds"])


def layers_kept(number, encoder):
    """How many layers a round keeps: those that compete in the next, or the best one."""
    return [*(following.layers for following in search_plan(encoder)[1:]), 1][number]


def searched_runs(task, encoder, layers=None):
    """The runs of the full protocol at these layers; all that the sweep has without them."""
    recipe = config["best_layer"]["recipe"]
    kind = experiment.recipe(recipe)["kind"]
    if kind != "finetune":
        raise InputError(f"config: best_layer.recipe '{recipe}' is of kind {kind}; name one of kind finetune")
    return list(experiment.runs(task, [recipe], [encoder], layers=layers))


def round_results(task, encoder, number):
    """The result files of a round: the screening, or the sweep's own results of the layers that the last round kept."""
    competition = search_plan(encoder)[number]
    if competition.shared:
        own = [result_file(run) for run in searched_runs(task, encoder) if run.seed in competition.seeds]
        return [f"results/screening/{file.removeprefix('results/')}" for file in own]
    if config["units_per_job"] > 1:
        raise InputError(
            "a search for the best layer fine-tunes single layers, a job with units_per_job "
            f"{config['units_per_job']} several; add --config units_per_job=1"
        )
    kept = checkpoints.keep_layers.get(task=task, encoder=encoder, round=number - 1).output[0]
    runs = searched_runs(task, encoder, read_json(Path(kept))["kept"])
    return [result_file(run) for run in runs if run.seed in competition.seeds]


def search_files(wildcards):
    """What the report of a search is made from."""
    task, encoder = wildcards.task, wildcards.encoder
    numbers = range(len(search_plan(encoder)))
    screening, *results = [round_results(task, encoder, number) for number in numbers]
    return {
        "rounds": [f"results/best_layer/{task}/{encoder}/round{number}.json" for number in numbers],
        "screening": screening,
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
