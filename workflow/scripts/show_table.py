"""Show a table as a page."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    import pandas as pd

    from tmft.figures.pages import page, sortable_table
    from tmft.runtime.files import write_text

    table = pd.read_csv(snakemake.input[0], keep_default_na=False, na_values="")
    write_text(Path(snakemake.output[0]), page(snakemake.params.title, sortable_table(table)))
