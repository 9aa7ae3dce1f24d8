"""Compare two results on the same test pairs."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.pairs import read_pairs, test_labels
    from tmft.results.compare import compare_sides, to_markdown
    from tmft.runtime.files import write_json, write_text

    own, labels = work.params.comparison, test_labels(read_pairs(work.input.pairs))
    rows = compare_sides(work.input.results, labels, own)
    write_json(work.output.json, {"metric": own["metric"], "pairs": len(labels), "layers": rows})
    write_text(work.output.markdown, to_markdown(rows, own["labels"], own["metric"], len(labels)))
