# Encoders pre-trained from scratch, or further on other text.


rule write_scene_corpus:
    input:
        lambda wildcards: [
            f"data/pairs/{task}.csv" for task in config["corpora"][wildcards.corpus]["scenes"]["exclude"]
        ],
    output:
        "data/corpora/{corpus}.txt",
    log:
        "logs/write_scene_corpus/{corpus}.log",
    benchmark:
        "logs/write_scene_corpus/{corpus}.tsv"
    wildcard_constraints:
        corpus=one_of(corpora("scenes")),
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        scenes=lambda wildcards: config["corpora"][wildcards.corpus]["scenes"],
        code=code("write_scene_corpus"),
    script:
        "../scripts/write_scene_corpus.py"


rule train_tokenizer:
    input:
        checked(lambda wildcards: corpus_file(config["tokenizers"][wildcards.tokenizer]["corpus"])),
    output:
        directory("data/tokenizers/{tokenizer}"),
    log:
        "logs/train_tokenizer/{tokenizer}.log",
    benchmark:
        "logs/train_tokenizer/{tokenizer}.tsv"
    wildcard_constraints:
        tokenizer=one_of(config["tokenizers"]),
    conda:
        "../../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        settings=lambda wildcards: config["tokenizers"][wildcards.tokenizer],
        code=code("train_tokenizer"),
    script:
        "../scripts/train_tokenizer.py"


for key in pretrainings("masked_language_modelling"):

    rule:
        name:
            f"pretrain_mlm_{key}"
        input:
            corpus=corpus_file(config["pretraining"][key]["corpus"]),
            tokenizer=tokenizer_folder(config["pretraining"][key]["tokenizer"]),
        output:
            encoder=directory(pretrained_folder(key, "encoder")),
            snapshots=[directory(folder) for folder in snapshot_folders(key, "encoder")],
            metrics=f"results/pretraining/{key}.json",
        log:
            f"logs/pretrain_mlm/{key}.log",
        benchmark:
            f"logs/pretrain_mlm/{key}.tsv"
        conda:
            "../../envs/train.yaml"
        threads: config["threads"]["pretrain"]
        resources:
            gpu=GPU,
            mem_mb=8000,
            runtime=2880,
        params:
            settings=config["pretraining"][key],
            code=code("pretrain_mlm"),
        script:
            "../scripts/pretrain_mlm.py"


for key in pretrainings("replaced_token_detection"):

    rule:
        name:
            f"pretrain_electra_{key}"
        input:
            corpus=corpus_file(config["pretraining"][key]["corpus"]),
            tokenizer=tokenizer_folder(config["pretraining"][key]["tokenizer"]),
        output:
            generator=directory(pretrained_folder(key, "generator")),
            discriminator=directory(pretrained_folder(key, "discriminator")),
            snapshots=[
                directory(folder)
                for folder in snapshot_folders(key, "generator") + snapshot_folders(key, "discriminator")
            ],
            metrics=f"results/pretraining/{key}.json",
        log:
            f"logs/pretrain_electra/{key}.log",
        benchmark:
            f"logs/pretrain_electra/{key}.tsv"
        conda:
            "../../envs/train.yaml"
        threads: config["threads"]["pretrain"]
        resources:
            gpu=GPU,
            mem_mb=8000,
            runtime=2880,
        params:
            settings=config["pretraining"][key],
            code=code("pretrain_electra"),
        script:
            "../scripts/pretrain_electra.py"


rule adapt_encoder:
    input:
        corpus=lambda wildcards: corpus_file(config["adaptation"][wildcards.adaptation]["corpus"]),
        encoder=checked(lambda wildcards: encoder_folder(wildcards.encoder)),
    output:
        encoder=directory("data/adapted/{adaptation}/{encoder}"),
        metrics="results/adaptation/{adaptation}/{encoder}.json",
    log:
        "logs/adapt_encoder/{adaptation}/{encoder}.log",
    benchmark:
        "logs/adapt_encoder/{adaptation}/{encoder}.tsv"
    wildcard_constraints:
        adaptation=one_of(config["adaptation"]),
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["pretrain"]
    resources:
        gpu=GPU,
        mem_mb=8000,
        runtime=2880,
    params:
        settings=lambda wildcards: config["adaptation"][wildcards.adaptation],
        code=code("adapt_encoder"),
    script:
        "../scripts/adapt_encoder.py"
