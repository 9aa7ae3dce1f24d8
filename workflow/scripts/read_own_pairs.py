"""Read the user's own sentence pairs into a task's table of pairs."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.own import read_own_pairs
    from tmft.datasets.pairs import write_pairs

    pairs = read_own_pairs(work.input[0], work.params.source, work.params.label_range)
    write_pairs(pairs, work.output[0])
