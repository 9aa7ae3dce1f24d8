# The best layer of an encoder without the whole sweep (docs/best_layer.md). The layers of each round but the first
# are known when the round before is over, so each round ends in a checkpoint.


checkpoint name_layers:
    input:
        checked(lambda wildcards: round_results(wildcards.task, wildcards.encoder, wildcards.round)),
    output:
        "results/best_layer/{task}/{encoder}/{round}.json",
    log:
        "logs/name_layers/{task}/{encoder}/{round}.log",
    benchmark:
        "logs/name_layers/{task}/{encoder}/{round}.tsv"
    wildcard_constraints:
        round=one_of(ROUNDS),
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        search=lambda wildcards: tuple(search_plan(wildcards.encoder)),
        metric=lambda wildcards: experiment.metrics(wildcards.task)[0],
        code=code("name_layers"),
    script:
        "../scripts/name_layers.py"


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


# Which layers to keep, not only the first ones, without any training (docs/shrink.md).
rule search_subsets:
    input:
        tokens="data/tokens/{task}/{encoder}.parquet",
        encoder=checked(lambda wildcards: encoder_folder(wildcards.encoder)),
    output:
        json="results/subsets/{task}/{encoder}.json",
        markdown="results/subsets/{task}/{encoder}.md",
    log:
        "logs/search_subsets/{task}/{encoder}.log",
    benchmark:
        "logs/search_subsets/{task}/{encoder}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["finetune"]
    resources:
        gpu=GPU,
        mem_mb=growing(8000),
        runtime=growing(120),
    params:
        settings=lambda wildcards: subset_settings(wildcards),
        labels=lambda wildcards: subset_labels(wildcards),
        code=code("search_subsets"),
    script:
        "../scripts/search_subsets.py"
