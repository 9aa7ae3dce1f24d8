"""Read the user's own sentence pairs into a task's table of pairs."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.own import read_own_pairs
    from tmft.datasets.pairs import write_pairs

    pairs = read_own_pairs(Path(snakemake.input[0]), snakemake.params.source, snakemake.params.label_range)
    write_pairs(pairs, Path(snakemake.output[0]))
