# From results to tables: collected, compared, held against the paper, summed up.


localrules:
    sum_costs,
    status,


rule collect_results:
    input:
        ask_results(jobs.shown_results, "shown"),
    output:
        runs="results/tables/{shown}_runs.csv",
        summary="results/tables/{shown}_summary.csv",
    log:
        "logs/collect_results/{shown}.log",
    conda:
        "../../envs/analysis.yaml"
    resources:
        **SMALL,
    params:
        runs=ask(jobs.shown_keys, "shown"),
        code=code("collect_results"),
    script:
        "../scripts/collect_results.py"


rule write_table:
    input:
        unpack(ask_results(compared.table_files, "table")),
        runs="results/tables/{table}_runs.csv",
        summary="results/tables/{table}_summary.csv",
    output:
        csv="results/tables/{table}.csv",
        comparisons="results/tables/{table}_comparisons.csv",
        markdown="results/tables/{table}.md",
        latex="results/tables/{table}.tex",
    log:
        "logs/write_table/{table}.log",
    wildcard_constraints:
        table=one_of(experiment.settings["tables"]),
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=resources.growing(2000),
        runtime=resources.growing(30),
    params:
        table=ask(descriptions.layer_table, "table"),
        code=code("write_table"),
    script:
        "../scripts/write_table.py"


# Two results on the same test pairs.
rule compare_runs:
    input:
        unpack(ask_results(compared.sides_files, "task", "first", "second")),
    output:
        json="results/compare/{task}/{first}/vs/{second}.json",
        markdown="results/compare/{task}/{first}/vs/{second}.md",
    log:
        "logs/compare_runs/{task}/{first}/vs/{second}.log",
    wildcard_constraints:
        first=sides.SIDE,
        second=sides.SIDE,
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=resources.growing(2000),
        runtime=resources.growing(30),
    params:
        comparison=ask(descriptions.comparison, "task", "first", "second"),
        code=code("compare_runs"),
    script:
        "../scripts/compare_runs.py"


# How alike the layers of two encoders are (CKA): both pre-trained, both fine-tuned, or one before and after.
rule compare_encoders:
    input:
        first=ask(jobs.pretrained_folders, "first"),
        second=ask(jobs.pretrained_folders, "second"),
        tokens=ask(jobs.tokens, "task", "first", "second"),
    output:
        "results/cka/{task}/{first}-vs-{second}.json",
    log:
        "logs/compare_encoders/{task}/{first}-vs-{second}.log",
    wildcard_constraints:
        first=one_of(experiment.settings["encoders"]),
        second=one_of(experiment.settings["encoders"]),
    conda:
        "../../envs/train.yaml"
    threads: THREADS["finetune"]
    resources:
        gpu=GPU,
        mem_mb=lambda wildcards, input, attempt: resources.encoder_memory([*input.first, *input.second], attempt),
        runtime=resources.growing(60),
    params:
        states=["pretrained", "pretrained"],
        precision=experiment.settings["training"]["precision"],
        code=code("compare_encoders"),
    script:
        "../scripts/compare_encoders.py"


use rule compare_encoders as compare_finetuned with:
    input:
        first=ask(jobs.finetuned_folders, "task", "recipe", "seed", "first", "second"),
        second=ask(jobs.finetuned_folders, "task", "recipe", "seed", "second", "first"),
        tokens=ask(jobs.tokens, "task", "first", "second"),
    output:
        "results/cka/{task}/{recipe}/seed{seed}/{first}-vs-{second}.json",
    log:
        "logs/compare_finetuned/{task}/{recipe}/seed{seed}/{first}-vs-{second}.log",
    params:
        states=["finetuned", "finetuned"],
        precision=experiment.settings["training"]["precision"],
        code=code("compare_encoders"),


use rule compare_encoders as compare_before_and_after with:
    input:
        first=ask(jobs.pretrained_folders, "encoder"),
        second=ask(jobs.finetuned_folders, "task", "recipe", "seed", "encoder"),
        tokens=ask(jobs.tokens, "task", "encoder", "encoder"),
    output:
        "results/cka/{task}/{recipe}/seed{seed}/{encoder}.json",
    log:
        "logs/compare_before_and_after/{task}/{recipe}/seed{seed}/{encoder}.log",
    wildcard_constraints:
        encoder=one_of(experiment.settings["encoders"]),
    params:
        states=["pretrained", "finetuned"],
        precision=experiment.settings["training"]["precision"],
        code=code("compare_encoders"),


rule report_reproduction:
    input:
        unpack(ask_results(reproduced.reproduction_inputs, paper=PAPER)),
    output:
        entries="results/reproduction.csv",
        contrasts="results/reproduction_contrasts.csv",
        curves="results/reproduction_curves.csv",
        markdown="results/reproduction.md",
    log:
        "logs/report_reproduction.log",
    conda:
        "../../envs/analysis.yaml"
    resources:
        **SMALL,
    params:
        paper=PAPER,
        ours=reproduced.reproduced(experiment, PAPER),
        similarities=ask(reproduced.similarity_keys, paper=PAPER),
        code=code("report_reproduction"),
    script:
        "../scripts/report_reproduction.py"


# The same of the results that are there by now.
use rule report_reproduction as report_reproduction_so_far with:
    input:
        unpack(ask_results(reproduced.reproduction_inputs, paper=PAPER, partial=True)),
    output:
        entries="results/so_far/reproduction.csv",
        contrasts="results/so_far/reproduction_contrasts.csv",
        curves="results/so_far/reproduction_curves.csv",
        markdown="results/so_far/reproduction.md",
    log:
        "logs/report_reproduction_so_far.log",
    params:
        paper=PAPER,
        ours=reproduced.reproduced(experiment, PAPER),
        similarities=ask(reproduced.similarity_keys, paper=PAPER, partial=True),
        code=code("report_reproduction"),


# The same of the authors' published runs, without any training.
use rule report_reproduction as report_published with:
    input:
        published=ask(reproduced.published_runs, needed=True),
    output:
        entries="results/published.csv",
        contrasts="results/published_contrasts.csv",
        curves="results/published_curves.csv",
        markdown="results/published.md",
    log:
        "logs/report_published.log",
    params:
        paper=PAPER,
        ours=None,
        code=code("report_reproduction"),


rule draw_reproduction:
    input:
        "results/{report}_curves.csv",
    output:
        pdf="results/{report}_curves.pdf",
        png="results/{report}_curves.png",
    log:
        "logs/draw_reproduction/{report}.log",
    wildcard_constraints:
        report="reproduction|so_far/reproduction|published",
    conda:
        "../../envs/figures.yaml"
    resources:
        **SMALL,
    params:
        code=code("draw_reproduction"),
    script:
        "../scripts/draw_reproduction.py"


rule sum_costs:
    input:
        unpack(ask_results(jobs.costly_files)),
    output:
        csv="results/costs.csv",
        markdown="results/costs.md",
    log:
        "logs/sum_costs.log",
    conda:
        "../../envs/analysis.yaml"
    resources:
        **SMALL,
    params:
        code=code("sum_costs"),
    script:
        "../scripts/sum_costs.py"


# The same of the results that are there by now.
use rule sum_costs as sum_costs_so_far with:
    input:
        unpack(ask_results(jobs.costly_files, partial=True)),
    output:
        csv="results/so_far/costs.csv",
        markdown="results/so_far/costs.md",
    log:
        "logs/sum_costs_so_far.log",


# Without output, so that it always runs. `workflow/status` calls it, beside a running Snakemake, too.
rule status:
    log:
        "logs/status.log",
    conda:
        "../../envs/analysis.yaml"
    resources:
        **SMALL,
    params:
        shown={name: jobs.shown_results(experiment, name) for name in jobs.shown(experiment)},
    script:
        "../scripts/report_status.py"
