# Tables from results.


rule collect_results:
    input:
        checked(lambda wildcards: figure_results(wildcards.figure)),
    output:
        runs="results/tables/{figure}_runs.csv",
        summary="results/tables/{figure}_summary.csv",
    log:
        "logs/collect_results/{figure}.log",
    benchmark:
        "logs/collect_results/{figure}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        runs=lambda wildcards: [list(astuple(run)) for run in experiment.figure_runs(wildcards.figure)],
        code=code("collect_results"),
    script:
        "../scripts/collect_results.py"
