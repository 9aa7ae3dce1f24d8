# Tables from results.


rule collect_results:
    input:
        checked(lambda wildcards: shown_results(wildcards.shown)),
    output:
        runs="results/tables/{shown}_runs.csv",
        summary="results/tables/{shown}_summary.csv",
    log:
        "logs/collect_results/{shown}.log",
    benchmark:
        "logs/collect_results/{shown}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        runs=lambda wildcards: [list(astuple(run)) for run in shown_runs(wildcards.shown)],
        code=code("collect_results"),
    script:
        "../scripts/collect_results.py"


rule write_table:
    input:
        runs="results/tables/{table}_runs.csv",
        summary="results/tables/{table}_summary.csv",
    output:
        csv="results/tables/{table}.csv",
        markdown="results/tables/{table}.md",
        latex="results/tables/{table}.tex",
    log:
        "logs/write_table/{table}.log",
    benchmark:
        "logs/write_table/{table}.tsv"
    wildcard_constraints:
        table=one_of(config["tables"]),
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        table=lambda wildcards: layer_table(wildcards.table),
        code=code("write_table"),
    script:
        "../scripts/write_table.py"


rule report_reproduction:
    input:
        results=reproduction_results,
        published=published_runs(),
    output:
        csv="results/reproduction.csv",
        curves="results/reproduction_curves.csv",
        markdown="results/reproduction.md",
    log:
        "logs/report_reproduction.log",
    benchmark:
        "logs/report_reproduction.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        paper=PAPER,
        ours=reproduced_experiment(),
        code=code("report_reproduction"),
    script:
        "../scripts/report_reproduction.py"


# The same for the authors' published runs, without any training: what the paper's own runs say of its claims.
rule report_published:
    input:
        published_runs(),
    output:
        csv="results/published.csv",
        markdown="results/published.md",
    log:
        "logs/report_published.log",
    benchmark:
        "logs/report_published.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        paper=PAPER,
        code=code("report_published"),
    script:
        "../scripts/report_published.py"
