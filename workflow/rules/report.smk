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
            labels=lambda wildcards: {"figure": experiment.figure(wildcards.figure)["title"], "form": "interactive"},
        ),
    log:
        "logs/draw_interactive_curve/{figure}.log",
    wildcard_constraints:
        figure=one_of(experiment.keys("figures", kind="layer_curve")),
    conda:
        "../../envs/figures.yaml"
    resources:
        **SMALL,
    params:
        figure=ask(figures.figure_parameters, "figure"),
        code=code("draw_interactive_curve"),
    script:
        "../scripts/draw_interactive_curve.py"


TABLES = {  # their place, their category and the title of one
    "table": ("results/tables/{table}", "Tables", lambda wildcards: experiment.table(wildcards.table)["title"]),
    "reproduction": ("results/reproduction", "Reproduction", lambda wildcards: "The paper's numbers and ours"),
    "data": ("results/data", "Data", lambda wildcards: "The pairs of each task"),
    "costs": ("results/costs", "Costs", lambda wildcards: "What the results have cost"),
}
PAGES = expand("figures/{figure}.html", figure=experiment.keys("figures", kind="layer_curve"))
PAGES += expand([f"{place}.html" for place, *_ in TABLES.values()], table=experiment.settings["tables"])

for name, (place, category, title) in TABLES.items():

    rule:
        name:
            f"show_{name}"
        input:
            f"{place}.csv",
        output:
            report(
                f"{place}.html",
                caption=f"../report/{name}.rst",
                category=category,
                labels=lambda wildcards, title=title: {"table": title(wildcards)},
            ),
        log:
            f"logs/show_table/{place}.log",
        wildcard_constraints:
            table=one_of(experiment.settings["tables"]),
        conda:
            "../../envs/analysis.yaml"
        resources:
            **SMALL,
        params:
            title=title,
            code=code("show_table"),
        script:
            "../scripts/show_table.py"
