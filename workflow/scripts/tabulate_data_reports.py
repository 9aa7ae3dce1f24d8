"""Put the data reports of all tasks into one table."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.overview import overview
    from tmft.runtime.files import read_json, write_csv

    reports = dict(zip(work.params.tasks, map(read_json, work.input), strict=True))
    write_csv(work.output[0], overview(reports))
