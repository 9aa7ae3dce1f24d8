# One training a seed that serves every layer: as many results as the encoder has layers. It is a kind of recipe, and the
# first round of a search for the best layer (docs/best_layer.md), there in place of a recipe's own trainings.
from itertools import product

SHARED_TRAININGS = [("train_adaptive", "adaptive", "results"), ("screen_layers", "finetune", "results/screening")]
DEPTHS = {encoder["depth"] for encoder in config["encoders"].values()}


for depth, (made_by, kind, place) in product(sorted(DEPTHS), SHARED_TRAININGS):
    unit = "{task}/{recipe}/{encoder}"
    results = [f"{place}/{unit}/layer{layer}/seed{{seed}}.json" for layer in range(depth + 1)]

    rule:
        name:
            f"{made_by}_depth{depth}"
        input:
            unpack(run_inputs(kind, lambda wildcards, depth=depth: [(depth, int(wildcards.seed))])),
        output:
            results=results,
            predictions=predictions(results),
        log:
            f"logs/{made_by}/{unit}/seed{{seed}}.log",
        benchmark:
            f"logs/{made_by}/{unit}/seed{{seed}}.tsv"
        wildcard_constraints:
            recipe=one_of(recipes_of(kind)),
            encoder=one_of(key for key, encoder in config["encoders"].items() if encoder["depth"] == depth),
        conda:
            "../../envs/train.yaml"
        threads: config["threads"]["finetune"]
        resources:
            gpu=GPU,
            mem_mb=lambda wildcards, input, attempt: encoder_memory(input.encoders, attempt),
            runtime=lambda wildcards, input, attempt: training_time(2 * input.encoders, attempt),
        params:
            settings=lambda wildcards: finetune_settings(wildcards) | ADAPTIVE,
            code=code("train_adaptive"),
        script:
            "../scripts/train_adaptive.py"
