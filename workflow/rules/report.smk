# Pages of the report beside the drawings: curves to look into, and tables.


rule draw_interactive_curve:
    input:
        runs="results/tables/{figure}_runs.csv",
        summary="results/tables/{figure}_summary.csv",
    output:
        report(
            "figures/{figure}.html",
            caption="../report/interactive_curve.rst",
            category="Figures",
            labels=figure_labels("interactive"),
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
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        figure=lambda wildcards: layer_curve(wildcards.figure),
        code=code("draw_interactive_curve"),
    script:
        "../scripts/draw_interactive_curve.py"


rule tabulate_data_reports:
    input:
        expand("results/data/{task}.json", task=config["tasks"]),
    output:
        "results/data.csv",
    log:
        "logs/tabulate_data_reports.log",
    benchmark:
        "logs/tabulate_data_reports.tsv"
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        tasks=list(config["tasks"]),
        code=code("tabulate_data_reports"),
    script:
        "../scripts/tabulate_data_reports.py"


for name, shown in PAGES.items():

    rule:
        name:
            f"show_{name}"
        input:
            f"{shown.table}.csv",
        output:
            report(
                f"{shown.table}.html",
                caption=f"../report/{name}.rst",
                category=shown.category,
                labels=lambda wildcards, title=shown.title: {"table": title(wildcards)},
            ),
        log:
            f"logs/show_table/{shown.table}.log",
        benchmark:
            f"logs/show_table/{shown.table}.tsv"
        wildcard_constraints:
            table=one_of(config["tables"]),
        conda:
            "../../envs/analysis.yaml"
        threads: 1
        resources:
            mem_mb=growing(1000),
            runtime=growing(10),
        params:
            title=shown.title,
            code=code("show_table"),
        script:
            "../scripts/show_table.py"
