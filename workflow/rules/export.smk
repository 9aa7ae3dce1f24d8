# Encoders to ship: the run chosen on validation, its weights as a folder for sentence-transformers, what a layer costs.


wildcard_constraints:
    exported=r"\d+|best",


checkpoint choose_run:
    input:
        results=checked(lambda wildcards: result_files(choosing_runs(wildcards))),
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
        mem_mb=growing(1000),
        runtime=growing(10),
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
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        facts=lambda wildcards: card_facts(wildcards),
        code=code("export_encoder"),
    script:
        "../scripts/export_encoder.py"


rule measure_cost:
    input:
        checked(lambda wildcards: encoder_folder(wildcards.encoder)),
    output:
        "results/cost/{encoder}.json",
    log:
        "logs/measure_cost/{encoder}.log",
    benchmark:
        "logs/measure_cost/{encoder}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(8000),
        runtime=growing(120),
    params:
        code=code("measure_cost"),
    script:
        "../scripts/measure_cost.py"


rule write_cost_table:
    input:
        results=checked(lambda wildcards: result_files(curve_runs(wildcards))),
        cost="results/cost/{encoder}.json",
    output:
        csv="results/export/{task}/{recipe}/{encoder}/layers.csv",
        markdown="results/export/{task}/{recipe}/{encoder}/layers.md",
    log:
        "logs/write_cost_table/{task}/{recipe}/{encoder}.log",
    benchmark:
        "logs/write_cost_table/{task}/{recipe}/{encoder}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        runs=lambda wildcards: [list(astuple(run)) for run in curve_runs(wildcards)],
        labels=lambda wildcards: curve_labels(wildcards),
        code=code("write_cost_table"),
    script:
        "../scripts/write_cost_table.py"


rule draw_cost_curve:
    input:
        lambda wildcards: cost_tables(wildcards.figure),
    output:
        pdf="figures/{figure}.pdf",
        png="figures/{figure}.png",
        csv="figures/{figure}.csv",
    log:
        "logs/draw_cost_curve/{figure}.log",
    benchmark:
        "logs/draw_cost_curve/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(figures_of("cost_curve")),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        figure=lambda wildcards: cost_curve(wildcards.figure),
        code=code("draw_cost_curve"),
    script:
        "../scripts/draw_cost_curve.py"
