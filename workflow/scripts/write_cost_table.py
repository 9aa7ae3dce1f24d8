"""Write score, size and speed of an encoder by layer, as CSV and Markdown."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.cost_tables import cost_rows, to_markdown
    from tmft.files import read_json, write_csv, write_text
    from tmft.results import read_records
    from tmft.tables import summarise, tabulate_runs

    records = (record for path in snakemake.input.results for record in read_records(Path(path)))
    summary = summarise(tabulate_runs(records, snakemake.params.runs))
    cost, labels = read_json(Path(snakemake.input.cost)), snakemake.params.labels
    rows = cost_rows(summary, cost, labels["metric"])
    write_csv(Path(snakemake.output.csv), rows)
    write_text(Path(snakemake.output.markdown), to_markdown(rows, cost, labels))
