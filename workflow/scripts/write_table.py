"""Write a table of chosen layers as CSV, Markdown and LaTeX, with how sure its differences are."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.pairs import read_pairs
    from tmft.results.compare import Predictions, comparison_lines, table_comparisons
    from tmft.results.layer_tables import layer_rows, to_latex, to_markdown
    from tmft.results.tables import read_table, version_note
    from tmft.runtime.files import write_csv, write_text

    table = snakemake.params.table
    rows = layer_rows(read_table(Path(snakemake.input.summary)), table)
    note = version_note(read_table(Path(snakemake.input.runs)))
    pairs = read_pairs(Path(snakemake.input.pairs))
    labels = pairs[pairs["split"] == "test"].set_index("pair_id")["label"]
    predictions = Predictions(map(Path, snakemake.input.results), labels, table["metrics"][0])
    comparisons = table_comparisons(rows, table, predictions)
    write_csv(Path(snakemake.output.csv), rows)
    write_csv(Path(snakemake.output.comparisons), comparisons)
    text = "\n".join([to_markdown(rows, table, note), *comparison_lines(comparisons, table)])
    write_text(Path(snakemake.output.markdown), f"{text.rstrip()}\n")
    write_text(Path(snakemake.output.latex), to_latex(rows, table, note))
