# Encoders to ship: the run chosen on validation, its weights as a folder for sentence-transformers, what a layer costs.


wildcard_constraints:
    exported=r"\d+|best",


checkpoint choose_run:
    input:
        results=checked(lambda wildcards: list(dict.fromkeys(map(result_file, choosing_runs(wildcards))))),
        encoder=checked(lambda wildcards: encoder_folder(wildcards.encoder)),
    output:
        "results/export/{task}/{recipe}/{encoder}/layer{exported}.json",
    log:
        "logs/choose_run/{task}/{recipe}/{encoder}/layer{exported}.log",
    benchmark:
        "logs/choose_run/{task}/{recipe}/{encoder}/layer{exported}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        runs=lambda wildcards: [list(astuple(run)) for run in choosing_runs(wildcards)],
        metric=lambda wildcards: experiment.metrics(wildcards.task)[0],
        code=code("choose_run"),
    script:
        "../scripts/choose_run.py"


rule export_encoder:
    input:
        unpack(exported_run),
        choice="results/export/{task}/{recipe}/{encoder}/layer{exported}.json",
        tokens="data/tokens/{task}/{encoder}.parquet",
        pairs="data/pairs/{task}.csv",
    output:
        directory("results/export/{task}/{recipe}/{encoder}/layer{exported}"),
    log:
        "logs/export_encoder/{task}/{recipe}/{encoder}/layer{exported}.log",
    benchmark:
        "logs/export_encoder/{task}/{recipe}/{encoder}/layer{exported}.tsv"
    conda:
        "../../envs/export.yaml"
    threads: config["threads"]["finetune"]
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        facts=lambda wildcards: card_facts(wildcards),
        code=code("export_encoder"),
    script:
        "../scripts/export_encoder.py"
