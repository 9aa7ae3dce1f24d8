"""Write sentence pairs of the synthetic language of scenes."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.datasets.pairs import check, write_pairs
    from tmft.datasets.scenes import sts_pairs

    pairs = sts_pairs(**snakemake.params.scenes)
    check(pairs, snakemake.params.label_range, snakemake.wildcards.task)
    write_pairs(pairs, Path(snakemake.output[0]))
