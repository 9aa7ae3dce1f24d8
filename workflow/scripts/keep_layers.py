"""Keep the layers that a round of a search leaves in competition."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.best_layer import Round
    from tmft.best_layer_report import round_record
    from tmft.errors import InputError
    from tmft.files import write_json
    from tmft.results import read_records

    records = [record for path in snakemake.input for record in read_records(Path(path))]
    params = snakemake.params
    found = round_record(records, Round(*params.competition), params.metric, params.keep)
    if not found["kept"]:
        raise InputError(f"every run collapsed; the reasons are in {snakemake.input[0]} and its like")
    write_json(Path(snakemake.output[0]), found)
