"""Write unlabelled sentences of the synthetic language of scenes."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.datasets.pairs import read_pairs
    from tmft.datasets.scenes import corpus
    from tmft.files import write_text

    tables = [read_pairs(Path(path)) for path in snakemake.input]
    excluded = {sentence for table in tables for side in ("sentence1", "sentence2") for sentence in table[side]}
    sentences = corpus(snakemake.params.sentences, snakemake.params.seed, excluded)
    write_text(Path(snakemake.output[0]), "\n".join(sentences) + "\n")
