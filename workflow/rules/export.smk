# Encoders to ship: the run chosen on validation, its weights as a folder for sentence-transformers, what a layer costs.


wildcard_constraints:
    exported=r"\d+|best",


checkpoint choose_run:
    input:
        results=ask_results(jobs.exported_results, "task", "recipe", "encoder", "exported"),
        encoder=ask(paths.encoder_folder, "encoder"),
    output:
        "results/export/{task}/{recipe}/{encoder}/layer{exported}.json",
    log:
        "logs/choose_run/{task}/{recipe}/{encoder}/layer{exported}.log",
    conda:
        "../../envs/analysis.yaml"
    resources:
        **SMALL,
    params:
        metric=lambda wildcards: experiment.metrics(wildcards.task)[0],
        code=code("choose_run"),
    script:
        "../scripts/choose_run.py"


rule export_encoder:
    input:
        unpack(lambda wildcards: jobs.exported_run(checkpoints.choose_run.get(**wildcards).output[0], wildcards)),
        choice="results/export/{task}/{recipe}/{encoder}/layer{exported}.json",
        tokens="data/tokens/{task}/{encoder}.parquet",
        pairs="data/pairs/{task}.csv",
    output:
        directory("results/export/{task}/{recipe}/{encoder}/layer{exported}"),
    log:
        "logs/export_encoder/{task}/{recipe}/{encoder}/layer{exported}.log",
    conda:
        "../../envs/export.yaml"
    threads: THREADS["finetune"]
    resources:
        mem_mb=resources.growing(8000),
        runtime=resources.growing(60),
    params:
        facts=ask(descriptions.card_facts, "encoder", "task"),
        code=code("export_encoder"),
    script:
        "../scripts/export_encoder.py"


rule measure_cost:
    input:
        ask(paths.encoder_folder, "encoder"),
    output:
        "results/cost/{encoder}.json",
    log:
        "logs/measure_cost/{encoder}.log",
    conda:
        "../../envs/train.yaml"
    resources:
        mem_mb=resources.growing(8000),
        runtime=resources.growing(120),
    params:
        code=code("measure_cost"),
    script:
        "../scripts/measure_cost.py"


rule write_cost_table:
    input:
        results=ask_results(jobs.curve_results, "task", "recipe", "encoder"),
        cost="results/cost/{encoder}.json",
    output:
        csv="results/export/{task}/{recipe}/{encoder}/layers.csv",
        markdown="results/export/{task}/{recipe}/{encoder}/layers.md",
    log:
        "logs/write_cost_table/{task}/{recipe}/{encoder}.log",
    conda:
        "../../envs/analysis.yaml"
    resources:
        **SMALL,
    params:
        labels=ask(descriptions.curve_labels, "task", "encoder", "recipe"),
        code=code("write_cost_table"),
    script:
        "../scripts/write_cost_table.py"
