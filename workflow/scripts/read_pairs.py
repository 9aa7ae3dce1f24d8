"""Read the raw files of a task into its table of pairs."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.delimited import read_delimited
    from tmft.datasets.pairs import check, write_pairs

    source = snakemake.params.source
    files = {split: Path(snakemake.input[split]) for split in source["files"]}
    pairs = read_delimited(files, source["reading"], source["label_range"])
    check(pairs, source["label_range"], snakemake.wildcards.task, source["rows"])
    write_pairs(pairs, Path(snakemake.output[0]))
