"""Collect the results that a figure needs into tidy tables."""

from pathlib import Path

from tmft.runtime.job import job
from tmft.runtime.progress import console

with job(snakemake):
    from tmft.results.records import read_records
    from tmft.results.tables import summarise, tabulate_runs
    from tmft.runtime.files import write_csv

    records = (record for path in snakemake.input for record in read_records(Path(path)))
    runs = tabulate_runs(records, snakemake.params.runs)
    if runs["value"].isna().all():
        print(f"{snakemake.wildcards.shown}: every run collapsed", file=console)
    write_csv(Path(snakemake.output.runs), runs)
    write_csv(Path(snakemake.output.summary), summarise(runs))
