# The map of the pipeline. What a figure needs follows from config.yaml; the rules are in workflow/rules.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config.yaml"


report: "workflow/report/experiment.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/best_layer_common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/translation.smk"
include: "workflow/rules/pretrain.smk"
include: "workflow/rules/finetune.smk"
include: "workflow/rules/adaptive.smk"
include: "workflow/rules/analysis.smk"
include: "workflow/rules/similarity.smk"
include: "workflow/rules/export.smk"
include: "workflow/rules/best_layer.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/needs.smk"
include: "workflow/rules/costs.smk"
include: "workflow/rules/report.smk"


onstart:
    require_key()


rule all:
    default_target: True
    input:
        expand("figures/{figure}.pdf", figure=config["figures"]),
        expand("results/tables/{table}.csv", table=config["tables"]),
        "results/reproduction.md",
        "results/reproduction_curves.pdf" if published_runs() else [],
        "results/costs.csv",
        expand("results/data/{task}.json", task=config["tasks"]),
        expand("results/data/corpus-{corpus}.json", corpus=config["corpora"]),
        report_pages(),
