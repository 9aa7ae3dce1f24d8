# What the report shows beyond figures and tables: pages to look into, the data at a glance.


rule draw_interactive_curve:
    input:
        runs="results/tables/{figure}_runs.csv",
        summary="results/tables/{figure}_summary.csv",
    output:
        report(
            "figures/{figure}.html",
            caption="../report/interactive_curve.rst",
            category="Figures",
            labels=figure_labels("to look into"),
        ),
    log:
        "logs/draw_interactive_curve/{figure}.log",
    benchmark:
        "logs/draw_interactive_curve/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(figures_of("layer_curve")),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        figure=lambda wildcards: layer_curve(wildcards.figure),
        code=code("draw_interactive_curve"),
    script:
        "../scripts/draw_interactive_curve.py"


rule tabulate_data_reports:
    input:
        expand("results/data/{task}.json", task=config["tasks"]),
    output:
        report("results/data.csv", caption="../report/data.rst", category="Data", labels={"table": "all tasks"}),
    log:
        "logs/tabulate_data_reports.log",
    benchmark:
        "logs/tabulate_data_reports.tsv"
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        tasks=list(config["tasks"]),
        code=code("tabulate_data_reports"),
    script:
        "../scripts/tabulate_data_reports.py"
