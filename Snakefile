# The map of the pipeline. What a figure needs follows from config.yaml; the rules are in workflow/rules.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config.yaml"


report: "workflow/report/experiment.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/pretrain.smk"
include: "workflow/rules/finetune.smk"
include: "workflow/rules/analysis.smk"
include: "workflow/rules/best_layer.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/export.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        expand("figures/{figure}.pdf", figure=experiment.settings["figures"]),
        expand("results/tables/{table}.csv", table=experiment.settings["tables"]),
        "results/reproduction.md",
        "results/reproduction_curves.pdf" if reproduced.published_runs(experiment) else [],
        "results/costs.csv",
        expand("results/data/{task}.json", task=experiment.settings["tasks"]),
        expand("results/data/corpus-{corpus}.json", corpus=experiment.settings["corpora"]),
        PAGES,
