# The best layer of an encoder without the whole sweep (docs/best_layer.md). The layers of each round but the first
# are known when the round before is over, so each round ends in a checkpoint.
from tmft.best_layer import STRIDE, plan
from tmft.files import read_json


def search_plan(encoder):
    """The rounds of a search."""
    return plan(len(experiment.layers(encoder)), config["seeds"])


def layers_kept(number, encoder):
    """How many layers a round keeps: those that compete in the next, or the best one."""
    return [*(following.layers for following in search_plan(encoder)[1:]), 1][number]


def screened_units(wildcards):
    """(layer, seed) of the short runs."""
    return [(layer, config["seeds"][0]) for layer in experiment.layers(wildcards.encoder)]


def searched_runs(task, encoder, layers=None):
    """The runs of the full protocol at these layers; all that the sweep has without them."""
    return list(experiment.runs(task, [config["best_layer"]["recipe"]], [encoder], layers=layers))


def round_results(task, encoder, number):
    """The result files of a round: the screening, or the sweep's own results of the layers that the last round kept."""
    competition = search_plan(encoder)[number]
    if competition.short:
        return [f"results/screening/{task}/{config['best_layer']['recipe']}/{encoder}.json"]
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


rule screen_layers:
    input:
        unpack(run_inputs("finetune", screened_units)),
    output:
        "results/screening/{task}/{recipe}/{encoder}.json",
    log:
        "logs/screen_layers/{task}/{recipe}/{encoder}.log",
    benchmark:
        "logs/screen_layers/{task}/{recipe}/{encoder}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["finetune"]
    resources:
        gpu=GPU,
        mem_mb=growing(8000),
        runtime=growing(480),
    params:
        units=screened_units,
        settings=lambda wildcards: finetune_settings(wildcards) | {"stride": STRIDE},
        code=code("screen_layers"),
    script:
        "../scripts/screen_layers.py"


checkpoint keep_layers:
    input:
        checked(lambda wildcards: round_results(wildcards.task, wildcards.encoder, int(wildcards.round))),
    output:
        "results/best_layer/{task}/{encoder}/round{round}.json",
    log:
        "logs/keep_layers/{task}/{encoder}/round{round}.log",
    benchmark:
        "logs/keep_layers/{task}/{encoder}/round{round}.tsv"
    wildcard_constraints:
        round=r"\d+",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        competition=lambda wildcards: tuple(search_plan(wildcards.encoder)[int(wildcards.round)]),
        keep=lambda wildcards: layers_kept(int(wildcards.round), wildcards.encoder),
        metric=lambda wildcards: experiment.metrics(wildcards.task)[0],
        code=code("keep_layers"),
    script:
        "../scripts/keep_layers.py"


rule report_best_layer:
    input:
        unpack(checked(search_files)),
    output:
        json="results/best_layer/{task}/{encoder}.json",
        markdown="results/best_layer/{task}/{encoder}.md",
    log:
        "logs/report_best_layer/{task}/{encoder}.log",
    benchmark:
        "logs/report_best_layer/{task}/{encoder}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        recipe=config["best_layer"]["recipe"],
        metric=lambda wildcards: experiment.metrics(wildcards.task)[0],
        sweep_runs=lambda wildcards: len(searched_runs(wildcards.task, wildcards.encoder)),
        labels=lambda wildcards: search_labels(wildcards),
        code=code("report_best_layer"),
    script:
        "../scripts/report_best_layer.py"


rule compare_best_layers:
    input:
        search="results/best_layer/{task}/{encoder}.json",
        sweep=checked(lambda wildcards: map(result_file, searched_runs(wildcards.task, wildcards.encoder))),
    output:
        json="results/best_layer_regret/{task}/{encoder}.json",
        markdown="results/best_layer_regret/{task}/{encoder}.md",
    log:
        "logs/compare_best_layers/{task}/{encoder}.log",
    benchmark:
        "logs/compare_best_layers/{task}/{encoder}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        labels=lambda wildcards: search_labels(wildcards),
        code=code("compare_best_layers"),
    script:
        "../scripts/compare_best_layers.py"
