# Drawings from tables.


rule draw_layer_curve:
    input:
        runs="results/tables/{figure}_runs.csv",
        summary="results/tables/{figure}_summary.csv",
    output:
        pdf="figures/{figure}.pdf",
        png="figures/{figure}.png",
        csv="figures/{figure}.csv",
    log:
        "logs/draw_layer_curve/{figure}.log",
    benchmark:
        "logs/draw_layer_curve/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(config["figures"]),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        figure=lambda wildcards: layer_curve(wildcards.figure),
        code=code("draw_layer_curve"),
    script:
        "../scripts/draw_layer_curve.py"
