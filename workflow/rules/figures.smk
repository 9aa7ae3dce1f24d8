# Drawings from tables.


rule draw_layer_curve:
    input:
        runs="results/tables/{figure}_runs.csv",
        summary="results/tables/{figure}_summary.csv",
    output:
        pdf="figures/{figure}.pdf",
        png=report(
            "figures/{figure}.png",
            caption="../report/layer_curve.rst",
            category="Figures",
            labels=figure_labels("drawing"),
        ),
        csv="figures/{figure}.csv",
    log:
        "logs/draw_layer_curve/{figure}.log",
    benchmark:
        "logs/draw_layer_curve/{figure}.tsv"
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
        code=code("draw_layer_curve"),
    script:
        "../scripts/draw_layer_curve.py"


rule draw_pareto:
    input:
        "results/tables/{figure}_summary.csv",
    output:
        pdf="figures/{figure}.pdf",
        png=report(
            "figures/{figure}.png",
            caption="../report/pareto.rst",
            category="Figures",
            labels=figure_labels("drawing"),
        ),
        csv="figures/{figure}.csv",
    log:
        "logs/draw_pareto/{figure}.log",
    benchmark:
        "logs/draw_pareto/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(figures_of("pareto")),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        figure=lambda wildcards: pareto(wildcards.figure),
        code=code("draw_pareto"),
    script:
        "../scripts/draw_pareto.py"


rule draw_cka_curve:
    input:
        unpack(checked(lambda wildcards: cka_files(wildcards.figure))),
    output:
        pdf="figures/{figure}.pdf",
        png=report(
            "figures/{figure}.png",
            caption="../report/cka_curve.rst",
            category="Figures",
            labels=figure_labels("drawing"),
        ),
        csv="figures/{figure}.csv",
    log:
        "logs/draw_cka_curve/{figure}.log",
    benchmark:
        "logs/draw_cka_curve/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(figures_of("cka_curve")),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        figure=lambda wildcards: cka_curve(wildcards.figure),
        code=code("draw_cka_curve"),
    script:
        "../scripts/draw_cka_curve.py"


rule draw_pretraining_efficiency:
    input:
        runs="results/tables/{figure}_runs.csv",
        summary="results/tables/{figure}_summary.csv",
        pretraining=lambda wildcards: expand(
            "results/pretraining/{key}.json", key=pretraining_efficiency(wildcards.figure)["pretrainings"]
        ),
    output:
        pdf="figures/{figure}.pdf",
        png=report(
            "figures/{figure}.png",
            caption="../report/pretraining_efficiency.rst",
            category="Figures",
            labels=figure_labels("drawing"),
        ),
        csv="figures/{figure}.csv",
    log:
        "logs/draw_pretraining_efficiency/{figure}.log",
    benchmark:
        "logs/draw_pretraining_efficiency/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(figures_of("pretraining_efficiency")),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        figure=lambda wildcards: pretraining_efficiency(wildcards.figure),
        code=code("draw_pretraining_efficiency"),
    script:
        "../scripts/draw_pretraining_efficiency.py"


rule draw_method:
    output:
        pdf="figures/{figure}.pdf",
        png=report(
            "figures/{figure}.png",
            caption="../report/method.rst",
            category="Figures",
            labels=figure_labels("drawing"),
        ),
    log:
        "logs/draw_method/{figure}.log",
    benchmark:
        "logs/draw_method/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(figures_of("method")),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        title=lambda wildcards: config["figures"][wildcards.figure]["title"],
        code=code("draw_method"),
    script:
        "../scripts/draw_method.py"
