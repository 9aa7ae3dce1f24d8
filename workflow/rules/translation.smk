# Machine translation of a task's pairs by the DeepL API.

CACHE = "data/translations.sqlite"  # what was paid for; no rule owns it, so that no rule removes it


localrules:
    translate_pairs,
    estimate_translation,


rule translate_pairs:
    input:
        lambda wildcards: f"data/pairs/{translated_from(wildcards.task)}.csv",
    output:
        pairs="data/pairs/{task}.csv",
        provenance="data/pairs/{task}.provenance.json",
    log:
        "logs/translate_pairs/{task}.log",
    benchmark:
        "logs/translate_pairs/{task}.tsv"
    wildcard_constraints:
        task=one_of(TRANSLATED),
    conda:
        "../../envs/translate.yaml"
    threads: 1
    resources:
        deepl=1,
        mem_mb=1000,
        runtime=240,
    params:
        cache=CACHE,
        original=lambda wildcards: translated_from(wildcards.task),
        direction=lambda wildcards: translation_direction(wildcards.task),
        label_range=lambda wildcards: experiment.label_range(wildcards.task),
        code=code("translate_pairs"),
    script:
        "../scripts/translate_pairs.py"


rule estimate_translation:
    input:
        pairs=sorted({f"data/pairs/{translated_from(task)}.csv" for task in TRANSLATED}),
        cache=lambda wildcards: [CACHE] if Path(CACHE).exists() else [],
    output:
        "results/translation/estimate.json",
    log:
        "logs/estimate_translation.log",
    benchmark:
        "logs/estimate_translation.tsv"
    conda:
        "../../envs/translate.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        originals={task: translated_from(task) for task in TRANSLATED},
        cap=config["translation"]["cap"],
        directions={task: translation_direction(task) for task in TRANSLATED},
        code=code("estimate_translation"),
    script:
        "../scripts/estimate_translation.py"
