"""Put the data reports of all tasks into one table."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.overview import overview
    from tmft.runtime.files import read_json, write_csv

    reports = dict(zip(snakemake.params.tasks, map(read_json, map(Path, snakemake.input)), strict=True))
    write_csv(Path(snakemake.output[0]), overview(reports))
