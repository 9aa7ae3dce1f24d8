"""Show a table as a page."""

from tmft.runtime.job import job

with job(snakemake) as work:
    import pandas as pd

    from tmft.figures.pages import page, sortable_table
    from tmft.runtime.files import write_text

    table = pd.read_csv(work.input[0], keep_default_na=False, na_values="")
    write_text(work.output[0], page(work.params.title, sortable_table(table)))
