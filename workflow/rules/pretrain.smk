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
        sentences=lambda wildcards: config["corpora"][wildcards.corpus]["scenes"]["sentences"],
        seed=lambda wildcards: config["corpora"][wildcards.corpus]["scenes"]["seed"],
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


rule pretrain_mlm:
    input:
        corpus=lambda wildcards: corpus_file(config["pretraining"][wildcards.pretraining]["corpus"]),
        tokenizer=lambda wildcards: tokenizer_folder(config["pretraining"][wildcards.pretraining]["tokenizer"]),
    output:
        encoder=directory("data/pretrained/{pretraining}/encoder"),
        metrics="results/pretraining/{pretraining}.json",
    log:
        "logs/pretrain_mlm/{pretraining}.log",
    benchmark:
        "logs/pretrain_mlm/{pretraining}.tsv"
    wildcard_constraints:
        pretraining=one_of(pretrainings("masked_language_modelling")),
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["pretrain"]
    resources:
        gpu=GPU,
        mem_mb=8000,
        runtime=2880,
    params:
        settings=lambda wildcards: config["pretraining"][wildcards.pretraining],
        code=code("pretrain_mlm"),
    script:
        "../scripts/pretrain_mlm.py"


rule pretrain_electra:
    input:
        corpus=lambda wildcards: corpus_file(config["pretraining"][wildcards.pretraining]["corpus"]),
        tokenizer=lambda wildcards: tokenizer_folder(config["pretraining"][wildcards.pretraining]["tokenizer"]),
    output:
        generator=directory("data/pretrained/{pretraining}/generator"),
        discriminator=directory("data/pretrained/{pretraining}/discriminator"),
        metrics="results/pretraining/{pretraining}.json",
    log:
        "logs/pretrain_electra/{pretraining}.log",
    benchmark:
        "logs/pretrain_electra/{pretraining}.tsv"
    wildcard_constraints:
        pretraining=one_of(pretrainings("replaced_token_detection")),
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["pretrain"]
    resources:
        gpu=GPU,
        mem_mb=8000,
        runtime=2880,
    params:
        settings=lambda wildcards: config["pretraining"][wildcards.pretraining],
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
