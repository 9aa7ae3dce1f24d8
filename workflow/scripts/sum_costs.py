"""Sum what the results have cost."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.costs import pretraining_costs, run_costs, sum_costs, to_markdown
    from tmft.files import write_csv, write_text

    files = snakemake.params.files
    costs = [run_costs(Path(path)) for path in files["results"]]
    costs += [pretraining_costs(Path(path)) for path in files["pretrainings"]]
    summed = sum_costs(costs)
    write_csv(Path(snakemake.output.csv), summed)
    write_text(Path(snakemake.output.markdown), to_markdown(summed))
