# How alike the layers of two encoders are (CKA): untouched, fine-tuned, and one before and after its fine-tuning.


rule compare_encoders:
    input:
        first=checked(lambda wildcards: [encoder_folder(wildcards.first)]),
        second=checked(lambda wildcards: [encoder_folder(wildcards.second)]),
        tokens=checked(lambda wildcards: compared_tokens(wildcards.task, [wildcards.first, wildcards.second])),
    output:
        "results/cka/{task}/{first}-vs-{second}.json",
    log:
        "logs/compare_encoders/{task}/{first}-vs-{second}.log",
    benchmark:
        "logs/compare_encoders/{task}/{first}-vs-{second}.tsv"
    wildcard_constraints:
        first=one_of(config["encoders"]),
        second=one_of(config["encoders"]),
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["finetune"]
    resources:
        gpu=GPU,
        mem_mb=8000,
        runtime=60,
    params:
        states=["untouched", "untouched"],
        settings={"precision": config["training"]["precision"]},
        code=code("compare_encoders"),
    script:
        "../scripts/compare_encoders.py"


rule compare_finetuned:
    input:
        first=checked(lambda wildcards: finetuned_folders(wildcards, wildcards.first, wildcards.second)),
        second=checked(lambda wildcards: finetuned_folders(wildcards, wildcards.second, wildcards.first)),
        tokens=checked(lambda wildcards: compared_tokens(wildcards.task, [wildcards.first, wildcards.second])),
    output:
        "results/cka/{task}/{recipe}/seed{seed}/{first}-vs-{second}.json",
    log:
        "logs/compare_finetuned/{task}/{recipe}/seed{seed}/{first}-vs-{second}.log",
    benchmark:
        "logs/compare_finetuned/{task}/{recipe}/seed{seed}/{first}-vs-{second}.tsv"
    wildcard_constraints:
        first=one_of(config["encoders"]),
        second=one_of(config["encoders"]),
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["finetune"]
    resources:
        gpu=GPU,
        mem_mb=8000,
        runtime=60,
    params:
        states=["finetuned", "finetuned"],
        settings={"precision": config["training"]["precision"]},
        code=code("compare_encoders"),
    script:
        "../scripts/compare_encoders.py"


rule compare_before_and_after:
    input:
        first=checked(lambda wildcards: [encoder_folder(wildcards.encoder)]),
        second=checked(lambda wildcards: finetuned_folders(wildcards, wildcards.encoder)),
        tokens=checked(lambda wildcards: 2 * compared_tokens(wildcards.task, [wildcards.encoder])),
    output:
        "results/cka/{task}/{recipe}/seed{seed}/{encoder}.json",
    log:
        "logs/compare_before_and_after/{task}/{recipe}/seed{seed}/{encoder}.log",
    benchmark:
        "logs/compare_before_and_after/{task}/{recipe}/seed{seed}/{encoder}.tsv"
    wildcard_constraints:
        encoder=one_of(config["encoders"]),
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["finetune"]
    resources:
        gpu=GPU,
        mem_mb=8000,
        runtime=60,
    params:
        states=["untouched", "finetuned"],
        settings={"precision": config["training"]["precision"]},
        code=code("compare_encoders"),
    script:
        "../scripts/compare_encoders.py"
