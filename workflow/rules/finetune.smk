# Fine-tuning of truncated encoders, and their evaluation without training.


for batch in jobs.finetune_batches(experiment):

    rule:
        name:
            batch.name
        input:
            unpack(ask(jobs.batch_inputs, "task", "recipe", "encoder", *batch.wildcards, batch=batch)),
        output:
            results=batch.results,
            predictions=paths.predictions(batch.results),
        log:
            f"logs/finetune/{batch.place}.log",
        benchmark:
            f"logs/finetune/{batch.place}.tsv"
        wildcard_constraints:
            encoder=batch.encoders,
        conda:
            "../../envs/train.yaml"
        threads: THREADS["finetune"]
        resources:
            gpu=GPU,
            mem_mb=lambda wildcards, input, attempt: resources.encoder_memory(input.encoders, attempt),
            runtime=lambda wildcards, input, attempt: resources.training_time(input.encoders, bool(GPU), attempt),
        params:
            units=ask(jobs.batch_units, *batch.wildcards, batch=batch),
            settings=ask(jobs.finetune_settings, "task", "recipe"),
            run_code=code("finetune"),
        script:
            "../scripts/finetune.py"


rule keep_finetuned:
    input:
        unpack(ask(jobs.run_inputs, "task", "recipe", "encoder", "layer", kind="finetune")),
    output:
        encoder=temp(directory("data/finetuned/{task}/{recipe}/{encoder}/layer{layer}/seed{seed}")),
        result="results/finetuned/{task}/{recipe}/{encoder}/layer{layer}/seed{seed}.json",
    log:
        "logs/keep_finetuned/{task}/{recipe}/{encoder}/layer{layer}/seed{seed}.log",
    benchmark:
        "logs/keep_finetuned/{task}/{recipe}/{encoder}/layer{layer}/seed{seed}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: THREADS["finetune"]
    resources:
        gpu=GPU,
        mem_mb=lambda wildcards, input, attempt: resources.encoder_memory(input.encoders, attempt),
        runtime=lambda wildcards, input, attempt: resources.training_time(input.encoders, bool(GPU), attempt),
    params:
        unit=ask(jobs.unit, "layer", "seed"),
        settings=ask(jobs.finetune_settings, "task", "recipe"),
        run_code=code("keep_finetuned"),
    script:
        "../scripts/keep_finetuned.py"


rule evaluate_frozen:
    input:
        unpack(ask(jobs.run_inputs, "task", "recipe", "encoder", kind="frozen")),
    output:
        result="results/{task}/{recipe}/{encoder}/all-layers.json",
        predictions="results/{task}/{recipe}/{encoder}/all-layers.predictions.parquet",
    log:
        "logs/evaluate_frozen/{task}/{recipe}/{encoder}.log",
    conda:
        "../../envs/train.yaml"
    threads: THREADS["finetune"]
    resources:
        gpu=GPU,
        mem_mb=lambda wildcards, input, attempt: resources.encoder_memory(input.encoders, attempt),
        runtime=resources.growing(60),
    params:
        settings=ask(jobs.frozen_settings, "task", "recipe"),
        run_code=code("evaluate_frozen"),
    script:
        "../scripts/evaluate_frozen.py"
