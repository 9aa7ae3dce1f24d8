"""Compare two results on the same test pairs."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.pairs import read_pairs
    from tmft.experiment.compared import Side
    from tmft.results.compare import Predictions, to_markdown
    from tmft.runtime.files import write_json, write_text

    params, pairs = snakemake.params, read_pairs(Path(snakemake.input.pairs))
    labels = pairs[pairs["split"] == "test"].set_index("pair_id")["label"]
    predictions = Predictions(map(Path, snakemake.input.results), labels, params.metric)
    first, second = (Side(*side) for side in params.sides)
    rows = [
        predictions.compare(first._replace(layer=one), second._replace(layer=other)) for one, other in params.layers
    ]
    write_json(Path(snakemake.output.json), {"metric": params.metric, "pairs": len(labels), "layers": rows})
    write_text(Path(snakemake.output.markdown), to_markdown(rows, params.labels, params.metric, len(labels)))
