"""Choose the run whose weights are exported."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.export.choice import check_exportable, choose_run
    from tmft.results.tables import tabulate_records
    from tmft.runtime.files import write_json
    from tmft.training.records import read_all

    choice = choose_run(tabulate_records(read_all(work.input.results)), work.params.metric)
    check_exportable(work.input.encoder, choice["layer"])
    write_json(work.output[0], choice)
