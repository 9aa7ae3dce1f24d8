"""Write score, size and speed of an encoder by layer, as CSV and Markdown."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.export.speed_tables import cost_rows, to_markdown
    from tmft.results.records import read_records
    from tmft.results.tables import summarise, tabulate_runs
    from tmft.runtime.files import read_json, write_csv, write_text

    records = (record for path in snakemake.input.results for record in read_records(Path(path)))
    summary = summarise(tabulate_runs(records, snakemake.params.runs))
    cost, labels = read_json(Path(snakemake.input.cost)), snakemake.params.labels
    rows = cost_rows(summary, cost, labels["metric"])
    write_csv(Path(snakemake.output.csv), rows)
    write_text(Path(snakemake.output.markdown), to_markdown(rows, cost, labels))
