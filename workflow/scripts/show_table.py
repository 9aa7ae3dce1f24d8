"""Show a table as a page."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    import pandas as pd

    from tmft.files import write_text
    from tmft.pages import page, sortable_table

    table = pd.read_csv(snakemake.input[0], keep_default_na=False, na_values="")
    write_text(Path(snakemake.output[0]), page(snakemake.params.title, sortable_table(table)))
