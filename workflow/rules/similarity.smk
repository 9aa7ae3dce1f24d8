# How alike the layers of two encoders are (CKA), untouched and fine-tuned.


rule compare_encoders:
    input:
        encoders=checked(lambda wildcards: [encoder_folder(key) for key in (wildcards.first, wildcards.second)]),
        tokens=checked(lambda wildcards: compared_tokens(wildcards)),
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
        mem_mb=lambda wildcards, input, attempt: encoder_memory(input.encoders, attempt),
        runtime=growing(60),
    params:
        settings={"chunk_size": config["training"]["chunk_size"]},
        code=code("compare_encoders"),
    script:
        "../scripts/compare_encoders.py"


rule compare_finetuned:
    input:
        first=checked(lambda wildcards: finetuned_folders(wildcards, wildcards.first)),
        second=checked(lambda wildcards: finetuned_folders(wildcards, wildcards.second)),
        tokens=checked(lambda wildcards: compared_tokens(wildcards)),
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
        mem_mb=lambda wildcards, input, attempt: encoder_memory([*input.first, *input.second], attempt),
        runtime=growing(60),
    params:
        settings={"chunk_size": config["training"]["chunk_size"]},
        code=code("compare_finetuned"),
    script:
        "../scripts/compare_finetuned.py"
