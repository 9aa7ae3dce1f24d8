"""Write a table of chosen layers as CSV, Markdown and LaTeX, with how sure its differences are."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.pairs import read_pairs, test_labels
    from tmft.results.compare import Predictions, write_layer_table
    from tmft.results.tables import read_table

    table, labels = work.params.table, test_labels(read_pairs(work.input.pairs))
    predictions = Predictions(work.input.results, labels, table["metrics"][0])
    runs, summary = read_table(work.input.runs), read_table(work.input.summary)
    write_layer_table(runs, summary, table, predictions, work.output)
