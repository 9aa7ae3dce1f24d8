"""Choose the run whose weights are exported."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.export.choice import check_exportable, choose_run
    from tmft.results.records import read_records
    from tmft.results.tables import tabulate_runs
    from tmft.runtime.files import write_json

    records = (record for path in snakemake.input.results for record in read_records(Path(path)))
    choice = choose_run(tabulate_runs(records, snakemake.params.runs), snakemake.params.metric)
    check_exportable(Path(snakemake.input.encoder), choice["layer"])
    write_json(Path(snakemake.output[0]), choice)
