"""Draw test scores by layer as a page to look into."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.figures.interactive_curve import layer_curve_page
    from tmft.results.tables import read_table
    from tmft.runtime.files import write_text

    runs, summary = read_table(work.input.runs), read_table(work.input.summary)
    write_text(work.output[0], layer_curve_page(runs, summary, work.params.figure))
