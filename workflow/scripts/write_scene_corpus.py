"""Write unlabelled sentences of the synthetic language of scenes."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.pairs import read_pairs
    from tmft.datasets.scenes.pairs import corpus
    from tmft.datasets.scenes.relexification import relexify
    from tmft.runtime.files import write_text

    tables = [read_pairs(Path(path)) for path in snakemake.input]
    excluded = {sentence for table in tables for side in ("sentence1", "sentence2") for sentence in table[side]}
    scenes = snakemake.params.scenes
    sentences = corpus(scenes["sentences"], scenes["seed"], excluded)
    if scenes["language"] is not None:
        sentences = [relexify(sentence, scenes["language"]) for sentence in sentences]
    write_text(Path(snakemake.output[0]), "\n".join(sentences) + "\n")
