"""Hold the layer of a search, and those proposed without training, against the whole sweep."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.results.best_layer_report import regret_markdown, regret_rows
    from tmft.results.records import read_records
    from tmft.runtime.files import read_json, write_json, write_text

    search = read_json(Path(snakemake.input.search))
    rows = regret_rows(search, [record for path in snakemake.input.sweep for record in read_records(Path(path))])
    write_json(Path(snakemake.output.json), rows)
    write_text(Path(snakemake.output.markdown), regret_markdown(rows, search["metric"], snakemake.params.labels))
