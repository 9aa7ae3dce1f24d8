"""Name the layers that a search for the best layer goes on with after a round."""

from pathlib import Path

from tmft.best_layer import Plan
from tmft.jobs import job

with job(snakemake):
    from tmft.best_layer_report import round_record
    from tmft.errors import InputError
    from tmft.files import write_json
    from tmft.results import read_records

    records = [record for path in snakemake.input for record in read_records(Path(path))]
    params = snakemake.params
    found = round_record(snakemake.wildcards.round, Plan(*params.search), records, params.metric)
    if not found["scores"]:
        raise InputError(f"every run collapsed; the reasons are in {snakemake.input[0]} and its like")
    write_json(Path(snakemake.output[0]), found)
