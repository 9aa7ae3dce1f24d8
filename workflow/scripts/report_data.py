"""Report the sizes, label ranges, duplicates and leaks of a task's pairs."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.pairs import read_pairs, report
    from tmft.runtime.files import write_json

    write_json(Path(snakemake.output[0]), report(read_pairs(Path(snakemake.input[0]))))
