# The best layer of an encoder without the whole sweep (docs/best_layer.md), and the best layers to keep (docs/shrink.md).


# One job makes all runs of a search, as each round follows from the one before. The sweep takes up what it made.
rule search_best_layer:
    input:
        unpack(ask(jobs.search_inputs, "task", "encoder")),
    output:
        json="results/best_layer/{task}/{encoder}.json",
        markdown="results/best_layer/{task}/{encoder}.md",
    log:
        "logs/search_best_layer/{task}/{encoder}.log",
    benchmark:
        "logs/search_best_layer/{task}/{encoder}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: THREADS["finetune"]
    resources:
        gpu=GPU,
        mem_mb=lambda wildcards, input, attempt: resources.encoder_memory(input.encoders, attempt),
        runtime=lambda wildcards, input, attempt: resources.training_time(input.encoders, bool(GPU), attempt),
    params:
        recipe=experiment.settings["best_layer"]["recipe"],
        seeds=experiment.settings["seeds"],
        sweep=ask(jobs.sweep, "task", "encoder"),
        metric=lambda wildcards: experiment.metrics(wildcards.task)[0],
        labels=ask(descriptions.curve_labels, "task", "encoder", recipe=experiment.settings["best_layer"]["recipe"]),
        settings=lambda wildcards: jobs.finetune_settings(
            experiment, wildcards.task, experiment.settings["best_layer"]["recipe"]
        ),
        run_code=code("finetune"),
        code=code("search_best_layer"),
    script:
        "../scripts/search_best_layer.py"


rule search_subsets:
    input:
        tokens="data/tokens/{task}/{encoder}.parquet",
        encoder=ask(paths.encoder_folder, "encoder"),
    output:
        json="results/subsets/{task}/{encoder}.json",
        markdown="results/subsets/{task}/{encoder}.md",
    log:
        "logs/search_subsets/{task}/{encoder}.log",
    benchmark:
        "logs/search_subsets/{task}/{encoder}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: THREADS["finetune"]
    resources:
        gpu=GPU,
        mem_mb=resources.growing(8000),
        runtime=resources.growing(120),
    params:
        settings=ask(jobs.subset_settings, "task"),
        labels=ask(descriptions.curve_labels, "task", "encoder"),
        code=code("search_subsets"),
    script:
        "../scripts/search_subsets.py"
