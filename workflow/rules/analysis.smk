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
        unpack(
            checked(
                lambda wildcards: compared_files(
                    config["tables"][wildcards.table]["task"], shown_runs(wildcards.table)
                )
            )
        ),
        runs="results/tables/{table}_runs.csv",
        summary="results/tables/{table}_summary.csv",
    output:
        csv="results/tables/{table}.csv",
        comparisons="results/tables/{table}_comparisons.csv",
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
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        table=lambda wildcards: layer_table(wildcards.table),
        code=code("write_table"),
    script:
        "../scripts/write_table.py"


rule compare_runs:
    input:
        unpack(checked(lambda wildcards: compared_files(wildcards.task, sides_runs(wildcards)))),
    output:
        json="results/compare/{task}/{first}/vs/{second}.json",
        markdown="results/compare/{task}/{first}/vs/{second}.md",
    log:
        "logs/compare_runs/{task}/{first}/vs/{second}.log",
    benchmark:
        "logs/compare_runs/{task}/{first}/vs/{second}.tsv"
    wildcard_constraints:
        first=SIDE,
        second=SIDE,
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        sides=lambda wildcards: list(map(tuple, sides(wildcards))),
        layers=lambda wildcards: compared_layers(experiment, *sides(wildcards)),
        metric=lambda wildcards: experiment.metrics(wildcards.task)[0],
        labels=lambda wildcards: compared_labels(wildcards),
        code=code("compare_runs"),
    script:
        "../scripts/compare_runs.py"


rule report_reproduction:
    input:
        unpack(checked(reproduction_inputs)),
    output:
        entries="results/reproduction.csv",
        contrasts="results/reproduction_contrasts.csv",
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
        theirs=False,
        ours=OURS,
        similarities=lambda wildcards: list(compared_similarities().values()),
        code=code("report_reproduction"),
    script:
        "../scripts/report_reproduction.py"


# The same of the authors' published runs, without any training.
use rule report_reproduction as report_published with:
    input:
        published=checked(lambda wildcards: published_runs(needed=True)),
    output:
        entries="results/published.csv",
        contrasts="results/published_contrasts.csv",
        curves="results/published_curves.csv",
        markdown="results/published.md",
    log:
        "logs/report_published.log",
    benchmark:
        "logs/report_published.tsv"
    params:
        paper=PAPER,
        theirs=True,
        code=code("report_reproduction"),


rule draw_reproduction:
    input:
        "results/{report}_curves.csv",
    output:
        pdf="results/{report}_curves.pdf",
        png="results/{report}_curves.png",
    log:
        "logs/draw_reproduction/{report}.log",
    benchmark:
        "logs/draw_reproduction/{report}.tsv"
    wildcard_constraints:
        report="reproduction|published",
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        code=code("draw_reproduction"),
    script:
        "../scripts/draw_reproduction.py"
