"""Read the raw files of a task into its table of pairs."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.delimited import read_delimited
    from tmft.datasets.pairs import check, write_pairs

    source = work.params.source
    files = {split: work.input[split] for split in source["files"]}
    pairs = read_delimited(files, source["reading"], source["label_range"])
    check(pairs, source["label_range"], work.wildcards["task"], source["rows"])
    write_pairs(pairs, work.output[0])
