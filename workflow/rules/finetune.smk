# One result a run: (task, recipe, encoder, layer, seed); `units_per_job` of them are made in one job. Weights
# are kept, and only so long, where another job needs them.


for batch in finetune_batches():

    rule:
        name:
            batch.name
        input:
            unpack(run_inputs("finetune", batch.units)),
        output:
            results=batch.results,
            predictions=predictions(batch.results),
        log:
            f"logs/finetune/{batch.place}.log",
        benchmark:
            f"logs/finetune/{batch.place}.tsv"
        wildcard_constraints:
            recipe=rf"(?!({one_of(recipes_of('adaptive'))})/)[^/]+",
            encoder=batch.encoders,
        conda:
            "../../envs/train.yaml"
        threads: config["threads"]["finetune"]
        resources:
            gpu=GPU,
            mem_mb=lambda wildcards, input, attempt: encoder_memory(input.encoders, attempt),
            runtime=lambda wildcards, input, attempt: training_time(input.encoders, attempt),
        params:
            units=lambda _, output: list(map(unit_of, output.results)),
            settings=lambda wildcards: finetune_settings(wildcards),
            code=code("finetune"),
        script:
            "../scripts/finetune.py"


rule keep_finetuned:
    input:
        unpack(run_inputs("finetune", own_unit)),
    output:
        encoder=temp(directory("data/finetuned/{task}/{recipe}/{encoder}/layer{layer}/seed{seed}")),
        result="results/finetuned/{task}/{recipe}/{encoder}/layer{layer}/seed{seed}.json",
    log:
        "logs/keep_finetuned/{task}/{recipe}/{encoder}/layer{layer}/seed{seed}.log",
    benchmark:
        "logs/keep_finetuned/{task}/{recipe}/{encoder}/layer{layer}/seed{seed}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["finetune"]
    resources:
        gpu=GPU,
        mem_mb=lambda wildcards, input, attempt: encoder_memory(input.encoders, attempt),
        runtime=lambda wildcards, input, attempt: training_time(input.encoders, attempt),
    params:
        units=own_unit,
        settings=lambda wildcards: finetune_settings(wildcards),
        code=code("keep_finetuned"),
    script:
        "../scripts/keep_finetuned.py"


rule evaluate_frozen:
    input:
        unpack(run_inputs("frozen", lambda wildcards: [(None, None)])),
    output:
        result="results/{task}/{recipe}/{encoder}/all-layers.json",
        predictions="results/{task}/{recipe}/{encoder}/all-layers.predictions.parquet",
    log:
        "logs/evaluate_frozen/{task}/{recipe}/{encoder}.log",
    benchmark:
        "logs/evaluate_frozen/{task}/{recipe}/{encoder}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["finetune"]
    resources:
        gpu=GPU,
        mem_mb=lambda wildcards, input, attempt: encoder_memory(input.encoders, attempt),
        runtime=growing(60),
    params:
        settings=lambda wildcards: frozen_settings(wildcards),
        code=code("evaluate_frozen"),
    script:
        "../scripts/evaluate_frozen.py"
