"""Sum what the results have cost."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.results.costs import pretraining_costs, run_costs, sum_costs, to_markdown
    from tmft.runtime.files import write_csv, write_text

    files = snakemake.params.files
    costs = [run_costs(Path(path)) for path in files["results"]]
    costs += [pretraining_costs(Path(path)) for path in files["pretrainings"]]
    summed = sum_costs(costs)
    write_csv(Path(snakemake.output.csv), summed)
    write_text(Path(snakemake.output.markdown), to_markdown(summed))
