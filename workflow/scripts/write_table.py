"""Write a table of chosen layers as CSV, Markdown and LaTeX."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.results.layer_tables import layer_rows, to_latex, to_markdown
    from tmft.results.tables import read_table, version_note
    from tmft.runtime.files import write_csv, write_text

    table = snakemake.params.table
    rows = layer_rows(read_table(Path(snakemake.input.summary)), table)
    note = version_note(read_table(Path(snakemake.input.runs)))
    write_csv(Path(snakemake.output.csv), rows)
    write_text(Path(snakemake.output.markdown), to_markdown(rows, table, note))
    write_text(Path(snakemake.output.latex), to_latex(rows, table, note))
