"""Report the sizes, label ranges, duplicates and leaks of a task's pairs."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.pairs import read_pairs, report
    from tmft.runtime.files import write_json

    write_json(work.output[0], report(read_pairs(work.input[0])))
