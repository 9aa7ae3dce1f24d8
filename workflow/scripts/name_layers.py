"""Name the layers that a search for the best layer goes on with after a round."""

from pathlib import Path

from tmft.results.best_layer import Plan
from tmft.runtime.job import job

with job(snakemake):
    from tmft.results.best_layer_report import round_record
    from tmft.results.records import read_records
    from tmft.runtime.errors import InputError
    from tmft.runtime.files import write_json

    records = [record for path in snakemake.input for record in read_records(Path(path))]
    params = snakemake.params
    found = round_record(snakemake.wildcards.round, Plan(*params.search), records, params.metric)
    if not found["scores"]:
        raise InputError(f"every run collapsed; the reasons are in {snakemake.input[0]} and its like")
    write_json(Path(snakemake.output[0]), found)
