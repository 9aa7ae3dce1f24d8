# One result a run: (task, recipe, encoder, layer, seed).


rule finetune:
    input:
        unpack(checked(run_inputs)),
    output:
        "results/{task}/{recipe}/{encoder}/layer{layer}/seed{seed}.json",
    log:
        "logs/finetune/{task}/{recipe}/{encoder}/layer{layer}/seed{seed}.log",
    benchmark:
        "logs/finetune/{task}/{recipe}/{encoder}/layer{layer}/seed{seed}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["finetune"]
    resources:
        gpu=GPU,
        mem_mb=8000,
        runtime=240,
    params:
        settings=lambda wildcards: finetune_settings(wildcards),
        code=code("finetune"),
    script:
        "../scripts/finetune.py"


rule evaluate_frozen:
    input:
        unpack(checked(run_inputs)),
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
