# Drawings, each by the module of its kind (workflow/scripts/tmft/figures).


rule draw_figure:
    input:
        unpack(ask(figures.figure_files, "figure")),
    output:
        pdf="figures/{figure}.pdf",
        png=report(
            "figures/{figure}.png",
            caption="../report/figure.rst",
            category="Figures",
            labels=lambda wildcards: {"figure": experiment.figure(wildcards.figure)["title"], "form": "drawing"},
        ),
        csv="figures/{figure}.csv",
    log:
        "logs/draw_figure/{figure}.log",
    wildcard_constraints:
        figure=one_of(experiment.settings["figures"]),
    conda:
        "../../envs/figures.yaml"
    resources:
        **SMALL,
    params:
        figure=ask(figures.figure_parameters, "figure"),
        code=lambda wildcards: code("draw_figure", f"tmft/figures/{experiment.figure(wildcards.figure)['kind']}"),
    script:
        "../scripts/draw_figure.py"
