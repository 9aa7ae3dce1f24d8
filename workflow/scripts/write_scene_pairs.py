"""Write sentence pairs of the synthetic language of scenes."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.pairs import check, write_pairs
    from tmft.datasets.scenes.pairs import PAIRS

    scenes = dict(snakemake.params.scenes)
    pairs = PAIRS[scenes.pop("kind")](**scenes)
    check(pairs, snakemake.params.label_range, snakemake.wildcards.task)
    write_pairs(pairs, Path(snakemake.output[0]))
