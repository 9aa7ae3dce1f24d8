"""Merge lists of word pairs into a task's table of pairs."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.pairs import check, write_pairs
    from tmft.datasets.words import merge, read_lists, report
    from tmft.runtime.files import write_json

    source = snakemake.params.source
    rows = read_lists({name: Path(snakemake.input[name]) for name in source["lists"]}, source["lists"])
    pairs = merge(rows, source["seed"])
    check(pairs, source["label_range"], snakemake.wildcards.task, source["rows"])
    write_pairs(pairs, Path(snakemake.output.pairs))
    write_json(Path(snakemake.output.lists), report(rows, pairs))
