# One result a run: (task, recipe, encoder, layer, seed); `units_per_job` of them are made in one job.


for batch in finetune_batches():

    rule:
        name:
            batch.name
        input:
            unpack(run_inputs("finetune")),
        output:
            batch.outputs,
        log:
            f"logs/finetune/{batch.place}.log",
        benchmark:
            f"logs/finetune/{batch.place}.tsv"
        wildcard_constraints:
            encoder=batch.encoders,
        conda:
            "../../envs/train.yaml"
        threads: config["threads"]["finetune"]
        resources:
            gpu=GPU,
            mem_mb=8000,
            runtime=240 * len(batch.outputs),
        params:
            units=batch.units,
            settings=lambda wildcards: finetune_settings(wildcards),
            code=code("finetune"),
        script:
            "../scripts/finetune.py"


rule evaluate_frozen:
    input:
        unpack(run_inputs("frozen")),
    output:
        "results/{task}/{recipe}/{encoder}/all-layers.json",
    log:
        "logs/evaluate_frozen/{task}/{recipe}/{encoder}.log",
    benchmark:
        "logs/evaluate_frozen/{task}/{recipe}/{encoder}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["finetune"]
    resources:
        gpu=GPU,
        mem_mb=8000,
        runtime=60,
    params:
        settings=lambda wildcards: frozen_settings(wildcards),
        code=code("evaluate_frozen"),
    script:
        "../scripts/evaluate_frozen.py"
