"""Write score, size and speed of an encoder by layer, as CSV and Markdown."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.export.speed_tables import cost_rows, to_markdown
    from tmft.results.tables import summarise, tabulate_records
    from tmft.runtime.files import read_json, write_csv, write_text
    from tmft.training.records import read_all

    cost, labels = read_json(work.input.cost), work.params.labels
    rows = cost_rows(summarise(tabulate_records(read_all(work.input.results))), cost, labels["metric"])
    write_csv(work.output.csv, rows)
    write_text(work.output.markdown, to_markdown(rows, cost, labels))
