# What the results have cost, how far the experiment is, and what is left of it in hours (docs/costs.md).

CALIBRATION = "results/calibration.json"  # of the machine that trains


localrules:
    sum_costs,
    status,
    hours_left,


rule sum_costs:
    input:
        lambda wildcards: sum(costly_files().values(), []) if everything_is_made() else [],
    output:
        csv="results/costs.csv",
        markdown="results/costs.md",
    log:
        "logs/sum_costs.log",
    benchmark:
        "logs/sum_costs.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        files=lambda wildcards: costly_files(),  # no inputs, so that asking for the costs alone never trains
        code=code("sum_costs"),
    script:
        "../scripts/sum_costs.py"


rule calibrate:
    output:
        CALIBRATION,
    log:
        "logs/calibrate.log",
    benchmark:
        "logs/calibrate.tsv"
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["finetune"]
    resources:
        gpu=GPU,
        mem_mb=growing(8000),
        runtime=growing(30),
    params:
        widths=sorted({hidden_size(key) for key in config["encoders"]} - {None}) or [768],
        training=config["training"],
        code=code("calibrate"),
    script:
        "../scripts/calibrate.py"


# Without output, so that it is always made anew. `workflow/status` calls it, beside a running Snakemake too.
rule status:
    log:
        "logs/status.log",
    conda:
        "../../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        works=lambda wildcards: list(map(asdict, works())),
        figures=lambda wildcards: {name: list(needs_of(name)) for name in SHOWN},
        calibration=lambda wildcards: CALIBRATION,
    script:
        "../scripts/report_status.py"


# The same, with this machine's speed measured where it is not known.
use rule status as hours_left with:
    input:
        CALIBRATION,
    log:
        "logs/hours_left.log",
