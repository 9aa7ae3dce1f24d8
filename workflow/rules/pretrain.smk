# Encoders pre-trained from scratch, or further on other text.


rule train_tokenizer:
    input:
        lambda wildcards: paths.corpus_file(
            experiment, experiment.settings["tokenizers"][wildcards.tokenizer]["corpus"]
        ),
    output:
        directory("data/tokenizers/{tokenizer}"),
    log:
        "logs/train_tokenizer/{tokenizer}.log",
    wildcard_constraints:
        tokenizer=one_of(experiment.settings["tokenizers"]),
    conda:
        "../../envs/train.yaml"
    resources:
        mem_mb=resources.growing(2000),
        runtime=resources.growing(60),
    params:
        settings=lambda wildcards: experiment.settings["tokenizers"][wildcards.tokenizer],
        code=code("train_tokenizer"),
    script:
        "../scripts/train_tokenizer.py"


# One form per pre-training, as each has its own snapshots.
for key, parts in jobs.pretrained_parts(experiment).items():

    rule:
        name:
            f"pretrain_{key}"
        input:
            corpus=paths.corpus_file(experiment, experiment.pretraining(key)["corpus"]),
            tokenizer=paths.tokenizer_folder(experiment, experiment.pretraining(key)["tokenizer"]),
        output:
            parts=[directory(paths.pretrained_folder(key, part)) for part in parts],
            snapshots=[directory(folder) for folder in paths.snapshot_folders(experiment, key, *parts)],
            metrics=f"results/pretraining/{key}.json",
        log:
            f"logs/pretrain/{key}.log",
        conda:
            "../../envs/train.yaml"
        threads: THREADS["pretrain"]
        resources:
            gpu=GPU,
            mem_mb=resources.pretraining_memory(experiment, key),
            runtime=resources.pretraining_time(experiment, key, bool(GPU)),
        params:
            settings=experiment.pretraining(key),
            code=code("pretrain", f"tmft/pretraining/{experiment.pretraining(key)['objective']}"),
        script:
            "../scripts/pretrain.py"


rule adapt_encoder:
    input:
        corpus=lambda wildcards: paths.corpus_file(experiment, experiment.adaptation(wildcards.adaptation)["corpus"]),
        encoder=ask(paths.encoder_folder, "encoder"),
    output:
        encoder=directory("data/adapted/{adaptation}/{encoder}"),
        metrics="results/adaptation/{adaptation}/{encoder}.json",
    log:
        "logs/adapt_encoder/{adaptation}/{encoder}.log",
    wildcard_constraints:
        adaptation=one_of(experiment.settings["adaptation"]),
    conda:
        "../../envs/train.yaml"
    threads: THREADS["pretrain"]
    resources:
        gpu=GPU,
        mem_mb=lambda wildcards, input, attempt: resources.encoder_memory([input.encoder], attempt),
        runtime=resources.DAY,
    params:
        settings=lambda wildcards: experiment.adaptation(wildcards.adaptation),
        code=code("adapt_encoder"),
    script:
        "../scripts/adapt_encoder.py"
