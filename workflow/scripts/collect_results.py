"""Collect the results that a figure or a table needs into tidy tables."""

from tmft.runtime.job import job
from tmft.runtime.progress import console

with job(snakemake) as work:
    from tmft.results.tables import summarise, tabulate_runs
    from tmft.runtime.files import write_csv
    from tmft.training.records import read_all

    runs = tabulate_runs(read_all(work.input), work.params.runs)
    if runs["value"].isna().all():
        print(f"{work.wildcards['shown']}: every run collapsed", file=console)
    write_csv(work.output.runs, runs)
    write_csv(work.output.summary, summarise(runs))
