"""Collect the results that a figure needs into tidy tables."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.files import write_csv
    from tmft.results import read_records
    from tmft.tables import summarise, tabulate_runs

    records = (record for path in snakemake.input for record in read_records(Path(path)))
    runs = tabulate_runs(records, snakemake.params.runs)
    write_csv(Path(snakemake.output.runs), runs)
    write_csv(Path(snakemake.output.summary), summarise(runs))
