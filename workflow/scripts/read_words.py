"""Merge lists of word pairs into a task's table of pairs."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.pairs import check, write_pairs
    from tmft.datasets.words import merge, read_lists, report
    from tmft.runtime.files import write_json

    source = work.params.source
    rows = read_lists({name: work.input[name] for name in source["lists"]}, source["lists"])
    pairs = merge(rows, source["seed"])
    check(pairs, source["label_range"], work.wildcards["task"], source["rows"])
    write_pairs(pairs, work.output.pairs)
    write_json(work.output.lists, report(rows, pairs))
