# Fetching and preparing: pinned files, encoders, pair tables and their translation, text, tokens.

REVISIONS = "revisions.json"  # commits of encoders without a revision, to be committed; no rule owns it
CACHE = "data/translations.sqlite"  # what was paid for; no rule owns it, so that no rule removes it
WORDS = [task for task in experiment.keys("tasks", "source") if "lists" in experiment.source(task)]
TRANSLATED = experiment.keys("tasks", "translation")


localrules:
    fetch_data,
    fetch_encoder,
    fetch_corpus,
    translate_pairs,
    estimate_translation,


onstart:
    if any(job.rule.name == "translate_pairs" for job in workflow.dag.needrun_jobs()):
        in_one_line(auth_key)()


rule fetch_data:
    output:
        file="data/raw/{collection}/{file}",
        provenance="data/raw/{collection}/{file}.provenance.json",
    log:
        "logs/fetch_data/{collection}/{file}.log",
    wildcard_constraints:
        collection=r".+",
        file=r"[^/]+(?<!\.provenance\.json)",
    conda:
        "../../envs/data.yaml"
    resources:
        runtime=30,
        mem_mb=resources.growing(1000),
    params:
        pin=ask(paths.pin, "collection", "file"),
        code=code("fetch_data"),
    script:
        "../scripts/fetch_data.py"


rule fetch_encoder:
    input:
        ask(paths.local_files, "encoder"),
    output:
        directory("data/encoders/{encoder}"),
    log:
        "logs/fetch_encoder/{encoder}.log",
    conda:
        "../../envs/train.yaml"
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        source=ask(descriptions.encoder_source, "encoder"),
        revisions=REVISIONS,
        depth=lambda wildcards: experiment.encoder(wildcards.encoder)["depth"],
        code=code("fetch_encoder"),
    script:
        "../scripts/fetch_encoder.py"


rule read_pairs:
    input:
        unpack(ask(paths.task_files, "task")),
    output:
        "data/pairs/{task}.csv",
    log:
        "logs/read_pairs/{task}.log",
    wildcard_constraints:
        task=one_of(task for task in experiment.keys("tasks", "source") if task not in WORDS),
    conda:
        "../../envs/data.yaml"
    resources:
        **SMALL,
    params:
        source=lambda wildcards: experiment.source(wildcards.task),
        code=code("read_pairs"),
    script:
        "../scripts/read_pairs.py"


rule read_words:
    input:
        unpack(ask(paths.task_files, "task")),
    output:
        pairs="data/pairs/{task}.csv",
        lists="results/data/{task}-lists.json",
    log:
        "logs/read_words/{task}.log",
    wildcard_constraints:
        task=one_of(WORDS),
    conda:
        "../../envs/data.yaml"
    resources:
        **SMALL,
    params:
        source=lambda wildcards: experiment.source(wildcards.task),
        code=code("read_words"),
    script:
        "../scripts/read_words.py"


rule read_own_pairs:
    input:
        lambda wildcards: experiment.task(wildcards.task)["csv"]["path"],
    output:
        "data/pairs/{task}.csv",
    log:
        "logs/read_own_pairs/{task}.log",
    wildcard_constraints:
        task=one_of(experiment.keys("tasks", "csv")),
    conda:
        "../../envs/data.yaml"
    resources:
        **SMALL,
    params:
        source=lambda wildcards: experiment.task(wildcards.task)["csv"],
        label_range=lambda wildcards: experiment.label_range(wildcards.task),
        code=code("read_own_pairs"),
    script:
        "../scripts/read_own_pairs.py"


rule write_scene_pairs:
    output:
        "data/pairs/{task}.csv",
    log:
        "logs/write_scene_pairs/{task}.log",
    wildcard_constraints:
        task=one_of(experiment.keys("tasks", "scenes")),
    conda:
        "../../envs/data.yaml"
    resources:
        **SMALL,
    params:
        scenes=lambda wildcards: experiment.task(wildcards.task)["scenes"],
        label_range=lambda wildcards: experiment.label_range(wildcards.task),
        code=code("write_scene_pairs"),
    script:
        "../scripts/write_scene_pairs.py"


rule translate_pairs:
    input:
        lambda wildcards: f"data/pairs/{experiment.task(wildcards.task)['translation']['from']}.csv",
    output:
        pairs="data/pairs/{task}.csv",
        provenance="data/pairs/{task}.provenance.json",
    log:
        "logs/translate_pairs/{task}.log",
    wildcard_constraints:
        task=one_of(TRANSLATED),
    conda:
        "../../envs/translate.yaml"
    resources:
        deepl=1,
        runtime=240,
        mem_mb=resources.growing(1000),
    params:
        cache=CACHE,
        original=lambda wildcards: experiment.task(wildcards.task)["translation"]["from"],
        direction=ask(descriptions.direction, "task"),
        label_range=lambda wildcards: experiment.label_range(wildcards.task),
        code=code("translate_pairs"),
    script:
        "../scripts/translate_pairs.py"


rule estimate_translation:
    input:
        pairs=sorted({f"data/pairs/{experiment.task(task)['translation']['from']}.csv" for task in TRANSLATED}),
        cache=lambda wildcards: [CACHE] if Path(CACHE).exists() else [],
    output:
        "results/translation/estimate.json",
    log:
        "logs/estimate_translation.log",
    conda:
        "../../envs/translate.yaml"
    resources:
        **SMALL,
    params:
        originals={task: experiment.task(task)["translation"]["from"] for task in TRANSLATED},
        cap=experiment.settings["translation"]["cap"],
        directions={task: descriptions.direction(experiment, task) for task in TRANSLATED},
        code=code("estimate_translation"),
    script:
        "../scripts/estimate_translation.py"


rule report_data:
    input:
        "data/pairs/{task}.csv",
    output:
        "results/data/{task}.json",
    log:
        "logs/report_data/{task}.log",
    wildcard_constraints:
        task=one_of(experiment.settings["tasks"]),
    conda:
        "../../envs/data.yaml"
    resources:
        **SMALL,
    params:
        code=code("report_data"),
    script:
        "../scripts/report_data.py"


rule tabulate_data_reports:
    input:
        expand("results/data/{task}.json", task=experiment.settings["tasks"]),
    output:
        "results/data.csv",
    log:
        "logs/tabulate_data_reports.log",
    conda:
        "../../envs/data.yaml"
    resources:
        **SMALL,
    params:
        tasks=list(experiment.settings["tasks"]),
        code=code("tabulate_data_reports"),
    script:
        "../scripts/tabulate_data_reports.py"


rule fetch_corpus:
    input:
        unpack(ask(paths.corpus_files, "corpus")),
    output:
        text="data/corpora/{corpus}.txt",
        provenance="data/corpora/{corpus}.provenance.json",
    log:
        "logs/fetch_corpus/{corpus}.log",
    wildcard_constraints:
        corpus=one_of(experiment.keys("corpora", "source")),
    conda:
        "../../envs/data.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        source=lambda wildcards: experiment.corpus_source(wildcards.corpus),
        code=code("fetch_corpus"),
    script:
        "../scripts/fetch_corpus.py"


rule write_scene_corpus:
    input:
        lambda wildcards: expand("data/pairs/{task}.csv", task=experiment.corpus(wildcards.corpus)["scenes"]["exclude"]),
    output:
        "data/corpora/{corpus}.txt",
    log:
        "logs/write_scene_corpus/{corpus}.log",
    wildcard_constraints:
        corpus=one_of(experiment.keys("corpora", "scenes")),
    conda:
        "../../envs/data.yaml"
    resources:
        **SMALL,
    params:
        scenes=lambda wildcards: experiment.corpus(wildcards.corpus)["scenes"],
        code=code("write_scene_corpus"),
    script:
        "../scripts/write_scene_corpus.py"


rule report_corpus:
    input:
        corpus=ask(paths.corpus_file, "corpus"),
        pairs=expand("data/pairs/{task}.csv", task=experiment.settings["tasks"]),
    output:
        "results/data/corpus-{corpus}.json",
    log:
        "logs/report_corpus/{corpus}.log",
    wildcard_constraints:
        corpus=one_of(experiment.settings["corpora"]),
    conda:
        "../../envs/data.yaml"
    resources:
        mem_mb=resources.growing(4000),
        runtime=resources.growing(20),
    params:
        tasks=list(experiment.settings["tasks"]),
        code=code("report_corpus"),
    script:
        "../scripts/report_corpus.py"


rule tokenise:
    input:
        pairs="data/pairs/{task}.csv",
        encoder=ask(paths.encoder_folder, "encoder"),
    output:
        "data/tokens/{task}/{encoder}.parquet",
    log:
        "logs/tokenise/{task}/{encoder}.log",
    conda:
        "../../envs/train.yaml"
    resources:
        mem_mb=resources.growing(2000),
        runtime=resources.growing(20),
    params:
        max_length=lambda wildcards: experiment.task(wildcards.task)["max_length"],
        code=code("tokenise"),
    script:
        "../scripts/tokenise.py"
