# Fetching and preparing: pinned files, encoders, pair tables, text, tokens.

REVISIONS = "revisions.json"  # commits of encoders without a revision, to be committed; no rule owns it


localrules:
    fetch_data,
    fetch_encoder,
    fetch_corpus,


rule fetch_data:
    output:
        file="data/raw/{collection}/{file}",
        provenance="data/raw/{collection}/{file}.provenance.json",
    log:
        "logs/fetch_data/{collection}/{file}.log",
    benchmark:
        "logs/fetch_data/{collection}/{file}.tsv"
    wildcard_constraints:
        collection=r".+",
        file=r"[^/]+(?<!\.provenance\.json)",
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=30,
    params:
        pin=lambda wildcards: pinned_file(wildcards),
        code=code("fetch_data"),
    script:
        "../scripts/fetch_data.py"


rule fetch_encoder:
    input:
        checked(lambda wildcards: local_files(wildcards.encoder)),
    output:
        directory("data/encoders/{encoder}"),
    log:
        "logs/fetch_encoder/{encoder}.log",
    benchmark:
        "logs/fetch_encoder/{encoder}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        source=lambda wildcards: encoder_source(wildcards),
        revisions=REVISIONS,
        depth=lambda wildcards: config["encoders"][wildcards.encoder]["depth"],
        code=code("fetch_encoder"),
    script:
        "../scripts/fetch_encoder.py"


rule read_pairs:
    input:
        unpack(lambda wildcards: raw_files(experiment.source(wildcards.task))),
    output:
        "data/pairs/{task}.csv",
    log:
        "logs/read_pairs/{task}.log",
    benchmark:
        "logs/read_pairs/{task}.tsv"
    wildcard_constraints:
        task=one_of(task for task in DOWNLOADED if task not in WORDS),
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        source=lambda wildcards: experiment.source(wildcards.task),
        code=code("read_pairs"),
    script:
        "../scripts/read_pairs.py"


rule read_words:
    input:
        unpack(lambda wildcards: raw_files(experiment.source(wildcards.task))),
    output:
        pairs="data/pairs/{task}.csv",
        lists="results/data/{task}-lists.json",
    log:
        "logs/read_words/{task}.log",
    benchmark:
        "logs/read_words/{task}.tsv"
    wildcard_constraints:
        task=one_of(WORDS),
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        source=lambda wildcards: experiment.source(wildcards.task),
        code=code("read_words"),
    script:
        "../scripts/read_words.py"


rule read_own_pairs:
    input:
        lambda wildcards: config["tasks"][wildcards.task]["csv"]["path"],
    output:
        "data/pairs/{task}.csv",
    log:
        "logs/read_own_pairs/{task}.log",
    benchmark:
        "logs/read_own_pairs/{task}.tsv"
    wildcard_constraints:
        task=one_of(OWN),
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        source=lambda wildcards: config["tasks"][wildcards.task]["csv"],
        label_range=lambda wildcards: experiment.label_range(wildcards.task),
        code=code("read_own_pairs"),
    script:
        "../scripts/read_own_pairs.py"


rule write_scene_pairs:
    output:
        "data/pairs/{task}.csv",
    log:
        "logs/write_scene_pairs/{task}.log",
    benchmark:
        "logs/write_scene_pairs/{task}.tsv"
    wildcard_constraints:
        task=one_of(SYNTHETIC),
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        scenes=lambda wildcards: config["tasks"][wildcards.task]["scenes"],
        label_range=lambda wildcards: experiment.label_range(wildcards.task),
        code=code("write_scene_pairs"),
    script:
        "../scripts/write_scene_pairs.py"


rule report_data:
    input:
        "data/pairs/{task}.csv",
    output:
        "results/data/{task}.json",
    log:
        "logs/report_data/{task}.log",
    benchmark:
        "logs/report_data/{task}.tsv"
    wildcard_constraints:
        task=one_of(config["tasks"]),
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        code=code("report_data"),
    script:
        "../scripts/report_data.py"


rule fetch_corpus:
    input:
        unpack(lambda wildcards: raw_files(experiment.corpus_source(wildcards.corpus))),
    output:
        text="data/corpora/{corpus}.txt",
        provenance="data/corpora/{corpus}.provenance.json",
    log:
        "logs/fetch_corpus/{corpus}.log",
    benchmark:
        "logs/fetch_corpus/{corpus}.tsv"
    wildcard_constraints:
        corpus=one_of(corpora("source")),
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        source=lambda wildcards: experiment.corpus_source(wildcards.corpus),
        code=code("fetch_corpus"),
    script:
        "../scripts/fetch_corpus.py"


rule report_corpus:
    input:
        corpus=lambda wildcards: corpus_file(wildcards.corpus),
        pairs=expand("data/pairs/{task}.csv", task=config["tasks"]),
    output:
        "results/data/corpus-{corpus}.json",
    log:
        "logs/report_corpus/{corpus}.log",
    benchmark:
        "logs/report_corpus/{corpus}.tsv"
    wildcard_constraints:
        corpus=one_of(config["corpora"]),
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(20),
    params:
        tasks=list(config["tasks"]),
        code=code("report_corpus"),
    script:
        "../scripts/report_corpus.py"


rule tokenise:
    input:
        pairs="data/pairs/{task}.csv",
        encoder=checked(lambda wildcards: encoder_folder(wildcards.encoder)),
    output:
        "data/tokens/{task}/{encoder}.parquet",
    log:
        "logs/tokenise/{task}/{encoder}.log",
    benchmark:
        "logs/tokenise/{task}/{encoder}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        max_length=lambda wildcards: config["tasks"][wildcards.task]["max_length"],
        code=code("tokenise"),
    script:
        "../scripts/tokenise.py"
